import { decodeBody } from '../providers/index.ts'
import { messageOf } from '../seam/stdio.ts'
import type { ExchangeState } from '../match/step.ts'
import { decodeBytes, type RecordedResponse } from '../tape/index.ts'

/**
 * Whether an answer has no end on the tape, and was not given up: the recorded agent read no further, or was over before it came. A
 * stream of events that its server sends unasked, or beside what it answers to JSON-RPC, mostly has none in any run.
 */
export function isLeftUnread({ event, bodyText }: ExchangeState): boolean {
  const { via, method, response, error, aborted } = event
  if (via === 'stdio' || via === 'websocket' || response === undefined) return false
  if (response.end !== undefined || error !== undefined || aborted !== undefined) return false
  return !isOfEvents(response) || (method !== 'GET' && messageOf(bodyText) === undefined)
}

/** Whether an answer is a stream of events. */
export function isOfEvents({ headers }: Pick<RecordedResponse, 'headers'>): boolean {
  return headers.some(([name, value]) => name === 'content-type' && /^text\/event-stream\b/i.test(value))
}

/**
 * Whether the first pieces of a body lack something that it says, and it was read to its end when recorded. Behind the last word
 * of a compressed one follows a check sum, and whether that came before the client that had read the word hung up is chance.
 */
export function isLeftEarly({ end, headers, chunks }: RecordedResponse, count: number): boolean {
  if (end === undefined || count >= chunks.length) return false
  const encoding = headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  if (encoding === undefined) return true
  const pieces = chunks.map(([, , piece]) => decodeBytes(piece))
  const [begin, whole] = [pieces.slice(0, count), pieces].map((some) => decodeBody(Buffer.concat(some), encoding))
  return Buffer.compare(begin!, whole!) !== 0
}
