import type { HarvestError } from '../errors/index.ts'
import type { NotCompared } from './redacted.ts'
import type { Step, Tape, TapeEvent } from '../tape/types.ts'

/** A difference that did not stop the replay, by what differed. */
export type DriftClass =
  | 'encoding'
  | 'endpoint'
  | 'model'
  | 'instructions'
  | 'tools'
  | 'params'
  | 'messages'
  | 'arguments'
  | 'headers'
  | 'guards'
  | 'credentials'
  | 'redacted'
export const driftClasses: readonly DriftClass[] = [
  'encoding',
  'endpoint',
  'model',
  'instructions',
  'tools',
  'params',
  'messages',
  'arguments',
  'headers',
  'guards',
  'credentials',
  'redacted',
]
export type DriftPolicy = 'ignore' | 'report' | 'fail'

export interface Drift {
  readonly class: DriftClass
  /** `n` of the recorded event that was served. */
  readonly step: number
  /** 1-based, for people. */
  readonly stepNumber: number
  /** Where it differs, such as `messages[0].content`. */
  readonly path: string
  readonly recorded: string
  readonly live: string
  readonly site?: string
}

/** Something that reached for the world around the seam. */
export interface Escape {
  /** `socket`, `dns.lookup`, `child_process`, `worker`, … */
  readonly kind: string
  readonly target: string
  /** `file:line:column` of the user's code. */
  readonly site?: string
  /** Whether it was let through (`escapes: 'report'` or on the allow list). */
  readonly allowed: boolean
}

export interface ReplayOptions {
  /** Aborts the run: afterwards no patched call of it does anything. */
  readonly signal?: AbortSignal
  /** Default: every class `report`. */
  readonly drift?: DriftPolicy | Partial<Record<DriftClass, DriftPolicy>>
  /**
   * What to do where the agent brings a value the tape has a placeholder for and the two cannot be compared. `report`
   * (default): say so; `fail`: drift of the class `redacted`. A value that was compared and is another one is such drift
   * either way.
   */
  readonly redacted?: 'report' | 'fail'
  /** Default `error`. */
  readonly escapes?: 'error' | 'report'
  /** Escapes to let through, such as `socket 127.0.0.1:5432`; `*` matches anything. Default none. */
  readonly allow?: readonly string[]
  /** How far the serve ladder may climb. Default `reworded`. */
  readonly serve?: ServeRung
  /** Every body must be byte-identical and every recorded event consumed (`harvest verify`). Default false. */
  readonly strict?: boolean
}

/** The serve ladder, strictest first; each rung includes those before it. */
export type ServeRung = 'exact' | 'canonical' | 'conversation' | 'reworded'
export const serveRungs: readonly ServeRung[] = ['exact', 'canonical', 'conversation', 'reworded']

export type RunOutcome<T = unknown> =
  | { readonly status: 'returned'; readonly value: T }
  | { readonly status: 'threw'; readonly error: unknown }

/** Everything a replay has to say. Whether the test is green is decided by who asked. */
export interface ReplayResult<T = unknown> {
  readonly tape: Tape
  readonly outcome: RunOutcome<T>
  /** Errors of the replay itself, first one first: divergences, escapes, spins, leaks. Empty when the replay held. */
  readonly problems: readonly HarvestError[]
  readonly drift: readonly Drift[]
  readonly escapes: readonly Escape[]
  /** Recorded steps the agent never asked for. Each is also in `problems`, in one error. */
  readonly unused: readonly Step[]
  /** Wrapped functions that ran for real because they were marked `replay: 'run'`. */
  readonly ranForReal: readonly string[]
  /**
   * Values the agent brought in itself and the tape has placeholders for, such as an address in its code: another one
   * in the same place looks the same. Without credentials. Empty for a fork, which may get them from a live answer.
   */
  readonly notCompared: readonly NotCompared[]
  /** What this replay did, in the shape of a tape, so that a trace can be read from either. */
  readonly events: readonly TapeEvent[]
  readonly receipt: Receipt
}

/** Counts behind `harvest verify`. */
export interface Receipt {
  /** Exchanges and calls on the tape. */
  readonly recorded: number
  /** How many were served. */
  readonly served: number
  /** How many lay inside a served tool call, so that nobody had to ask for them. */
  readonly covered: number
  /** Request bodies and call arguments that were byte-identical. */
  readonly identical: number
  readonly deliveries: number
  /** Deliveries made out of recorded order because the agent waited for something else. */
  readonly relaxed: number
  readonly timersFired: number
  readonly drawsServed: number
  readonly drawsMissed: number
  /** Whether the return value or error equals the recorded one. */
  readonly outcomeEqual: boolean
}
