import { isMap, type JsonMap, without } from '../json/canonical.ts'
import { isCut } from './cuts.ts'
import { presentArgs, presentMembers } from './present.ts'
import type { Json } from './types.ts'

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

/** Whether an encoded value is the JSON it looks like: no date or class that was encoded, and no key that a case refuses. */
export function isPlain(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  const special = ['$type', '__proto__', 'constructor', 'prototype']
  return Object.entries(value).every(([key, item]) => !special.includes(key) && isPlain(item as Json))
}
