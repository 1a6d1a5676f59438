import { isUtf8 } from 'node:buffer'
import { neutralLine } from '../errors/index.ts'
import {
  decodeBody,
  type Dialect,
  type ModelCall,
  readMcpCall,
  isModelCall,
  isUnderWay,
  readModelCall,
  type ToolCall,
  textOf,
} from '../providers/index.ts'
import { readFrames } from '../wire/frames.ts'
import { at, textAt } from '../json/canonical.ts'
import { requestText } from '../providers/exchange.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  isEnding,
  type Json,
  type Outcome,
  responseBytes,
  type Step,
} from '../tape/index.ts'
import { errorText, valueText } from './conversation.ts'

/** A step in words, for people and for programs. Texts are whole and as recorded: whoever prints them makes them neutral. */
export interface DescribedStep {
  /** `n` of the event on the tape. */
  readonly n: number
  /** What it was: a model call, a tool call to an MCP server, another message to one, another request, or the kind of a wrapped call. */
  readonly kind: 'model' | 'mcp' | 'rpc' | 'http' | CallEvent['kind']
  /** Model id, name of the function, JSON-RPC method, by what a child was ended, or HTTP method and address. */
  readonly name: string
  readonly dialect?: Dialect
  /** Nothing was asked: an answer that the provider keeps was looked at. */
  readonly isPoll?: true
  /** What was asked: the last words of the prompt, the arguments, the body of a request. */
  readonly asked?: string
  /** What a model sent of its reasoning. */
  readonly reasoning?: string
  /** Tools the model asked for, as `lookup_order(order_id: "A1")`. */
  readonly toolCalls: readonly string[]
  /** What came back: text, a value, or a body. */
  readonly answer?: string
  /** HTTP status. */
  readonly status?: number
  /** Why a model stopped, in its provider's word. */
  readonly finish?: string
  readonly error?: string
  /** Pieces the answer came in, when more than one. */
  readonly pieces?: number
  /** Milliseconds since the run began. */
  readonly atMs: number
  /** Milliseconds until the answer was complete; absent when it never was. */
  readonly tookMs?: number
  /** `file:line:column` in the agent's code. */
  readonly site?: string
}

/** A step as the tape holds it. */
export function describeStep(step: Step): DescribedStep {
  const { n, at: atMs, site } = step
  const common = { n, atMs, ...(site === undefined ? {} : { site }) }
  return step.kind === 'exchange' ? { ...common, ...exchange(step) } : { ...common, ...call(step) }
}

/** What a step was: much cheaper for a long run than all that {@link describeStep} finds. */
export function kindOfStep(step: Step): DescribedStep['kind'] {
  if (step.kind !== 'exchange') return step.kind
  return isModelCall(step) ? 'model' : messageIn(step).kind
}

/** How a run ended, in one line. */
export function describeOutcome(outcome: Outcome, max = 100): string {
  switch (outcome.status) {
    case 'returned':
      return outcome.value === undefined ? 'returned' : `returned ${compact(outcome.value, max)}`
    case 'threw':
      return `threw ${neutralLine(errorText(outcome.error) ?? JSON.stringify(outcome.error), max)}`
    case 'exited':
      return outcome.code === null
        ? `ended by ${neutralLine(outcome.signal ?? 'a signal')}`
        : `exit code ${outcome.code}`
    case 'unknown':
      return 'unknown'
    default:
      return outcome satisfies never
  }
}

/** A value on one line, neutral. */
export function compact(value: Json, max = 100): string {
  return neutralLine(JSON.stringify(value), max)
}

/** `820 ms`, `1.25 s`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

/** `312 bytes`, `4.2 kB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} byte${bytes === 1 ? '' : 's'}`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** A body as text, its content encoding undone; of what is no text its size. */
export function bodyText(bytes: Uint8Array): string {
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : `(binary, ${size(bytes.length)})`
}

/** The response body with its content encoding undone. */
export function decodedResponse(event: ExchangeEvent): Uint8Array {
  return decodeBody(responseBytes(event), headerOf(event.response?.headers ?? [], 'content-encoding'))
}

