import fc from 'fast-check'
import type {
  Body,
  CallEvent,
  Chunk,
  Closing,
  Draw,
  ExchangeEvent,
  HeaderPair,
  Json,
  KeptReason,
  Moment,
  Outcome,
  RecordedResponse,
  TapeEvent,
  TapeHeader,
} from '../../src/tape/index.ts'
import { currentFlags, encodeBytes, formatVersion } from '../../src/tape/index.ts'

/** What a recorder hands to a tape writer. */
export interface WrittenTape {
  readonly header: TapeHeader
  readonly events: readonly TapeEvent[]
  readonly close: Closing | undefined
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', '#', '"#":"', '\n', '\u2028', '\ufeff', '{"kind":"close"}', '\\', '\u0000'),
)
const name = fc.constantFrom('lookup_order', 'refund', 'search', 'a b', 'ü')
const url = fc.constantFrom('https://api.example/v1/chat', 'https://api.example/v1/embed', 'http://127.0.0.1:8080/mcp')
const ms = fc
  .oneof(fc.integer({ min: 0, max: 100_000 }), fc.double({ min: 0, max: 1e6, noNaN: true, noDefaultInfinity: true }))
  .map(plus0)

/** A JSON value as a tape may hold it. */
export const arbitraryJson: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json)
  .filter((value) => !hasPrototypeKey(value))

const bytes = fc.oneof(text, fc.uint8Array({ maxLength: 40 }).map(encodeBytes), fc.constant(''))

/** A number no other event has is given later, in {@link arbitraryTape}. */
type Unnumbered = TapeEvent extends infer E ? (E extends TapeEvent ? Omit<E, 'n'> : never) : never

const moment: fc.Arbitrary<Moment> = fc.tuple(fc.nat(1_000_000), ms)
const headerPairs: fc.Arbitrary<readonly HeaderPair[]> = fc.array(
  fc.tuple(fc.constantFrom('content-type', 'x-request-id'), text),
  {
    maxLength: 3,
  },
)
const maybe = <T>(key: string, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.oneof(
    fc.constant({} as Record<string, T>),
    arbitrary.map((value) => ({ [key]: value })),
  )
const base = fc
  .tuple(ms, maybe('in', fc.nat(100)), maybe('site', fc.constant('src/agent.ts:3:14')))
  .map(([at, inside, site]) => ({ at, ...inside, ...site }))

const response: fc.Arbitrary<RecordedResponse> = fc
  .tuple(
    moment,
    fc.constantFrom(200, 404, 429, 529),
    headerPairs,
    fc.array(fc.tuple(fc.nat(), ms, bytes)),
    maybe('end', moment),
  )
  .map(([head, status, headers, chunks, end]) => ({ moment: head, status, headers, chunks: chunks as Chunk[], ...end }))

/** Long bodies that share their beginning and end with others, as the turns of a conversation do. */
const conversation: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('{"messages":["Grüße 😀 an alle ', '{"messages":["'),
    fc.nat(40),
    text,
    fc.constantFrom('"],"tools":[]}', '😃"]}'),
  )
  .map(([head, turns, last, tail]) => `${head}${'and then 😀 we said 𝒳 '.repeat(turns)}${last}${tail.repeat(20)}`)

const body: fc.Arbitrary<Body> = fc.oneof({ weight: 3, arbitrary: conversation }, { weight: 1, arbitrary: bytes })

const exchange: fc.Arbitrary<Omit<ExchangeEvent, 'n'>> = fc
  .tuple(
    base,
    fc.constantFrom('undici' as const, 'http' as const, 'http2' as const, 'stdio' as const),
    fc.constantFrom('GET', 'POST'),
    url,
    headerPairs,
    maybe('body', body),
    maybe('response', response),
    maybe(
      'error',
      fc
        .tuple(text, text, moment)
        .map(([title, message, at]) => ({ name: title, message, code: 'ECONNRESET', moment: at })),
    ),
    maybe('aborted', moment),
  )
  .map(([common, via, method, to, headers, sent, answer, error, aborted]) => ({
    kind: 'exchange' as const,
    ...common,
    via,
    method,
    url: to,
    request: { headers, ...sent },
    ...answer,
    ...error,
    ...aborted,
  }))

const call: fc.Arbitrary<Omit<CallEvent, 'n'>> = fc
  .tuple(
    base,
    fc.constantFrom('tool' as const, 'retrieval' as const, 'value' as const),
    name,
    arbitraryJson,
    maybe('settled', moment),
    maybe('result', arbitraryJson),
    maybe('error', arbitraryJson),
    maybe('sync', fc.constant(true as const)),
    maybe('yields', fc.array(fc.tuple(fc.nat(), ms, arbitraryJson), { maxLength: 3 })),
  )
  .map(
    ([common, kind, called, args, ...rest]) =>
      Object.assign({ kind, ...common, name: called, args }, ...rest) as Omit<CallEvent, 'n'>,
  )

const draw: fc.Arbitrary<Draw> = fc.oneof(
  fc.tuple(fc.constantFrom('now' as const, 'perf' as const, 'random' as const, 'int' as const), name, ms),
  fc.tuple(fc.constantFrom('uuid' as const, 'bytes' as const), name, text),
)

