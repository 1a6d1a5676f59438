import type { Json } from '../../tape/index.ts'

/** A value as OTLP/JSON writes it: 64-bit integers as text. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }

export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

/** What an attribute can be given as; a number that the conventions call a double is wrapped by {@link double}. */
export type AttributeValue = string | number | boolean | readonly string[] | Double | undefined

interface Double {
  readonly double: number
}

/** A number whose type is double even where it is whole; `undefined` stays so. */
export function double(value: number | undefined): Double | undefined {
  return value === undefined ? undefined : { double: value }
}

/** Attributes of a span; those without a value are left out. */
export function attributes(given: Readonly<Record<string, AttributeValue>>): readonly KeyValue[] {
  return Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]))
}

/**
 * A value as the text of its JSON. Attributes of spans may hold structures, yet backends that take them are few; the
 * conventions let a span have the text.
 */
export function jsonOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

/** A value as instruments write it: text as it is, maps and lists as {@link jsonOf}. */
export function plainly(value: Json | undefined): AttributeValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : jsonOf(value)
}

/**
 * The JSON of a value where its plain form could be taken for another one: a text that looks like JSON, an empty one, null,
 * and what is no JSON and stands on the tape under a mark (`$type`).
 */
export function exactly(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value !== '' && !/^\s*[[{("]/.test(value) ? undefined : jsonOf(value)
  const json = jsonOf(value)
  // In the JSON of a text its quotes are escaped: this is a key.
  return value === null || json?.includes('"$type":') ? json : undefined
}

function anyValue(value: Exclude<AttributeValue, undefined>): AnyValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: value.toString() } : { doubleValue: value }
  if ('double' in value) return { doubleValue: value.double }
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } }
}
