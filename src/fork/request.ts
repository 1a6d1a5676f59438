import type { HarvestError } from '../errors/index.ts'
import { editAnswer, type AnswerEdit } from './edits.ts'
import type { Patch } from './patch.ts'
import type { PlannedChange, Decision, ForkPlan } from './plan.ts'
import type { KeptRun } from './kept-run.ts'
import type { FinishedJob } from '../jobs/job.ts'
import type { Spent } from '../live/budget.ts'

/** A fork as data: what a command hands to the process of the agent. Files are absolute paths. */
export interface ForkRequest extends Pick<ForkPlan, 'keep' | 'modes' | 'clockOffsetMs'> {
  readonly changes?: readonly ChangeRequest[]
  readonly tail: TailRequest
  /** Forks that differ in nothing else draw other random numbers and ids. */
  readonly seed: string
  /** Key of the agent in the plugin's options, when another one goes on. */
  readonly agent?: string
}

/** An answer that is another one, as data. */
export type ChangeRequest =
  | Patch
  | { readonly step: number; readonly edit: AnswerEdit }
  | { readonly step: number; readonly decide: Decision }
  | { readonly mark: string; readonly data: Patch['value'] }

/** Who answers behind the kept steps, as data. */
export type TailRequest =
  | { readonly from: 'tape'; readonly serve?: MatchLevel }
  | { readonly from: 'reference'; readonly file: string; readonly serve?: MatchLevel }
  | { readonly from: 'live'; readonly tools?: 'tape' | 'live'; readonly baseUrl?: string }
  | { readonly from: 'script'; readonly file: string; readonly export: string }

type MatchLevel = 'exact' | 'canonical' | 'conversation' | 'reworded'

/** How one fork ended, as data. */
export interface FinishedFork {
  readonly seed: string
  readonly outcome: FinishedJob['outcome']
  readonly prefix: { readonly steps: number; readonly isExact: boolean; readonly divergence?: SerializedError }
  /** First one first; empty when the run can be judged. */
  readonly problems: readonly SerializedError[]
  /** As in `ReplayResult`. */
  readonly leftAt?: number
  readonly spent: Spent
  /** Nothing that was asked behind the kept steps differs from the tape. */
  readonly isInert: boolean
  /** All that happened behind the kept steps, as one text: equal for equal runs. */
  readonly fingerprint: string
  /** The file of the branch, as text. */
  readonly branch: string
  /** What it did, for a later session; absent: unknown, and the fork is made again. */
  readonly run?: KeptRun
  /** When it was made, ISO 8601. */
  readonly madeAt: string
}

/** An error, as data. */
export interface SerializedError {
  readonly code: string
  readonly message: string
}

/** The code of an error and its whole message. */
export function said({ code, message }: HarvestError): SerializedError {
  return { code, message }
}

/** What a fork is asked to change, in the words of the engine. */
export function changeOf(change: ChangeRequest): PlannedChange {
  if (!('edit' in change)) return change
  const { step, edit } = change
  return { step, rewrite: (recorded) => editAnswer(recorded, edit, step) }
}
