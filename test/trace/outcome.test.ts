import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { matchOutcome } from '../../src/trace/index.ts'

const outcome: Json = {
  refunded: 25,
  order: {
    id: '100X',
    lines: [
      { sku: 'a', qty: 1 },
      { sku: 'b', qty: 2 },
    ],
  },
  note: null,
}

test.for<Json>([
  {},
  { refunded: 25 },
  { order: { lines: [{ sku: 'a' }, {}] } },
  { order: { id: '*' }, note: '*' },
  { order: '*' },
  '*',
  outcome,
])('%j is contained in the outcome', (expected) => {
  expect(matchOutcome(expected, outcome)).toEqual({ equal: true })
})

test.for<[Json, string, Json?, Json?]>([
  [{ refunded: 30 }, 'refunded', 30, 25],
  [{ refunded: '25' }, 'refunded', '25', 25],
  [{ paid: '*' }, 'paid', '*'],
  [{ note: {} }, 'note', {}, null],
  [{ order: { lines: [{}, { qty: 3 }] } }, 'order.lines[1].qty', 3, 2],
  [
    { order: { lines: [{}] } },
    'order.lines',
    [{}],
    [
      { sku: 'a', qty: 1 },
      { sku: 'b', qty: 2 },
    ],
  ],
  [{ order: { lines: [{}, {}, 1] } }, 'order.lines[2]', 1],
  [
    { order: [] },
    'order',
    [],
    {
      id: '100X',
      lines: [
        { sku: 'a', qty: 1 },
        { sku: 'b', qty: 2 },
      ],
    },
  ],
  [{ 'odd key': 1 }, '["odd key"]', 1],
  [{ toString: '*' }, 'toString', '*'],
  [[1], '', [1], outcome],
])('%j is not, and the place is %s', ([expected, path, wanted, found]) => {
  const match = matchOutcome(expected, outcome)
  expect(match).toEqual({
    equal: false,
    path,
    ...(wanted === undefined ? {} : { expected: wanted }),
    ...(found === undefined ? {} : { actual: found }),
  })
})

test('for every outcome: it matches itself, and everything it was cut down to by leaving out keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, seed) => {
      expect(matchOutcome(value as Json, value as Json).equal).toBe(true)
      expect(matchOutcome(cutDown(value as Json, seed), value as Json)).toEqual({ equal: true })
    }),
  )
})

test('for every two values without wildcards: they match both ways only when they are the same', () => {
  const plain = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"*"'))
  fc.assert(
    fc.property(plain, plain, (a, b) => {
      const both = matchOutcome(a as Json, b as Json).equal && matchOutcome(b as Json, a as Json).equal
      expect(both).toBe(sorted(a as Json) === sorted(b as Json))
    }),
  )
})

function cutDown(value: Json, seed: number): Json {
  if (Array.isArray(value)) return value.map((item: Json) => cutDown(item, seed))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as { [key: string]: Json }).filter((_, i) => (seed >> (i % 8)) % 2 === 0)
  return Object.fromEntries(entries.map(([key, member]) => [key, cutDown(member, seed >> 1)]))
}

function sorted(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => sorted(item)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value === 0 ? 0 : value)
  return `{${Object.entries(value as { [key: string]: Json })
    .map(([k, v]) => `${JSON.stringify(k)}:${sorted(v)}`)
    .sort()
    .join()}}`
}
