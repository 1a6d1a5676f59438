import type { Json } from '../tape/types.ts'

/** Wire dialects a body can be in. */
export type Dialect =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'anthropic'
  | 'gemini'
  | 'bedrock-converse'
  | 'cohere'
  | 'ai-gateway'
  | 'mcp'

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

export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedTokens?: number
}

/** A model response, whatever it was streamed as. */
export interface ModelResponse {
  readonly model?: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish?: string
  readonly usage?: Usage
  readonly refusal?: string
  /** Class of an error the provider reported. */
  readonly error?: string
  /** Stream events of a type this reader does not know. */
  readonly unknownEvents: number
}

export interface ModelCall {
  /** `n` of the exchange. */
  readonly n: number
  readonly request: ModelRequest
  readonly response?: ModelResponse
}
