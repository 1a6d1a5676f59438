import type fc from 'fast-check'
import type { SprtPlan } from '../stats/index.ts'
import type { Control, ControlOptions, ForkResult, Tail } from '../fork/index.ts'
import type { Json } from '../tape/index.ts'
import type { FailureClass } from './ending.ts'
import type { FaultSchedule } from './types.ts'

/** An agent as it is: its input is the recorded one, regardless of its type. */
export type ChaosAgent<T = unknown> = (input: never) => T | PromiseLike<T>

export interface ChaosOptions<T = unknown> {
  /** Called with the recorded input in every run. */
  readonly agent?: ChaosAgent<T>
  /**
   * Gives the agent before each run, that of this variant or the usual one, in place of `agent` and `variants`: it can
   * import the agent once the stand-in for the key of its provider is there, and afresh for every run.
   */
  readonly load?: (variant: string | undefined) => Promise<ChaosAgent<T>>
  /**
   * What goes wrong: families and single kinds by name, or an arbitrary of your own that draws schedules. Default
   * `http`, `tools` and `order`.
   */
  readonly faults?: readonly string[] | fc.Arbitrary<FaultSchedule>
  /** Other code of the agent, by name, for the fault `regression`. Default none. */
  readonly variants?: Readonly<Record<string, ChaosAgent<T> | undefined>>
  /** Schedules that are tried first, such as that of an incident. Default none. */
  readonly examples?: readonly FaultSchedule[]
  /** Endings that count as failures. Default `crash`, `hang`, `trace` and `outcome`. */
  readonly fail?: readonly FailureClass[]
  /** What the return value has to hold, as in a case. Default: it is that of the run without faults. */
  readonly expected?: Json
  /**
   * What changes nothing and may be done again: names of tools, or method and address of a request; `get_*` stands for
   * many. Default none.
   */
  readonly reads?: readonly string[]
  /** Judges a run instead: the words for what is wrong with it, or `undefined`. */
  readonly judge?: (run: ForkResult<T>, schedule: FaultSchedule) => string | undefined | Promise<string | undefined>
  /** Schedules to try. Default: what `fc.configureGlobal` says, or 100. */
  readonly runs?: number
  /** Draws the same schedules again. Default: chance. */
  readonly seed?: number
  /** Together with `seed`: runs one schedule again, that of a reported failure, and looks for no smaller one. */
  readonly path?: string
  /**
   * Single runs of the agent may say wrong, such as with a model that is asked for real: every schedule is run until a
   * sequential test can tell what fails mostly from what does not. `true`: 8 of 10 from 3 of 10, with 1 error in 100.
   * Default false.
   */
  readonly noisy?: boolean | SprtPlan
  /** Make the numbers in a failing schedule as small as they can be as well. Default false. */
  readonly smallest?: boolean
  /** Real milliseconds after which no further run is begun. Default: no limit. */
  readonly timeMs?: number
  /** Real milliseconds one run may take. Default 10,000. */
  readonly timeoutMs?: number
  /** Real milliseconds without anything happening after which a run counts as hanging. Default 1,000. */
  readonly hangMs?: number
  /** Escapes to let through, as in the replay options. */
  readonly allow?: readonly string[]
  /** Recorded hosts and those that are the same by now, as in the replay options. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>
  /** Who answers. Default: the tape, by what is asked for. */
  readonly tail?: Tail
  /** How the run without faults is replayed that others are compared with. Default: as a tape without a case. */
  readonly control?: Pick<ControlOptions, 'replay' | 'accepted' | 'isGreen' | 'difference' | 'caseId' | 'commit'>
  readonly signal?: AbortSignal
  /** Hears of every run. */
  readonly onRun?: (told: ChaosProgress) => void
}

export interface ChaosProgress {
  readonly runs: number
  /** Faults in the smallest failing schedule so far; absent while nothing failed. */
  readonly failing?: number
  /** What would be reported if the search ended here. */
  readonly known: ChaosReport
}

/** What became of an agent under faults. Plain data. */
export interface ChaosReport {
  /**
   * `null`: unknown, because of some kind of fault every run left the tape, or did not come to its step; or someone gave up
   * before all schedules were tried. A time limit is a size of the search, as the number of its schedules is.
   */
  readonly survived: boolean | null
  readonly seed: number
  /** Runs the failing schedule again, together with the seed. */
  readonly path?: string
  /** Distinct schedules that were tried before one failed; those of the search for a smaller one are not counted. */
  readonly schedules: number
  /** Runs of the agent, all together. */
  readonly runs: number
  /** How many of those schedules held each kind of fault. */
  readonly tried: Readonly<Record<string, number>>
  /** How those schedules ended. */
  readonly endings: Readonly<Record<string, number>>
  /** Kinds of faults that were only in schedules that left the tape, or ended before: nothing is known of them. */
  readonly unjudged: readonly string[]
  /** Words of `faults` of which no schedule held a fault: none can happen in this run, or none was drawn. */
  readonly untried: readonly string[]
  /** The shortest schedule that left the tape; absent where none did. */
  readonly offTape?: FaultSchedule
  readonly failure?: ChaosFailure
  /** The run without faults; `differs`: where today's code is not the recorded one. */
  readonly control: Pick<Control, 'digest' | 'differs'>
  /** The time was up, or it was given up, before all schedules were tried; absent: they were. */
  readonly interrupted?: { readonly made: number; readonly of: number }
}

export interface ChaosFailure {
  readonly schedule: FaultSchedule
  /** Without any one of these faults the agent does not fail: each was tried. */
  readonly isMinimal: boolean
  readonly class: FailureClass | 'judged'
  /** What the agent did. */
  readonly said: string
  /** Faults in the schedule that failed first. */
  readonly drawn: number
  /** Runs it took to find the smallest. */
  readonly shrinkRuns: number
}
