import type { Json } from './types.ts'

export type JsonMap = { readonly [key: string]: Json }

const emptyMap: JsonMap = Object.freeze(Object.create(null) as JsonMap)
const emptyList: readonly Json[] = Object.freeze([])

/**
 * JSON in one spelling: no spaces, keys in the order of their UTF-16 code units, numbers and strings as ECMAScript
 * writes them. Two values are equal exactly when their canonical texts are.
 *
 * @see RFC 8785, JSON Canonicalization Scheme, sections 3.2.2 and 3.2.3
 */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  if (!isMap(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`)
  return `{${members.join(',')}}`
}

/** The value of a JSON text, or `undefined` when it is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON: what was read is then reported by the caller, who has the text.
    return undefined
  }
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** The member of a map; nothing inherited, and `undefined` when the value is no map. */
export function at(value: Json | undefined, key: string): Json | undefined {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The map at a key, or an empty one. */
export function mapAt(value: Json | undefined, key: string): JsonMap {
  const member = at(value, key)
  return isMap(member) ? member : emptyMap
}

/** The list at a key, or an empty one. */
export function listAt(value: Json | undefined, key: string): readonly Json[] {
  const member = at(value, key)
  return isList(member) ? member : emptyList
}

/** The text at a key, unless it is empty or no text. */
export function textAt(value: Json | undefined, key: string): string | undefined {
  const member = at(value, key)
  return typeof member === 'string' && member !== '' ? member : undefined
}

/** The number at a key. */
export function numberAt(value: Json | undefined, key: string): number | undefined {
  const member = at(value, key)
  return typeof member === 'number' ? member : undefined
}

/** A map without some of its keys; keeps a key named `__proto__` a plain key. */
export function without(map: JsonMap, ...keys: readonly string[]): JsonMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)))
}
