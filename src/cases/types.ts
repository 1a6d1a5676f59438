import type { CasePins } from '../provenance/index.ts'
import type { Json } from '../tape/types.ts'
import type { ExpectedTrace, MatchOptions } from '../trace/types.ts'

/** Whether a case is expected to hold: `fail` is a known-bad incident that is not fixed yet. */
export type CaseExpectation = 'pass' | 'fail'

/** What a difference that did not stop the replay means for the verdict. */
export type CaseDrift = 'ignore' | 'report' | 'unproven' | 'fail'

/** The classes of such differences, as case files spell them. */
export type CaseDriftClass =
  | 'encoding'
  | 'bookkeeping'
  | 'endpoint'
  | 'model'
  | 'instructions'
  | 'whitespace'
  | 'tools'
  | 'params'
  | 'messages'
  | 'headers'
  | 'destination'
  | 'arguments'
  | 'guards'
  | 'credentials'
  | 'agentMessages'
  | 'marks'
  | 'states'
  | 'results'
  | 'redacted'
  | 'timers'
  | 'awaits'
  | 'functions'

/** The match levels, as case files spell them. */
export type CaseServe = 'exact' | 'canonical' | 'conversation' | 'reworded'

/** Whose code a replay runs: none, that of all tools and retrievers, or of those named. */
export type CaseTools = 'serve' | 'run' | { readonly run: readonly string[] }

/** A message between agents, as a case lists it. */
export interface CaseMessage {
  readonly from: string
  readonly to: string
  readonly body: Json
}

/** A mark, as a case lists it. */
export interface CaseMark {
  readonly name: string
  readonly data?: Json
}

/** A state that is expected to be another one than on the tape. */
export interface CaseState {
  /** Name of the snapshot; without a call `input`, as the agent leaves it. */
  readonly of: string
  /** Which call of its name, from 1. Default 1. */
  readonly call?: number
  /** Number of the recorded tool call inside whose body it is made. */
  readonly in?: number
  /** JSON pointers, and what is there; without a value, nothing. */
  readonly changes: readonly { readonly path: string; readonly value?: Json }[]
}

/** Failure history: what went wrong, what would have been right. */
export interface CaseLesson {
  readonly wrong?: string
  readonly right?: string
}

/** Who accepted the baseline, when (ISO 8601) and why. Written by updates. */
export interface CaseApproval {
  readonly reason?: string
  readonly by?: string
  readonly at?: string
}

/**
 * A changed question that a person accepted: the recorded answers stand for it from then on. Written by
 * `npx vitest-harvest accept` and by updates.
 */
export interface AcceptedChange {
  /** Identifies the change, see `Drift.key`. */
  readonly key: string
  /** Class of the change, such as `instructions`. */
  readonly what: string
  /** Digests of the recorded part, and of the part that was accepted. */
  readonly was: string
  readonly now: string
  /** The change as a word diff, for the reviewer. */
  readonly words: string
  /** The only steps at which it was reviewed, 1-based. Default: at every step that could have it. */
  readonly steps?: readonly number[]
  readonly reason?: string
  readonly by?: string
  /** ISO 8601. */
  readonly at?: string
}

/** A changed question that a person accepted once for several cases and hand-written tests. */
export interface SharedAcceptance extends Omit<AcceptedChange, 'steps'> {
  /**
   * The only cases and tapes for which it was reviewed, each with its steps: cases by their ids, tapes of hand-written tests by
   * theirs. Default: for every one, at every step that could have it.
   */
  readonly steps?: Readonly<Record<string, readonly number[]>>
}

/**
 * A changed question that was asked of its model, often enough to say that the agent does as recorded. Written by
 * `npx vitest-harvest test --prove`.
 */
export interface ProvenChange {
  /** Identifies the change, see `Drift.key`. */
  readonly key: string
  /** Keys of the other changes that were asked together with it; each alone was not asked. */
  readonly with?: readonly string[]
  /** Models that were asked. */
  readonly model: string
  /** Asks that were judged, and how many of them were good. */
  readonly asked: number
  readonly good: number
  /** The rate of good asks that this shows at 95 %. */
  readonly atLeast: number
  /** The same with the recorded question: `5/6`. */
  readonly control: string
  /** ISO 8601. */
  readonly at: string
  readonly costUsd?: number
  /** What said which asks were good, with its digest. */
  readonly judgedBy: string
  /** Digest of the steps at which these changes were asked. Absent in older proofs: they count for any. */
  readonly steps?: string
}

