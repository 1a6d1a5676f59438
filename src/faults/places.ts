import type { Json } from '../tape/index.ts'

/** A value inside another one. */
export interface Leaf {
  /** Such as `items[0].price`; empty for the whole. */
  readonly path: string
  readonly value: Json
}

/** Every value inside one, itself first, as deep as it goes. */
export function valuesIn(value: Json, path = ''): readonly Leaf[] {
  const here: Leaf = { path, value }
  if (typeof value !== 'object' || value === null) return [here]
  const inner = Array.isArray(value)
    ? value.flatMap((item: Json, i) => valuesIn(item, `${path}[${i}]`))
    : Object.entries(value).flatMap(([key, one]) => valuesIn(one as Json, joined(path, key)))
  return [here, ...inner]
}

/** What stands at a path of {@link valuesIn}; `undefined` when there is no such path. */
export function valueAt(value: Json, path: string): Json | undefined {
  return valuesIn(value).find((leaf) => leaf.path === path)?.value
}

/** The value with another one at a path of {@link valuesIn}; as it was when there is no such path. */
export function withValueAt(value: Json, path: string, change: (old: Json) => Json, here = ''): Json {
  if (here === path) return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json, i) => withValueAt(item, path, change, `${here}[${i}]`))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withValueAt(one as Json, path, change, joined(here, key))]),
  )
}

function joined(path: string, key: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
