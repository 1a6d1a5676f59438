import type { ErrorCode, ErrorFacts, HarvestError } from '../errors/index.ts'
import type { ProgramReport, WrittenVerdict } from '../replay/program.ts'
import type { GreenSteps } from '../replay/run-verdict.ts'
import type { PriceTable } from '../providers/index.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import type { Json, Tape } from '../tape/types.ts'
import type { Budget, BudgetLimits, Spent, Use } from '../live/budget.ts'
import type { Surroundings } from './run-reads.ts'

/**
 * One run of an agent that a command asks for. The user's own Vitest runs it, because only that loads the agent's code as
 * the tests do: with its aliases, plugins and setup files.
 */
export interface Job {
  /** Absolute path of the tape. */
  readonly tape: string
  /** Key of the agent in the plugin's options. Default: the one the tape names. */
  readonly agent?: string
  /** The run is judged by this text of a case, whether it is on disk yet or not. */
  readonly case?: { readonly file: string; readonly text: string }
  /** Default `replay`. `live`: models are asked for real, tools are answered from the tape. */
  readonly mode?: 'replay' | 'live'
  /** Of a live run: how it is graded, and who answers its tools; a `LiveGrading` of the room blame. */
  readonly grading?: Json
  /**
   * Replays the tape unchanged, as what a changed run is compared with; refused where that says nothing, and as `live` where the
   * agent keeps state between runs.
   */
  readonly isControl?: true
  /** `sources`: looks for what makes the run irreproducible. `plain`: replays once, to be compared with such a look. */
  readonly probe?: 'sources' | 'plain'
  /** Also says which files of the project the run loaded and read. */
  readonly namesFiles?: true
  readonly options?: Omit<ReplayOptions, 'signal'>
  /** What was accepted for the tape; how long that counts, the config says. Default nothing. */
  readonly accepted?: readonly JobAcceptance[]
  /** Milliseconds the run may take. Default: as for cases. */
  readonly timeoutMs?: number
  /** More than one run: something that runs the agent as often as it needs to. */
  readonly task?: { readonly name: TaskName; readonly options: Json }
}

/** A change that was accepted for a tape, as a case or the file of all cases has it. */
export interface JobAcceptance {
  readonly key: string
  readonly steps?: readonly number[]
  readonly isOfOthers?: true
  readonly at?: string
}

/** What can be asked of the agent's process beyond single runs. */
export type TaskName = 'fork' | 'blame' | 'isolate' | 'grade' | 'chaos' | 'prove' | 'fix' | 'debug'

/** What a task is given to work with. */
export interface TaskContext {
  readonly tape: Tape
  /** Absolute path of the tape. */
  readonly tapeFile: string
  /** The case of the job: its file and text. */
  readonly case?: { readonly file: string; readonly text: string }
  /** Its id. */
  readonly caseId?: string
  /** The case is of a run that went wrong. Default false. */
  readonly isKnownBad?: boolean
  /** The agent of the job, where another one made the run. */
  readonly otherAgent?: { readonly named: string; readonly recorded: string }
  /** Loads an agent of the config afresh: `name`, or the one of the job. */
  load(name?: string): Promise<(input: unknown) => unknown>
  /** Imports another module of the project, by its absolute path, as its agents are. */
  importModule(file: string): Promise<object>
  /** The options of this case's replays. */
  readonly replay: Omit<ReplayOptions, 'signal'>
  /** The changed questions of a replay that were accepted or proven, and at which steps. */
  accepted(run: ReplayResult): GreenSteps
  /** Whether the case is green with a replay; without a case none is. */
  isGreen(run: ReplayResult): boolean
  /** What the case of a replay does not accept besides changed questions; without a case `undefined`. */
  difference(run: ReplayResult): HarvestError | undefined
  /** How traces are compared, as a case says it. */
  readonly match?: Json
  /** How proofs are made, as the config says it. */
  readonly prove?: { readonly good: number; readonly bad: number; readonly maxDays: number }
  /** Milliseconds one run may take. */
  readonly timeoutMs: number
  /** How many runs there may be at once. */
  readonly parallel: number
  readonly budget: Budget
  readonly limits: BudgetLimits
  readonly prices: PriceTable
  /** What the runs of this task read besides their code. */
  readonly surroundings: Surroundings
  /** Aborts when the command is given up. */
  readonly signal: AbortSignal
  /** Says how far the task is; the command hears it. */
  say(progress: Json): void
  /** Notes what was used until then, where that is not counted in `budget`. */
  readonly saySpent: (total: Spent) => void
}

/** Does what a command asked for; what it returns is the answer of the job. */
export type Task = (options: Json, context: TaskContext) => Promise<Json>

