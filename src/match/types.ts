// Over 300 lines: all that a replay is asked for and answers, in one vocabulary.
import type { HarvestError } from '../errors/index.ts'
import type { NotCompared } from './redacted.ts'
import type { UninstrumentedIo } from '../seam/intercept/work.ts'
import type { Loss } from '../tape/losses.ts'
import type { Json, Step, Tape, TapeEvent } from '../tape/types.ts'
import type { SameHosts } from './hosts-option.ts'
import type { WireForm } from '../providers/index.ts'

/**
 * Classes of drift: differences that do not stop a replay, by what differs.
 *
 * Of the question to a model: `encoding` (another spelling of one question), `bookkeeping` (what a provider keeps for bills
 * and dashboards), `endpoint` (host of a model, or of a service that is read), `model`, `instructions`, `whitespace` (nothing
 * but white space inside a text), `tools`, `params`, `messages`, `headers` (what asks for another form or version).
 * Of what the agent does: `destination` (another host is written to), `arguments` (of wrapped functions), `guards` (headers
 * that protect data from being changed twice), `credentials` (who asks), `agentMessages`, `marks`, `states` (snapshots), `results` (a tool that ran
 * returned something else). Of values that were redacted: `redacted`. Of time: `timers` (time-outs and pauses of another
 * length, where the tape noted its timers). Of what is waited for: `awaits` (the agent returned without waiting for an action
 * that may have been answered at once when recorded, or an action comes on another answer than when recorded). Of what a replay does not run: `functions` (another function is wrapped under the
 * name, or its code changed).
 */
export const driftClasses = [
  'encoding',
  'bookkeeping',
  'endpoint',
  'model',
  'instructions',
  'whitespace',
  'tools',
  'params',
  'messages',
  'headers',
  'destination',
  'arguments',
  'guards',
  'credentials',
  'agentMessages',
  'marks',
  'states',
  'results',
  'redacted',
  'timers',
  'awaits',
  'functions',
] as const
export type DriftClass = (typeof driftClasses)[number]

/**
 * What drift means for the verdict. `ignore`: nothing, and it is not listed. `report`: nothing, and it is listed.
 * `unproven`: it is unknown what a model would answer to the changed question. `fail`: the agent does something else.
 */
export const driftPolicies = ['ignore', 'report', 'unproven', 'fail'] as const
export type DriftPolicy = (typeof driftPolicies)[number]

