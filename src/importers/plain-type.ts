import type { HeaderPair } from '../tape/index.ts'
import { headerOf } from './headers.ts'
import { parseJson } from '../json/canonical.ts'

/**
 * The headers of a response, with the type that its body plainly has where the recording left it out: clients take a
 * response without one for text. Plain are JSON maps and lists, and streams of events in which every line is a field of one.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export function withPlainType(headers: readonly HeaderPair[], pieces: readonly Buffer[]): readonly HeaderPair[] {
  // A header without a value names no type.
  if (headerOf(headers, 'content-type')?.trim()) return headers
  const type = plainType(Buffer.concat(pieces))
  if (type === undefined) return headers
  return [...headers.filter(([name]) => name !== 'content-type'), ['content-type', type]]
}

function plainType(body: Buffer): string | undefined {
  // Clients decode the byte order mark away.
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  if (/^[ \t\r\n]*[[{]/.test(text)) return parseJson(text) === undefined ? undefined : 'application/json'
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== '')
  const isEvents = lines.some((line) => line.startsWith('data:')) && lines.every((line) => field.test(line))
  return isEvents ? 'text/event-stream' : undefined
}

/** A field of an event, a comment, or the name of a field alone. */
const field = /^(?:(?:data|event|id|retry)?:|(?:data|event|id|retry)$)/
