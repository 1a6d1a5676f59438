import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBytes, encodeBytes, isSettled, requestBytes, responseBytes, stepsOf } from '../../src/tape/index.ts'
import { call, exchange, mark } from './make.ts'

test('text is written as text, also with a byte order mark', () => {
  expect(encodeBytes(Buffer.from('Grüße 😀'))).toBe('Grüße 😀')
  expect(encodeBytes(Buffer.from('\ufeffdata'))).toBe('\ufeffdata')
  expect(encodeBytes(new Uint8Array())).toBe('')
})

test('bytes that are not UTF-8 are written as base64: cut characters, surrogates, overlong forms', () => {
  for (const bytes of [[0xff], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    expect(encodeBytes(Uint8Array.from(bytes))).toStrictEqual({ base64: Buffer.from(bytes).toString('base64') })
  }
})

test('for all bytes, decoding gives them back', () => {
  const part = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(part, (bytes) => {
      expect(decodeBytes(encodeBytes(bytes))).toStrictEqual(Buffer.from(bytes))
    }),
  )
})

test('a view of a larger buffer is encoded alone', () => {
  const large = Uint8Array.from([65, 66, 67, 68])
  expect(encodeBytes(large.subarray(1, 3))).toBe('BC')
})

test('exchanges and calls are steps, in order, and nothing else is', () => {
  const events = [mark(1, 'a'), exchange(2, ''), call(3, 'x'), { kind: 'draws', n: 4, at: 0, draws: [] } as const]
  expect(stepsOf({ events }).map(({ n }) => n)).toStrictEqual([2, 3])
})

test('a step is settled by its answer, its error, or being given up', () => {
  const { response: _, ...asked } = exchange(1, '')
  const { end: __, ...half } = exchange(1, '').response!
  const { settled: ___, ...running } = call(1, 'x')
  expect(
    [exchange(1, ''), call(1, 'x'), { ...asked, aborted: [2, 1] as const }, { ...asked, oneWay: true as const }].map(
      isSettled,
    ),
  ).toStrictEqual([true, true, true, true])
  expect([asked, { ...asked, response: half }, running].map(isSettled)).toStrictEqual([false, false, false])
})

test('the bytes of an exchange are those of its body and its chunks', () => {
  const split = {
    ...exchange(1, 'ask'),
    response: {
      ...exchange(1, '').response!,
      chunks: [
        [2, 0, { base64: '8J8=' }],
        [3, 0, { base64: 'mIA=' }],
        [4, 0, '!'],
      ] as const,
    },
  }
  expect(requestBytes(split).toString()).toBe('ask')
  expect(responseBytes(split).toString()).toBe('😀!')
  const { response: _, ...asked } = exchange(1, '')
  expect(responseBytes({ ...asked, request: { headers: [] } })).toHaveLength(0)
  expect(() =>
    requestBytes({ ...asked, request: { headers: [], body: { like: 1, head: 0, text: '', tail: 0 } } }),
  ).toThrow(TypeError)
})
