import type { AcceptedChange, CaseApproval, ProvenChange } from '../cases/index.ts'
import type { CasePins, GitState } from '../provenance/index.ts'
import type { ChangedQuestion, VerdictName } from '../replay/index.ts'
import type { UninstrumentedIo } from '../match/types.ts'
import type { Confinement } from '../seam/intercept/confine.ts'
import type { AcceptRequest } from '../replay/accept-request.ts'
import type { RedFacts } from '../report/view/red.ts'
import type { HarvestSettings } from './options.ts'
import type { ToolsChoice } from './tools-choice.ts'
import type { UpdateMode } from './update-mode.ts'

/**
 * What the config process and the workers say to each other, and nothing else: they are different processes.
 * Down goes {@link HarvestProvided}, by `provide` and `inject`; up come {@link CaseReport}, as the meta of a test, and
 * {@link CaseUpdate}, as an artifact.
 */
export interface HarvestProvided {
  readonly settings: Pick<
    HarvestSettings,
    'agents' | 'isolate' | 'replay' | 'match' | 'tools' | 'timeoutMs' | 'acceptedMaxDays' | 'prove' | 'report'
  >
  /** Absolute path of the changes that were accepted for all cases; there need not be such a file. */
  readonly acceptedFile: string
  readonly update: UpdateMode
  readonly tools: ToolsChoice
  /** Vitest watches files. Vitest 4 does not say so in the config of a project. */
  readonly isWatched: boolean
  /** Absolute root of the project. */
  readonly root: string
  /** Variables that `test.env` of the Vitest config sets, on every machine alike. */
  readonly setVariables?: readonly string[]
  /** Written into the cases this run updates. */
  readonly approval?: CaseApproval
  /** Which changed questions this run accepts, where it does not accept all that an update accepts. */
  readonly accept?: AcceptRequest
}

/** Marks a project as ours. */
export interface GoldenSetProvided {
  /** The folder of its recordings, relative to its root. */
  readonly folder: string
  /** Digest of the options it runs with. */
  readonly options: string
  readonly deps: readonly string[]
  /** How the workers of this project are shut. */
  readonly confine: Confinement
  /** Cases that another project of this set runs, because their agents are left at `seam`; paths below the root. */
  readonly apart?: readonly string[]
  /** Set in that other project. */
  readonly isApart?: true
}

/**
 * What is reported about one case. It is printed into JSON reports: no absolute path, and no recorded text but the
 * changed words of a question.
 */
export interface CaseReport {
  readonly case: string
  readonly expect?: 'pass' | 'fail'
  /** What its replay proves; absent where there was none. */
  readonly verdict?: VerdictName
  /** Changed questions, by what became of them. */
  readonly questions?: QuestionCounts
  readonly tape?: string
  readonly agent?: string
  readonly commit?: string
  readonly models?: readonly string[]
  /** Steps on the tape, and how many of them were served. */
  readonly recorded?: number
  readonly served?: number
  /** How many differences did not stop the replay, by class. */
  readonly drift?: Readonly<Record<string, number>>
  /** 1-based numbers of the steps behind `drift` and `notCompared`, by the same names. */
  readonly steps?: Readonly<Record<'drift' | 'notCompared', Readonly<Record<string, readonly number[]>>>>
  readonly escapes?: number
  /** What it did around the seam and was let through, such as files it changed. */
  readonly listed?: readonly ListedLine[]
  /** How its worker was shut, where that is more than `seam`; `seam` where others are shut and its agent is left out. */
  readonly confined?: Confinement
  /** Tools whose code ran: 1 each. */
  readonly ran?: Readonly<Record<string, number>>
  /** How many values the agent brought in itself and the tape has placeholders for, by kind: others look the same. */
  readonly notCompared?: Readonly<Record<string, number>>
  /** Where those values stand, by the same names: `body.to`. */
  readonly paths?: Readonly<Record<string, readonly string[]>>
  /** Answers that were asked for in another form than recorded, in words. */
  readonly transcoded?: readonly string[]
  /** Files below the root that the agent read by itself, relative to it. */
  readonly reads?: readonly string[]
  /** Pins that are not what they were, in words. */
  readonly pins?: readonly string[]
  /** Where the replay left the recorded run, in words. */
  readonly divergedAt?: string
  /** Set when the run was asked for a part of the cases: merged reports then need not have them all. */
  readonly isPart?: true
  /** Its report, from where the run was started; absent when it left none. */
  readonly report?: string
  /** Code of the error that made it red. */
  readonly code?: string
  /** Set when the case will be rewritten at the end of the run. */
  readonly updated?: Exclude<UpdateMode, 'none'>
  /** Its verdict where that update is not written. */
  readonly verdictBefore?: VerdictName
}

/** Something that was let through, printable: paths are relative to the root, `site` is `file:line:column`. */
export interface ListedLine {
  readonly kind: UninstrumentedIo['kind']
  readonly by: string
  readonly target: string
  readonly site?: string
}

