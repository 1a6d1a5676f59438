import { at, isList, isMap, type JsonMap, listAt, textAt } from '../json/canonical.ts'
import { realtimeDialect } from './realtime.ts'
import type { Dialect } from './types.ts'

/** What the address of a request says about it. */
export interface Address {
  /** Path without host and query, percent-decoded where that is possible. */
  readonly path: string
  /** Model named in the path (Gemini, Vertex, Bedrock, Azure deployments, Workers AI). */
  readonly model?: string
}

/** A longer one names no model: a pattern would search all of it behind each `/models/`. */
const longestPath = 4096

/** The path of a URL and the model it names, if it does. Never throws. */
export function readAddress(url: string): Address {
  const path = decode(pathOf(url))
  if (path.length > longestPath) return { path }
  const model =
    /\/models\/(.+?):[a-zA-Z]+$/.exec(path)?.[1] ??
    /\/(?:tunedModels|endpoints)\/([^/:]+):[a-zA-Z]+$/.exec(path)?.[1] ??
    /\/model\/(.+)\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$/.exec(path)?.[1] ??
    /\/openai\/deployments\/([^/]+)\//.exec(path)?.[1] ??
    /\/(?:models|deployments)\/([^/]+\/[^/]+)\/predictions$/.exec(path)?.[1] ??
    /\/agents\/([^/]+\/agentAliases\/[^/]+)\/sessions\/[^/]+\/text$/.exec(path)?.[1] ??
    /\/(?:ai\/run|workers-ai)\/(@[^/]+\/.+)$/.exec(path)?.[1]
  return model === undefined ? { path } : { path, model }
}

function pathOf(url: string): string {
  const withoutQuery = /^[^?#]*/.exec(url)?.[0] ?? ''
  const withoutHost = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(.*)$/is.exec(withoutQuery)?.[1] ?? withoutQuery
  return withoutHost.replace(/(?<!\/)\/+$/, '')
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // A stray percent sign: the path as it was written still tells the endpoint.
    return path
  }
}

/** Endpoints whose bodies look like model calls and are not. */
const otherEndpoints =
  /\/(images|audio|moderations|rerank|fine[-_]tuning|fine_tunes|batches|files|uploads|vector_stores|assistants|threads)(\/|$)/

/**
 * The wire dialect of a request body, from the path where it is telling and from the shape of the body otherwise.
 * The host says nothing: Azure, OpenRouter, Groq, vLLM and many more speak OpenAI's dialects.
 *
 * Token counting has the same body as the call it counts for, and is read as one.
 *
 * @returns `undefined` when the body is not a model call, JSON-RPC included
 */
export function dialectOf({ path, model }: Address, body: JsonMap): Dialect | undefined {
  if (at(body, 'jsonrpc') !== undefined) return undefined
  const realtime = realtimeDialect(path, body)
  if (realtime !== undefined) return realtime
  if (/\/(converse|converse-stream)$/.test(path) && model !== undefined) return 'bedrock-converse'
  if (isContents(body) || isContents(at(body, 'request')) || isContents(at(body, 'generateContentRequest')))
    return 'gemini'
  const hasMessages = isList(at(body, 'messages'))
  const service = hasMessages ? undefined : serviceDialect(path, body)
  if (service !== undefined) return service
  if (otherEndpoints.test(path) && !/\/chat\/completions$/.test(path)) return undefined
  if (/\/embed(dings)?$/.test(path)) return hasEmbeddingInput(body) ? 'openai-embeddings' : undefined
  if (hasMessages) return conversationDialect(path, body)
  if (/\/v[12]\/chat$|:rawPredict$/.test(path) && textAt(body, 'message') !== undefined) return 'cohere'
  if (isResponses(path, body)) return 'openai-responses'
  if (isCompletion(path, body)) return 'openai-completions'
  if (hasEmbeddingInput(body) && (at(body, 'encoding_format') !== undefined || at(body, 'dimensions') !== undefined)) {
    return 'openai-embeddings'
  }
  if (isInvoke(path)) return invokeDialect(body)
  return isAiGateway(path, body) ? 'ai-gateway' : undefined
}

