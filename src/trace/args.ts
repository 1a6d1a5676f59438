import { isList, isMap, type JsonMap } from '../json/canonical.ts'
import type { Json } from '../tape/types.ts'

/** Arguments by key: a list's items are `$1`, `$2`, …, a bare value is `$1`. */
export function argsByKey(args: Json): JsonMap {
  if (isMap(args)) return args
  const list = isList(args) ? args : [args]
  return Object.fromEntries(list.map((value, index) => [`$${index + 1}`, value]))
}