/** A changed question with who accepted it, and why. */
export interface AcceptedQuestion extends ChangedQuestion, CaseApproval {}

/** A changed question with the asks that prove it. */
export interface ProvenQuestion
  extends ChangedQuestion,
    Pick<ProvenChange, 'asked' | 'good' | 'atLeast' | 'model' | 'at'> {}

/** Changed questions of one case or test. */
export interface QuestionCounts {
  readonly unproven: readonly ChangedQuestion[]
  readonly accepted: readonly AcceptedQuestion[]
  /** Asked of their model, which answers them as well. */
  readonly proven: readonly ProvenQuestion[]
  /** Excluded from the verdict by the config or the case. */
  readonly notJudged: readonly ChangedQuestion[]
  /** Keys that the case accepts and that were not asked. */
  readonly obsolete: readonly string[]
  /** What the replays of a hand-written test could not compare. Of a case it stands in its report. */
  readonly notCompared?: readonly UncomparedValue[]
}

/** What is reported about the replays of a hand-written test. */
export interface TestReplayReport extends QuestionCounts {
  readonly verdict: VerdictName
}

/** A value that was not compared, printable. */
export interface UncomparedValue {
  readonly kind: string
  readonly step?: number
  readonly path: string
}

export const updateArtifact = 'vitest-harvest:update'
export const acceptArtifact = 'vitest-harvest:accept'

/** A case as it should read from now on. The reporter writes it, once, when the run is over. */
export interface CaseUpdate {
  readonly type: typeof updateArtifact
  readonly file: string
  /** SHA-256 of the text it was made from: a file that someone edited meanwhile is left alone. */
  readonly before: string
  readonly text: string
}

/** A change as it was reviewed for one case or tape. */
export interface ReviewedChange extends AcceptedChange {
  readonly steps: readonly number[]
  /** No other step could have it. */
  readonly isEverywhere: boolean
  /** The case has an entry of its own that says at which steps it was reviewed before: that goes before those for all cases. */
  readonly hasOwnSteps?: true
}

/** Changed questions that this run accepts. The reporter writes them once it knows which of them several cases share. */
export interface CaseAcceptance {
  readonly type: typeof acceptArtifact
  /** Absolute path of the case; absent for a hand-written test. */
  readonly file?: string
  /** Id of the case; of a hand-written test, of the tape. */
  readonly name: string
  readonly entries: readonly ReviewedChange[]
  /** The pins of the case from now on; absent: it has none. */
  readonly pins?: CasePins
  /** Absolute path of the file for all cases. */
  readonly acceptedFile: string
}

export const reportArtifact = 'vitest-harvest:report'

/** A red case that leaves a report. The config process writes it: workers may not be allowed to. */
export interface CaseReportRequest {
  readonly type: typeof reportArtifact
  /** Absolute path of the case. */
  readonly file: string
  /** `unusedSteps: undefined`: nothing was replayed. */
  readonly red: Omit<RedFacts, 'tape'>
}

export const startArtifact = 'vitest-harvest:start'

/** A case that starts, and where: a worker that ends, or a thread that is blocked, can say nothing any more. */
export interface CaseStart {
  readonly type: typeof startArtifact
  readonly process: number
  /** 0 is the main thread of the process. */
  readonly thread: number
  /** After that many milliseconds its worker may be ended; `null` while a debugger is attached. */
  readonly limitMs: number | null
}

export const redArtifact = 'vitest-harvest:red'

/** A case is about to fail: what its worker collected itself, Vitest has to know as a module before it can show its lines. */
export interface CaseRed {
  readonly type: typeof redArtifact
}

export const listedArtifact = 'vitest-harvest:listed'

/** What the agent of a case did when the case was over. */
export interface CaseListed {
  readonly type: typeof listedArtifact
  readonly listed: readonly ListedLine[]
}

declare module 'vitest' {
  interface ProvidedContext {
    'vitest-harvest': HarvestProvided
    'vitest-harvest/set': GoldenSetProvided
    /** `null` where git knows nothing. */
    'vitest-harvest/git': GitState | null
  }
  interface TaskMeta {
    harvest?: CaseReport
    /** What the replays of a hand-written test prove together. */
    harvestReplay?: TestReplayReport
    /** A case that an argument of its run left out by its name or tags. */
    harvestFiltered?: true
    /** What an agent did around the seam in a hand-written test, and was let through. */
    harvestListed?: readonly ListedLine[]
  }
  interface TestArtifactRegistry {
    [startArtifact]: CaseStart
    [redArtifact]: CaseRed
    [listedArtifact]: CaseListed
    [reportArtifact]: CaseReportRequest
    [updateArtifact]: CaseUpdate
    [acceptArtifact]: CaseAcceptance
  }
}
