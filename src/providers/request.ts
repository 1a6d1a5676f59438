import { type Address, dialectOf, embeddingInputs, readAddress } from './dialect.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, parseJson, without } from '../json/canonical.ts'
import { withGeminiNames } from './spelling/gemini-names.ts'
import { realtimeParts } from './realtime.ts'
import { oci } from './requests/oci.ts'
import {
  assistants,
  bedrockAgent,
  conversations,
  interactions,
  replicate,
  sourcegraph,
  yandex,
} from './requests/services.ts'
import { bySpeaker, type Parts, Taking } from './requests/taking.ts'
import { spelled } from './spelling/index.ts'
import type { Dialect, ModelRequest } from './types.ts'

/** A request as it was sent. */
interface SentRequest {
  readonly method: string
  readonly url: string
  readonly body: string
}

/**
 * Takes a request body apart: instructions, messages, tools, and everything else as params.
 *
 * The dialect is recognised by path and shape, not by host. A body for counting tokens is read as the call it counts for.
 * The body is in one spelling, see `inOneSpelling`: two requests that their provider reads alike have equal parts.
 *
 * @returns `undefined` when this is not a model call (MCP's JSON-RPC is not). Never throws, regardless of the input.
 */
export function readModelRequest(request: SentRequest): ModelRequest | undefined {
  return read(request, spelled)
}

/** The same as it was written, which is what people are shown. Only Gemini's fields have their one name. */
export function readWrittenRequest(request: SentRequest): ModelRequest | undefined {
  return read(request, (_dialect, _address, _url, body) => body)
}

/** The dialect of a model call, `undefined` of any other, without taking it apart: a fraction of the time of a long conversation. */
export function dialectSpoken(request: SentRequest): Dialect | undefined {
  return spokenIn(request)?.dialect
}

function read(request: SentRequest, spell: typeof spelled): ModelRequest | undefined {
  const spoken = spokenIn(request)
  if (spoken === undefined) return undefined
  const { dialect, address, body } = spoken
  return { dialect, ...takeApart(dialect, address, spell(dialect, address, request.url, body)) }
}

function spokenIn({ method, url, body: text }: SentRequest) {
  // What is said over a WebSocket is asked as well.
  if (!['POST', 'SEND', 'SEND_BINARY'].includes(method.toUpperCase())) return undefined
  const written = parseJson(text)
  if (!isMap(written)) return undefined
  const body = withGeminiNames(url, written)
  const address = readAddress(url)
  const dialect = dialectOf(address, body)
  return dialect && { dialect, address, body }
}

function takeApart(dialect: Dialect, address: Address, body: JsonMap): Parts {
  switch (dialect) {
    case 'openai-chat':
      return chat(address, body)
    case 'openai-responses':
      return responses(address, body)
    case 'openai-completions':
      return prompts(address, body, ['prompt', 'inputText', 'inputs', 'input'])
    case 'openai-embeddings':
      return prompts(address, body, embeddingInputs)
    case 'openai-assistants':
      return assistants(address, body)
    case 'anthropic':
      return anthropic(address, body)
    case 'gemini':
      return gemini(address, body)
    case 'gemini-interactions':
      return interactions(address, body)
    case 'mistral-conversations':
      return conversations(address, body)
    case 'bedrock-converse':
      return converse(address, body)
    case 'bedrock-agent':
      return bedrockAgent(address, body)
    case 'cohere':
      return cohere(address, body)
    case 'oci':
      return oci(address, body)
    case 'replicate':
      return replicate(address, body)
    case 'sourcegraph':
      return sourcegraph(address, body)
    case 'yandex':
      return yandex(address, body)
    case 'ai-gateway':
      return aiGateway(address, body)
    case 'openai-realtime':
    case 'gemini-live':
      return realtimeParts(dialect, body)
    case 'mcp':
      // `dialectOf` never says so: a JSON-RPC body is not a model request.
      return { model: '', instructions: [], messages: [], tools: [], params: body }
  }
}

function chat(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('messages'))
  const tools = [...parts.take('tools', isList), ...parts.take('functions', isList)]
  return { model, instructions, messages, tools, params: parts.rest() }
}

function responses(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('input'))
  const text = parts.take('instructions', (value) => value !== null)
  return {
    model,
    instructions: [...text, ...instructions],
    messages,
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}

function prompts(address: Address, body: JsonMap, keys: readonly string[]): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const instructions = parts.take('system', (value) => typeof value === 'string')
  return { model, instructions, messages: keys.flatMap((key) => parts.take(key)), tools: [], params: parts.rest() }
}

function anthropic(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('messages'))
  const system = parts.take('system')
  return {
    model,
    instructions: [...system, ...instructions],
    messages,
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}

function gemini(address: Address, outer: JsonMap): Parts {
  // Code Assist and token counting wrap the request once more.
  const wrapper =
    at(outer, 'contents') === undefined
      ? isMap(at(outer, 'request'))
        ? 'request'
        : 'generateContentRequest'
      : undefined
  const body = wrapper === undefined ? outer : mapAt(outer, wrapper)
  const outerParts = new Taking(outer)
  const model = outerParts.model(address)
  const parts = wrapper === undefined ? outerParts : new Taking(body)
  const instructions = [...parts.take('systemInstruction'), ...parts.take('system_instruction')]
  const messages = parts.take('contents')
  const tools = parts.take('tools', isList)
  const params = wrapper === undefined ? parts.rest() : { ...outerParts.rest(), [wrapper]: parts.rest() }
  return { model, instructions, messages, tools, params }
}

function converse(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const instructions = parts.take('system')
  const messages = parts.take('messages')
  const toolConfig = mapAt(body, 'toolConfig')
  const tools = listAt(toolConfig, 'tools')
  const params = tools.length === 0 ? parts.rest() : { ...parts.rest(), toolConfig: without(toolConfig, 'tools') }
  return { model, instructions, messages, tools, params }
}

function cohere(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('messages', isList))
  // Version 1: the conversation so far, the new message, and tool results, each under its own key.
  const preamble = parts.take('preamble', (value) => value !== null)
  const history = [
    ...parts.take('chat_history', isList),
    ...parts.take('message'),
    ...parts.take('tool_results', isList),
  ]
  return {
    model,
    instructions: [...preamble, ...instructions],
    messages: [...messages, ...history],
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}

function aiGateway(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('prompt'))
  return { model, instructions, messages, tools: parts.take('tools', isList), params: parts.rest() }
}
