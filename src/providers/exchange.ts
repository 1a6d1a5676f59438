import type { Body, Chunk, ExchangeEvent, HeaderPair, PushEvent, Step } from '../tape/types.ts'
import { at, textAt } from '../json/canonical.ts'
import { decodeBody } from '../wire/decode.ts'
import { readFrames } from '../wire/frames.ts'
import { continuedRun, isGenerative, readLook } from './dialect.ts'
import { exchangeOfPush, pushedToolCalls } from './realtime.ts'
import { dialectSpoken, readModelRequest, readWrittenRequest } from './request.ts'
import { readKeptResponse } from './response.ts'
import type { Dialect, ModelCall, ModelRequest } from './types.ts'

/** What a model asked for over a WebSocket, as an exchange whose answer it was; `undefined` for any other message. */
export function pushedModelCall(event: PushEvent): ExchangeEvent | undefined {
  const toolCalls = pushedToolCalls(event)
  if (toolCalls.length === 0) return undefined
  const exchange = exchangeOfPush(event)
  const dialect = event.url.startsWith('stdio:')
    ? 'anthropic'
    : /\/realtime\b/.test(event.url)
      ? 'openai-realtime'
      : 'gemini-live'
  const request: ModelRequest = { dialect, model: '', instructions: [], messages: [], tools: [], params: {} }
  read.set(exchange, { n: event.n, isPoll: true, request, response: { text: '', toolCalls, unknownEvents: 0 } })
  return exchange
}

const read = new WeakMap<ExchangeEvent, ModelCall | 'none'>()

/**
 * The model call an exchange was, with its response if one came. A GET that looks at an answer the provider keeps is one as
 * well: it asks nothing, and tells what was asked for before (`moreOf`). The request is as the agent wrote it; to compare two
 * of them, take {@link askedIn}.
 *
 * @returns `undefined` when the exchange is no model call. Events are never changed, so each is read once.
 */
export function readModelCall(event: ExchangeEvent): ModelCall | undefined {
  const known = read.get(event) ?? readFresh(event) ?? 'none'
  read.set(event, known)
  return known === 'none' ? undefined : known
}

/** Whether {@link readModelCall} finds one. Reads no more of the exchange than that takes. */
export function isModelCall(event: ExchangeEvent): boolean {
  const known = read.get(event)
  if (known !== undefined) return known !== 'none'
  if (event.via === 'stdio') return false
  return (
    dialectSpoken({ method: event.method, url: event.url, body: requestText(event) }) !== undefined ||
    readPoll(event) !== undefined
  )
}

/** Whether a step asks a model that writes, and no embedding: such a one is asked for real where it is not kept. */
export function asksModel(step: Step): step is ExchangeEvent {
  return step.kind === 'exchange' && isGenerative(readModelCall(step)?.request.dialect)
}

function readFresh(event: ExchangeEvent): ModelCall | undefined {
  if (event.via === 'stdio') return undefined
  const read = readWrittenRequest({ method: event.method, url: event.url, body: requestText(event) })
  if (read === undefined) return readPoll(event)
  const request = withNamedModel(read, event)
  const moreOf = continuedRun(request.dialect, event.url)
  return { n: event.n, ...(moreOf === undefined ? {} : { moreOf }), request, ...answerOf(event, request.dialect) }
}

/** What the model call of an exchange asked, in one spelling: two that ask one question are equal. */
export function askedIn(event: ExchangeEvent): ModelRequest | undefined {
  const known = asked.get(event) ?? askFresh(event) ?? 'none'
  asked.set(event, known)
  return known === 'none' ? undefined : known
}

const asked = new WeakMap<ExchangeEvent, ModelRequest | 'none'>()

function askFresh(event: ExchangeEvent): ModelRequest | undefined {
  const call = readModelCall(event)
  if (call === undefined || call.isPoll) return call?.request
  const { method, url } = event
  const request = readModelRequest({ method, url, body: requestText(event) })
  return request && withNamedModel(request, event)
}

/** A gateway of the AI SDK takes the model in a header. */
function withNamedModel(request: ModelRequest, event: ExchangeEvent): ModelRequest {
  const named = request.model === '' ? header(event.request.headers, 'ai-language-model-id') : undefined
  return named === undefined ? request : { ...request, model: named }
}

/** A look at an answer asked for before. Other services have such addresses too: the answer has to say what it is. */
function readPoll(event: ExchangeEvent): ModelCall | undefined {
  const look = readLook(event.method, event.url)
  if (look === undefined) return undefined
  const { dialect, id } = look
  const told = answerOf(event, dialect)
  const moreOf = told?.keptAs
  if (told === undefined || moreOf === undefined || (id !== undefined && id !== moreOf)) return undefined
  return {
    n: event.n,
    moreOf,
    isPoll: true,
    request: { dialect, model: '', instructions: [], messages: [], tools: [], params: {} },
    ...told,
  }
}

function answerOf(
  event: ExchangeEvent,
  dialect: Dialect,
): (Required<Pick<ModelCall, 'response'>> & Pick<ModelCall, 'keptAs'>) | undefined {
  if (event.response === undefined) return undefined
  const { status, headers, chunks } = event.response
  const { response, keptAs } = readKeptResponse(dialect, {
    status,
    contentType: header(headers, 'content-type'),
    contentEncoding: header(headers, 'content-encoding'),
    errorType: status < 400 ? undefined : header(headers, 'x-amzn-errortype'),
    tokens: /\/invoke($|[?#])/.test(event.url)
      ? {
          input: header(headers, 'x-amzn-bedrock-input-token-count'),
          output: header(headers, 'x-amzn-bedrock-output-token-count'),
        }
      : undefined,
    bytes: Buffer.concat(chunks.map(chunkBytes)),
  })
  return { ...(keptAs === undefined ? {} : { keptAs }), response }
}

/** The id that a provider gave an answer; `undefined`: it says none. */
export function idOfAnswer({ response }: ExchangeEvent): string | undefined {
  if (response === undefined) return undefined
  const bytes = Buffer.concat(response.chunks.map(chunkBytes))
  const [first] = readFrames(decodeBody(bytes, header(response.headers, 'content-encoding'))).values
  const holders = [first, at(first, 'message'), at(first, 'response')]
  return textAt(first, 'responseId') ?? holders.flatMap((one) => textAt(one, 'id') ?? [])[0]
}

/** The request body as text; a body still given by reference, or binary beyond reading, is empty. */
export function requestText({ request }: ExchangeEvent): string {
  const { body, headers } = request
  if (body === undefined) return ''
  if (typeof body === 'string') return body
  const bytes = bodyBytes(body)
  return bytes === undefined ? '' : new TextDecoder().decode(decodeBody(bytes, header(headers, 'content-encoding')))
}

function bodyBytes(body: Exclude<Body, string>): Uint8Array | undefined {
  return 'base64' in body ? Buffer.from(body.base64, 'base64') : undefined
}

function chunkBytes([, , bytes]: Chunk): Uint8Array {
  return typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64')
}

function header(headers: readonly HeaderPair[], name: string): string | undefined {
  const values = headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}