const event: fc.Arbitrary<Unnumbered> = fc.oneof(
  { weight: 4, arbitrary: exchange },
  { weight: 2, arbitrary: call },
  {
    weight: 1,
    arbitrary: fc
      .tuple(base, fc.array(draw, { maxLength: 5 }))
      .map(([common, draws]) => ({ kind: 'draws' as const, ...common, draws })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(base, fc.array(text))
      .map(([common, command]) => ({ kind: 'spawn' as const, ...common, command })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(base, text)
      .map(([common, line]) => ({ kind: 'push' as const, ...common, url: 'stdio:server', text: line })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(base, name, name, arbitraryJson)
      .map(([common, from, to, sent]) => ({ kind: 'message' as const, ...common, from, to, body: sent })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(base, name, maybe('data', arbitraryJson))
      .map(([common, label, data]) => ({ kind: 'mark' as const, ...common, name: label, ...data })),
  },
)

/** The first line of a tape. */
export const arbitraryHeader: fc.Arbitrary<TapeHeader> = fc
  .tuple(
    name,
    maybe('input', arbitraryJson),
    maybe('commit', fc.constant('4f2a9c1')),
    maybe('packages', fc.constant({ openai: '7.55.0' })),
    maybe('command', fc.constant({ argv: ['node', 'agent.js'], cwd: '/app' })),
  )
  .map(([agent, input, commit, packages, command]) => ({
    harvest: formatVersion,
    id: '01jtestzzzzzzzzzzzzzzzzzzz',
    agent,
    ...input,
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0', ...commit, ...packages },
    ...command,
  }))

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  arbitraryJson.map((value) => ({ status: 'returned' as const, value })),
  fc.constant({ status: 'returned' as const }),
  arbitraryJson.map((error) => ({ status: 'threw' as const, error })),
  fc.constant({ status: 'exited' as const, code: null, signal: 'SIGKILL', stdout: 'half a li' }),
)

const reason: fc.Arbitrary<KeptReason> = fc
  .tuple(
    fc.constantFrom('sample', 'error', 'timeout', 'tokens', 'cost', 'tool', 'flag', 'budget'),
    maybe('detail', text),
  )
  .map(([because, detail]) => ({ because, ...detail }) as KeptReason)

const retention = fc
  .tuple(
    fc.constantFrom('clean', 'flagged', 'incident'),
    maybe('until', fc.constant('2027-03-04T05:06:07.089Z')),
    maybe('hold', text),
  )
  .map(([kind, until, hold]) => ({ class: kind, ...until, ...hold }))

const usage = fc
  .tuple(fc.nat(), fc.nat(), fc.nat(), maybe('costUsd', ms))
  .map(([modelCalls, inputTokens, outputTokens, cost]) => ({ modelCalls, inputTokens, outputTokens, ...cost }))

const timers = fc.array(
  fc.tuple(text, ms, fc.nat(), fc.array(fc.tuple(fc.nat(), fc.array(moment, { maxLength: 2 })), { maxLength: 2 })),
  { maxLength: 2 },
)

const timersInCalls = fc.array(fc.tuple(text, ms, fc.array(fc.nat(), { maxLength: 2 })), { maxLength: 2 })

/** The last line of a tape. */
export const arbitraryClosing: fc.Arbitrary<Closing> = fc
  .tuple(
    fc.nat(),
    ms,
    outcome,
    maybe('incomplete', text),
    maybe('unrecorded', fc.array(text, { maxLength: 2 })),
    maybe('kept', fc.array(reason, { maxLength: 3 })),
    maybe('retention', retention),
    maybe('usage', usage),
    maybe('timers', timers),
    maybe('timersInCalls', timersInCalls),
    maybe('timersUnheeded', timersInCalls),
    maybe('unread', fc.array(fc.nat(), { maxLength: 2 })),
    maybe('unseen', fc.array(fc.nat(), { maxLength: 2 })),
    maybe('inPart', fc.array(fc.nat(), { maxLength: 2 })),
  )
  .map(([n, at, result, ...rest]) => Object.assign({ n, at, outcome: result }, ...rest) as Closing)

/** A whole run: header, events in the order they are written, and usually a close. */
export const arbitraryTape: fc.Arbitrary<WrittenTape> = fc
  .tuple(
    arbitraryHeader,
    fc
      .array(event, { maxLength: 12 })
      .chain((events) =>
        fc
          .uniqueArray(fc.nat(1_000_000), { minLength: events.length, maxLength: events.length })
          .map((numbers) => events.map((made, at) => ({ ...made, n: numbers[at]! }) as TapeEvent)),
      ),
    fc.option(arbitraryClosing, { nil: undefined, freq: 5 }),
  )
  .map(([header, events, close]) => ({ header, events, close }))

/** What reading the tape must give. */
export function asRead({ header, events, close }: WrittenTape): {
  header: TapeHeader
  events: readonly TapeEvent[]
  close?: object
} {
  return {
    header,
    events: events.toSorted((a, b) => a.n - b.n),
    ...(close !== undefined && { close: { kind: 'close', events: events.length, ...close } }),
  }
}

/** JSON has no -0. */
function plus0(value: number): number {
  return value + 0
}

function hasPrototypeKey(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some((item: Json) => hasPrototypeKey(item))
}