/** A value of a header, by its lower-case name. */
export function headerOf(headers: ExchangeEvent['request']['headers'], name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

type Described = Omit<DescribedStep, 'n' | 'atMs' | 'site'>

function exchange(event: ExchangeEvent): Described {
  const { response, error, aborted, at: started } = event
  const model = readModelCall(event)
  // A client may hang up once the model has finished: that is no failure, and not the same each time.
  const said = model?.response
  const hasFinished = said?.finish !== undefined && !isUnderWay(said)
  const isCutShort = error === undefined && aborted !== undefined && !hasFinished
  const end = response?.end ?? error?.moment ?? aborted
  const common = {
    ...(end === undefined ? {} : { tookMs: end[1] - started }),
    ...(response === undefined || event.via === 'stdio' ? {} : { status: response.status }),
    ...((response?.chunks.length ?? 0) > 1 ? { pieces: response?.chunks.length ?? 0 } : {}),
    ...(error === undefined ? {} : { error: `${error.name}: ${error.message}` }),
    ...(isCutShort ? { error: 'the client gave up' } : {}),
  }
  return { ...(model === undefined ? message(event) : modelCall(event, model)), ...common }
}

function modelCall(event: ExchangeEvent, { request, response, isPoll }: ModelCall): Described {
  const asked = lastWords(request.messages)
  const { text = '', reasoning, toolCalls = [], error, refusal, finish } = response ?? {}
  return {
    kind: 'model',
    name: request.model || (response?.model ?? ''),
    ...(isPoll === undefined ? {} : { isPoll }),
    dialect: request.dialect,
    toolCalls: toolCalls.map(signature),
    ...(asked === '' ? {} : { asked }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(text === '' ? {} : { answer: text }),
    ...(finish === undefined ? {} : { finish }),
    ...(refusal === undefined ? {} : { error: `refused: ${refusal}` }),
    ...(error === undefined ? {} : { error: withReason(error, event) }),
  }
}

/** The class of a provider's error and what it said. */
function withReason(error: string, event: ExchangeEvent): string {
  const said = readFrames(decodedResponse(event)).values.map((value) => {
    const inner = at(value, 'error') ?? value
    return textAt(inner, 'message') ?? textAt(value, 'message') ?? (typeof inner === 'string' ? inner : '')
  })
  const reason = said.findLast((text) => text !== '')
  return reason === undefined ? error : `${error}: ${reason}`
}

/** What an exchange that is no model call says of itself. */
function messageIn(event: ExchangeEvent) {
  const body = requestText(event)
  const rpc = readRpc(body)
  const mcp = rpc === undefined ? undefined : readMcpCall(event)
  const isOfChild = rpc !== undefined || isEnding(event)
  return { body, rpc, mcp, kind: !isOfChild ? 'http' : mcp === undefined ? 'rpc' : 'mcp' } as const
}

/** An exchange that is no model call. */
function message(event: ExchangeEvent): Described {
  const { method, url, response, oneWay, via } = event
  const { body, rpc, mcp, kind } = messageIn(event)
  if (isEnding(event)) return { kind, name: method === 'END' ? 'end of input' : `signal ${body}`, toolCalls: [] }
  const name = rpc === undefined ? `${method} ${url}` : via === 'stdio' ? rpc.method : `${rpc.method} ${url}`
  if (rpc === undefined) {
    const answer = response === undefined ? '' : bodyText(decodedResponse(event))
    return {
      kind,
      name,
      toolCalls: [],
      ...(body === '' ? {} : { asked: body }),
      ...(answer === '' ? {} : { answer }),
    }
  }
  const asked = mcp === undefined ? rpc.params : mcp.args
  const answer = response === undefined ? undefined : rpcAnswer(event)
  return {
    kind,
    name: mcp?.name ?? name,
    toolCalls: [],
    ...(asked === undefined ? {} : { asked: JSON.stringify(asked) }),
    ...(answer?.result === undefined ? {} : { answer: answer.result }),
    ...(oneWay === true ? { answer: 'nothing is answered to a notification' } : {}),
    ...(answer?.error === undefined ? {} : { error: answer.error }),
  }
}

function readRpc(body: string): { readonly method: string; readonly params?: Json } | undefined {
  if (!body.includes('"jsonrpc"')) return undefined
  const [first] = readFrames(Buffer.from(body)).values
  const method = textAt(first, 'method')
  const params = at(first, 'params')
  if (method === undefined) return undefined
  return { method, ...(params === undefined ? {} : { params }) }
}

/** The answer to a JSON-RPC request; a stream may carry notifications before it. */
function rpcAnswer(event: ExchangeEvent): { readonly result?: string; readonly error?: string } {
  const answered = readFrames(decodedResponse(event)).values.findLast(
    (value) => at(value, 'result') !== undefined || at(value, 'error') !== undefined,
  )
  const error = at(answered, 'error')
  if (error !== undefined) return { error: textAt(error, 'message') ?? JSON.stringify(error) }
  const result = at(answered, 'result')
  if (result === undefined) return {}
  const text = textOf(at(result, 'content'))
  if (at(result, 'isError') === true) return { error: text === '' ? JSON.stringify(result) : text }
  return { result: text === '' ? JSON.stringify(result) : text }
}

function call({ kind, name, args, result, error, settled, yields, at: started }: CallEvent): Described {
  return {
    kind,
    name,
    asked: JSON.stringify(args),
    toolCalls: [],
    ...(result === undefined ? {} : { answer: valueText(result) }),
    ...(yields === undefined ? {} : { answer: yields.map(([, , value]) => valueText(value)).join('\n') }),
    ...((yields?.length ?? 0) > 1 ? { pieces: yields?.length ?? 0 } : {}),
    ...(error === undefined ? {} : { error: errorText(error) ?? JSON.stringify(error) }),
    ...(settled === undefined ? {} : { tookMs: settled[1] - started }),
  }
}

/** `lookup_order(order_id: "A1")`. */
export function signature({ name, args }: Pick<ToolCall, 'name' | 'args'>): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return `${name}(${JSON.stringify(args)})`
  return `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')})`
}

/** The text of the last message that has any. */
function lastWords(messages: readonly Json[]): string {
  return messages.map(textOf).findLast((text) => text.trim() !== '') ?? ''
}
