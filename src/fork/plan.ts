import type { Json, Step, Tape, TapeEvent } from '../tape/types.ts'
import type { SameHosts } from '../match/hosts-option.ts'
import type { ReplayResult } from '../match/types.ts'
import type { HarvestError } from '../errors/index.ts'
import type { Budget } from '../live/budget.ts'
import type { Control } from './control.ts'
import type { Spent } from '../live/budget.ts'
import type { Patch } from './patch.ts'

/** One run that parts from its tape: how far it is bound, what is another one, and who answers from there on. */
export interface ForkPlan {
  /**
   * Steps 1 to `keep` answer as recorded, byte for byte, and must be asked for as recorded; the run is free from the
   * step behind. 0: nothing is kept. The number of steps of the tape: everything is.
   */
  readonly keep: number
  /** How the kept steps may be asked for. `exact` (default): byte for byte. `canonical`: also in another spelling. */
  readonly kept?: 'exact' | 'canonical'
  /** Answers that are other ones, at the kept steps or behind them. Default none. */
  readonly changes?: readonly PlannedChange[]
  /**
   * Single steps behind the kept ones that are answered otherwise than the tail says. `replayed`: as recorded, where
   * the same is asked for. `held`: as recorded at its place in its conversation, no matter what a model is asked there; where
   * nothing says which place that is, it is asked again. `live`: asked again.
   */
  readonly modes?: Readonly<Record<number, 'replayed' | 'held' | 'live'>>
  readonly tail: Tail
  /** Whether clock, random numbers and ids behind the kept steps are resampled (default), or as recorded while they last. */
  readonly chance?: 'anew' | 'recorded'
  /** Milliseconds by which the clock is ahead of the tape's. Default 0. */
  readonly clockOffsetMs?: number
  /** Forks that differ in nothing else draw other random numbers and ids. Default `''`. */
  readonly seed?: string
  /**
   * The run as today's code does it: kept steps must be asked for as it asks, and the outcome is compared with its. Default:
   * the recording.
   */
  readonly control?: Pick<Control, 'tape' | 'leftOut'> & Partial<Pick<Control, 'digest' | 'commit'>>
  /** The code that runs, as git knows it: the pins of the branch. */
  readonly code?: { readonly commit?: string; readonly dirty?: boolean }
}

/** An answer that is another one. */
export type PlannedChange =
  /** One value of a recorded input. */
  | Patch
  /** The step as it should have been recorded. Used once: asked for again, the recorded answer is given, unless `always`. */
  | { readonly step: number; readonly rewrite: (step: Step) => Step; readonly always?: boolean }
  /**
   * Answers before that: the first time the step is asked for the first of them, asked again the second, and so on. Then
   * come the changes above, or what was recorded.
   */
  | { readonly step: number; readonly attempts: readonly ((step: Step) => Step)[] }
  /** What the model decided: these tool calls instead of its own, in the bytes of its dialect; or a final text. */
  | { readonly step: number; readonly decide: Decision }
  /** What a mark hands over. */
  | { readonly mark: string; readonly data: Json }

export type Decision =
  | { readonly calls: readonly { readonly name: string; readonly args: Json }[] }
  | { readonly say: string }

/** Who answers behind the kept steps. */
export type Tail =
  /** The tape itself: each request by what it asks for. `serve` as in the replay options; default `canonical`. */
  | { readonly from: 'tape'; readonly serve?: 'exact' | 'canonical' | 'conversation' | 'reworded' }
  /** Another tape of the same agent, alike. */
  | {
      readonly from: 'reference'
      readonly tape: Tape
      readonly serve?: 'exact' | 'canonical' | 'conversation' | 'reworded'
    }
  /**
   * Models are asked for real. Wrapped calls and services: from the tape where the same is asked for, and `tools` says
   * what happens to others. `tape` (default): refused, HARVEST_NOT_RECORDED. `unrecorded`: these run for real. `live`: all
   * of them run for real. With `models: 'tape'` the model answers as it did at this place of the run, no matter what it
   * is asked; with `recorded` only where it is asked what it was asked, and all else is off tape.
   */
  | {
      readonly from: 'live'
      readonly tools?: 'tape' | 'unrecorded' | 'live'
      readonly models?: 'live' | 'recorded' | 'tape'
      readonly budget: Budget
      readonly baseUrl?: string
      /** What models are asked instead of what the agent asks them; `undefined`: unknown, and it is off tape. */
      readonly asking?: (asked: AskedModel) => AskedModel | undefined
    }
  /** A function that answers each step, such as a scripted model; `undefined`: off tape. */
  | { readonly from: 'script'; readonly answer: (asked: Step, n: number) => ForkAnswer | undefined }

/** A request to a model. */
export interface AskedModel {
  readonly url: string
  readonly body: string
}

/** An answer someone makes up. */
export type ForkAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string | Json }
  | { readonly result: Json }
  | { readonly error: { readonly name?: string; readonly message: string; readonly code?: string } }

/** A function in the place of another, given what that one would have been given. */
export type Replacement = (...args: never[]) => unknown

export interface ForkOptions {
  readonly signal?: AbortSignal
  /** Escapes to let through, as in the replay options. */
  readonly allow?: readonly string[]
  /** Recorded hosts and those that are the same by now, as in the replay options. */
  readonly hosts?: SameHosts
  /** Real ms without anything happening after which the run counts as hanging. Default as for replays. */
  readonly hangMs?: number
  /** Functions that stand in for wrapped ones of these names, behind the kept steps. They run for real. */
  readonly tools?: Readonly<Record<string, Replacement>>
}

export interface ForkResult<T = unknown> extends ReplayResult<T> {
  /** The kept steps as this run asked for them. */
  readonly prefix: {
    readonly steps: number
    /** Every request and argument byte for byte as recorded. */
    readonly isExact: boolean
    /** Where the run left the tape before it was free to: HARVEST_FORK_PREFIX. Nothing can be said of such a run. */
    readonly divergence?: HarvestError
  }
  /** 1-based numbers of the steps that were to be held, and that this run never reached. */
  readonly unheld: readonly number[]
  /** Model calls of the tail that were made for real, and what they used. */
  readonly spent: Spent
  /** Nothing that was asked behind the kept steps differs from the tape: the outcome could not change. */
  readonly isInert: boolean
  /** One text for all that happened behind the kept steps, without times: equal for equal runs. */
  readonly fingerprint: string
  /** The run as a tape of its own, whose shared history is its parent's. */
  readonly branch: Branch
}

/** A run that shares the beginning of another tape. */
export interface Branch {
  /** The text of its file: header with `parent`, the events behind the shared ones, close. */
  readonly text: string
  readonly tape: Tape
  readonly ownEvents: readonly TapeEvent[]
}