export interface Drift {
  readonly class: DriftClass
  /** What the options of this replay say about its class. */
  readonly policy: DriftPolicy
  /** `n` of the recorded event that was served. */
  readonly step: number
  /** 1-based, for people. */
  readonly stepNumber: number
  /** Where it differs, such as `messages[0].content`. */
  readonly path: string
  /** The same for people: `system prompt`, `tool refund`, the name of a wrapped function, `message 2, planner → worker`. */
  readonly part: string
  readonly recorded: string
  readonly live: string
  /** The change as a word diff: `at most [-100-] {+120+} EUR`. */
  readonly words: string
  /** Identifies the change, at whichever step it shows: 96 bits, base64url. Acceptances name it. */
  readonly key: string
  /** SHA-256 of the recorded part, and of the part it was asked with now: `sha256-…`, 96 bits of each. */
  readonly was: string
  readonly now: string
  /** The change is in the conversation itself: what this one run is about, not what is the same in every run. */
  readonly isData?: true
  /** `file:line:column` of the user's code. */
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

export type { UninstrumentedIo }

export interface ReplayOptions {
  /** Aborts the run: afterwards no patched call of it does anything. */
  readonly signal?: AbortSignal
  /**
   * For all questions, or by class. Default: `unproven` for changed questions, `fail` for changed actions, which only a
   * policy for their own class changes.
   */
  readonly drift?: DriftPolicy | Partial<Record<DriftClass, DriftPolicy>>
  /**
   * What to do where the agent brings a value the tape has a placeholder for and the two cannot be compared. `report`
   * (default): say so; `fail`: drift of the class `redacted`. A value that was compared and is another one is such drift
   * either way.
   */
  readonly redacted?: 'report' | 'fail'
  /**
   * Values behind placeholders of the tape, by placeholder: `{ 'redacted-1@email.invalid': 'desk@shop.example' }`. They are
   * compared without a key of fingerprints. Default none.
   */
  readonly constants?: Readonly<Record<string, string>>
  /** Default `error`. */
  readonly escapes?: 'error' | 'report'
  /**
   * Escapes to let through, such as `socket 127.0.0.1:5432`; `*` matches anything. `state globalThis.metrics` lets forks have
   * what one run leaves there for the next. Default none.
   */
  readonly allow?: readonly string[]
  /**
   * Hosts that are the same as recorded ones: `{ 'https://recorded': ['https://now'] }`. A request to the one is a request to
   * the other, and no `endpoint` drift. Default none.
   */
  readonly hosts?: SameHosts
  /** How far a request may differ from the one whose answer it gets. Default `reworded`. */
  readonly serve?: MatchLevel
  /** Every body must be byte-identical and every recorded event consumed (`npx vitest-harvest replay --exact`). Default false. */
  readonly strict?: boolean
  /** Tools whose bodies run for real, to be compared with the recording. Default `serve`: none. */
  readonly tools?: ToolsMode
  /** Messages between agents that are expected outside of wrapped functions. Default those of the tape. */
  readonly messages?: readonly ExpectedMessage[]
  /** Marks that are expected outside of wrapped functions. Default those of the tape. */
  readonly marks?: readonly ExpectedMark[]
  /** States that are expected to be other ones than recorded. Default none. */
  readonly states?: readonly ExpectedState[]
}

/**
 * `serve`: wrapped functions are answered from the tape, and their bodies do not run. `run`: the body of every tool and
 * retriever runs, with the recorded arguments.
 */
export type ToolsMode = 'serve' | 'run' | ToolsOptions

export interface ToolsOptions {
  /** Names of the tools and retrievers whose bodies run; `*` means all. */
  readonly run?: readonly string[]
  /** Origins, such as `https://staging.example`, that requests of these bodies really reach. Default none: the tape answers. */
  readonly live?: readonly string[]
  /** MCP servers that answer in place of the tape: recorded URL → URL to ask. Default none. */
  readonly mcp?: Readonly<Record<string, string>>
}

/** A message between agents, its body as `encodeValue` writes it. */
export interface ExpectedMessage {
  readonly from: string
  readonly to: string
  readonly body: Json
}

/** A mark, its data as `encodeValue` writes it. */
export interface ExpectedMark {
  readonly name: string
  readonly data?: Json
}

/** A state that is expected to be another one than recorded: a snapshot of `state`, or the input as the agent leaves it. */
export interface ExpectedState {
  /** Name of the snapshot; without a call `input`. */
  readonly of: string
  /** Which call of its name, from 1. Default 1. */
  readonly call?: number
  /** Number of the recorded tool call inside whose body it is made. Absent: the agent makes it. */
  readonly in?: number
  /** What differs from the recorded one. */
  readonly changes: readonly StateChange[]
}

/** One place of a state. */
export interface StateChange {
  /** JSON pointer (RFC 6901), such as `/messages/1/content`; empty for the whole. */
  readonly path: string
  /** What is there, as `encodeValue` writes it. Absent: nothing is. */
  readonly value?: Json
}

/**
 * How different a request may be from the recorded one it is answered as, strictest first; each includes those before it.
 * Only `exact` and `canonical` are the recorded question; what `conversation` and `reworded` find is drift.
 */
export type MatchLevel = 'exact' | 'canonical' | 'conversation' | 'reworded'
export const matchLevels: readonly MatchLevel[] = ['exact', 'canonical', 'conversation', 'reworded']

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
  /**
   * What the agent did around the seam and was let through: files it changed, each once; native code it loaded. A replay does
   * not undo it.
   */
  readonly listed: readonly UninstrumentedIo[]
  /** Recorded steps the agent never asked for. Each is also in `problems`, in one error. */
  readonly unused: readonly Step[]
  /**
   * Answers of models that were recorded whole and asked for as a stream, or the other way round. The question is the same;
   * the pieces of such a stream are made up, one for each block of the answer.
   */
  readonly transcoded: readonly TranscodedStep[]
  /**
   * Requests that this run did not make when it was recorded, because its process had the answer of an earlier run: answered
   * with that. Absent: none.
   */
  readonly shared?: readonly SharedRequest[]
  /** Wrapped functions that ran for real: marked `replay: 'run'`, or named by `tools`. */
  readonly ranForReal: readonly string[]
  /**
   * Values the agent brought in itself and the tape has placeholders for, such as an address in its code: another one
   * in the same place looks the same. Without credentials. Empty for a fork, which may get them from a live answer. And parts
   * of values that no tape holds (`hidden part`), such as the bytes of a returned `Blob`.
   */
  readonly notCompared: readonly NotCompared[]
  /** Recorded answers that were instances of classes, own errors or functions, and were not revived. Absent: none. */
  readonly notRevived?: readonly NotRevived[]
  /** What the agent asked and no recorded answer fits, whole. Absent: nothing. */
  readonly unanswered?: readonly UnansweredCall[]
  /**
   * Where it first asked for what nothing has an answer to (HARVEST_NOT_RECORDED): an `n` of `events`. What began later may come
   * of the refusal. Absent: it did not.
   */
  readonly leftAt?: number
  /** A model that was asked for real had not answered when the run ended. Absent: all had. */
  readonly waitsForModel?: true
  /** Of a live run: the recorded steps that answered it, each an `n` of its tape. Absent: a replay. */
  readonly answeredFrom?: readonly number[]
  /** What this replay did, in the shape of a tape, so that a trace can be read from either. */
  readonly events: readonly TapeEvent[]
  readonly comparison: ByteComparison
  /** What the agent returned or threw as a tape has it, redacted: all that is printed or written of it. */
  readonly redactedOutcome: Json
  /** States that are other ones than on the tape, be they expected or not. Absent: none. */
  readonly states?: readonly ExpectedState[]
}

