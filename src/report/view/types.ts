// Over 300 lines: one contract between the report and its page.
/*
 * What a report holds: plain data, made from tapes by this room and drawn by the page, which imports these types and
 * nothing else of ours. Short names: a tape of 5,000 steps is one file to be sent.
 */
import type { Spending } from '../spending.ts'

/** Index into the texts of the report: each text stands there once, so that a prompt of step 300 is a list of numbers. */
export type Ref = number

/** The view model of one run, and of what is known about it. */
export interface ReportData {
  readonly v: 1
  readonly kind: 'run'
  readonly texts: readonly string[]
  readonly run: ReportRun
  /** The run it is compared with. */
  readonly other?: ReportRun
  /** What `diff --json` prints: `a` is {@link run}, `b` is {@link other}. */
  readonly diff?: ReportDiff
  /** What `blame --json` printed the last time. */
  readonly blame?: ReportBlame
  /** The branches of one plan, the latest. */
  readonly forks?: ReportForks
  /** Branches of other plans. */
  readonly moreForks?: readonly ReportForks[]
  /** What a replay did otherwise. */
  readonly replay?: ReportRed
  /** Texts that were cut because the report would be too large. */
  readonly cut?: { readonly texts: number; readonly characters: number }
  readonly made: { readonly by: string; readonly at: string }
}

export interface ReportRun {
  readonly id: string
  /** The id as a word of a command. */
  readonly word: string
  /** Path of the tape, as seen from the project. */
  readonly file: string
  readonly agent: string
  /** Absent: the tape does not say. */
  readonly input?: Ref
  readonly startedAt: string
  /** What wrote the tape. */
  readonly made: string
  readonly pins: { readonly commit?: string; readonly dirty?: boolean; readonly node?: string }
  readonly imported?: { readonly format: string; readonly grade: string; readonly missing: readonly string[] }
  readonly parent?: { readonly id: string; readonly keep: number }
  readonly digest: string
  /** The tape has no last line. */
  readonly truncated: boolean
  /** Milliseconds until the run ended; absent: it has no end, or no times. */
  readonly took?: number
  /** Bodies of which a part is not on the tape. */
  readonly cuts: number
  readonly outcome?: { readonly status: string; readonly t: Ref }
  readonly spending: Spending
  readonly models: readonly string[]
  readonly steps: readonly ReportStep[]
  readonly notes: readonly ReportNote[]
  /** Clock, random and id reads. */
  readonly reads: number
  readonly case?: { readonly id: string; readonly title?: string; readonly expect: string }
}

/** ReportTokens of a call: read, of these from a cache, written, of these reasoning. `null`: the provider did not say. */
export type ReportTokens = readonly [
  input: number | null,
  cached: number | null,
  output: number | null,
  reasoning: number | null,
]

export interface ReportStep {
  /** 1-based, for people. */
  readonly no: number
  /** Of its event on the tape. */
  readonly n: number
  /** Milliseconds since the run began. */
  readonly at: number
  /** Milliseconds until the answer was complete; absent: it never was. */
  readonly took?: number
  readonly kind: 'model' | 'tool' | 'retrieval' | 'value' | 'http' | 'mcp' | 'rpc'
  readonly name: string
  /** The conversation it belongs to. Derived: no event says so. */
  readonly lane: string
  /** `file:line:column` in the agent's code. */
  readonly site?: string
  readonly status?: number
  /** Why the model stopped. */
  readonly fin?: string
  readonly err?: string
  /** The same request as this step, which failed. Derived. */
  readonly again?: number
  /** Steps under way at the same time; the nearest. */
  readonly par?: readonly number[]
  /** Step this happened inside of. */
  readonly inside?: number
  /** No answer, or not all of it, is on the tape. */
  readonly open?: true
  /** The answer is missing because an import's recording does not hold it. */
  readonly left?: true
  readonly tok?: ReportTokens
  /** US dollars; absent: unknown. */
  readonly cost?: number
  /** Tools the model asked for. */
  readonly calls?: readonly { readonly name: string; readonly args: unknown; readonly text: string }[]
  readonly said?: Ref
  readonly thought?: Ref
  readonly args?: Ref
  readonly result?: Ref
  readonly prompt?: ReportPrompt
  /** How sure the model was of each token, where the provider said so. */
  readonly sure?: ReportConfidence
  readonly raw?: ReportRaw
}

