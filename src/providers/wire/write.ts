import { crc32 } from 'node:zlib'
import type { Json } from '../../tape/types.ts'
import type { JsonMap } from '../../json/canonical.ts'

/** Server-sent events; `withNames`: each named by its `type`. */
export function serverSentEvents(events: readonly JsonMap[], withNames: boolean, isDone = false): string {
  const lines = events.map((event) => {
    const name = withNames ? `event: ${String(event['type'])}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  return lines.join('') + (isDone ? 'data: [DONE]\n\n' : '')
}

/** One value a line. */
export function jsonLines(values: readonly JsonMap[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

/**
 * Frames of an AWS event stream, each named by its event type.
 *
 * @see https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function eventStreamFrames(events: readonly (readonly [type: string, payload: Json])[]): Buffer {
  return Buffer.concat(events.map(([type, payload]) => frame(type, Buffer.from(JSON.stringify(payload)))))
}

function frame(type: string, payload: Buffer): Buffer {
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  // Two lengths and their checksum, headers, payload, and the checksum of all of it.
  const total = 12 + headers.length + payload.length + 4
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(total, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, headers, payload])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, checksum])
}

/** A header whose value is text: type 7. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
}