/** A request or a call of a wrapped function that no recorded answer fits. */
export interface UnansweredCall {
  readonly kind: Step['kind']
  /** Method and address, or the name of the function. */
  readonly name: string
  /** Body of the request, or the arguments as JSON. */
  readonly asked: string
  /** 1-based number of the recorded step that is most like it. */
  readonly nearest?: number
}

/** A request for what a process fetches once and keeps. */
export interface SharedRequest {
  readonly method: string
  readonly url: string
  /** The tape its answer stands on. */
  readonly file: string
  /** The number of the exchange there. */
  readonly n: number
}

/** A recorded answer of a wrapped function that the agent got as something less. */
export interface NotRevived extends Loss {
  /** Of the wrapped function. */
  readonly name: string
  /** 1-based, for people. */
  readonly stepNumber: number
  /** `result`, `error`, or a `piece` of one that came in pieces. */
  readonly part: string
}

/** Counts behind `npx vitest-harvest replay --exact`. */
export interface ByteComparison {
  /** Exchanges and calls on the tape. */
  readonly recorded: number
  /** How many were served. */
  readonly served: number
  /** How many lay inside a served tool call, so that they were not asked for. */
  readonly covered: number
  /** Request bodies and call arguments that were byte-identical. */
  readonly identical: number
  readonly deliveries: number
  /** Deliveries made out of recorded order because the agent waited for something else. */
  readonly relaxed: number
  readonly timersFired: number
  readonly drawsServed: number
  readonly drawsMissed: number
  /** Whether the return value or error equals the recorded one; `null`: not compared, the import did not see the outcome. */
  readonly outcomeEqual: boolean | null
  /** Messages between agents. Absent: not compared, as in a fork. */
  readonly messages?: Compared
  /** Marks. Absent: not compared, as in a fork. */
  readonly marks?: Compared
  /** Snapshots that `state` left. Absent: not compared, as in a fork. */
  readonly states?: Compared
}

/** How many things of one kind were expected and made. */
export interface Compared {
  readonly recorded: number
  /** Made as recorded, in the recorded order. */
  readonly same: number
  /** Made, and not as recorded there: changed, moved or extra. */
  readonly other: number
}

/** An answer that was recorded in one form and asked for in the other. */
export interface TranscodedStep {
  /** `n` of the recorded event that was served. */
  readonly step: number
  /** 1-based, for people. */
  readonly stepNumber: number
  readonly from: WireForm
  readonly to: WireForm
}