/** What a command hands over: {@link jobsVariable} names the file it lies in. */
export interface JobList {
  readonly jobs: readonly Job[]
  /** File that gets one line of JSON, a {@link JobResult}, per job as it ends. */
  readonly results: string
  /** How many run at once. Default 1. */
  readonly parallel?: number
  /** What the models of all `live` jobs together may use. */
  readonly limits?: BudgetLimits
  /** Looked in before the list prices. */
  readonly prices?: PriceTable
  /** What of the limits is used already, or is set apart for what follows. */
  readonly carried?: Use
  /** The code is of another folder than the recordings, as that of a former commit is. Default false. */
  readonly isOtherCode?: boolean
}

/** What the worker says each second, as long as its thread is free. */
export interface Beat {
  /** How long a run may take. */
  readonly limitMs: number
  readonly pid: number
}

/** File beside the results that holds the last {@link Beat}. */
export function beatFile(results: string): string {
  return `${results}.beat`
}

/** File beside the results: a line of {@link Spent} for each model call that has ended, what all jobs used until then. */
export function spentFile(results: string): string {
  return `${results}.spent`
}

/** Name of the file that stands for the list in Vitest: it lies beside it, and the plugin says what is in it. */
export const jobModuleName = 'agents.harvest-jobs.mjs'

/** Environment variable that puts the plugin to work for a command. */
export const jobsVariable = 'VITEST_HARVEST_JOBS'

/** Environment variable that makes Vitest keep the source maps of modules beside their code, as for a debugger. */
export const inlineMapsVariable = 'VITEST_HARVEST_INLINE_MAPS'

export type JobResult = FinishedJob | FinishedTask | TaskProgress | FailedJob | NotKept

export interface FinishedTask {
  readonly job: number
  readonly answer: Json
}

export interface TaskProgress {
  readonly job: number
  readonly progress: Json
}

export interface FinishedJob {
  /** Index of the job in its list. */
  readonly job: number
  readonly report: ProgramReport
  /** What the agent returned or threw, encoded as on a tape. */
  readonly outcome: { readonly status: 'returned' | 'threw'; readonly value: Json }
  /** The tool calls of this run as a baseline would say them. */
  readonly trace: readonly Json[]
  /** By the case of the job, when it has one. */
  readonly verdict?: JobVerdict
  /** Of a replay: names of all agents of the project. */
  readonly agents?: readonly string[]
  /** Only of a job with `namesFiles`: absolute paths; absent where this Vitest does not say. */
  readonly files?: readonly string[]
  /** Only of a job with `isControl`. */
  readonly control?: ControlData
  /** Only of a job with `probe`: an `Examination` of the room doctor. */
  readonly examination?: unknown
  /** Only of a job with `grading` that says what a good run is. */
  readonly grade?: { readonly grade: string; readonly because?: string; readonly by: string; readonly used?: Use }
  /** Only of a live run that could not ask its model, and did not end as recorded: why. It says nothing about the agent. */
  readonly unreached?: { readonly because: string; readonly said?: string }
  /** Only of a live run: the recorded steps that answered it, each an `n` of its tape. */
  readonly answeredFrom?: readonly number[]
  /** What all `live` jobs have used when this one ended. */
  readonly spentSoFar?: Spent
}

/** The replay of a tape under today's code, as data. */
export interface ControlData {
  /** Digest of its trace and outcome. */
  readonly digest: string
  /** Git commit of the code that ran; absent where git does not know. */
  readonly commit?: string
  /** Where it first differs from the recording; absent: nowhere. */
  readonly differs?: ControlDifference
  /** The unchanged run as the file of a branch; absent: it is the recorded one. */
  readonly branch?: string
  /** Numbers of the recorded steps that it leaves out, 1-based. */
  readonly leftOut: readonly number[]
  /** How it ended; absent: as recorded. */
  readonly outcome?: FinishedJob['outcome']
}

/** Where an unchanged run of today's code first differs from the recording. */
export interface ControlDifference {
  /** 1-based; the last one when only the outcome differs; absent for a run without steps. */
  readonly step?: number
  /** What differs there, for people: `system prompt`, `outcome.answer`, `refund`. */
  readonly what: string
}

/** What a case says of a run, see `RunVerdict`. */
export type JobVerdict = JobProof &
  (
    | { readonly isGreen: true }
    | {
        readonly isGreen: false
        readonly code: ErrorCode
        readonly message: string
        /** What differs, without what to do about it. */
        readonly said: string
        readonly aspect: string
      }
  )

type JobProof = WrittenVerdict

/** The run did not come about. */
export interface FailedJob {
  readonly job: number
  readonly failed: { readonly code: ErrorCode; readonly facts: ErrorFacts }
}

/** What jobs made cannot be kept for later sessions; they go on. */
export interface NotKept {
  readonly unkept: { readonly code: ErrorCode; readonly facts: ErrorFacts }
}

/** The files in which Vitest finds its config, where none is named, in the order in which it looks. */
export const configNames: readonly string[] = ['vitest.config', 'vite.config'].flatMap((name) =>
  ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((end) => `${name}.${end}`),
)
