import { isList, isMap } from './canonical.ts'
import type { Json } from './types.ts'

/** Whether two values are the same JSON: the order of keys means nothing, `null` and a missing key differ. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (isList(one) && isList(other))
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]))
  if (!isMap(one) || !isMap(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  )
}
