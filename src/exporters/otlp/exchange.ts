import type { Dialect, ModelCall } from '../../providers/index.ts'
import { at } from '../../json/canonical.ts'
import type { ExchangeEvent, Json } from '../../tape/index.ts'
import { failureOf, modelCallOf } from '../facts.ts'
import { readRpc, type Rpc } from '../../providers/rpc.ts'
import { double, type AttributeValue } from './attributes.ts'
import { contentOf } from './call.ts'
import { inputMessages, instructionParts, outputMessages } from './messages.ts'
import { requestParams, toolDefinitions } from './params.ts'
import { providerOf } from './provider.ts'
import type { Telling, StepDescription } from './span.ts'

/** A request and its answer: a model call, a message to an MCP server, or plain HTTP. */
export function tellExchange(event: ExchangeEvent, telling: Telling): StepDescription {
  const model = modelCallOf(event)
  if (model !== undefined) return tellModel(event, model, telling)
  const rpc = readRpc(event)
  return rpc === undefined ? tellHttp(event, telling) : tellRpc(event, rpc, telling)
}

function tellModel(
  event: ExchangeEvent,
  { request, response }: ModelCall,
  { withContent, usage: counted }: Telling,
): StepDescription {
  const operation = operationOf(request.dialect)
  // Where they are messages among others, the conventions leave them there.
  const isSpoken = (one: Json): boolean => at(one, 'role') !== undefined
  const [apart, spoken] = [request.instructions.filter((one) => !isSpoken(one)), request.instructions.filter(isSpoken)]
  const { finish, model } = response ?? {}
  const usage = counted.get(event.n)
  const refused = response?.error === undefined ? undefined : { type: response.error }
  return {
    name: request.model === '' ? operation : `${operation} ${request.model}`,
    kind: 3,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerOf(event.url, request.dialect),
      'gen_ai.request.model': request.model === '' ? undefined : request.model,
      ...requestParams(request),
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': finish === undefined ? undefined : [finish],
      'gen_ai.response.time_to_first_chunk': double(toFirstChunk(event)),
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
      ...serverOf(event.url),
      'http.response.status_code': event.response?.status,
      ...(withContent
        ? {
            'gen_ai.system_instructions': listOf(instructionParts(apart)),
            'gen_ai.tool.definitions': listOf(toolDefinitions(request.tools)),
            'gen_ai.input.messages': listOf([...inputMessages(spoken), ...inputMessages(request.messages)]),
            'gen_ai.output.messages': response === undefined ? undefined : listOf(outputMessages(response)),
          }
        : {}),
    },
    error: failureOf(event) ?? refused,
  }
}

function operationOf(dialect: Dialect): string {
  switch (dialect) {
    case 'openai-completions':
      return 'text_completion'
    case 'openai-embeddings':
      return 'embeddings'
    case 'gemini':
    case 'gemini-interactions':
      return 'generate_content'
    case 'openai-chat':
    case 'openai-responses':
    case 'openai-assistants':
    case 'anthropic':
    case 'mistral-conversations':
    case 'bedrock-converse':
    case 'bedrock-agent':
    case 'cohere':
    case 'oci':
    case 'replicate':
    case 'sourcegraph':
    case 'yandex':
    case 'ai-gateway':
    case 'openai-realtime':
    case 'gemini-live':
    case 'mcp':
      return 'chat'
  }
}

function listOf(list: readonly object[]): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list)
}

/** Seconds from the request to the first piece of a streamed answer. */
function toFirstChunk({ at: started, response }: ExchangeEvent): number | undefined {
  const [first, second] = response?.chunks ?? []
  return first === undefined || second === undefined
    ? undefined
    : Math.max(0, Math.round((first[1] - started) * 1000) / 1e6)
}

function tellRpc(event: ExchangeEvent, { method, id, tool, result, error }: Rpc, telling: Telling): StepDescription {
  return {
    name: tool === undefined ? method : `${method} ${tool.name}`,
    kind: 3,
    attributes: {
      'mcp.method.name': method,
      'jsonrpc.request.id': id,
      'network.transport': event.via === 'stdio' ? 'pipe' : 'tcp',
      ...(event.via === 'stdio' ? {} : serverOf(event.url)),
      ...(tool === undefined ? {} : toolOf(event, tool, result, telling)),
    },
    error: error ?? (result === undefined ? failureOf(event) : undefined),
  }
}

function toolOf(
  { n }: ExchangeEvent,
  { name, args }: NonNullable<Rpc['tool']>,
  result: Json | undefined,
  { withContent, calls }: Telling,
): Readonly<Record<string, AttributeValue>> {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': calls.get(n)?.id,
    ...(withContent ? contentOf(args, result) : {}),
  }
}

function tellHttp(event: ExchangeEvent, { withContent }: Telling): StepDescription {
  const { method, url, response, via } = event
  const refused = response !== undefined && response.status >= 400 ? { type: `${response.status}` } : undefined
  const error = failureOf(event) ?? refused
  if (via === 'stdio') return { name: 'stdio', kind: 3, attributes: { 'network.transport': 'pipe' }, error }
  return {
    name: method,
    kind: 3,
    attributes: {
      'http.request.method': method,
      'url.full': withContent ? url : url.replace(/[?#].*$/s, ''),
      ...serverOf(url),
      'http.response.status_code': response?.status,
    },
    error,
  }
}

function serverOf(url: string): Readonly<Record<string, AttributeValue>> {
  if (!URL.canParse(url)) return {}
  const { hostname, port, protocol } = new URL(url)
  if (hostname === '') return {}
  const usual = protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : undefined
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) }
}
