import type { ExchangeObserver, ExchangeStart } from '../seam/observe/observer.ts'
import type { Codes } from '../seam/code-of.ts'
import type { BodyUse } from '../seam/reading.ts'
import type { SeamDrawKind } from '../seam/source.ts'
import type { HarvestError } from '../errors/index.ts'
import type { Cutting } from '../privacy/index.ts'
import type { CallEvent, Json, LateWork, Moment, Step } from '../tape/index.ts'
import type { RunAccount, RunHandle } from './run-stats.ts'
import type { RunNote } from './redact-event.ts'
import type { TimerLog } from './timers.ts'

/** An answer that comes in pieces. */
export interface Arriving {
  /** The step with the pieces that can be written; `undefined` when nothing is new. */
  soFar(): Step | undefined
  /** More had arrived than was written. */
  readonly isBehind: boolean
}

/** A run as wrapped functions are recorded in it. */
export interface CallRecording {
  readonly account: RunAccount
  readonly codes: Codes
  /** @param after - the piece of the same answer that came before */
  moment(after?: Moment): Moment
  /** A value as it is now. */
  encode(value: unknown): Json
  /** What is encoded already, or what is left of it if it is larger than a body may be. */
  capped(value: Json, how?: Cutting): Json
  /** What is encoded already, as it may be kept. */
  clean(value: Json): Json
  /** As that, of what a call is named. */
  cleanName(name: string): string
  warn(error: HarvestError): void
  /** An answer comes in pieces. */
  arriving(answer: Arriving): void
  called(event: CallEvent): void
  /** What there is of the answer to a call that is not completed by the end of the run. */
  leftOpen(event: CallEvent, soFar: () => Partial<CallEvent>): void
  /** Completes a call, once. */
  answered(event: CallEvent, rest: () => Partial<CallEvent>): void
  /** Does recorder work; a failure is a warning and an incomplete tape, never an error of the agent. */
  attempt(work: () => void): void
}

/** A run that is listened to: written as it goes, or held in memory until it is judged. */
export interface Recording extends CallRecording {
  readonly id: string
  readonly over: boolean
  readonly handle: RunHandle
  readonly timers: TimerLog
  /** Which answers are read, by the numbers of their steps. */
  readonly reads: Map<number, BodyUse>
  note(note: RunNote): void
  drew(kind: SeamDrawKind, caller: string, value: unknown): void
  exchange(start: ExchangeStart, where: { readonly in?: number }): ExchangeObserver
  spokeTo(url: string): void
  spawned(command: readonly string[]): void
  unrecorded(what: string): void
  /** The agent did this after the run ended. */
  late(work: LateWork): void
}
