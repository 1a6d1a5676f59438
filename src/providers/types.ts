import type { Json } from '../tape/types.ts'

/** Wire dialects a body can be in. */
export type Dialect =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'openai-assistants'
  | 'anthropic'
  | 'gemini'
  | 'gemini-interactions'
  | 'mistral-conversations'
  | 'bedrock-converse'
  | 'bedrock-agent'
  | 'cohere'
  | 'oci'
  | 'replicate'
  | 'sourcegraph'
  | 'yandex'
  | 'ai-gateway'
  | 'mcp'
  | 'openai-realtime'
  | 'gemini-live'

/**
 * A model request taken apart, so that two of them can be compared part by part.
 * Nothing is dropped: every field of the body is in exactly one part.
 */
export interface ModelRequest {
  readonly dialect: Dialect
  readonly model: string
  /** System prompt, developer messages, `instructions`. */
  readonly instructions: readonly Json[]
  /** The conversation: user, assistant and tool messages, in order. */
  readonly messages: readonly Json[]
  readonly tools: readonly Json[]
  /** Everything else: temperature, max tokens, stream, … */
  readonly params: { readonly [name: string]: Json }
}

export interface ToolCall {
  readonly id?: string
  readonly name: string
  readonly args: Json
  /** Run by the provider (web search, code interpreter), not by the agent. */
  readonly builtIn?: true
}

/** Tokens of a call, meaning the same in every dialect. */
export interface Usage {
  /** All the model read, from a cache or not. */
  readonly inputTokens?: number
  /** All the model wrote, its reasoning included. */
  readonly outputTokens?: number
  /** The part of the input that came from a cache. */
  readonly cachedTokens?: number
  /** The part of the input that was written to a cache. */
  readonly cacheWriteTokens?: number
  /** The part of the output that was reasoning. */
  readonly reasoningTokens?: number
}

/**
 * A model response, no matter what it was streamed as. It is a view: what it has no field for stays in the bytes on the tape.
 */
export interface ModelResponse {
  readonly model?: string
  readonly text: string
  /** What the model thought, as far as the provider sent it: thinking blocks or their summaries, a blank line between. */
  readonly reasoning?: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish?: string
  readonly usage?: Usage
  /** What the model said instead of an answer; or the provider's word for why there is no answer. */
  readonly refusal?: string
  /** Class of an error the provider reported. */
  readonly error?: string
  /** Stream events of a type this reader does not know. */
  readonly unknownEvents: number
}

export interface ModelCall {
  /** `n` of the exchange. */
  readonly n: number
  /** Id under which the provider keeps the answer and tells it again, where its dialect has such. */
  readonly keptAs?: string
  /**
   * Id of an answer asked for before, of which this tells more: a poll, or a run that goes on with what its tools answered.
   * Absent: this is a question of its own.
   */
  readonly moreOf?: string
  /** Nothing was asked: an answer that the provider keeps was looked at. */
  readonly isPoll?: true
  readonly request: ModelRequest
  readonly response?: ModelResponse
}
