import type { ImportGrade, HeaderPair } from '../tape/index.ts'

/** Formats that can be imported, as they are named on the command line and in tapes. */
export const importFormats = [
  'vcrpy',
  'ruby-vcr',
  'go-vcr',
  'har',
  'nock',
  'httprr',
  'dd-test-agent',
  'undici-snapshot',
  'aimock',
  'otlp',
  'otel-spans',
  'jaeger',
  'langsmith',
  'langfuse',
  'braintrust',
  'deepeval',
  'anthropic-agent',
  'mcp-log',
  'mcp-jsonl',
  'temporal',
  'tau-bench',
  'tau2-bench',
  'agentdojo',
  'swe-agent',
  'mini-swe-agent',
  'who-and-when',
  'tapeagents',
  'inspect-ai',
  'inspect-eval',
  'toolbench',
  'openhands',
  'atif',
  'adk',
  'gemini-responses',
  'copilot-snapshot',
  'goose-scenario',
  'pi-session',
  'claude-code',
  'codex',
  'gemini-cli',
  'agent-log',
  'chat',
] as const
export type ImportFormat = (typeof importFormats)[number]

/** A body of a foreign recording. */
export interface ForeignBody {
  /** In the pieces the recording holds; most formats hold one. */
  readonly pieces: readonly Buffer[]
  /** Whether these are the bytes that were sent; otherwise a value that was written again. */
  readonly isExact: boolean
  /** Whether the pieces are those that arrived. */
  readonly hasPieces?: true
}

/** A request and its answer, as a foreign recording tells it. */
export interface ForeignExchange {
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly HeaderPair[]
  /** Absent: the request had none, or the recording does not say. `unread`: it had one that the recorder could not read. */
  readonly requestBody?: ForeignBody | 'unread'
  /** Absent: the recording holds no answer. */
  readonly response?: ForeignResponse
  /** When it began, epoch ms. */
  readonly startedMs?: number
  /** How long until the answer was complete. */
  readonly tookMs?: number
}

export interface ForeignResponse {
  readonly status: number
  readonly statusText?: string
  readonly headers: readonly HeaderPair[]
  /** Absent: the recording left it out. An empty body is a body. */
  readonly body?: ForeignBody
}

/** One thing that happened in a run, as a trace or a transcript tells it. Values, no bytes. */
export type ForeignStep = ForeignMessage | ForeignModelCall | ForeignCall | ForeignMark

interface Timed {
  /** When it began, epoch ms. Absent: the file does not say. */
  readonly startedMs?: number
  /** How long it took. Absent: the file does not say. */
  readonly tookMs?: number
}

/** A message, of a user or between agents. */
export interface ForeignMessage extends Timed {
  readonly kind: 'message'
  readonly from: string
  readonly to: string
  readonly body: unknown
}

/** A model was asked. What was said stands in it as the file has it; nothing is made up. */
export interface ForeignModelCall extends Timed {
  readonly kind: 'model'
  /** Model id asked for. */
  readonly asked?: string
  /** Model id that answered. */
  readonly answered?: string
  readonly provider?: string
  /** The input as recorded; a list is read as a conversation, in the words of any provider. */
  readonly messages?: unknown
  /** What it said. */
  readonly text?: string
  /** What it asked for. */
  readonly toolCalls: readonly ForeignRequest[]
  readonly usage?: ForeignUsage
  readonly finish?: string
  readonly error?: string
  /** `id` of the tool call this happened inside of. */
  readonly parent?: string
}

/** A call that a model asked for. */
export interface ForeignRequest {
  readonly id?: string
  readonly name: string
  readonly args: unknown
}

export interface ForeignUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Of the input: read from a cache. */
  readonly cachedTokens?: number
  /** Of the input: written to a cache. */
  readonly cacheWriteTokens?: number
}

/** A tool or retriever ran. */
export interface ForeignCall extends Timed {
  readonly kind: 'tool' | 'retrieval'
  readonly name: string
  readonly args: unknown
  /** Absent: not in the file. Null is a value. */
  readonly result?: unknown
  /** What the error said. */
  readonly error?: string
  /** The error whole, where the file has it. */
  readonly thrown?: unknown
  /** Joins it to the call a model asked for, by its `id`. */
  readonly callId?: string
  /** Calls of the same group were asked for together: concurrent, when no times say otherwise. */
  readonly group?: string
  /** Names it for those inside of it. */
  readonly id?: string
  /** `id` of the tool call this happened inside of. */
  readonly parent?: string
}

/** What the file notes of the run: a timer, a reward, a label. */
export interface ForeignMark extends Timed {
  readonly kind: 'mark'
  readonly name: string
  readonly data: unknown
}

/** A message a child process was sent or sent itself. */
export interface ForeignLine {
  readonly from: 'client' | 'server'
  /** The JSON-RPC message as it stood on the line. */
  readonly text: string
  /** The file holds its value, and these are other bytes that say the same. */
  readonly isRewritten?: true
  /** When, epoch ms. */
  readonly startedMs?: number
}

/** A foreign recording taken apart. */
export interface ForeignRecording {
  readonly format: ImportFormat
  /** The name the recording gives itself. */
  readonly name?: string
  readonly exchanges: readonly ForeignExchange[]
  /** Of formats that hold no exchanges: in the order of the file. */
  readonly steps?: readonly ForeignStep[]
  /** Of what was said over the stdio of one child process: in the order of the file. */
  readonly lines?: readonly ForeignLine[]
  /** What the run was started with, where the file says. */
  readonly input?: { readonly value: unknown }
  /** How the run ended, where the file says. */
  readonly outcome?: ForeignOutcome
  /** What could not be read, in the words that stand in tapes, beside what the rest of it tells. */
  readonly missing?: readonly string[]
  /** What the instruments of a trace left out of all its model calls. */
  readonly uncaptured?: Uncaptured
  /** When the run was recorded, epoch ms, as far as the file says. */
  readonly startedMs?: number
}

/** What the instruments of a trace left out, and how each is set to write it. */
export interface Uncaptured {
  /** What models were asked, what they answered, or both. */
  readonly what: 'inputs' | 'outputs' | 'content'
  /** One for each instrument that is known: its name, and what is to be set. */
  readonly switches: readonly string[]
}

export type ForeignOutcome =
  | { readonly status: 'returned'; readonly value?: unknown }
  | { readonly status: 'threw'; readonly message: string; readonly thrown?: unknown }

/** What was made of a recording, in figures. */
export interface ImportFacts {
  readonly format: ImportFormat
  readonly grade: ImportGrade
  readonly missing: readonly string[]
  /** Requests over HTTP; 0 for formats that hold none. */
  readonly exchanges: number
  readonly modelCalls: number
  /** Calls that models asked for, by name. */
  readonly tools: readonly string[]
  /** Bytes of bodies, decoded. */
  readonly bytes: number
  /** Of a trace: what its instruments left out of all model calls. */
  readonly uncaptured?: Uncaptured
}
