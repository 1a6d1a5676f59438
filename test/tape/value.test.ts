import assert from 'node:assert'
import vm from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../src/tape/index.ts'
import { decodeValue, encodeValue, parseTape, serializeTape } from '../../src/tape/index.ts'
import { closing, header, mark, messageOf, thrownBy } from './make.ts'

/** Through the encoder, the bytes of a tape, and back. */
function onTape(value: unknown): unknown {
  const event = { ...mark(1, 'x'), data: encodeValue(value) }
  const [read] = parseTape(serializeTape(header, [event], closing), 'x').events
  return decodeValue(read?.kind === 'mark' ? (read.data ?? null) : null)
}

const anything = fc.anything({
  maxDepth: 4,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  key: fc.oneof(fc.string(), fc.constantFrom('$type', '__proto__', 'constructor', 'toJSON', 'length', '/', '~', '0')),
})

test('for every value, what a tape gives back is deeply equal to it', () => {
  fc.assert(
    fc.property(anything, (value) => {
      assert.deepStrictEqual(onTape(value), value)
    }),
    { numRuns: 2000 },
  )
})

test('for every plain JSON, the encoding is the value itself', () => {
  const plain = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
  fc.assert(
    fc.property(plain, (value) => {
      fc.pre(!/"(\$type|__proto__)":/.test(JSON.stringify(value)))
      assert.deepStrictEqual(encodeValue(value), value)
    }),
  )
})

test('values JSON does not know are written so that a person can read them', () => {
  const shared = { total: 25 }
  const value = {
    nothing: undefined,
    numbers: [Number.NaN, -Infinity, -0],
    big: 12n,
    when: new Date('2026-03-04T05:06:07.089Z'),
    pattern: /A-\d+/gi,
    link: new URL('https://shop.example/a?b=c'),
    query: new URLSearchParams({ q: 'a b' }),
    headers: new Headers({ 'Retry-After': '3' }),
    orders: new Map([['A-17', shared]]),
    tags: new Set(['vip']),
    bytes: Buffer.from('hi'),
    again: shared,
    hole: [1, , 3],
    kind: Symbol.for('paid'),
  }
  expect(encodeValue(value)).toMatchInlineSnapshot(`
    {
      "again": {
        "$type": "same",
        "at": "/orders/entries/0/1",
      },
      "big": {
        "$type": "bigint",
        "value": "12",
      },
      "bytes": {
        "$type": "bytes",
        "base64": "aGk=",
        "class": "Buffer",
      },
      "headers": {
        "$type": "headers",
        "entries": [
          [
            "retry-after",
            "3",
          ],
        ],
      },
      "hole": {
        "$type": "array",
        "items": [
          [
            0,
            1,
          ],
          [
            2,
            3,
          ],
        ],
        "length": 3,
      },
      "kind": {
        "$type": "symbol",
        "key": "paid",
      },
      "link": {
        "$type": "url",
        "value": "https://shop.example/a?b=c",
      },
      "nothing": {
        "$type": "undefined",
      },
      "numbers": [
        {
          "$type": "number",
          "value": "NaN",
        },
        {
          "$type": "number",
          "value": "-Infinity",
        },
        {
          "$type": "number",
          "value": "-0",
        },
      ],
      "orders": {
        "$type": "map",
        "entries": [
          [
            "A-17",
            {
              "total": 25,
            },
          ],
        ],
      },
      "pattern": {
        "$type": "regexp",
        "flags": "gi",
        "source": "A-\\d+",
      },
      "query": {
        "$type": "search-params",
        "value": "q=a+b",
      },
      "tags": {
        "$type": "set",
        "values": [
          "vip",
        ],
      },
      "when": {
        "$type": "date",
        "value": "2026-03-04T05:06:07.089Z",
      },
    }
  `)
  assert.deepStrictEqual(onTape(value), value)
})

test('cycles and shared references lead to the same objects again', () => {
  const shared = { a: 1 }
  const value: Record<string, unknown> = { list: [shared, shared], 'a/b~c': { shared } }
  value['self'] = value
  const map = new Map<unknown, unknown>([[shared, value]])
  map.set(map, map)
  value['map'] = map
  value['set'] = new Set([map, value])
  const read = onTape(value) as typeof value & { list: unknown[]; map: Map<unknown, unknown>; set: Set<unknown> }
  expect(read['self']).toBe(read)
  expect(read.list[0]).toBe(read.list[1])
  expect(read['a/b~c']).toStrictEqual({ shared: read.list[0] })
  expect((read['a/b~c'] as { shared: unknown }).shared).toBe(read.list[0])
  expect(read.map.get(read.list[0])).toBe(read)
  expect(read.map.get(read.map)).toBe(read.map)
  expect([...read.set]).toStrictEqual([read.map, read])
})

