import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'

test('canonical JSON is that of RFC 8785, section 3.2.2', () => {
  const source = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  expect(canonicalJson(JSON.parse(source) as Json)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
})

test('keys are sorted as RFC 8785, section 3.2.3, sorts them: by UTF-16 code units', () => {
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
  const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
  const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])))
  expect(Object.keys(JSON.parse(text) as object).filter((key) => key !== '1')).toEqual(
    sorted.filter((key) => key !== '1'),
  )
  expect(text.indexOf('"\\r"')).toBeLessThan(text.indexOf('"1"'))
})

test('for every value: its canonical text reads as the same value, in whatever order its keys stand', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as Json)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(backwards(value as Json))).toBe(text)
    }),
  )
})

test('for every two values: their canonical texts are equal only when they are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const isSame = canonicalJson(a as Json) === canonicalJson(b as Json)
      expect(isSame).toBe(JSON.stringify(sortKeys(a as Json)) === JSON.stringify(sortKeys(b as Json)))
    }),
  )
})

test('a key named __proto__ is a key', () => {
  expect(canonicalJson(JSON.parse('{"a":1,"__proto__":{"b":2}}') as Json)).toBe('{"__proto__":{"b":2},"a":1}')
})

function backwards(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => backwards(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as { [key: string]: Json })
      .reverse()
      .map(([key, member]) => [key, backwards(member)]),
  )
}

/** An independent way to the same order: entries in pairs. */
function sortKeys(value: Json): unknown {
  if (Array.isArray(value)) return ['list', ...value.map((item: Json) => sortKeys(item))]
  if (typeof value !== 'object' || value === null) return ['value', value]
  const entries = Object.entries(value as { [key: string]: Json }).map(([key, member]) => [key, sortKeys(member)])
  return ['map', entries.sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1))]
}
