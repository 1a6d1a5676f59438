import { isList, isMap, type JsonMap, without } from '../json/canonical.ts'
import { isCut } from './cuts.ts'
import type { Json } from './types.ts'

/**
 * Recorded arguments without those that were `undefined`, and without such members of what they hold: what is sent of them is
 * the same, and a model cannot even write them. An item of a list keeps its place.
 */
export function presentArgs(args: Json): Json {
  return presentAll(args, (value, reached) => (isList(value) ? presentItems(value, reached) : present(value, reached)))
}

/**
 * A recorded value without members that were `undefined`, of plain objects at any depth: who reads such a member and one that
 * is absent gets the same. What stands for a value of a class is left as it is: its fields were written by other code.
 */
export function presentValue(value: Json): Json {
  return presentAll(value, present)
}

/**
 * Arguments under their names, as cases, traces and reports have them: what lies deeper than a line of a tape can nest is left
 * out, and so is what is `undefined` in a class that is the only argument. To compare with a tape there is {@link presentArgs}.
 */
export function namedArgs(args: Json): Json {
  // Its two ends would fill a case, and say less than the digest of all of it.
  if (isCut(args)) return without(args as unknown as JsonMap, 'cut', 'window', 'head', 'tail')
  const given = presentArgs(args)
  const value = isMap(given) && given['$type'] === 'deep' ? (given['value'] ?? null) : given
  return isMap(value) ? presentMembers(value, []) : value
}

/** Numbers of what lies in `rest` and is reached through plain objects and lists alone. */
type Reached = number[]

/** What lies deeper than a line of a tape can nest stands beside the value, and is as much of it. */
function presentAll(value: Json, presentRoot: (value: Json, reached: Reached) => Json): Json {
  if (!isMap(value) || value['$type'] !== 'deep') return presentRoot(value, [])
  const reached: Reached = []
  const root = presentRoot(value['value'] ?? null, reached)
  const rest = isList(value['rest']) ? [...value['rest']] : []
  // The list grows meanwhile.
  for (const at of reached) rest[at] = present(rest[at] ?? null, reached)
  return { ...value, value: root, rest }
}

function presentItems(items: readonly Json[], reached: Reached): Json {
  const given = items.slice(0, items.findLastIndex((value) => !isUndefined(value)) + 1)
  const [only] = given
  // One object argument stands for itself.
  const isAlone = given.length === 1 && items.length > 1 && isMap(only) && only['$type'] === undefined
  return isAlone ? presentMembers(only, reached) : present(given, reached)
}

function present(value: Json, reached: Reached): Json {
  if (isList(value)) return value.map((item) => present(item, reached))
  if (!isMap(value)) return value
  if (value['$type'] === undefined) return presentMembers(value, reached)
  if (value['$type'] === 'rest') reached.push(value['at'] as number)
  return value
}

function presentMembers(map: JsonMap, reached: Reached): Json {
  const given = Object.entries(map).filter(([, value]) => !isUndefined(value))
  return Object.fromEntries(given.map(([key, value]) => [key, present(value, reached)]))
}

/** As `encodeValue` writes it. */
function isUndefined(value: Json): boolean {
  return isMap(value) && value['$type'] === 'undefined'
}

/** Whether an encoded value is the JSON it looks like: no date or class that was encoded, and no key that a case refuses. */
export function isPlain(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  const special = ['$type', '__proto__', 'constructor', 'prototype']
  return Object.entries(value).every(([key, item]) => !special.includes(key) && isPlain(item as Json))
}
