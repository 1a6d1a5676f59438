import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { sealLine } from '../../src/tape/digest.ts'
import {
  begunFlag,
  type CallEvent,
  createTapeWriter,
  type ExchangeEvent,
  parseTape,
  readTape,
  streamTape,
  type TapeEvent,
} from '../../src/tape/index.ts'
import { requireClosed } from '../../src/tape/closed.ts'
import { cutOffText, openCallsOf } from '../../src/tape/cut-off.ts'
import { call, closing, exchange, header, mark, scratch } from './make.ts'

const flagged = { ...header, flags: [...header.flags, begunFlag] }

const asked = (event: ExchangeEvent): ExchangeEvent => {
  const { response: _, ...rest } = event
  return rest
}
const called = ({ settled: _, result: __, ...rest }: CallEvent): CallEvent => rest

/** Writes what `write` writes and reads it, whole and line by line. */
async function through(
  write: (writer: ReturnType<typeof createTapeWriter>) => void,
): Promise<{ readonly tape: ReturnType<typeof readTape>; readonly streamed: readonly unknown[] }> {
  const path = join(scratch(), 'a.tape.jsonl')
  const writer = createTapeWriter({ path, header: flagged })
  write(writer)
  const streamed: unknown[] = []
  for await (const line of streamTape(path)) streamed.push(line)
  return { tape: readTape(path), streamed }
}

test('steps written in parts, in any interleaving, are read as if each stood on one line', async () => {
  const body = 'the customer asked for a refund of order A-17, and then '.repeat(8)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          isCall: fc.boolean(),
          pieces: fc.array(fc.string(), { maxLength: 4 }),
          early: fc.nat(4),
          isBegun: fc.boolean(),
          isLate: fc.boolean(),
        }),
        { maxLength: 6 },
      ),
      fc.infiniteStream(fc.nat(1000)),
      async (plans, chance) => {
        const events: (ExchangeEvent | CallEvent)[] = plans.map(({ isCall, pieces }, index) => {
          const n = index * 20
          if (isCall) return { ...call(n, 'look'), yields: pieces.map((text, at) => [n + 2 + at, n, text] as const) }
          const chunks = pieces.map((text, at) => [n + 2 + at, n, text] as const)
          const whole = exchange(n, body + index)
          return { ...whole, response: { ...whole.response!, chunks, end: [n + 15, n] as const } }
        })
        const queues = plans.map(({ isBegun, isLate, early }, index) => {
          const event = events[index]!
          if (!isBegun) return [() => [event]]
          if (event.kind !== 'exchange')
            return [
              () => [{ part: 'begun' as const, event: called({ ...event, yields: [] }) }],
              () => [{ part: 'pieces' as const, event: { ...called(event), yields: event.yields!.slice(0, early) } }],
              () => [event],
            ]
          const { body: _, ...named } = event.request
          const some = { ...event, response: { ...event.response!, chunks: event.response!.chunks.slice(0, early) } }
          return [
            ...(isLate ? [() => [{ part: 'begun' as const, event: { ...asked(event), request: named } }]] : []),
            () => [{ part: 'begun' as const, event: asked(event) }],
            () => [{ part: 'pieces' as const, event: some }],
            () => [event],
          ]
        })
        const { tape, streamed } = await through((writer) => {
          while (queues.some((queue) => queue.length > 0)) {
            const left = queues.filter((queue) => queue.length > 0)
            writer.append(...left[chance.next().value % left.length]!.shift()!())
          }
          writer.close(closing)
        })
        const expected = events.map((event) =>
          event.kind !== 'exchange' && event.yields?.length === 0 ? expect.objectContaining({ n: event.n }) : event,
        )
        expect(tape.events).toEqual(expected)
        expect(tape.close?.outcome).toEqual(closing.outcome)
        expect(streamed).toHaveLength(events.length + 1)
      },
    ),
    { seed: 7, numRuns: 60 },
  )
})

test('what the end says differently from the pieces before it is said again', async () => {
  const whole = exchange(1, 'q')
  const [one, two] = [[3, 1, 'sk-'] as const, [4, 1, 'tail'] as const]
  const answered = (...chunks: (typeof one | typeof two)[]): ExchangeEvent => ({
    ...whole,
    response: { ...whole.response!, chunks },
  })
  const clean = answered([3, 1, 'redacted-key-1'] as never, two)
  const { tape } = await through((writer) => {
    writer.append({ part: 'begun', event: asked(whole) })
    writer.append({ part: 'pieces', event: answered(one) })
    writer.append(clean)
    writer.close(closing)
  })
  expect(tape.events).toEqual([clean])
})

