import { encodeBytes, type ExchangeEvent, responseBytes, type Step } from '../tape/index.ts'
import {
  answerText,
  endOf,
  eventsOf,
  isEventStream,
  isHttp,
  later,
  momentOf,
  resetError,
  withAnswer,
} from './answers.ts'
import { type AnswerKind, type ArgumentRanges, type FaultArgs, numberIn } from './types.ts'

const resets = ['ECONNRESET', 'UND_ERR_SOCKET']

/** Names and codes of clients that waited long enough. */
export const timeouts: readonly string[] = [
  'ETIMEDOUT',
  'TimeoutError',
  'APIConnectionTimeoutError',
  'AbortError',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]

/** What goes wrong between an agent and what it asks over HTTP. All of it passes: asked again, the recorded answer comes. */
export const httpKinds: readonly AnswerKind[] = [
  refusal('http-429', 429, 'HTTP 429 without Retry-After', 'rate_limit_error', 'Too many requests'),
  {
    ...refusal('http-429-retry-after', 429, 'HTTP 429 with Retry-After', 'rate_limit_error', 'Too many requests'),
    fits: ({ step }) => (isHttp(step) ? { seconds: { least: 1, most: 30 } } : undefined),
    rewrite: ({ step }, args) =>
      refused(step, 429, 'rate_limit_error', 'Too many requests', String(numberIn(args, 'seconds', 1))),
  },
  refusal('http-500', 500, 'HTTP 500', 'api_error', 'Internal server error'),
  refusal('http-503', 503, 'HTTP 503', 'api_error', 'Service unavailable'),
  refusal('http-529', 529, 'HTTP 529: overloaded', 'overloaded_error', 'Overloaded'),
  http(
    'http-reset',
    'the connection is reset before the answer',
    anywhere,
    (event) => {
      const { response: _response, ...asked } = event
      return { ...asked, error: { ...resetError, moment: momentOf(event) } }
    },
    resets,
  ),
  http(
    'http-reset-midway',
    'the connection is reset in the middle of the answer',
    withBytes,
    (event, args) => cutAt(event, numberIn(args, 'bytes', 1)),
    resets,
  ),
  http('http-truncated-json', 'the answer ends in the middle of its JSON', inJson, (event, args) => {
    const text = Buffer.from(answerText(event))
    return withAnswer(event, { text: text.subarray(0, numberIn(args, 'bytes', 1)).toString('utf8') })
  }),
  http('http-truncated-stream', 'the stream ends without its last events', inStream('missing', 1), (event, args) => {
    const events = eventsOf(answerText(event))
    return withAnswer(event, {
      text: events.slice(0, Math.max(0, events.length - numberIn(args, 'missing', 1))).join(''),
    })
  }),
  http('http-malformed-json', 'the answer is no JSON', onlyJson, (event) =>
    withAnswer(event, { text: `<!-- upstream -->${answerText(event)}` }),
  ),
  http('http-malformed-event', 'one event of the stream is no JSON', inStream('event', 0), (event, args) =>
    withAnswer(event, {
      text: eventsOf(answerText(event))
        .map(breaking(numberIn(args, 'event')))
        .join(''),
    }),
  ),
  http('http-wrong-type', 'a page of HTML with status 200', anywhere, (event) =>
    withAnswer(event, {
      status: 200,
      headers: { 'content-type': 'text/html' },
      text: '<!doctype html><title>Please sign in</title>',
    }),
  ),
  http('http-empty', 'an empty answer with status 200', anywhere, (event) =>
    withAnswer(event, { status: 200, text: '' }),
  ),
  {
    ...http(
      'http-duplicate-event',
      'one event of the stream is delivered twice',
      inStream('event', 0),
      (event, args) => {
        const at = numberIn(args, 'event')
        const events = eventsOf(answerText(event))
        return withAnswer(event, { text: events.flatMap((one, i) => (i === at ? [one, one] : [one])).join('') })
      },
    ),
    answers: true,
  },
  {
    ...http(
      'http-slow',
      'the answer takes long',
      slowness,
      (event, args) => later(event, numberIn(args, 'ms', 1)),
      timeouts,
    ),
    answers: true,
  },
  http(
    'http-no-answer',
    'the answer never comes',
    anywhere,
    (event) => {
      const { response: _response, error: _error, ...asked } = event
      return asked
    },
    timeouts,
  ),
]

function http(
  name: string,
  about: string,
  ranges: (event: ExchangeEvent) => ArgumentRanges | undefined,
  rewrite: (event: ExchangeEvent, args: FaultArgs) => Step,
  tells: readonly (string | number)[] = [],
): AnswerKind {
  return {
    name,
    family: 'http',
    about,
    tells,
    changes: 'answer',
    lasts: 'once',
    fits: ({ step }) => (isHttp(step) ? ranges(step) : undefined),
    rewrite: ({ step }, args) => (step.kind === 'exchange' ? rewrite(step, args) : step),
  }
}

function refusal(name: string, status: number, about: string, type: string, message: string): AnswerKind {
  return http(name, about, anywhere, (event) => refused(event, status, type, message), [status, message])
}

/** In a shape that the SDKs of all big providers read. */
function refused(step: Step, status: number, type: string, message: string, retryAfter?: string): Step {
  if (step.kind !== 'exchange') return step
  return withAnswer(step, {
    status,
    headers: { 'content-type': 'application/json', 'retry-after': retryAfter },
    text: JSON.stringify({ type: 'error', error: { type, message, code: type } }),
  })
}

function slowness(): ArgumentRanges {
  return { ms: { least: 1, most: 120_000 } }
}

function anywhere(): ArgumentRanges {
  return {}
}

function withBytes(event: ExchangeEvent): ArgumentRanges | undefined {
  const { length } = responseBytes(event)
  return length < 2 ? undefined : { bytes: { least: 1, most: length - 1 } }
}

function inJson(event: ExchangeEvent): ArgumentRanges | undefined {
  const isJson = (event.response?.headers ?? []).some(
    ([name, value]) => name === 'content-type' && value.includes('json'),
  )
  const length = isJson ? Buffer.byteLength(answerText(event)) : 0
  return length < 2 ? undefined : { bytes: { least: 1, most: length - 1 } }
}

function onlyJson(event: ExchangeEvent): ArgumentRanges | undefined {
  return inJson(event) === undefined ? undefined : {}
}

/** One number below the number of events. */
function inStream(name: string, least: number): (event: ExchangeEvent) => ArgumentRanges | undefined {
  return (event) => {
    const length = isEventStream(event) ? eventsOf(answerText(event)).length : 0
    return length < 2 ? undefined : { [name]: { least, most: length - 1 } }
  }
}

function breaking(at: number): (event: string, index: number) => string {
  return (event, index) => (index === at ? event.replace(/^data:.*$/m, 'data: {"id":"') : event)
}

/** The first bytes as they arrived, then the reset. */
function cutAt(event: ExchangeEvent, bytes: number): Step {
  const { response } = event
  if (response === undefined) return event
  const { end: _end, ...rest } = response
  const [n, at] = response.chunks[0] ?? response.moment
  const chunk = encodeBytes(responseBytes(event).subarray(0, bytes))
  const [endN, endAt] = endOf(event)
  return {
    ...event,
    response: { ...rest, chunks: [[n, at, chunk]] },
    // Not in the burst of the last bytes: the client has read them by then.
    error: { ...resetError, moment: [endN, Math.max(endAt, at + 1)] },
  }
}
