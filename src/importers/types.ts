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
] as const
export type ImportFormat = (typeof importFormats)[number]

/** A body of a foreign recording. */
export interface ForeignBody {
  /** In the pieces the recording holds; most formats hold one. */
  readonly pieces: readonly Buffer[]
  /** Whether these are the bytes that were sent; otherwise a value that was written anew. */
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

/** What a mock without requests says: who asks for what gets which calls. */
export interface ForeignTurn {
  readonly asked?: string
  readonly answered?: string
  readonly toolCalls: readonly { readonly name: string; readonly args: unknown }[]
}

/** A foreign recording taken apart. */
export interface Recording {
  readonly format: ImportFormat
  /** The name the recording gives itself. */
  readonly name?: string
  readonly exchanges: readonly ForeignExchange[]
  /** Of formats that hold no exchanges. */
  readonly turns?: readonly ForeignTurn[]
  /** When the run was recorded, epoch ms, as far as the file says. */
  readonly startedMs?: number
}

/** What was made of a recording, in figures. */
export interface ImportFacts {
  readonly format: ImportFormat
  readonly grade: ImportGrade
  readonly missing: readonly string[]
  readonly exchanges: number
  readonly modelCalls: number
  /** Calls that models asked for, by name. */
  readonly tools: readonly string[]
  /** Bytes of bodies, decoded. */
  readonly bytes: number
}