export interface ReportPrompt {
  readonly sys: readonly Ref[]
  readonly msgs: readonly ReportMessage[]
  readonly tools: readonly { readonly n: string; readonly t: Ref }[]
  readonly params: Ref
}

export interface ReportMessage {
  /** `user`, `assistant`, `tool`, … */
  readonly r: string
  readonly t: Ref
  /** Tools it asks for, as `lookup_order(order_id: "A1")`. */
  readonly c?: readonly string[]
  /** Of the call it answers. */
  readonly id?: string
}

/** Recorded log probabilities. */
export interface ReportConfidence {
  readonly tokens: number
  /** Geometric mean of the probabilities. */
  readonly mean: number
  /** The least likely tokens, the least first. */
  readonly least: readonly { readonly token: string; readonly p: number }[]
}

/** A body, or how it differs from the request of an earlier step. */
export type ReportBody =
  | Ref
  /** First `head` characters of the body of step `like`, then `t`, then its last `tail` characters. */
  | { readonly like: number; readonly head: number; readonly t: Ref; readonly tail: number }

/** The bytes of an exchange. */
export interface ReportRaw {
  /** Method. */
  readonly m: string
  /** Address. */
  readonly u: string
  readonly h: Ref
  readonly q: ReportBody
  /** Status. */
  readonly s?: number
  readonly rh?: Ref
  readonly a?: Ref
  readonly pieces?: number
}

export interface ReportNote {
  readonly n: number
  readonly at: number
  readonly kind: 'message' | 'mark' | 'spawn' | 'push' | 'state'
  readonly from?: string
  readonly to?: string
  readonly name?: string
  readonly t: Ref
  /** An imported trace's mark of a model call. */
  readonly model?: {
    readonly name: string
    readonly tok?: ReportTokens
    readonly finish?: string
    readonly error?: string
  }
}

/** One way in which two steps differ. */
export interface ReportDifference {
  readonly class: string
  readonly path: string
  readonly a: string
  readonly b: string
}

/** What a difference of two steps says: the runs part there, it follows from before, a network failed, or nothing. */
export type PartRole = 'origin' | 'follows' | 'chance' | 'aside'

export interface ReportDiff {
  readonly same: boolean
  readonly class: string
  readonly outcome: { readonly same: boolean | null; readonly a: string; readonly b: string }
  /** Step of `a` at which the runs part, or of `b` where `a` has no such step; `null`: they do not, or it is not known. */
  readonly parts: { readonly a?: number; readonly b?: number } | null
  readonly steps: readonly {
    readonly a?: number
    readonly b?: number
    readonly kind: string
    readonly name: string
    readonly differences: readonly ReportDifference[]
    /** Absent: the same. */
    readonly role?: PartRole
  }[]
  readonly facts: readonly { readonly what: string; readonly a: string; readonly b: string; readonly same: boolean }[]
}

interface Bounds {
  readonly low: number
  readonly high: number
}
interface Share {
  readonly ok: number
  readonly forks: number
}

/** The part of `blame --json` that is drawn. */
export interface ReportBlame {
  readonly recorded: string
  readonly gradedBy: string
  readonly delta: number
  readonly tau: number
  readonly tail: string
  readonly spent: { readonly forks: number; readonly modelCalls: number; readonly costUsd?: number }
  readonly verdict?: {
    readonly kind: string
    /** `doubted`: each run is bad, and none is known that is good. */
    readonly how?: string
    readonly commitments?: readonly ReportCommitment[]
  }
  /** Earlier positions that were necessary too, each with the later ones that answered as recorded. */
  readonly earlier?: readonly (ReportCommitment & { readonly held: readonly number[] })[]
  readonly steps: readonly {
    readonly position: number
    readonly steps: readonly number[]
    readonly label: string
    readonly resampled?: { readonly ok: number; readonly failed: number }
    readonly isExogenous?: boolean
    readonly isFromTape?: true
    readonly value?: number
    readonly sequence?: Bounds
    readonly drop?: number
    readonly display?: Bounds
    readonly commitment?: string
    readonly isNecessary?: boolean
    readonly isSufficient?: boolean
    readonly isInRepairSet?: boolean
    readonly isResponsible?: boolean
  }[]
  readonly methods: Readonly<Record<string, string>>
}