/** A tape that a case had before it was fixed. Written by `npx vitest-harvest fix`. */
export interface FormerTape {
  /** Name of its file, in the folder of the case. */
  readonly tape: string
  readonly digest: string
  /** What the case expected of it. */
  readonly expect: CaseExpectation
  /** When it was replaced, ISO 8601. */
  readonly at: string
  /** Commit it was recorded at. */
  readonly commit?: string
  /** `3 of 3 ok by --ok refund(amount: 25)`. */
  readonly graded: string
  /** What the case is without the fix: `HARVEST_DIVERGENCE at 4f2a9c1`. */
  readonly without: string
}

/** What a case file says; everything but the first four optional. */
export interface CaseContent {
  /** Slug, unique in the golden set. */
  readonly id: string
  /** Key of the agent in the plugin's `agents`. */
  readonly agent: string
  /** Name of the tape file, in the same folder. */
  readonly tape: string
  readonly expect: CaseExpectation
  readonly title?: string
  /** Vitest tags. */
  readonly tags?: readonly string[]
  readonly lesson?: CaseLesson
  /** What the tape was made with. */
  readonly pins?: CasePins
  /** How the trace is compared. */
  readonly match?: MatchOptions
  /** What drift means for the verdict, over what the config says. */
  readonly drift?: CaseDrift | { readonly [Class in CaseDriftClass]?: CaseDrift }
  /** What the agent needs to reach around the seam, such as `socket 127.0.0.1:5432`. The config lets it through, or the case is red. */
  readonly escapes?: { readonly allow: readonly string[] }
  /** How far a request may differ from the one whose answer it gets. */
  readonly serve?: CaseServe
  /** Whether the code of tools and retrievers runs, to be compared with its recording. */
  readonly tools?: CaseTools
  /** Milliseconds the replay may take. */
  readonly timeout?: number
  /** The expected trace as it is written; `undefined` asserts nothing, an empty list asserts that no tool is called. */
  readonly baseline?: readonly Json[]
  /** Messages between agents, in order; `undefined`: those of the tape. */
  readonly messages?: readonly CaseMessage[]
  /** Marks, in order; `undefined`: those of the tape. */
  readonly marks?: readonly CaseMark[]
  /** States that are other ones than on the tape; `undefined`: none. */
  readonly states?: readonly CaseState[]
  /** Temporal rules as they are written; their syntax is not checked yet, see {@link hasUncheckedRules}. */
  readonly rules?: readonly string[]
  /**
   * Structural match on the return value, or, under the one key `$threw`, on name, message, fields and cause of the error;
   * `undefined` asserts nothing, `null` asserts null.
   */
  readonly outcome?: Json
  /** Function that says whether a run was right, such as `./src/oracle.ts#isRight`; for blame and fork. */
  readonly oracle?: string
  /** What a good run does, as `--ok` of blame says it: `refund(amount: 25)`, `refunded=25`. */
  readonly ok?: readonly string[]
  /** What a bad run does. */
  readonly bad?: readonly string[]
  /** Values behind placeholders of the tape that stand in the source for everybody to read, by placeholder. */
  readonly constants?: Readonly<Record<string, string>>
  readonly approved?: CaseApproval
  /** Changed questions that a person accepted. */
  readonly accepted?: readonly AcceptedChange[]
  /** Changed questions that were asked of their model. */
  readonly proven?: readonly ProvenChange[]
  /** Tape of the incident that this case was made for, in the same folder. */
  readonly replaces?: string
  /** The tapes this case had before, oldest first. */
  readonly history?: readonly FormerTape[]
}

/** A case file read and checked. Frozen, and maps have no prototype: names in them come from the file. */
export interface Case extends CaseContent {
  /** The file it came from, or a label. */
  readonly file: string
  /** The baseline taken apart; absent when the case has none. */
  readonly expected?: ExpectedTrace
  readonly lines: CaseLines
}

/** 1-based lines of the file, for the place an error points at. */
export interface CaseLines {
  readonly case: number
  readonly agent: number
  readonly tape: number
  readonly expect: number
  readonly title?: number
  readonly tags?: number
  readonly lesson?: number
  readonly pins?: number
  readonly match?: number
  readonly drift?: number
  readonly escapes?: number
  readonly serve?: number
  readonly tools?: number
  readonly timeout?: number
  readonly baseline?: number
  /** One per item of the baseline. */
  readonly baselineItems: readonly number[]
  readonly messages?: number
  readonly marks?: number
  readonly states?: number
  readonly rules?: number
  /** One per rule. */
  readonly ruleItems: readonly number[]
  readonly outcome?: number
  readonly oracle?: number
  readonly ok?: number
  readonly bad?: number
  readonly constants?: number
  readonly approved?: number
  readonly accepted?: number
  readonly proven?: number
  readonly replaces?: number
  readonly history?: number
}
