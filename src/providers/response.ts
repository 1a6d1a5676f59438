import type { Json } from '../tape/types.ts'
import { decodeBody } from '../wire/decode.ts'
import { type Draft, finishDraft, newDraft } from './draft.ts'
import { readFrames } from '../wire/frames.ts'
import { at, isList, isMap, listAt, numberAt, textAt } from '../json/canonical.ts'
import { readAiGateway } from './responses/ai-gateway.ts'
import { readAnthropic } from './responses/anthropic.ts'
import { readAssistants } from './responses/assistants.ts'
import { readBedrockAgent } from './responses/bedrock-agent.ts'
import { readCohere } from './responses/cohere.ts'
import { readConversations } from './responses/conversations.ts'
import { readConverse } from './responses/converse.ts'
import { readGemini } from './responses/gemini.ts'
import { readInteractions } from './responses/interactions.ts'
import { readChat, readCompletion } from './responses/openai-chat.ts'
import { readResponses } from './responses/openai-responses.ts'
import { readOci } from './responses/oci.ts'
import { readReplicate, readSourcegraph } from './responses/predictions.ts'
import { readYandex } from './responses/yandex.ts'
import type { Dialect, ModelResponse } from './types.ts'

/** A response as it stands on a tape: still encoded, still in any stream form it had. */
export interface RawResponse {
  readonly status: number
  readonly contentType?: string | undefined
  readonly contentEncoding?: string | undefined
  /** Class of an error that stands beside the body (`x-amzn-errortype`). */
  readonly errorType?: string | undefined
  /** Tokens beside the body (`x-amzn-bedrock-input-token-count`, `-output-`); those in the body come first. */
  readonly tokens?: { readonly input: string | undefined; readonly output: string | undefined } | undefined
  readonly bytes: Uint8Array
}

/**
 * Reads a model response, whole or streamed: SSE, JSON-array streaming, newline-delimited JSON, AWS event streams.
 * A truncated response gives what was there. Declared tools are not calls. Never throws, regardless of the bytes.
 *
 * Token counts have one meaning over all dialects: `inputTokens` is everything the model read, `cachedTokens` the part
 * of it that came from a cache.
 */
export function readModelResponse(dialect: Dialect, response: RawResponse): ModelResponse {
  return readKeptResponse(dialect, response).response
}

/** As {@link readModelResponse}, with the id under which the provider keeps the answer. */
export function readKeptResponse(
  dialect: Dialect,
  response: RawResponse,
): { readonly response: ModelResponse; readonly keptAs: string | undefined } {
  const draft = newDraft()
  const read = readerOf(dialect)
  const bytes = decodeBody(response.bytes, response.contentEncoding)
  const { values, unreadable } = readFrames(bytes, dialect === 'bedrock-agent')
  for (const value of values) {
    if (readError(value, draft)) continue
    if ((!isMap(value) || !read(value, draft)) && response.status < 400) draft.unknownEvents++
  }
  // The torn end of a stream is no event of an unknown type; a body that is nothing else is (an HTML page, say).
  if (values.length === 0 && response.status < 400) draft.unknownEvents += unreadable
  if (response.status >= 400) draft.error ??= response.errorType?.replace(/:.*$/s, '') || `http_${response.status}`
  draft.usage.inputTokens ??= countIn(response.tokens?.input)
  draft.usage.outputTokens ??= countIn(response.tokens?.output)
  return { response: finishDraft(draft), keptAs: draft.keptAs }
}

function countIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

/** Reads one value into the draft; `false`: it does not know the value. */
export type Reader = (value: { readonly [key: string]: Json }, draft: Draft) => boolean

function readerOf(dialect: Dialect): Reader {
  switch (dialect) {
    case 'openai-chat':
      return readChat
    case 'openai-responses':
      return readResponses
    case 'openai-completions':
      return readCompletion
    case 'openai-embeddings':
      return readEmbeddings
    case 'openai-assistants':
      return readAssistants
    case 'anthropic':
      return readAnthropic
    case 'gemini':
      return readGemini
    case 'gemini-interactions':
      return readInteractions
    case 'mistral-conversations':
      return readConversations
    case 'bedrock-converse':
      return readConverse
    case 'bedrock-agent':
      return readBedrockAgent
    case 'ai-gateway':
      return readAiGateway
    case 'cohere':
      return readCohere
    case 'oci':
      return readOci
    case 'replicate':
      return readReplicate
    case 'sourcegraph':
      return readSourcegraph
    case 'yandex':
      return readYandex
    // Read apart from what was asked, see `pushedToolCalls`.
    case 'openai-realtime':
    case 'gemini-live':
    case 'mcp':
      return () => false
  }
}

/**
 * Errors look alike in all dialects: `{ error: { type | code | status } }`, `{ type: 'error' }`, `{ __type }`; MiniMax has
 * `{ base_resp: { status_code } }` beside the rest.
 */
function readError(value: Json, draft: Draft): boolean {
  const error = at(value, 'error')
  const wrapped = at(value, 'detail') ?? at(value, '__type')
  const ofMiniMax = numberAt(at(value, 'base_resp'), 'status_code') ?? 0
  if (typeof error === 'string' && error !== '') draft.error ??= textAt(value, 'type') ?? 'error'
  else if (isMap(error)) draft.error ??= errorClass(error)
  else if (isList(error) && error.length > 0) draft.error ??= errorClass(error[0] ?? null)
  else if (at(value, 'type') === 'error') draft.error ??= errorClass(value)
  else if (typeof wrapped === 'string' && at(value, '__type') !== undefined) draft.error ??= wrapped.replace(/^.*#/, '')
  else if (ofMiniMax !== 0) draft.error ??= `base_resp_${ofMiniMax}`
  else return false
  // What is kept under an id tells its error beside everything else: a response, an interaction, a prediction.
  const isKept = ['response', 'interaction'].includes(textAt(value, 'object') ?? '') || isMap(at(value, 'urls'))
  return !isKept && at(value, 'choices') === undefined
}

function errorClass(error: Json): string {
  for (const key of ['type', 'status', 'code']) {
    const found = at(error, key)
    if (typeof found === 'string' && found !== '' && found !== 'error') return found
    if (typeof found === 'number') return `http_${found}`
  }
  // Yandex: its code of gRPC, and that of HTTP beside it.
  const http = at(error, 'httpCode')
  if (typeof http === 'number') return `http_${http}`
  return 'error'
}

function readEmbeddings(value: { readonly [key: string]: Json }, draft: Draft): boolean {
  draft.model ??= textAt(value, 'model')
  const usage = at(value, 'usage')
  const billed = at(at(value, 'meta'), 'billed_units')
  const read =
    at(usage, 'prompt_tokens') ??
    at(usage, 'total_tokens') ??
    at(value, 'inputTextTokenCount') ??
    at(value, 'prompt_eval_count') ??
    at(billed, 'input_tokens') ??
    at(at(value, 'usageMetadata'), 'promptTokenCount')
  if (typeof read === 'number') draft.usage.inputTokens = read
  for (const prediction of listAt(value, 'predictions')) {
    const tokens = at(at(at(prediction, 'embeddings'), 'statistics'), 'token_count')
    if (typeof tokens === 'number') draft.usage.inputTokens = (draft.usage.inputTokens ?? 0) + tokens
  }
  return ['data', 'embedding', 'embeddings', 'predictions'].some((key) => at(value, key) !== undefined)
}