/** Services that take no list of messages, recognised by the path. */
function serviceDialect(path: string, body: JsonMap): Dialect | undefined {
  if (/\/threads\/([^/]+\/)?runs(\/[^/]+\/submit_tool_outputs)?$/.test(path)) return 'openai-assistants'
  if (/\/actions\/chat$/.test(path) && isOciChat(body)) return 'oci'
  if (isAgent(path, body)) return 'bedrock-agent'
  if (isPrediction(path, body)) return 'replicate'
  if (/\/interactions$/.test(path) && at(body, 'input') !== undefined) return 'gemini-interactions'
  // Begun, gone on with, or begun again from one of its entries.
  if (/\/conversations(\/[^/]+(\/restart)?)?$/.test(path) && at(body, 'inputs') !== undefined)
    return 'mistral-conversations'
  if (/:(batchE|e)mbedContents?$|embed[^/]*:predict$/.test(path) && hasEmbeddingInput(body)) return 'openai-embeddings'
  return undefined
}

/** Agents of Bedrock, those described in the request itself, and generation over a knowledge base. */
function isAgent(path: string, body: JsonMap): boolean {
  if (/\/retrieveAndGenerate(Stream)?$/.test(path)) return isMap(at(body, 'input'))
  if (/\/agents\/[^/]+\/agentAliases\/[^/]+\/sessions\/[^/]+\/text$/.test(path)) return true
  return /\/agents\/[^/]+$/.test(path) && textAt(body, 'foundationModel') !== undefined
}

/**
 * Whether a request goes on from a conversation that the provider keeps under an id in the address (a thread, a session).
 * Such a request does not say what its answer depends on: another one with the same words is another question, and to
 * ask it once more changes what is kept.
 */
export function keepsConversation(dialect: Dialect): boolean {
  return dialect === 'openai-assistants' || dialect === 'bedrock-agent' || dialect === 'mistral-conversations'
}

/** A look at an answer that the provider keeps. */
export interface Look {
  readonly dialect: Dialect
  /** Id in the address; absent where the answer alone tells: lists of a thread. */
  readonly id?: string
}

/**
 * What a GET looks at, from its address: a run of an assistant, its steps, the messages of its thread; a response in the
 * background; an interaction; a prediction. Whether there is one, its answer tells.
 */
export function readLook(method: string, url: string): Look | undefined {
  if (method.toUpperCase() !== 'GET') return undefined
  const { path } = readAddress(url)
  const run = /\/threads\/[^/]+\/runs\/([^/]+)(\/steps(\/[^/]+)?)?$/.exec(path)?.[1]
  if (run !== undefined) return { dialect: 'openai-assistants', id: run }
  if (/\/threads\/[^/]+\/(runs|messages(\/[^/]+)?)$/.test(path)) return { dialect: 'openai-assistants' }
  const [, collection = '', id] = /\/(responses|interactions|predictions)\/([^/]+)$/.exec(path) ?? []
  const dialect = collections[collection]
  return dialect === undefined || id === undefined ? undefined : { dialect, id }
}

const collections: Readonly<Record<string, Dialect>> = {
  responses: 'openai-responses',
  interactions: 'gemini-interactions',
  predictions: 'replicate',
}

/** The run whose tools a request answers. */
export function continuedRun(dialect: Dialect, url: string): string | undefined {
  if (dialect !== 'openai-assistants') return undefined
  return /\/runs\/([^/]+)\/submit_tool_outputs$/.exec(readAddress(url).path)?.[1]
}

/**
 * Whether a model decides something that it can be asked again: no embedding and no MCP server, which answer the same
 * way each time, and no conversation the provider keeps.
 */
export function isGenerative(dialect: Dialect | undefined): boolean {
  return dialect !== undefined && dialect !== 'openai-embeddings' && dialect !== 'mcp' && !keepsConversation(dialect)
}

function isContents(body: unknown): boolean {
  if (!isMap(body)) return false
  const contents = at(body, 'contents')
  return isList(contents) || isMap(contents) || (typeof contents === 'string' && contents !== '')
}

/** OCI's: which model serves the chat stands beside it. */
function isOciChat(body: JsonMap): boolean {
  return isMap(at(body, 'servingMode')) && textAt(at(body, 'chatRequest'), 'apiFormat') !== undefined
}

/** Replicate's, of models that take something in words. */
function isPrediction(path: string, body: JsonMap): boolean {
  const input = at(body, 'input')
  return (
    /\/v1\/((models|deployments)\/[^/]+\/[^/]+\/)?predictions$/.test(path) &&
    (typeof at(input, 'prompt') === 'string' || isList(at(input, 'messages')))
  )
}

