import type { Json } from '../tape/types.ts'

export type JsonMap = { readonly [key: string]: Json }

/** Arguments by key: a list's items are `$1`, `$2`, …, a bare value is `$1`. */
export function argsByKey(args: Json): JsonMap {
  if (isMap(args)) return args
  const list = isList(args) ? args : [args]
  return Object.fromEntries(list.map((value, index) => [`$${index + 1}`, value]))
}

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Whether two values are the same JSON; `null` and a missing key are not. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index] as Json))
  if (!isMap(a) || !isMap(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as Json, b[key] as Json))
}
