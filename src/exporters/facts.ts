import { grouped } from '../errors/words.ts'
import { CallsOnce, type CountedCall } from '../providers/counted.ts'
import { isUnderWay, type ModelCall, readModelCall } from '../providers/index.ts'
import type { ExchangeEvent, Moment, Step, Tape, TapeEvent } from '../tape/index.ts'

/** What the recording of a tape did not say about times. Tapes of our own recorder say everything. */
export interface MissingTimes {
  /** It is unknown when the run began: it stands in 1970. */
  readonly start: boolean
  /** Moments tell the order and nothing else. */
  readonly timings: boolean
}

export function missingTimes({ header: { imported } }: Pick<Tape, 'header'>): MissingTimes {
  const isMissing = (word: string): boolean => imported?.missing.includes(word) === true
  return { start: isMissing('start'), timings: isMissing('timings') || isMissing('starts') }
}

/** When the run began, epoch ms; 0 when its tape says what is no date. */
export function startOf({ header }: Pick<Tape, 'header'>): number {
  const ms = Date.parse(header.startedAt)
  return Number.isNaN(ms) ? 0 : ms
}

/** A number of milliseconds a date can tell: a damaged tape may hold any. */
export function datable(ms: number): number {
  return Math.max(-latestMs, Math.min(latestMs, ms))
}

const latestMs = 8.64e15

/** What a reader of an export has to know about the tape it was made of. */
export function notesOn(tape: Tape): readonly string[] {
  const { start, timings } = missingTimes(tape)
  const { imported } = tape.header
  return [
    ...(tape.close === undefined ? ['the tape is truncated: the run is exported as far as it was recorded'] : []),
    ...(tape.close?.incomplete === undefined ? [] : [`the recording is incomplete: ${tape.close.incomplete}`]),
    ...(imported === undefined ? [] : [`imported from ${imported.format}, ${imported.grade}`]),
    ...(tape.close?.outcome.status === 'unknown'
      ? ['the outcome is unknown: the import did not see how the run ended']
      : []),
    ...(timings ? ['times were not recorded: those of the export tell the order and nothing else'] : []),
    ...(start && !timings ? ['the start of the run is unknown: its times begin in 1970'] : []),
  ]
}

/** The moment a step was over; `undefined` when it never was. */
export function endOf(step: Step): Moment | undefined {
  if (step.kind !== 'exchange') return step.settled ?? (step.sync === true ? [step.n, step.at] : undefined)
  const { response, error, aborted, oneWay } = step
  return response?.end ?? error?.moment ?? aborted ?? (oneWay === true ? [step.n, step.at] : undefined)
}

/** What went wrong. */
export interface Failure {
  /** A word of few values. */
  readonly type: string
  /** What was said: content. */
  readonly message?: string
}

/** The model call an exchange was; a poll that found no answer yet is not one. */
export function modelCallOf(event: TapeEvent): ModelCall | undefined {
  const call = event.kind === 'exchange' ? readModelCall(event) : undefined
  if (!call?.isPoll) return call
  const { text = '', toolCalls = [], error } = call.response ?? {}
  return text === '' && toolCalls.length === 0 && error === undefined ? undefined : call
}

/**
 * The model calls of a tape as they are counted, in order: tokens that are reported again stand with the call that asked, and
 * polls are no calls.
 */
export function countedCalls({ events }: Pick<Tape, 'events'>): readonly CountedCall[] {
  const calls = new CallsOnce()
  for (const event of events) {
    const call = event.kind === 'exchange' ? readModelCall(event) : undefined
    if (call !== undefined) calls.add(call)
  }
  return calls.all
}

/**
 * Why an exchange has no whole answer. A client may hang up once a model has finished: that is no failure, and not the
 * same each time.
 */
export function failureOf(event: ExchangeEvent): Failure | undefined {
  const { error, aborted, response } = event
  if (error !== undefined) return { type: error.code ?? error.name, message: `${error.name}: ${error.message}` }
  if (aborted === undefined || response?.end !== undefined) return undefined
  const said = readModelCall(event)?.response
  return said?.finish !== undefined && !isUnderWay(said)
    ? undefined
    : { type: 'cancelled', message: 'the client gave up' }
}

/** How many of a thing there are, in words. */
export type Noun = readonly [one: string, many: string]

/** `2 tool calls`, for each of these kinds of events there is. */
export function counted(events: readonly TapeEvent[], kinds: readonly UncountedKind[]): readonly string[] {
  return kinds.flatMap((kind) =>
    countOf(
      events.reduce((sum, event) => sum + sizeOf(event, kind), 0),
      nouns[kind],
    ),
  )
}

/** `2 draws`, or nothing. */
export function countOf(count: number, [one, many]: Noun): readonly string[] {
  return count === 0 ? [] : [`${grouped(count)} ${count === 1 ? one : many}`]
}

type UncountedKind = Exclude<TapeEvent['kind'], 'exchange'>

const nouns: Readonly<Record<UncountedKind, Noun>> = {
  tool: ['tool call', 'tool calls'],
  retrieval: ['retrieval', 'retrievals'],
  value: ['named value', 'named values'],
  draws: ['clock, random or id read', 'clock, random and id reads'],
  message: ['message', 'messages'],
  mark: ['mark', 'marks'],
  state: ['state', 'states'],
  spawn: ['child process', 'child processes'],
  push: ['pushed line', 'pushed lines'],
}

function sizeOf(event: TapeEvent, kind: UncountedKind): number {
  if (event.kind !== kind) return 0
  return event.kind === 'draws' ? event.draws.length : 1
}