/** Bodies with a `messages` list: who speaks that way is recognised by what stands beside it. */
function conversationDialect(path: string, body: JsonMap): Dialect | undefined {
  if (!listAt(body, 'messages').every(isMap)) return undefined
  if (isInvoke(path) && isConverseBody(body)) return 'bedrock-converse'
  if (isAnthropic(path, body)) return 'anthropic'
  if (/\/v2\/chat$/.test(path)) return 'cohere'
  if (/\/foundationModels\/v\d+\/completion$/.test(path)) return 'yandex'
  if (textAt(listAt(body, 'messages')[0], 'speaker') !== undefined) return 'sourcegraph'
  // A chat always says who speaks; other APIs (push services, mailers) have `messages` too.
  return listAt(body, 'messages').every((message) => typeof at(message, 'role') === 'string')
    ? 'openai-chat'
    : undefined
}

function isAnthropic(path: string, body: JsonMap): boolean {
  if (at(body, 'anthropic_version') !== undefined) return true
  if (/\/messages(\/count_tokens)?$/.test(path)) return true
  if (/\/publishers\/anthropic\//.test(path)) return true
  if (/\/completions$/.test(path)) return false
  const tools = listAt(body, 'tools')
  return at(body, 'system') !== undefined || tools.some((tool) => at(tool, 'input_schema') !== undefined)
}

/** Amazon Nova takes the Converse shape through `invoke`. No other writes parts of messages that do not tell their type. */
function isConverseBody(body: JsonMap): boolean {
  if (at(body, 'inferenceConfig') !== undefined || at(body, 'schemaVersion') !== undefined) return true
  if (at(body, 'toolConfig') !== undefined) return true
  const parts = listAt(body, 'messages').flatMap((message) => listAt(message, 'content'))
  return parts.length > 0 && parts.every((part) => isMap(part) && at(part, 'type') === undefined)
}

function isResponses(path: string, body: JsonMap): boolean {
  const input = at(body, 'input')
  if (/\/responses(\/input_tokens|\/compact)?$/.test(path)) {
    // Over a WebSocket its kind says what it is.
    if (textAt(body, 'type') === 'response.create') return true
    return input !== undefined || at(body, 'prompt') !== undefined || at(body, 'model') !== undefined
  }
  if (input === undefined) return false
  if (isList(input) && input.some((item) => at(item, 'role') !== undefined || at(item, 'call_id') !== undefined))
    return true
  return ['instructions', 'previous_response_id', 'max_output_tokens'].some((key) => at(body, key) !== undefined)
}

function isCompletion(path: string, body: JsonMap): boolean {
  // Text generation of Hugging Face and of watsonx.
  if (typeof at(body, 'inputs') === 'string' && (isMap(at(body, 'parameters')) || /\/generate(_stream)?$/.test(path)))
    return true
  if (/\/text\/generation(_stream)?$/.test(path)) return typeof at(body, 'input') === 'string'
  const prompt = at(body, 'prompt')
  if (typeof prompt !== 'string' && !isList(prompt)) return false
  if (isAiGateway(path, body)) return false
  if (/\/(completions?|complete|generate)$/.test(path) || isInvoke(path) || path.endsWith(':rawPredict')) return true
  return ['max_tokens', 'max_tokens_to_sample', 'stop', 'top_p', 'logprobs'].some((key) => at(body, key) !== undefined)
}

/** The AI SDK's own protocol: `prompt` is a list of messages. */
function isAiGateway(path: string, body: JsonMap): boolean {
  const prompt = listAt(body, 'prompt')
  return (
    path.endsWith('/language-model') &&
    prompt.length > 0 &&
    prompt.every((message) => textAt(message, 'role') !== undefined)
  )
}

/** Where what is to be embedded stands; the last three are Google's. */
export const embeddingInputs: readonly string[] = [
  'input',
  'inputs',
  'texts',
  'prompt',
  'inputText',
  'images',
  'content',
  'requests',
  'instances',
]

function hasEmbeddingInput(body: JsonMap): boolean {
  return embeddingInputs.some((key) => at(body, key) !== undefined)
}

function isInvoke(path: string): boolean {
  return path.length <= longestPath && /\/model\/.+\/invoke(-with-response-stream)?$/.test(path)
}

/** Bodies of Bedrock's model-specific `invoke` that no other rule knew. */
function invokeDialect(body: JsonMap): Dialect | undefined {
  if (at(body, 'textGenerationConfig') !== undefined) return 'openai-completions'
  if (at(body, 'texts') !== undefined || at(body, 'inputText') !== undefined) return 'openai-embeddings'
  return textAt(body, 'message') === undefined ? undefined : 'cohere'
}
