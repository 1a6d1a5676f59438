// Over 300 lines: the format of a tape on one page.
/**
 * What a tape holds. A tape is JSON Lines: line 1 is the header, then one event per line, and the last line closes it.
 * Every line ends in a chained digest (`"#"`), see `digest.ts`.
 */
import type { Json } from '../json/types.ts'

export type { Json } from '../json/types.ts'

/** The format this version writes. Older numbers are read for ever; newer ones are refused. */
export const formatVersion = 1

/**
 * A place in the one order of a run: `n` counts everything that happened, `atMs` is milliseconds since the run began.
 * Moments with the same `atMs` arrived in one burst (no agent code ran in between).
 */
export type Moment = readonly [n: number, atMs: number]

/** Bytes: text as text, binary as base64, or mostly the same as the body of an earlier exchange. */
export type Body =
  | string
  | { readonly base64: string }
  /** First `head` characters of the request body of event `like`, then `text`, then its last `tail` characters. */
  | { readonly like: number; readonly head: number; readonly text: string; readonly tail: number }

/** One piece of a response exactly as it arrived. */
export type Chunk = readonly [n: number, atMs: number, bytes: string | { readonly base64: string }]

export type HeaderPair = readonly [name: string, value: string]

/** Where recorded facts about versions stand: what the recorder could know without git. */
export interface RecordedPins {
  /** Git commit the agent ran at, as the application named it. */
  readonly commit?: string
  /** Whether the work tree had uncommitted changes, if the application reported it. */
  readonly dirty?: boolean
  /** Node version, such as `24.21.0`. */
  readonly node: string
  /** `name@version` of packages the application named. */
  readonly packages?: Readonly<Record<string, string>>
  /** Of a branch: digest of the tape it parts from. Absent in branches of older versions. */
  readonly recorded?: string
  /** Of a branch: the unchanged run it is compared with, of the code that made it; its commit where git knew it. */
  readonly accepted?: { readonly digest: string; readonly commit?: string }
}

export interface TapeHeader {
  /** Format version. */
  readonly harvest: number
  readonly id: string
  /** Key of the agent in the plugin's `agents`. */
  readonly agent: string
  /** What the agent was called with, as `encodeValue` wrote it; absent when unknown. */
  readonly input?: Json
  /** Wall clock of moment 0, ISO 8601 with milliseconds. */
  readonly startedAt: string
  /** `vitest-harvest/<version>` that wrote the tape. */
  readonly recorder: string
  /** Behaviour a replay of this tape depends on. Unknown flags are refused. */
  readonly flags: readonly string[]
  readonly pins: RecordedPins
  /** Whose key made the fingerprints of redacted values on this tape, and the salt of the run. Never the key. */
  readonly printed?: { readonly key: string; readonly salt: string }
  /** Fingerprints of what was redacted in this line. */
  readonly prints?: readonly RedactedPrint[]
  /** The process that wrote it, a random name: what one run of it fetched, later ones may have kept. Absent in older tapes. */
  readonly process?: string
  /** Who the run is about: keyed tags, never a name. */
  readonly subjects?: readonly string[]
  /** The conversation or job the run belongs to. */
  readonly session?: { readonly id: string }
  /** What the application says of the run, to find it by. */
  readonly attributes?: RunAttributes
  /** Redaction rules of the application's own, so that a replay redacts its requests alike. */
  readonly redact?: RecordedRules
  /** The command line that made this tape, when `npx vitest-harvest record` did. */
  readonly command?: { readonly argv: readonly string[]; readonly cwd: string }
  /** The tape this one begins like. */
  readonly parent?: TapeParent
  /** The tape was made of another tool's recording. Absent: by a recorder of ours, which leaves nothing out. */
  readonly imported?: Imported
}

/** Facts of an application about a run: names and plain values. */
export type RunAttributes = Readonly<Record<string, string | number | boolean>>

/** What a tape is worth that was made of a foreign recording. */
export interface Imported {
  /** The format it was in, such as `vcrpy`. */
  readonly format: string
  readonly grade: ImportGrade
  /** What the recording does not hold, such as `clock` and `order`. Nothing is put in its place. */
  readonly missing: readonly string[]
}

