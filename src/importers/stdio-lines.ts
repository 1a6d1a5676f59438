import type { Redactor } from '../privacy/index.ts'
import { isRequest, isResponse, messageOf, unnamedChild } from '../seam/stdio.ts'
import { type EncodedBytes, encodeBytes, type ExchangeEvent, type Moment, type TapeEvent } from '../tape/index.ts'
import type { ForeignLine } from './types.ts'

/** Events of the lines of a child process, and what was seen on the way to them. */
export interface LineEvents {
  readonly events: readonly TapeEvent[]
  /** The next free number, and the time of the last moment. */
  readonly end: Moment
  /** Bytes of all lines. */
  readonly bytes: number
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Makes events of what was said over stdio, as a recorder of ours does: each message of the client is an exchange, and
 * what the server says under the id of one is its answer. Everything else the server says comes unasked.
 *
 * Known times are kept when every line has one and none runs backwards; otherwise moments are a millisecond apart.
 */
export function eventsOfLines(lines: readonly ForeignLine[], redactor: Redactor): LineEvents {
  const events: TapeEvent[] = []
  const waiting = new Map<string, Draft<ExchangeEvent>>()
  const timeOf = clockOf(lines)
  let n = 0
  let bytes = 0
  const encoded = (text: string): EncodedBytes => encodeBytes(Buffer.concat(redactor.chunks([Buffer.from(text)])))
  for (const [index, { from, text }] of lines.entries()) {
    const message = messageOf(text)
    if (message === undefined) continue
    bytes += Buffer.byteLength(text)
    const at = timeOf(index)
    const id = JSON.stringify(message.id)
    const answered = from === 'server' && isResponse(message) ? waiting.get(id) : undefined
    if (answered !== undefined) {
      waiting.delete(id)
      delete answered.oneWay
      answered.response = {
        moment: [n++, at],
        status: 200,
        statusText: '',
        headers: [],
        chunks: [[n++, at, encoded(text)]],
        end: [n++, at],
      }
    } else if (from === 'server')
      events.push({ kind: 'push', n: n++, at, url: unnamedChild, text: redactor.text(text) })
    else {
      const event: Draft<ExchangeEvent> = {
        kind: 'exchange',
        n: n++,
        at,
        via: 'stdio',
        method: message.method ?? 'response',
        url: unnamedChild,
        request: { headers: [], body: encoded(text) },
        oneWay: true,
      }
      if (isRequest(message)) waiting.set(id, event)
      events.push(event)
    }
  }
  return { events, end: [n, lines.length === 0 ? 0 : timeOf(lines.length - 1)], bytes }
}

/** Whether every request of the client has an answer among the lines. */
export function areAnswered(lines: readonly ForeignLine[]): boolean {
  const waiting = new Set<string>()
  for (const { from, text } of lines) {
    const message = messageOf(text)
    if (message === undefined) continue
    const id = JSON.stringify(message.id)
    if (from === 'client' && isRequest(message)) waiting.add(id)
    else if (from === 'server' && isResponse(message)) waiting.delete(id)
  }
  return waiting.size === 0
}

/** When a line was written, ms since the first one. */
function clockOf(lines: readonly ForeignLine[]): (index: number) => number {
  const times = lines.map(({ startedMs }) => startedMs)
  const [first] = times
  const isTimed = times.every((time, index) => time !== undefined && time >= (times[index - 1] ?? time))
  return (index) => (isTimed && first !== undefined ? times[index]! - first : index)
}
