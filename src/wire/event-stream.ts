import type { Json } from '../json/types.ts'
import { at, isMap, parseJson, textAt } from '../json/canonical.ts'
import { awsFrames, checksumBytes, preludeBytes } from './aws-frames.ts'

/** Whether bytes begin with an AWS event stream frame: lengths that fit, and a zero byte no text begins with. */
export function isEventStream(bytes: Uint8Array): boolean {
  if (bytes.length < preludeBytes || bytes[0] !== 0) return false
  const data = view(bytes)
  const headers = data.getUint32(4)
  return data.getUint32(0) >= preludeBytes + headers + checksumBytes && headers > 0
}

/**
 * The payloads of an AWS event stream as JSON: `{ [event type]: payload }` for Converse, the model's own event for
 * `invoke`, `{ chunk: { text } }` for agents, and `{ error }` for an exception frame. Ends quietly where a frame is torn. Checksums are not verified:
 * the tape's own digest guards the bytes.
 *
 * @param hasText - what `bytes` members hold is an agent's text, not a model's event
 * @see https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function readEventStream(bytes: Uint8Array, hasText = false): readonly Json[] {
  const events: Json[] = []
  for (const { start, payloadStart, payloadEnd, isThere, isSound } of awsFrames(bytes)) {
    if (!isThere || !isSound) break
    const facts = readHeaders(bytes.subarray(start + preludeBytes, payloadStart))
    const text = new TextDecoder().decode(bytes.subarray(payloadStart, payloadEnd))
    events.push(eventOf(facts, parseJson(text) ?? text, hasText))
  }
  return events
}

function eventOf(facts: ReadonlyMap<string, string>, payload: Json, hasText: boolean): Json {
  const exception = facts.get(':exception-type') ?? facts.get(':error-code')
  if (exception !== undefined) {
    const message = textAt(payload, 'message') ?? facts.get(':error-message') ?? ''
    return { error: { type: exception, message } }
  }
  const inner = at(payload, 'bytes')
  if (typeof inner === 'string') {
    const text = Buffer.from(inner, 'base64').toString()
    if (hasText) return { chunk: { text } }
    return parseJson(text) ?? text
  }
  const type = facts.get(':event-type')
  return type === undefined || (isMap(payload) && Object.hasOwn(payload, type)) ? payload : { [type]: payload }
}

/** The text headers of a frame; headers of other types are passed over. */
function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const data = view(bytes)
  const decoder = new TextDecoder()
  let offset = 0
  while (offset < bytes.length) {
    const nameEnd = offset + 1 + data.getUint8(offset)
    if (nameEnd + 1 > bytes.length) break
    const name = decoder.decode(bytes.subarray(offset + 1, nameEnd))
    const type = data.getUint8(nameEnd)
    const start = nameEnd + 1
    const fixed = fixedLengths[type]
    if (fixed !== undefined) {
      offset = start + fixed
      continue
    }
    if ((type !== 6 && type !== 7) || start + 2 > bytes.length) break
    const end = start + 2 + data.getUint16(start)
    if (type === 7) found.set(name, decoder.decode(bytes.subarray(start + 2, end)))
    offset = end
  }
  return found
}

/** Bytes of header values by type: true, false, byte, short, integer, long; 6 and 7 carry their length; timestamp, uuid. */
const fixedLengths: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