/**
 * How true to the run an imported tape is. `replayable`: the bytes of every answer. `re-drivable`: every answer, some
 * written again from its value. `signature-only`: which tools were called, and not what was answered. `timeline-only`:
 * that something was asked, and when.
 */
export type ImportGrade = 'replayable' | 're-drivable' | 'signature-only' | 'timeline-only'

/** Whose events a branch begins with. They stand in the parent's file alone. */
export interface TapeParent {
  readonly id: string
  /** The parent's file, relative to the folder of the branch. */
  readonly file: string
  /** Digest of the parent's last line. */
  readonly digest: string
  /** How many events are shared. */
  readonly events: number
  /** The parent's events with a smaller `n` are shared; absent: all are. */
  readonly before?: number
  /** How many steps the fork was bound to. */
  readonly keep: number
}

/** The redaction options of a recorder, as data. */
export interface RecordedRules {
  readonly rules?: readonly {
    readonly kind: string
    readonly pattern: string
    readonly flags: string
    readonly placeholder?: string
  }[]
  readonly keys?: readonly string[]
  readonly names?: {
    readonly random?: readonly string[]
    readonly always?: readonly string[]
    readonly never?: readonly string[]
  }
  readonly families?: readonly {
    readonly head: string
    readonly of: 'word' | 'alnum' | 'url' | 'dot' | 'base64' | 'hex' | 'lower' | 'upper'
    readonly min: number
  }[]
  readonly headers?: readonly string[]
  readonly off?: readonly string[]
  readonly on?: readonly string[]
  readonly keep?: readonly string[]
  readonly allow?: readonly string[]
}

/** A placeholder and the keyed fingerprint of the value it stands for. */
export type RedactedPrint = readonly [placeholder: string, print: string]

interface EventBase {
  /** Number of the moment this event was issued; unique in the tape. */
  readonly n: number
  /** When it was issued, ms since the run began. */
  readonly at: number
  /** `n` of the tool call this happened inside of. */
  readonly in?: number
  /**
   * Of a step: calls that were made and answered in the same go, and how many turns of promises this one was made after each
   * of them was made. Absent: no such call, or an older recorder.
   */
  readonly turns?: readonly (readonly [n: number, turns: number])[]
  /** `file:line:column` in the user's code that issued it. */
  readonly site?: string
  /** Fingerprints of the values redacted since the line before. */
  readonly prints?: readonly RedactedPrint[]
}

/** How an exchange travelled. `stdio` is a JSON-RPC message to a child process. */
export type Via = 'undici' | 'http' | 'http2' | 'stdio' | 'websocket'

/** A request and everything that came back. */
export interface ExchangeEvent extends EventBase {
  readonly kind: 'exchange'
  readonly via: Via
  readonly method: string
  /** Absolute URL; for stdio `stdio:` and the command line. */
  readonly url: string
  readonly request: {
    readonly headers: readonly HeaderPair[]
    readonly body?: Body
    /** Content codings the body had when it was sent, the outermost first: it stands here without them. */
    readonly coded?: readonly string[]
    /** The body could not be searched for secrets, and is not kept. */
    readonly unsearched?: UnsearchedBody
    /** The body had not ended when the client gave up or the run was over: this is the beginning of it. */
    readonly open?: true
  } & MaybeCut
  readonly response?: RecordedResponse
  /** The error the client saw, if it was not the client's own doing. */
  readonly error?: RecordedError & { readonly moment: Moment }
  /** When the client gave up (abort, timeout, early close). */
  readonly aborted?: Moment
  /** A JSON-RPC notification: nothing is expected back. */
  readonly oneWay?: true
}

/** A body that is not on the tape, because it could not be searched. Nothing here follows from what it said. */
export interface UnsearchedBody {
  /** Bytes it had, as it was sent. */
  readonly size: number
  /** Its `content-encoding`. */
  readonly coding: string
  /** `coding`: unknown, or more than three. `damaged`: not in that coding. `size`: too large when undone. */
  readonly reason: 'coding' | 'damaged' | 'size'
}

