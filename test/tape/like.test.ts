import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, TapeEvent } from '../../src/tape/index.ts'
import { parseTape, requestBytes, serializeTape } from '../../src/tape/index.ts'
import { likeWindow, RecentBodies } from '../../src/tape/like.ts'
import { closing, exchange, header, mark } from './make.ts'

/** The request bodies as they stand on the lines. */
function written(events: readonly TapeEvent[]): Json[] {
  return serializeTape(header, events, closing)
    .split('\n')
    .slice(1, -2)
    .map((line) => (JSON.parse(line) as { request: { body: Json } }).request.body)
}

function readBack(events: readonly TapeEvent[]): (string | undefined)[] {
  return parseTape(serializeTape(header, events, closing), 'x').events.map((event) =>
    event.kind === 'exchange' ? requestBytes(event).toString() : undefined,
  )
}

const turn = 'A turn of the conversation, long enough to be worth a reference. '.repeat(5)

test('a conversation that grows is written once', () => {
  const bodies = [`[${turn}]`, `[${turn}${turn}]`, `[${turn}${turn}${turn}]`]
  const events = bodies.map((body, at) => exchange(at * 10, body))
  expect(written(events)).toStrictEqual([
    `[${turn}]`,
    { like: 0, head: turn.length + 1, text: turn, tail: 1 },
    { like: 10, head: 2 * turn.length + 1, text: turn, tail: 1 },
  ])
  expect(readBack(events)).toStrictEqual(bodies)
})

test('a body that a retry sends again is nothing but a reference', () => {
  const events = [exchange(0, turn), exchange(10, turn)]
  expect(written(events)[1]).toStrictEqual({ like: 0, head: turn.length, text: '', tail: 0 })
  expect(readBack(events)).toStrictEqual([turn, turn])
})

test('two conversations with one URL each refer to their own', () => {
  const [a, b] = ['a'.repeat(500), 'b'.repeat(500)]
  const events = [exchange(0, a), exchange(10, b), exchange(20, `${a}!`), exchange(30, `${b}?`)]
  expect(written(events).slice(2)).toMatchObject([{ like: 0 }, { like: 10 }])
})

test('what saves little stays readable: short bodies, and bodies mostly of their own', () => {
  const short = 'x'.repeat(199)
  expect(written([exchange(0, short), exchange(10, short)])[1]).toBe(short)
  const events = [exchange(0, `${turn}${'a'.repeat(400)}`), exchange(10, `${turn}${'b'.repeat(400)}`)]
  expect(written(events)[1]).toBe(`${turn}${'b'.repeat(400)}`)
})

test('another URL is another conversation', () => {
  const elsewhere = { ...exchange(10, turn), url: 'https://other.example/' }
  expect(written([exchange(0, turn), elsewhere])[1]).toBe(turn)
})

test('binary bodies are written as they are', () => {
  const binary = { ...exchange(10, ''), request: { headers: [], body: { base64: 'AAECAw==' } } }
  expect(written([exchange(0, turn), binary])[1]).toStrictEqual({ base64: 'AAECAw==' })
  expect(requestBytes(binary)).toStrictEqual(Buffer.from([0, 1, 2, 3]))
})

test('a reference reaches back over other lines, as far as the window and no further', () => {
  const between = (count: number): TapeEvent[] =>
    Array.from({ length: count }, (_, at) => ({ ...exchange(100 + at, `${at}`), url: 'https://other.example/' }))
  const events = (count: number): TapeEvent[] => [exchange(0, turn), ...between(count), exchange(900, turn)]
  expect(written(events(likeWindow - 1)).at(-1)).toMatchObject({ like: 0 })
  expect(written(events(likeWindow)).at(-1)).toBe(turn)
  expect(readBack(events(likeWindow - 1)).at(-1)).toBe(turn)
})

test('for every pair of bodies, the reference gives the second back and parts no surrogate pair', () => {
  const part = fc.constantFrom('😀', '😃', '𝒳', 'é', '\ud83d', '\ude00', 'ab', '"', '\\', 'x'.repeat(5000))
  const long = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))
  const pair = fc
    .tuple(long, long, long, long, long)
    .map(([head, a, b, tail, more]) => [`${head}${a}${tail}`, `${head}${b}${tail}${more}`] as const)
  let references = 0
  fc.assert(
    fc.property(pair, ([first, second]) => {
      const bodies = new RecentBodies()
      bodies.remember(1, 'u', first)
      const like = bodies.findLike('u', second)
      if (like === undefined) return
      references++
      expect(bodies.resolve(like)).toBe(second)
      const cuts = [like.head, second.length - like.tail]
      for (const at of cuts) expect(/^[\ud800-\udbff][\udc00-\udfff]$/.test(second.slice(at - 1, at + 1))).toBe(false)
    }),
    { numRuns: 1000 },
  )
  expect(references).toBeGreaterThan(100)
})

test('events without a body are left alone', () => {
  const { request, ...rest } = exchange(10, '')
  const bare = { ...rest, request: { headers: request.headers } }
  expect(readBack([bare, mark(20, 'x')])).toStrictEqual(['', undefined])
})