test('a reference finds its way through keys that look like paths', () => {
  const [a, b, c] = [{ a: 1 }, { b: 2 }, { c: 3 }]
  const value = { '~1': { '/': a }, '/': { '~1': b }, '~01': c, again: [a, b, c] }
  expect(onTape(value)).toStrictEqual(value)
})

test('a value nested deeper than a tape allows is kept, cycles into it too', () => {
  let deep: Record<string, unknown> = { bottom: true }
  const bottom = deep
  for (let level = 0; level < 20_000; level++) deep = level % 7 === 0 ? { list: [deep] } : { deep }
  bottom['top'] = deep
  bottom['items'] = new Map([[bottom, new Set([deep])]])
  let [read, levels] = [onTape(deep) as Record<string, unknown>, 0]
  const top = read
  for (; read['bottom'] !== true; levels++) read = (read['deep'] ?? (read['list'] as unknown[])[0]) as typeof read
  expect(levels).toBe(20_000)
  expect(read['top']).toBe(top)
  expect((read['items'] as Map<unknown, Set<unknown>>).get(read)).toStrictEqual(new Set([top]))
})

test('errors keep name, message, code, cause and their fields', () => {
  class RateLimitError extends Error {
    override readonly name = 'RateLimitError'
    readonly status = 429
    readonly headers = new Headers({ 'retry-after': '3' })
  }
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 })
  const errors = [
    new RateLimitError('slow down', { cause: refused }),
    new TypeError('fetch failed', { cause: refused }),
    new AggregateError([refused, new RangeError('too far')], 'all failed'),
    new DOMException('This operation was aborted', 'AbortError'),
  ]
  const read = onTape(errors) as typeof errors
  expect(read).toEqual(errors)
  expect(read.map((error) => [error.name, error.message, error instanceof Error])).toStrictEqual(
    errors.map(({ name, message }) => [name, message, true]),
  )
  expect(read[0]).toMatchObject({ status: 429, cause: { code: 'ECONNREFUSED', errno: -111 } })
  expect((read[0] as RateLimitError).headers.get('retry-after')).toBe('3')
  expect(read[1]).toBeInstanceOf(TypeError)
  expect(read[3]).toBeInstanceOf(DOMException)
  expect(String(read[0])).toBe('RateLimitError: slow down')
})

test('a decoded error shows no stack of the decoder', () => {
  expect((onTape(new TypeError('no order')) as Error).stack).toBe('TypeError: no order')
})

test('an instance of a class becomes a plain object with its fields, the name of the class is kept', () => {
  class Order {
    readonly id = 'A-17'
    readonly #secret = 'hidden'
    reveal(): string {
      return this.#secret
    }
  }
  expect(encodeValue(new Order())).toStrictEqual({ $type: 'instance', class: 'Order', fields: { id: 'A-17' } })
  expect(onTape(new Order())).toStrictEqual({ id: 'A-17' })
})

test('a function becomes one that says why it cannot be called', () => {
  const read = onTape({ cancel: function cancelOrder() {} }) as { cancel: () => void }
  expect(read.cancel.name).toBe('cancelOrder')
  expect(messageOf(thrownBy(() => read.cancel()))).toMatchInlineSnapshot(`
    "Cannot call a recorded function

      function  cancelOrder

    A tape is data: functions are recorded by name only.
    → to run the code that creates it: mark the tool or retriever with replay: 'run'
    (HARVEST_TAPE_FUNCTION)"
  `)
})

test('what cannot be read is marked, and the rest is kept', () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const value = {
    get broken(): never {
      throw new Error('no connection')
    },
    revoked: revoked.proxy,
    evil: new Proxy(
      {},
      {
        ownKeys: () => {
          throw {
            toString: () => {
              throw new Error('twice')
            },
          }
        },
      },
    ),
    sound: 1,
  }
  expect(encodeValue(value)).toStrictEqual({
    broken: { $type: 'unreadable', message: 'no connection' },
    revoked: { $type: 'unreadable', message: expect.any(String) as string },
    evil: { $type: 'unreadable', message: '' },
    sound: 1,
  })
  expect(onTape(value)).toStrictEqual({ broken: undefined, revoked: undefined, evil: undefined, sound: 1 })
})