/** A body of which only the beginning and the end are on the tape, because it was larger than its cap. */
export interface MaybeCut {
  /** Bytes that were left out. Absent: the body is whole. */
  readonly cut?: number
  /** What the body was, when it was cut. */
  readonly whole?: WholeBody
}

export interface WholeBody {
  /** Bytes of it as it travelled. */
  readonly size: number
  /** Bytes on this tape that stand before the cut. */
  readonly at: number
  /** Bytes kept of either end at most, before redaction. */
  readonly window: number
  /** SHA-256 of all of it, in hex; absent when something on the tape was redacted. */
  readonly sha256?: string
  /** In its place: SHA-256 of what is on the tape of it. */
  readonly keptSha256?: string
}

/**
 * In the place of a value whose JSON was larger than a body may be: an argument, an answer, a message. Its JSON has the keys in order
 * (RFC 8785) and no members that were `undefined`: flag `cuts-2`. With `cuts-1` it is as it was written.
 */
export interface CutValue {
  readonly $type: 'cut'
  /** Bytes that were left out. */
  readonly cut: number
  /** Bytes of its JSON in UTF-8, before redaction. */
  readonly size: number
  /** Bytes kept of either end at most, before redaction. */
  readonly window: number
  /** Its JSON up to the cut, redacted. */
  readonly head: string
  /** And behind it. */
  readonly tail: string
  /**
   * SHA-256, in hex, of all of its JSON in UTF-8, before redaction. Absent when something was redacted in `head`, in `tail`, or in the
   * 64 KB that were looked through beside either of them: without the secret no one could make it, and with it the secret could be
   * guessed.
   */
  readonly sha256?: string
}

export interface RecordedResponse extends MaybeCut {
  /** When the head arrived. */
  readonly moment: Moment
  readonly status: number
  readonly statusText?: string
  /** In order, names in lower case. */
  readonly headers: readonly HeaderPair[]
  readonly chunks: readonly Chunk[]
  /** The body could not be searched for secrets, and is not kept: no chunks. */
  readonly unsearched?: UnsearchedBody
  /** When the body was complete; absent when it never was. */
  readonly end?: Moment
}

