import { decodeBody } from '../providers/index.ts'
import {
  type ExchangeEvent,
  encodeBytes,
  type HeaderPair,
  isSettled,
  type Json,
  requestBytes,
  responseBytes,
  type Tape,
} from '../tape/index.ts'
import { version } from '../version.ts'
import { counted, countOf, datable, endOf, failureOf, missingTimes, notesOn, startOf } from './facts.ts'
import type { Exported, ExportOptions } from './types.ts'

/**
 * The HTTP exchanges of a tape as HAR 1.2, in the order they were made. Bodies stand as their client read them: without
 * the content encoding the headers may name, as the format wants it.
 *
 * @see http://www.softwareishard.com/blog/har-12-spec/
 */
export function exportHar(tape: Tape, options: ExportOptions): Exported {
  const http = tape.events.filter(
    (event) => event.kind === 'exchange' && !['stdio', 'websocket'].includes(event.via),
  ) as ExchangeEvent[]
  const leftOut = notInHar(tape, http)
  return { pieces: pieces(tape, http, leftOut, options), leftOut, notes: notesOn(tape) }
}

function* pieces(
  tape: Tape,
  http: readonly ExchangeEvent[],
  leftOut: readonly string[],
  options: ExportOptions,
): Generator<string> {
  const { header } = tape
  const comment = [`run of ${header.agent}`, ...notesOn(tape), ...leftOut.map((what) => `left out: ${what}`)].join('; ')
  const head = { version: '1.2', creator: { name: 'vitest-harvest', version }, pages: [], _recordingName: header.id }
  yield `{"log":${JSON.stringify(head).slice(0, -1)},"comment":${JSON.stringify(comment)},"entries":[`
  for (const [index, exchange] of http.entries())
    yield `${index === 0 ? '\n' : ',\n'}${JSON.stringify(entryOf(exchange, tape, options))}`
  yield '\n]}}\n'
}

function notInHar(tape: Tape, http: readonly ExchangeEvent[]): readonly string[] {
  const stdio = tape.events.filter((event) => event.kind === 'exchange').length - http.length
  const streamed = http.filter(({ response }) => (response?.chunks.length ?? 0) > 1).length
  const { input } = tape.header
  return [
    ...counted(tape.events, ['tool', 'retrieval', 'value', 'draws', 'message', 'mark', 'state', 'spawn', 'push']),
    ...countOf(stdio, ['message to a child process', 'messages to child processes']),
    ...countOf(streamed, ['streamed answer', 'streamed answers']).map((words) => `the pieces of ${words}`),
    ...(input === undefined ? [] : ['the input']),
    ...(tape.close === undefined || tape.close.outcome.status === 'unknown' ? [] : ['the outcome']),
  ]
}

type Fields = Readonly<Record<string, unknown>>

function entryOf(exchange: ExchangeEvent, tape: Tape, options: ExportOptions): Fields {
  const { at, n, response } = exchange
  const end = endOf(exchange)?.[1] ?? response?.moment[1]
  const wait = rounded((response?.moment[1] ?? end ?? at) - at)
  const time = Math.max(wait, rounded((end ?? at) - at))
  const unknown = missingIn(exchange, tape, options)
  return {
    startedDateTime: new Date(datable(startOf(tape) + at)).toISOString(),
    time,
    request: requestOf(exchange, options),
    response: responseOf(exchange, options),
    cache: {},
    timings: { blocked: -1, dns: -1, connect: -1, send: 0, wait, receive: rounded(time - wait), ssl: -1 },
    ...(unknown.length === 0 ? {} : { _missing: unknown, comment: `not recorded: ${unknown.join(', ')}` }),
    _n: n,
  }
}

/** What an entry only looks like having, so that no import takes it for recorded. */
function missingIn(exchange: ExchangeEvent, tape: Tape, { withContent }: ExportOptions): readonly string[] {
  const { start, timings } = missingTimes(tape)
  const ofBodies = ['request-bytes', 'answer-bytes', 'requests']
  const isWithheld = !withContent && requestBytes(exchange).length > 0
  return [
    ...new Set([
      ...(start ? ['start'] : []),
      ...(timings ? ['timings'] : []),
      ...(tape.header.imported?.missing ?? []).filter((word) => ofBodies.includes(word)),
      ...(isWithheld ? ['requests'] : []),
    ]),
  ]
}

function requestOf(exchange: ExchangeEvent, { withContent }: ExportOptions): Fields {
  const { method, url, via, request } = exchange
  const bytes = requestBytes(exchange)
  const { text, base64 } = textOf(bytes)
  return {
    method,
    url: withContent ? url : withoutQuery(url),
    httpVersion: httpVersion(via),
    cookies: [],
    headers: headersOf(request.headers),
    queryString: withContent ? queryOf(url) : [],
    ...(bytes.length === 0 || !withContent
      ? {}
      : {
          postData: {
            mimeType: headerOf(request.headers, 'content-type') ?? 'application/octet-stream',
            text,
            // The format has no word for the encoding of what was sent.
            ...(base64 ? { _encoding: 'base64' } : {}),
          },
        }),
    headersSize: -1,
    bodySize: bytes.length,
  }
}

/** A request without an answer has the status 0. */
function responseOf(exchange: ExchangeEvent, { withContent }: ExportOptions): Fields {
  const { response, via } = exchange
  const failure = whyNot(exchange, withContent)
  const raw = responseBytes(exchange)
  const headers = response?.headers ?? []
  const bytes = Buffer.from(decodeBody(raw, headerOf(headers, 'content-encoding')))
  const { text, base64 } = textOf(bytes)
  return {
    status: response?.status ?? 0,
    statusText: response?.statusText ?? '',
    httpVersion: httpVersion(via),
    cookies: [],
    headers: headersOf(headers),
    content: {
      size: bytes.length,
      mimeType: headerOf(headers, 'content-type') ?? 'x-unknown',
      ...(withContent && response !== undefined ? { text, ...(base64 ? { encoding: 'base64' } : {}) } : {}),
    },
    redirectURL: headerOf(headers, 'location') ?? '',
    headersSize: -1,
    bodySize: failure === undefined ? raw.length : -1,
    ...(failure === undefined ? {} : { _error: failure }),
  }
}

/** Why there is no answer, or only the beginning of one. */
function whyNot(exchange: ExchangeEvent, withContent: boolean): string | undefined {
  const failure = failureOf(exchange)
  if (failure !== undefined) return withContent ? failure.message : failure.type
  return isSettled(exchange) ? undefined : 'no answer was recorded to its end'
}

function textOf(bytes: Buffer): { readonly text: string; readonly base64: boolean } {
  const encoded = encodeBytes(bytes)
  return typeof encoded === 'string' ? { text: encoded, base64: false } : { text: encoded.base64, base64: true }
}

/** What a tape has beside the headers, as if they were some, was not sent. */
function headersOf(headers: readonly HeaderPair[]): readonly Fields[] {
  return headers.filter(([name]) => !name.startsWith(':')).map(([name, value]) => ({ name, value }))
}

function headerOf(headers: readonly HeaderPair[], name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

function queryOf(url: string): readonly Json[] {
  return [...new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '')].map(([name, value]) => ({ name, value }))
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

function httpVersion(via: ExchangeEvent['via']): string {
  return via === 'http2' ? 'HTTP/2.0' : 'HTTP/1.1'
}

/** Milliseconds to the microsecond, as tapes have them. */
function rounded(ms: number): number {
  return Math.max(0, Math.round(datable(ms) * 1000) / 1000)
}
