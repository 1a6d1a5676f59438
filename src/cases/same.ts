import type { Json } from '../tape/types.ts'

/** Whether two values are the same data; the order of keys means nothing. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]))
  }
  if (!isMap(one) || !isMap(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  )
}

/** `Array.isArray` that knows readonly arrays. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Whether a value is a map, not a list. */
export function isMap(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !isList(value)
}