test('an object that looks like an encoded one survives as it is', () => {
  const values = [
    { $type: 'function', name: 'x' },
    { $type: 'same', at: '' },
    { $type: 5 },
    { nested: { $type: 'date', value: 'now' } },
  ]
  assert.deepStrictEqual(onTape(values), values)
})

test('a key __proto__ is data: it pollutes nothing and changes no prototype', () => {
  const value: unknown = JSON.parse(
    '{"a":{"__proto__":{"polluted":true}},"b":{"constructor":{"prototype":{"polluted":true}}}}',
  )
  const read = onTape(value) as { a: object }
  assert.deepStrictEqual(read, value)
  expect(Object.getPrototypeOf(read.a)).toBe(Object.prototype)
  expect(Object.keys(read.a)).toStrictEqual(['__proto__'])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test('objects of another realm are what they are', () => {
  const value: unknown = vm.runInNewContext('({ a: [1, { b: new Map([[1, new Date(0)]]) }], e: new TypeError("far") })')
  expect(onTape(value)).toStrictEqual({ a: [1, { b: new Map([[1, new Date(0)]]) }], e: new TypeError('far') })
})

test('symbols of the registry and of the language are themselves again', () => {
  expect(onTape([Symbol.for('a'), Symbol.iterator])).toStrictEqual([Symbol.for('a'), Symbol.iterator])
  expect((onTape(Symbol('own')) as symbol).description).toBe('own')
})

test('lists keep their own fields, as matches of a pattern have them', () => {
  const match = /(?<id>\d+)/.exec('order 17')!
  const read = onTape(match) as RegExpExecArray
  expect([...read]).toStrictEqual(['17', '17'])
  expect([read.index, read.input, { ...read.groups }]).toStrictEqual([6, 'order 17', { id: '17' }])
})

test('every class of bytes is itself again, with memory of its own', () => {
  const bytes = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8])
  const views = [
    Buffer.from(bytes),
    bytes,
    bytes.buffer,
    new DataView(bytes.buffer),
    new Float64Array(bytes.buffer),
    new BigUint64Array(bytes.buffer),
    bytes.subarray(2, 4),
  ]
  const read = onTape(views) as ArrayBufferView[]
  assert.deepStrictEqual(read, views)
  expect(read[0]!.buffer.byteLength).toBe(8)
})

test('for every JSON, decoding gives a value or a HarvestError', () => {
  const tags = fc.constantFrom(
    'same',
    'rest',
    'deep',
    'map',
    'set',
    'array',
    'error',
    'bytes',
    'regexp',
    'url',
    'bigint',
    'symbol',
    'headers',
    'object',
    'boxed',
    'fielded',
    'date',
    'hop',
  )
  const json = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.integer(),
      fc.constantFrom('/', '/value', '', '/rest/0', '__proto__'),
      fc.array(tie('any')),
      fc.dictionary(
        fc.constantFrom(
          '$type',
          'value',
          'at',
          'entries',
          'values',
          'items',
          'length',
          'fields',
          'rest',
          'class',
          'base64',
          'source',
          'flags',
        ),
        fc.oneof(tags, tie('any')),
      ),
    ),
  })).any
  fc.assert(
    fc.property(json, (value) => {
      try {
        decodeValue(value as Json)
      } catch (error) {
        expect(error).toMatchObject({ code: 'HARVEST_TAPE_VALUE' })
      }
    }),
    { numRuns: 3000 },
  )
})

test('a value of a later version is refused by its type', () => {
  expect(messageOf(thrownBy(() => decodeValue({ a: { $type: 'temporal' } })))).toMatchInlineSnapshot(`
    "Cannot restore a recorded value

      $type    temporal
      problem  this version of vitest-harvest does not know it

    The line was edited, damaged, or written by a newer version of this package.
    → to see who changed the file: git log -p -- '<the tape>'
    → if it is newer than this package: npm install --save-dev vitest-harvest@latest
    (HARVEST_TAPE_VALUE)"
  `)
})