test('a tape cut off in a call names it with its request, and with what had arrived', async () => {
  const open = exchange(7, '{"q":"refund?"}')
  const first = { ...open.response!, chunks: [[9, 50, 'data: 1\n\n'] as const] }
  const { end: _, ...head } = first
  const { tape, streamed } = await through((writer) => {
    writer.append(mark(1, 'begin'), { ...call(2, 'look'), settled: [3, 2.5] })
    writer.append({ part: 'begun', event: { ...asked(open), at: 41_002.5 } })
    writer.append({ part: 'pieces', event: { ...open, response: head } })
    writer.append({ part: 'begun', event: called(call(12, 'refund', { id: 'A-17' })) })
  })
  expect(tape.close).toBeUndefined()
  expect(tape.events.at(-2)).toEqual({ ...open, at: 41_002.5, response: head })
  expect(tape.events.at(-1)).toEqual(called(call(12, 'refund', { id: 'A-17' })))
  expect(streamed).toEqual(tape.events)
  expect(cutOffText(openCallsOf(tape))).toBe(
    'cut off in call 2, POST https://api.example/v1/messages, begun 05:06:48, 41 s after the last event; ' +
      'call 3, tool refund, begun 05:06:07, 4 ms after the last event',
  )
  expect(() => requireClosed(tape)).toThrow('cut off in call 2, POST https://api.example/v1/messages')
})

test('every cut of a tape in parts loads, with each event whose first line is whole', () => {
  const path = join(scratch(), 'a.tape.jsonl')
  const writer = createTapeWriter({ path, header: flagged })
  const [one, two] = [exchange(1, 'first '.repeat(60)), exchange(5, `${'first '.repeat(60)}second`)]
  writer.append({ part: 'begun', event: asked(one) })
  writer.append({ part: 'begun', event: asked(two) })
  writer.append(two, one)
  writer[Symbol.dispose]()
  const text = readFileSync(path, 'utf8')
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index).slice(1)
  const seen: readonly TapeEvent[][] = [[], [asked(one)], [asked(one), asked(two)], [asked(one), two], [one, two]]
  for (let at = text.indexOf('\n') + 1; at < text.length; at++) {
    const tape = parseTape(text.slice(0, at), 'a')
    // A line is whole once its brace is there, line feed or not.
    const whole = ends.filter((end) => end <= at).length
    expect(tape.events).toEqual(seen[whole])
  }
})

test.each<[string, readonly object[]]>([
  ['has not begun', [{ kind: 'tool', n: 1, part: 'rest', settled: [2, 1] }]],
  ['has not begun', [{ kind: 'tool', n: 1, part: 'pieces', yields: [] }]],
  ['nothing is known of part "end"', [begun(), { kind: 'tool', n: 1, part: 'end' }]],
  ['which is of another kind', [begun(), { kind: 'value', n: 1, part: 'rest' }]],
  ['counts other pieces', [begun(), { kind: 'tool', n: 1, part: 'rest', pieces: 1 }]],
  ['it holds no pieces', [begun(), { kind: 'tool', n: 1, part: 'pieces' }]],
  ['its pieces are none', [begun(), { kind: 'tool', n: 1, part: 'pieces', yields: [[1]] }]],
  ['the tape has another event 1', [begun(), { kind: 'tool', n: 1, part: 'rest' }, begun()]],
  ['settled is not a moment', [begun(), { kind: 'tool', n: 1, part: 'rest', settled: 1 }]],
])('a line that goes on where nothing began is refused: %s', (words, lines) => {
  let digest = ''
  const text = [flagged, ...lines].map((line) => {
    const made = sealLine(digest, JSON.stringify(line))
    digest = made.digest
    return made.bytes.toString('utf8')
  })
  const error = thrown(() => parseTape(text.join(''), 'a.tape.jsonl'))
  expect([error.code, error.message]).toEqual(['HARVEST_TAPE_LINE', expect.stringContaining(words)])
})

function begun(): object {
  return { kind: 'tool', n: 1, part: 'begun', at: 0, name: 'look', args: {} }
}

function thrown(run: () => unknown): HarvestError {
  try {
    run()
  } catch (error) {
    if (HarvestError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
