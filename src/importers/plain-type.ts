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
  if (headerOf(headers, 'content-type') !== undefined) return headers
  const type = plainType(Buffer.concat(pieces))
  return type === undefined ? headers : [...headers, ['content-type', type]]
}

function plainType(body: Buffer): string | undefined {
  const first = body.find((byte) => !blank.has(byte))
  if (first === 0x7b || first === 0x5b)
    return parseJson(body.toString('utf8')) === undefined ? undefined : 'application/json'
  const text = body.toString('utf8')
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== '')
  const isEvents = lines.some((line) => line.startsWith('data:')) && lines.every((line) => field.test(line))
  return isEvents ? 'text/event-stream' : undefined
}

const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

const field = /^(?:data|event|id|retry)?:/
