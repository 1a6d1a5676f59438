import { isMap, type JsonMap } from '../json/canonical.ts'
import type { Json } from './types.ts'

/**
 * Recorded arguments without those that were `undefined`, and without such members of what they hold: what is sent of them is
 * the same, and a model cannot even write them. An item of a list keeps its place.
 */
export function presentArgs(args: Json): Json {
  if (isMap(args) && args['$type'] === 'deep') return presentArgs(args['value'] ?? null)
  if (isMap(args)) return presentMembers(args)
  if (!Array.isArray(args)) return args
  const items = args as readonly Json[]
  const present = items.slice(0, items.findLastIndex((value) => !isUndefined(value)) + 1)
  const [only] = present
  // One object argument stands for itself.
  const isAlone = present.length === 1 && items.length > 1 && isMap(only) && only['$type'] === undefined
  return isAlone ? presentMembers(only) : present.map(presentValue)
}

function presentMembers(map: JsonMap): Json {
  const present = Object.entries(map).filter(([, value]) => !isUndefined(value))
  return Object.fromEntries(present.map(([key, value]) => [key, presentValue(value)]))
}

/**
 * A recorded value without members that were `undefined`, of plain objects at any depth: who reads such a member and one that
 * is absent gets the same. What stands for a value of a class is left as it is: its fields were written by other code.
 */
export function presentValue(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(presentValue)
  return isMap(value) && value['$type'] === undefined ? presentMembers(value) : value
}

/** As `encodeValue` writes it. */
function isUndefined(value: Json): boolean {
  return isMap(value) && value['$type'] === 'undefined'
}
