import { brotliCompressSync, constants, crc32, gzipSync, zstdCompressSync } from 'node:zlib'
import { type ModelResponse, readModelResponse } from '../../src/providers/index.ts'
import type { Dialect } from '../../src/providers/index.ts'
import type { ExchangeEvent, Json } from '../../src/tape/types.ts'

/** What the answers of every dialect say: a sentence, then two parallel calls. */
export const said = {
  text: 'Looking.',
  toolCalls: [
    { id: 'c1', name: 'lookup', args: { order: 7 } },
    { id: 'c2', name: 'weather', args: {} },
  ],
  unknownEvents: 0,
}

/** Server-sent events as providers write them; a `type` in the data is given as event name too. */
export function sse(events: readonly Json[], done = true): string {
  const blocks = events.map((event) => {
    const type = (event as { type?: string }).type
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
  })
  return blocks.join('') + (done ? 'data: [DONE]\n\n' : '')
}

export function lines(values: readonly Json[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

/** One AWS event stream frame with text headers. */
export function frame(headers: Readonly<Record<string, string>>, payload: Json): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, head, body])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, checksum])
}

/** A Converse stream: `{ [event type]: payload }` per frame. */
export function converseStream(events: readonly { readonly [type: string]: Json }[]): Buffer {
  const frames = events
    .flatMap((event) => Object.entries(event))
    .map(([type, payload]) =>
      frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload),
    )
  return Buffer.concat(frames)
}

/** An `invoke-with-response-stream` body: the model's own events in base64. */
export function invokeStream(events: readonly Json[]): Buffer {
  const inner = (event: Json): Json => ({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' })
  return Buffer.concat(events.map((event) => frame({ ':event-type': 'chunk', ':message-type': 'event' }, inner(event))))
}

export function read(
  dialect: Dialect,
  body: Json | Uint8Array,
  options: { status?: number; encoding?: string } = {},
): ModelResponse {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const { status = 200, encoding } = options
  return readModelResponse(dialect, { status, contentType: undefined, contentEncoding: encoding, bytes })
}

export const encoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
}

/** An exchange event as a tape holds it. */
export function exchange(url: string, request: Json, response?: Json, n = 1): ExchangeEvent {
  return {
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url,
    request: { headers: [['content-type', 'application/json']], body: JSON.stringify(request) },
    ...(response === undefined
      ? {}
      : {
          response: {
            moment: [n + 1, n + 1],
            status: 200,
            headers: [['content-type', 'application/json']],
            chunks: [[n + 2, n + 2, typeof response === 'string' ? response : JSON.stringify(response)]],
            end: [n + 3, n + 3],
          },
        }),
  }
}
