import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportTape } from '../../src/exporters/index.ts'
import { importRecording } from '../../src/importers/index.ts'
import { readModelCall } from '../../src/providers/index.ts'
import {
  type CallEvent,
  decodeValue,
  encodeValue,
  type Outcome,
  parseTape,
  readTape,
  serializeTape,
  type Tape,
  type TapeEvent,
} from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { runOf, tapeOf, turns } from './runs.ts'
import { linesOf } from './spans.ts'

/** The tape the spans of a tape become when they are imported. */
function back(tape: Tape): Tape {
  const bytes = Buffer.from(`${linesOf(tape).join('\n')}\n`)
  const { header, events, close } = importRecording({ file: 'x.jsonl', bytes, id: 'desk-1', agent: 'desk' })
  return parseTape(serializeTape(header, events, close), 'desk-1.tape.jsonl')
}

const layersOf = ({ events }: Tape): readonly object[] =>
  traceOf(events).layers.map((layer) => layer.map(({ name, args }) => ({ name, args })))

const callsOf = ({ events }: Tape): readonly object[] =>
  events
    .filter((event): event is CallEvent => event.kind === 'tool' || event.kind === 'retrieval')
    .map(({ kind, name, args, result, yields, error, in: inside }) => ({
      kind,
      name,
      args,
      // Pieces come back as a list of them.
      result: yields?.map(([, , value]) => value) ?? result,
      error,
      // Numbers change; which call it happened in does not.
      inside: events.find(({ n }) => n === inside && inside !== undefined)?.kind,
    }))

/** When each call began and ended, in microseconds since the first of them; `open` when it never did. */
const timesOf = ({ events }: Tape): readonly object[] => {
  const calls = events.filter((event): event is CallEvent => event.kind === 'tool')
  const micro = (at: number): number => Math.round((at - (calls[0]?.at ?? 0)) * 1000)
  return calls.map(({ at, settled }) => [micro(at), settled === undefined ? 'open' : micro(settled[1])])
}

/** What the models were asked for, as the mark of an import has it. */
const modelsOf = ({ events }: Tape): readonly object[] =>
  events.flatMap((event) => {
    if (event.kind === 'mark' && event.name === 'model') {
      const { asked, answered, finish, usage, provider } = event.data as Record<string, unknown>
      return [{ asked, answered, finish, usage, provider }]
    }
    const call = event.kind === 'exchange' ? readModelCall(event) : undefined
    if (call === undefined) return []
    const { model: answered, finish, usage } = call.response ?? {}
    return [{ asked: call.request.model, answered, finish, usage, provider: 'openai' }]
  })

/** Of any kind a function can take or give; short texts, for nothing in them is to be redacted. */
const arbitraryValue = fc.anything({
  key: fc.constantFrom('a', 'b', '$type'),
  values: [
    fc.constantFrom('', 'x', '[1]', 'null'),
    fc.integer(),
    fc.constant(null),
    fc.constant(undefined),
    fc.boolean(),
  ],
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withSparseArray: true,
  maxDepth: 3,
})

const saidBy = (from: string, events: readonly TapeEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.kind === 'message' && event.from === from ? [event.body] : []))