export interface RecordedError {
  readonly name: string
  readonly message: string
  readonly code?: string
  /** Name of its class, when that is not `Error`. */
  readonly type?: string
  /** Other plain fields, such as `errno` and `syscall`. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
}

/** A call of an in-process function that was wrapped: a tool, a retriever, or a named value. */
export interface CallEvent extends EventBase {
  readonly kind: 'tool' | 'retrieval' | 'value'
  readonly name: string
  /** The client library of a database or cache that was asked, such as `pg`. */
  readonly driver?: string
  /**
   * Own name of the function that was wrapped, and digests of the constants and of the words in its source. Absent: it is not
   * known, or an older recorder.
   */
  readonly code?: readonly [name: string, digests: string]
  /** The one object argument, or the list of arguments; as `encodeValue` wrote it. */
  readonly args: Json
  /**
   * What its framework handed it beside, as far as it is data: `null` when nothing. Absent: an older recorder, or a function that
   * gets all as arguments.
   */
  readonly context?: Json
  /** What its body wrote into that while it ran: where, and what is there then; nothing is. Absent: nothing. */
  readonly wrote?: readonly (readonly [path: readonly string[], value?: Json])[]
  /** Whether the function answered without a promise. */
  readonly sync?: true
  /** When the caller got the answer; absent when it never did. */
  readonly settled?: Moment
  /** As `encodeValue` wrote it. */
  readonly result?: Json
  readonly error?: Json
  /** `n` of the mark `model` of the answer that asked for it: known of imported traces alone. */
  readonly asked?: number
  /** What a replay cannot give back of it, such as `result: Money` or `args: changed by the call`. */
  readonly lost?: readonly string[]
  /** Pieces of an async iterable answer. */
  readonly yields?: readonly (readonly [n: number, atMs: number, value: Json])[]
  /** What the agent gave `next()` each time it asked for a piece; absent when it never gave anything. */
  readonly told?: readonly Json[]
  /** The agent read no further than these pieces: there may have been more. */
  readonly stopped?: true
}

/** Clock, random and id reads since the line before: kind, calling package, value. */
export interface DrawsEvent extends EventBase {
  readonly kind: 'draws'
  readonly draws: readonly Draw[]
}
export type Draw = readonly [kind: DrawKind, caller: string, value: Json]

/** `now` epoch ms, `perf` ms, `random` [0,1), `uuid` text, `bytes` base64, `int` integer. */
export type DrawKind = 'now' | 'perf' | 'random' | 'uuid' | 'bytes' | 'int'

/** A child process the run started, talked to over stdio. */
export interface SpawnEvent extends EventBase {
  readonly kind: 'spawn'
  readonly command: readonly string[]
  /** The folder it starts in, from that of the run: `.`, `tools`, `(elsewhere)` for any outside. Absent: an older recorder. */
  readonly cwd?: string
  /** Variables the code sets, without those of the machine. Absent: an older recorder. */
  readonly env?: Readonly<Record<string, string>>
  /** `program`, where `argv0` gives it another name, `uid`, `gid` and `timeout`; of the recorder itself: `1000 (own)`. */
  readonly options?: Readonly<Record<string, string>>
  /** Why the system did not start it, such as `ENOENT`. Absent: it did, or an older recorder. */
  readonly error?: string
}

/** A line a child process sent without being asked, or what a WebSocket brought. */
export interface PushEvent extends EventBase {
  readonly kind: 'push'
  readonly url: string
  readonly text: string
  /**
   * Absent for text. Of a WebSocket: `binary`, `ping` and `pong` in base64, `close` with code and reason, `end` when the connection
   * was closed. Of a child: `end` of its output, `close` with its exit code or signal.
   */
  readonly frame?: PushFrame
}

export type PushFrame = 'binary' | 'close' | 'ping' | 'pong' | 'end'

/** A message between agents. */
export interface MessageEvent extends EventBase {
  readonly kind: 'message'
  readonly from: string
  readonly to: string
  readonly body: Json
}

/** A note or checkpoint the application left. */
export interface MarkEvent extends EventBase {
  readonly kind: 'mark'
  readonly name: string
  readonly data?: Json
}

/** A snapshot of something the application keeps, as it was at one of its calls of `state`. */
export interface StateEvent extends EventBase {
  readonly kind: 'state'
  readonly name: string
  /** Which call of `state` with this name it was, inside the same tool call, from 1: not every call leaves a snapshot. */
  readonly call: number
  /** Calls are left out by rule. */
  readonly thinned?: true
  /** As `encodeValue` wrote it. A line may hold `like` instead: its JSON text as a reference to an earlier snapshot of the name. */
  readonly data: Json
}

export type TapeEvent =
  | ExchangeEvent
  | CallEvent
  | DrawsEvent
  | SpawnEvent
  | PushEvent
  | MessageEvent
  | MarkEvent
  | StateEvent

/** An exchange or a call: the unit people count. */
export type Step = ExchangeEvent | CallEvent

export type Outcome =
  | { readonly status: 'returned'; readonly value?: Json }
  | { readonly status: 'threw'; readonly error: Json }
  /** The program ended or was given up before the agent answered. */
  | {
      readonly status: 'exited'
      readonly code: number | null
      readonly signal?: string
      readonly stdout?: string
      readonly stderr?: string
    }
  /** The tape was imported, and the recording does not say how its run ended. */
  | { readonly status: 'unknown' }

/** The last line. */
export interface TapeClose {
  readonly kind: 'close'
  readonly n: number
  readonly at: number
  readonly outcome: Outcome
  /** Number of event lines between header and close. */
  readonly events: number
  /** Why something is missing, when the recorder failed on the way. */
  readonly incomplete?: string
  /** Sockets, children and contexts the recorder saw but could not record. */
  readonly unrecorded?: readonly string[]
  /** Names of request headers that were not kept and are not known to mean nothing; sorted. */
  readonly droppedHeaders?: readonly string[]
  /** Why a recorder that does not keep every run kept this one; absent when it keeps every run and nothing stood out. */
  readonly kept?: readonly KeptReason[]
  readonly retention?: Retention
  /** What the run's model calls used, when the recorder counted it. */
  readonly usage?: RunUsage
  /** Fingerprints of the values redacted since the line before. */
  readonly prints?: readonly RedactedPrint[]
  /** The timers the run set. Absent: the recorder did not look, or there were too many; of older ones also that none was set. */
  readonly timers?: readonly TimersRecord[]
  /** Those of them that were set in calls of wrapped functions, which a replay does not run. Absent: the recorder did not look. */
  readonly timersInCalls?: readonly TimersInCalls[]
  /** Those of them that are an `AbortSignal.timeout` which was given to nothing. Absent: there was no such signal, or the recorder did not look. */
  readonly timersUnheeded?: readonly TimersInCalls[]
  /**
   * Numbers of the steps that have an answer whose body nothing asked for by the end of the run. Absent: the recorder did not look,
   * or there was no answer.
   */
  readonly unread?: readonly number[]
  /** Of those of which it was not seen, by recorders before those that note `inPart`. Absent: there was none. */
  readonly unseen?: readonly number[]
  /** Of those of which a reader took a part and stopped before the rest. Absent: the recorder did not look, or there was no answer. */
  readonly inPart?: readonly number[]
  /**
   * What the run made of its input. Absent: the recorder did not look, the input is nothing that code can change, or a run beside it
   * had a part of the same input, which was changed.
   */
  readonly input?: InputLeft
  /** What the agent did after the run ended, each thing once. Added to a tape that is closed, as long as it is where it was written. */
  readonly late?: readonly LateWork[]
}

/** What a run made of its input. */
export interface InputLeft {
  /** The input as it was when the agent returned or threw. Absent: as it was given. */
  readonly left?: Json
}

/** Something an agent does after it returned: no step of a tape. */
export interface LateWork {
  readonly kind: 'tool' | 'retrieval' | 'message' | 'mark' | 'state' | 'request'
  /** The name of the function, the mark or the state; `from → to` of a message; method and origin of a request. */
  readonly name: string
  /** Of a request that does more than read: the path, without its parts that have a digit. Absent on older tapes. */
  readonly path?: string
}

/**
 * Timers of one delay that code of one package set: how many, and those that fired, each by how many were set before
 * it. A timer that is not among the fired ones did not fire before the run ended.
 *
 * A firing takes no number of its own: `n` of its moment is the number of what came next.
 */
export type TimersRecord = readonly [
  caller: string,
  ms: number,
  set: number,
  fired: readonly (readonly [before: number, firings: readonly Moment[]])[],
]

/** Some of the timers of one caller and delay, each by how many were set before it. */
export type TimersInCalls = readonly [caller: string, ms: number, before: readonly number[]]

/** One reason for keeping a run. */
export interface KeptReason {
  /** `sample`: chance; `unrecorded`: it did something no tape can hold; `tokens`, `cost`: more than other runs used; `flag`: the application said so. */
  readonly because:
    | 'sample'
    | 'error'
    | 'unrecorded'
    | 'timeout'
    | 'tokens'
    | 'cost'
    | 'tool'
    | 'when'
    | 'flag'
    | 'budget'
  /** Which tool, what the flag says, which limit. */
  readonly detail?: string
}

/** How long a tape is to be kept. */
export interface Retention {
  /** `incident`: the run went wrong; `flagged`: it stood out; `clean`: neither. */
  readonly class: RetentionClass
  /** ISO 8601; the tape may be pruned after it. Absent: never. */
  readonly until?: string
  /** Reason of a legal hold: while it stands, the tape is never pruned. */
  readonly hold?: string
}

export type RetentionClass = 'clean' | 'flagged' | 'incident'

/** Model calls of one run, added up. */
export interface RunUsage {
  readonly modelCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars; absent when the price of a model that was called is not known. */
  readonly costUsd?: number
}

/** A tape read into memory. */
export interface Tape {
  /** File it came from, or a label. */
  readonly source: string
  readonly header: TapeHeader
  /** In order of `n`, bodies resolved (no `like`). */
  readonly events: readonly TapeEvent[]
  /** Absent: the tape is truncated. */
  readonly close?: TapeClose
  /** Digest of the last line read, hex-free base64url. */
  readonly digest: string
}