/** A position from which on it was decided: by its answer, or by what the code draws. */
export interface ReportCommitment {
  readonly position: number
  /** Its answer was never another one. */
  readonly isDrawn?: true
  /** How runs ended that have every answer as recorded, and draw again from this position on. */
  readonly codeAlone?: { readonly ok: number; readonly bad: number; readonly unknown: number }
  readonly how: string
  readonly resampled: Share
  readonly kept: Share
  readonly alpha?: number
}

/** Forks of one plan. */
export interface ReportForks {
  /** Steps that are replayed; the forks leave behind them. */
  readonly keep: number
  readonly gradedBy: string | null
  readonly judged: number
  /** How many end as recorded; `null`: not compared. */
  readonly asRecorded: number | null
  readonly grades?: Readonly<Record<string, number>>
  /** Of {@link asRecorded}. */
  readonly interval?: Bounds
  /** What was changed, one line each. */
  readonly changed: readonly string[]
  /** Who answers behind the replayed steps. */
  readonly tail: string
  readonly branches: readonly {
    readonly seed: string
    readonly grade: string | null
    readonly file?: string
    readonly outcome?: Ref
    readonly first?: { readonly step: number; readonly before: Ref; readonly after: Ref }
    /** Whether it makes the same tool calls; absent: it could not be judged. */
    readonly trace?: boolean
  }[]
}

/** Why a case is red or unproven. */
export interface ReportRed {
  readonly case: string
  readonly verdict: 'different' | 'unproven'
  readonly code: string
  readonly title: string
  /** Class of the first difference; empty: none is known. */
  readonly class: string
  readonly path: string
  /** Step at which the replay parts; absent: at no one step. */
  readonly nearest?: number
  readonly servedSteps: readonly number[]
  readonly served: number
  readonly steps: number
  readonly recorded: Ref
  readonly now: Ref
  /** `file:line:column` in the agent's code. */
  readonly site?: string
  /** Line of the case file. */
  readonly place: string
  readonly drift: readonly {
    readonly class: string
    readonly step: number
    readonly path: string
    readonly words: Ref
  }[]
  readonly escapes: readonly string[]
  readonly fix: readonly string[]
  /** All that the terminal prints. */
  readonly message: Ref
  /** Steps of the agent that are not on the tape. */
  readonly only: readonly { readonly kind: string; readonly name: string; readonly t: Ref }[]
}

/** The golden set at a glance. */
export interface GoldenData {
  readonly v: 1
  readonly kind: 'golden'
  readonly at: string
  readonly commit: string
  /** The last run, in words. */
  readonly last: string
  readonly cases: readonly GoldenCase[]
  readonly inbox?: InboxView
  readonly made: { readonly by: string; readonly at: string }
}

export interface GoldenCase {
  readonly id: string
  readonly title?: string
  readonly agent: string
  readonly models: readonly string[]
  readonly tags?: readonly string[]
  readonly state: 'red' | 'unproven' | 'known bad' | 'broken' | 'not run' | 'green'
  readonly why?: string
  readonly drift: Readonly<Record<string, number>>
  readonly pins: string
  /** Of the last runs, the oldest first: `g`reen, `r`ed, `u`nproven, `k`nown bad, `n`ot run; 20 at most. */
  readonly runs: string
  readonly ms?: number
  /** Where its report is, as seen from this page. */
  readonly report?: string
}

/** Tapes of the inbox: those that were asked for. */
export interface InboxView {
  readonly tapes: readonly InboxTape[]
  /** Tapes in the inbox. */
  readonly total: number
  /** Tapes that fit and are not listed. */
  readonly more: number
  /** What can be asked, as `ls` takes it. */
  readonly filters: readonly { readonly name: string; readonly takes: string; readonly about: string }[]
  /** What was asked, by name of the filter. */
  readonly asked: readonly (readonly [name: string, value: string])[]
  /** Why it could not be asked. */
  readonly problem?: string
}

export interface InboxTape {
  readonly id: string
  readonly session?: string
  /** Of a branch: the tape it begins like. */
  readonly branchOf?: string
  readonly agent: string
  readonly startedAt: string
  readonly outcome: string
  readonly steps: number
  readonly costUsd?: number
  readonly report?: string
}