describe('the spans of a tape, imported again', () => {
  it('for every run: the same calls, results, models, tokens, times and causal order', () => {
    fc.assert(
      fc.property(turns, (taken) => {
        const tape = runOf(taken)
        const again = back(tape)
        expect(layersOf(again)).toEqual(layersOf(tape))
        expect(callsOf(again)).toEqual(callsOf(tape))
        expect(modelsOf(again)).toEqual(modelsOf(tape))
        expect(timesOf(again)).toEqual(timesOf(tape))
      }),
      { numRuns: 40 },
    )
  })

  it('what was said is told once', () => {
    const { events } = back(
      runOf([{ calls: [{ name: 'lookup_order', args: {}, result: 'found' }], together: true }], 'Done.'),
    )
    expect([saidBy('system', events), saidBy('user', events), saidBy('model', events)]).toEqual([
      ['Be kind.'],
      ['Refund A-17.'],
      ['Done.'],
    ])
  })

  it('values that look like others stay what they are', () => {
    const values = ['{"a":1}', ' [1]', '', null, 'null', 0, 1.5, false, ['x'], {}, '(1,)', '"a"']
    const calls = values.map((result, at) => ({ name: 'lookup_order', args: { at }, result }))
    const tape = runOf([{ calls, together: false }])
    expect(callsOf(back(tape))).toEqual(callsOf(tape))
  })

  it('for every value, JSON or not, arguments and results come back as they stand on the tape', () => {
    fc.assert(
      fc.property(fc.array(arbitraryValue, { minLength: 1, maxLength: 4 }), (values) => {
        const events = values.map((value, i): TapeEvent => {
          const [args, result] = [encodeValue({ value: [value] }), encodeValue(value)]
          return { kind: 'tool', n: 2 * i, at: i, name: 'echo', args, settled: [2 * i + 1, i], result }
        })
        expect(callsOf(back(tapeOf(events)))).toEqual(callsOf(tapeOf(events)))
      }),
      { numRuns: 100 },
    )
  })

  it('a mark that makes no sense is taken for what was said', () => {
    const result = { $type: 'no-such-thing' }
    const tape = tapeOf([{ kind: 'tool', n: 1, at: 1, name: 'echo', args: {}, settled: [2, 2], result }])
    const [call] = back(tape).events as [CallEvent]
    expect(decodeValue(call.result!)).toEqual(result)
  })

  it('input and outcome come back, unless the program exited or content was left out', () => {
    const input = encodeValue({ ticket: 'A-17', since: new Date(0) })
    const call: TapeEvent = { kind: 'tool', n: 1, at: 1, name: 'echo', args: {}, settled: [2, 2], result: 1 }
    const told = (outcome: Outcome): unknown => {
      const { header, close } = back(tapeOf([call], { header: { input }, close: { n: 9, at: 9, outcome } }))
      return [header.input, close?.outcome, header.imported?.missing.filter((word) => /input|outcome/.test(word))]
    }
    const returned: Outcome = { status: 'returned', value: encodeValue(new Map([[1, 2]])) }
    expect(told(returned)).toEqual([input, returned, []])
    const threw: Outcome = { status: 'threw', error: encodeValue(new TypeError('no stock')) }
    expect(told(threw)).toEqual([input, threw, []])
    expect(told({ status: 'exited', code: 1 })).toEqual([input, { status: 'unknown' }, ['outcome']])
    expect(told({ status: 'returned' })).toEqual([input, { status: 'unknown' }, ['outcome']])
    expect(told({ status: 'unknown' })).toEqual([input, { status: 'unknown' }, ['outcome']])
  })

  it('a step without an answer has none, and what is inside a tool stays there', () => {
    const tape = tapeOf([
      { kind: 'tool', n: 1, at: 1, name: 'outer', args: {}, settled: [9, 9], result: 1 },
      {
        kind: 'retrieval',
        n: 2,
        at: 2,
        in: 1,
        name: 'policies',
        args: ['refund', { top: 3 }],
        settled: [3, 3],
        result: ['a'],
      },
      {
        kind: 'tool',
        n: 4,
        at: 4,
        name: 'failed',
        args: {},
        settled: [5, 5],
        error: encodeValue(new TypeError('no stock')),
      },
      { kind: 'tool', n: 6, at: 6, name: 'open', args: { id: 1 } },
    ])
    expect(callsOf(back(tape))).toEqual(callsOf(tape))
    expect(timesOf(back(tape))).toEqual(timesOf(tape))
  })

  it('an imported trace that is exported comes back as it was', () => {
    const once = back(
      runOf([{ calls: [{ name: 'lookup_order', args: { id: 1 }, result: 'x' }], together: false }], 'Done.'),
    )
    const twice = back(once)
    expect(twice.events).toEqual(once.events)
    expect(twice.header.imported).toEqual(once.header.imported)
  })

  it('times nobody recorded stay unknown', () => {
    const imported = { format: 'aimock', grade: 'signature-only', missing: ['start', 'timings'] } as const
    const events: TapeEvent[] = [{ kind: 'tool', n: 1, at: 1, name: 'lookup_order', args: {} }]
    const tape = tapeOf(events, { header: { imported, startedAt: '1970-01-01T00:00:00.000Z' } })
    expect(back(tape).header.imported?.missing).toEqual(expect.arrayContaining(['start', 'timings']))
  })

  it('without content the same tools and models are there, and nothing they said', () => {
    const tape = runOf([{ calls: [{ name: 'lookup_order', args: { id: 'A-17' }, result: 'found' }], together: false }])
    const pieces = exportTape(tape, 'otlp', { withContent: false }).pieces
    const bytes = Buffer.from([...pieces].join(''))
    const { facts, events } = importRecording({ file: 'x.jsonl', bytes, id: 'x', agent: 'x' })
    expect(facts).toMatchObject({ modelCalls: 2, tools: ['lookup_order'] })
    expect(JSON.stringify(events)).not.toMatch(/A-17|found|Done/)
  })
})

describe('a recorded run', () => {
  const recorded = readTape(join(import.meta.dirname, '../history/v1.tape.jsonl'))

  it('has the same calls and the same causal order after its spans were imported', () => {
    expect(layersOf(back(recorded))).toEqual(layersOf(recorded))
    expect(callsOf(back(recorded))).toEqual(callsOf(recorded))
  })
})
