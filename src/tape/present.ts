import type { Json } from './types.ts'

type JsonMap = { readonly [key: string]: Json }

/**
 * Recorded arguments without those that were `undefined`, and without such members of what they hold: what is sent of them is
 * the same, and a model cannot even write them. An item of a list keeps its place.
 */
export function presentArgs(args: Json): Json {
  return presentAll(args, (value, reached) =>
    Array.isArray(value) ? presentItems(value, reached) : present(value, reached),
  )
}

/**
 * A recorded value without members that were `undefined`, of plain objects at any depth: who reads such a member and one that
 * is absent gets the same. What stands for a value of a class is left as it is: its fields were written by other code.
 */
export function presentValue(value: Json): Json {
  return presentAll(value, present)
}

/** Numbers of what lies in `rest` and is reached through plain objects and lists alone. */
type Reached = number[]

/** What lies deeper than a line of a tape can nest stands beside the value, and is as much of it. */
function presentAll(value: Json, presentRoot: (value: Json, reached: Reached) => Json): Json {
  if (!isMap(value) || value['$type'] !== 'deep') return presentRoot(value, [])
  const reached: Reached = []
  const root = presentRoot(value['value'] ?? null, reached)
  const rest = Array.isArray(value['rest']) ? [...value['rest']] : []
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
  if (Array.isArray(value)) return value.map((item) => present(item, reached))
  if (!isMap(value)) return value
  if (value['$type'] === undefined) return presentMembers(value, reached)
  if (value['$type'] === 'rest') reached.push(value['at'] as number)
  return value
}

/** Without members that are `undefined`, at any depth. */
export function presentMembers(map: JsonMap, reached: Reached): Json {
  const given = Object.entries(map).filter(([, value]) => !isUndefined(value))
  return Object.fromEntries(given.map(([key, value]) => [key, present(value, reached)]))
}

/** A recorder loads this, and nothing else that reads JSON. */
function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** As `encodeValue` writes it. */
export function isUndefined(value: Json): boolean {
  return isMap(value) && value['$type'] === 'undefined'
}
