import { decodeBody, isGenerative, readModelRequest } from '../providers/index.ts'
import {
  type CallEvent,
  encodeBytes,
  type ExchangeEvent,
  type Json,
  type Moment,
  type RecordedResponse,
  requestBytes,
  responseBytes,
  type Step,
} from '../tape/index.ts'

/** The answer of an exchange as text, its content encoding undone. */
export function answerText(event: ExchangeEvent): string {
  const encoding = headerOf(event, 'content-encoding')
  return Buffer.from(decodeBody(responseBytes(event), encoding)).toString('utf8')
}

export function headerOf({ response }: ExchangeEvent, name: string): string | undefined {
  return response?.headers.find(([key]) => key === name)?.[1]
}

/** An answer over HTTP that arrived as a stream of server-sent events. */
export function isEventStream(step: Step): step is ExchangeEvent {
  return isHttp(step) && (headerOf(step, 'content-type') ?? '').includes('event-stream')
}

/** A request over HTTP that got an answer; clients of streams often hang up before its very end. */
export function isHttp(step: Step): step is ExchangeEvent & { readonly response: RecordedResponse } {
  return step.kind === 'exchange' && step.via !== 'stdio' && step.response !== undefined
}

export function isCall(step: Step): step is CallEvent {
  return step.kind !== 'exchange'
}

/** Whether a model decided here. */
export function isModel(step: Step): step is ExchangeEvent & { readonly response: RecordedResponse } {
  if (!isHttp(step)) return false
  const { method, url } = step
  const asked = readModelRequest({ method, url, body: requestBytes(step).toString('utf8') })
  return isGenerative(asked?.dialect)
}

/** The events of a stream as text, each with the empty line behind it. */
export function eventsOf(text: string): readonly string[] {
  return text.split(/(?<=\r?\n\r?\n)/).filter((event) => event.trim() !== '')
}

export interface OtherAnswer {
  readonly status?: number
  /** Replace those of the same name; `undefined` takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** The exchange with another answer: in one piece, not compressed, at the moments of the recorded one. */
export function withAnswer(event: ExchangeEvent, { status, headers = {}, text }: OtherAnswer): ExchangeEvent {
  const { error: _error, aborted: _aborted, ...asked } = event
  const { response } = event
  const head = response?.moment ?? momentOf(event)
  const [n, at] = response?.chunks[0] ?? head
  const bytes = Buffer.from(text)
  const gone = new Set(['content-encoding', 'content-length', 'transfer-encoding', ...Object.keys(headers)])
  const kept = (response?.headers ?? []).filter(([name]) => !gone.has(name))
  const set = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return {
    ...asked,
    response: {
      moment: head,
      status: status ?? response?.status ?? 200,
      headers: [...kept, ...set, ['content-length', String(bytes.length)]],
      chunks: bytes.length === 0 ? [] : [[n, at, encodeBytes(bytes)]],
      end: endOf(event),
    },
  }
}

/** When the answer began to arrive. */
export function momentOf({ n, at, response, error }: ExchangeEvent): Moment {
  return response?.moment ?? error?.moment ?? [n, at]
}

/** When the answer was complete, or its last piece arrived. */
export function endOf({ n, at, response, error }: ExchangeEvent): Moment {
  const last = response?.chunks.at(-1)
  return response?.end ?? (last === undefined ? (response?.moment ?? error?.moment ?? [n, at]) : [last[0], last[1]])
}

/** What the connection does when the other side resets it, as Node says it. */
export const resetError = {
  name: 'Error',
  message: 'read ECONNRESET',
  code: 'ECONNRESET',
  facts: { errno: -104, syscall: 'read' },
} as const

/** What an answer hands over as JSON: the result of a call, or the body of a service that is no model. */
export function handedOver(step: Step): Json | undefined {
  if (isCall(step)) return step.error === undefined && step.yields === undefined ? step.result : undefined
  if (!isHttp(step) || isModel(step) || !(headerOf(step, 'content-type') ?? '').includes('json')) return undefined
  try {
    return JSON.parse(answerText(step)) as Json
  } catch {
    // A body that says it is JSON and is not holds no values to change.
    return undefined
  }
}

/** The step with this handed over in place of what was. */
export function handingOver(step: Step, value: Json): Step {
  if (isCall(step)) return { ...step, result: value }
  return withAnswer(step, { text: JSON.stringify(value) })
}

/** The step with its answer `ms` later. */
export function later(step: Step, ms: number): Step {
  const shifted = ([n, at]: Moment): Moment => [n, at + ms]
  if (isCall(step)) {
    const { settled, yields } = step
    return {
      ...step,
      ...(settled === undefined ? {} : { settled: shifted(settled) }),
      ...(yields === undefined ? {} : { yields: yields.map(([n, at, one]) => [n, at + ms, one] as const) }),
    }
  }
  const { response, error } = step
  return {
    ...step,
    ...(error === undefined ? {} : { error: { ...error, moment: shifted(error.moment) } }),
    ...(response === undefined
      ? {}
      : {
          response: {
            ...response,
            moment: shifted(response.moment),
            chunks: response.chunks.map(([n, at, bytes]) => [n, at + ms, bytes] as const),
            ...(response.end === undefined ? {} : { end: shifted(response.end) }),
          },
        }),
  }
}
