/** What a model was asked, whatever the provider's dialect. */
export interface Asked {
  readonly model: string
  readonly system: string
  /** Texts of the user, oldest first. */
  readonly user: readonly string[]
  /** Names of the tools it may call. */
  readonly tools: readonly string[]
  /** What became of the calls it made, in the order of the results. */
  readonly results: readonly Heard[]
}

/** One tool result as the model reads it. */
export interface Heard {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly text: string
}

/** What the pretended model does next: says something, or calls tools at once. */
export type Decision = string | readonly Wanted[]

export interface Wanted {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A request to anything that is not a model. */
export interface ApiRequest {
  readonly method: string
  /** Below the agent's own address: `/orders/A-100`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>
}

export interface ApiAnswer {
  /** Default 200. */
  readonly status?: number
  readonly body: unknown
  /** Default 0. */
  readonly delayMs?: number
}

/** What surrounds one run of an agent: a model with a mind, and the services its tools ask. Fresh for every run. */
export interface World {
  decide(asked: Asked): Decision
  serve(request: ApiRequest): ApiAnswer
}

/** An agent's world, and what the agent is asked in it. */
export interface Scene {
  /** The first is the one that is recorded; the others only tell benign edits from harmful ones. */
  readonly inputs: readonly [unknown, ...unknown[]]
  open(): World
}

/** Everything a run did that others can see. */
export interface Deeds {
  /** What the model decided, turn by turn. */
  readonly decisions: Decision[]
  /** Requests to services, in order of arrival; `turn` counts the model's answers before it. */
  readonly calls: Call[]
}

export interface Call {
  readonly turn: number
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Keys of idempotency are drawn anew in each run: the first one is 1, the next other one 2. */
  readonly key?: number
}

/** A request and its answer, between {@link World} and whatever carries them. */
export interface WireRequest {
  readonly method: string
  /** `/refund/v1/chat/completions` */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly delayMs: number
}

/** How one provider puts questions and answers. */
export interface Dialect {
  /** @throws BadRequest when a call was left without an answer, as providers do */
  read(body: object): Asked
  /** Numbers the ids it gives, so that they can be the same in every run. */
  write(decision: Decision, body: object, id: (prefix: string) => string): unknown
  /** Server-sent events, when the request asked for a stream. */
  stream?(answer: unknown): string
}

/** The provider refuses the request. */
export class BadRequest extends Error {}

/** A model that cannot be asked right now. */
export class Overloaded extends Error {}

/** Reads the JSON of a tool result; text that is none stands for itself. */
export function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    // A tool that failed says so in words.
    return { error: text }
  }
}
