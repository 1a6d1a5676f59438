import type { CodeAloneEnd } from './code-alone.ts'
import type { KeptRun } from '../fork/index.ts'
/**
 * The result of a run. `ok`, `bad`, `crash` and `timeout` are outcomes and count; `undefined` (the fork left its tape before
 * it was free to) and `ungraded` are no outcomes, and leave the denominator.
 */
export type Grade = 'ok' | 'bad' | 'crash' | 'timeout' | 'undefined' | 'ungraded'

/** Whether it says something of a run: what is ungraded is neither of the same grade as another one, nor of another. */
export function isGraded(grade: Grade | undefined): grade is Exclude<Grade, 'undefined' | 'ungraded'> {
  return grade !== undefined && grade !== 'undefined' && grade !== 'ungraded'
}

/** One place at which a run can be resampled: a step of the tape, or a block of steps under way at the same time. */
export interface Position {
  /** 1-based numbers of its steps. */
  readonly steps: readonly number[]
  /** For people, such as `lookup_order(order_id: "A-100")`. */
  readonly label: string
  /** Its answer comes from outside the agent and its model: a tool result, a retrieval, an answer of a service. */
  readonly isExogenous: boolean
  /**
   * Those of its steps that are another answer when it is not kept: none, where all of them answer from the tape either way.
   * Absent: all.
   */
  readonly resampled?: readonly number[]
}

/**
 * A part of a run that can be another one by itself: answers of models, answers of tools and services, or the clock and the
 * order in which answers arrive.
 */
export type RunLayer = 'model' | 'tools' | 'timing'

/** One fork that is to be made. Positions count from 0, in causal order. */
export interface ForkSpec {
  /** Positions below it answer as recorded; what lies behind is resampled. */
  readonly keep: number
  /**
   * Positions from `keep` on that answer as recorded all the same, where the same is asked for; what a model decided there,
   * no matter what it is asked at that turn of its conversation.
   */
  readonly pinned?: readonly number[]
  /**
   * Positions that get a good answer in place of the recorded one; what "good" is, the source says (resampled, or of a
   * reference run).
   */
  readonly repaired?: readonly number[]
  /**
   * One position that gets a mutated answer; `mutant` numbers the distinct ones there are, from 0. Blame asks for it as the
   * last kept one (`keep` is `position` + 1), so that the fork without it is the same fork but for the mutation.
   */
  readonly mutated?: { readonly position: number; readonly mutant: number }
  /** Of a position with several steps, `keep`: only these steps are resampled, its others answer as recorded. */
  readonly only?: readonly number[]
  /** Of a whole run (`keep` is 0): only these layers are other ones, all else is as recorded. */
  readonly layers?: readonly RunLayer[]
  /** Another number is another draw. */
  readonly seed: number
}

/** What the models used that an oracle asked. */
export interface GradingUse {
  readonly modelCalls: number
  readonly tokens: number
  /** US dollars; absent when unknown. */
  readonly costUsd?: number
}

/** How one fork ended. */
export interface ForkDraw {
  readonly grade: Grade
  /** Model calls that were made for real, by the agent and by who graded it. */
  readonly modelCalls: number
  readonly tokens?: number
  /** US dollars; absent when unknown. */
  readonly costUsd?: number
  /** The part of these that grading it used; absent: nothing. */
  readonly grading?: GradingUse
  /** All that happened behind the kept steps, in one text without times. */
  readonly fingerprint: string
  /** Nothing the run asked behind the kept steps differs from the tape: it could not have ended otherwise. */
  readonly isInert?: boolean
  /**
   * What became of the first position that was resampled: the recorded answer again (of a model: the same calls), another
   * answer, or another question. Absent: unknown.
   */
  readonly first?: 'answer' | 'question' | 'same'
  /** Digest of what models decided behind the kept steps; absent: unknown. */
  readonly decided?: string
  /** Models that answered, sorted. */
  readonly models?: readonly string[]
  /** Names the earlier session that made it; absent: this one. */
  readonly session?: string
  /** Why there is no grade, when the grade is `undefined` or `ungraded`. */
  readonly because?: string
  /** What a provider said of that, not neutral yet. */
  readonly said?: string
  /** What it did, so that a later session can see whether it still would; absent: unknown. */
  readonly run?: KeptRun
}

/** Where forks come from: real runs of an agent, or a model of one. */
export interface ForkSource {
  readonly positions: readonly Position[]
  /** The run with every answer from its tape, and what its code draws itself resampled from a position on: free. */
  drawAgain?(position: number, seed: string, signal?: AbortSignal): Promise<CodeAloneEnd>
  /** How the recorded run ended. */
  readonly recorded: Grade
  /** How many distinct mutants a position has; absent: this source mutates nothing. */
  mutants?(position: number): number
  /** What "good" is when positions are repaired, for people; absent: this source repairs nothing. */
  readonly repairs?: string
  /** Positions whose good answer is another one than the recorded. Absent: all from outside may be. */
  readonly suspects?: readonly number[]
  /** It can resample single steps of a position ({@link ForkSpec.only}); absent: a block is blamed as a whole. */
  readonly splits?: true
  /**
   * Behind its last position the run draws something of its own: a clock, a random number, an id. A fork that keeps every
   * position resamples it, for free, and need not end as the recorded run did. Absent: it draws nothing there.
   */
  readonly drawsLast?: true
  /** A model whose price is unknown; absent: all are known. */
  readonly unpriced?: string
  /**
   * What a fork is expected to use, from the tape's own counts: the sum over its own tail. `gradingUsd`: the part of it that its
   * grade uses, which is that of the dearest grade so far.
   */
  expect(spec: ForkSpec): { readonly modelCalls: number; readonly costUsd?: number; readonly gradingUsd?: number }
  draw(spec: ForkSpec, signal: AbortSignal): Promise<ForkDraw>
  /**
   * Grades the recorded run once more, from a replay of its own that costs nothing. `undefined`: who grades it would have to
   * be paid. Absent: who grades cannot disagree with himself.
   */
  regrade?(): Promise<Grade | undefined>
  /** What grading the recorded run used so far, and is expected to use still. Absent: who grades asks no model. */
  gradedRecorded?(): { readonly used: GradingUse; readonly toCome: GradingUse }
  /** That who grades disagrees with himself is known, and counted. Default false. */
  readonly isGradedByMajority?: true
}

/** A recorded run that may be a good one. */
export interface KnownRun {
  /** What a command finds it by: the id of its case, or the name or path of its tape. */
  readonly name: string
  /** Whether a case says that it passes. */
  readonly passes: boolean
  /** Its tape. */
  readonly file: string
}
