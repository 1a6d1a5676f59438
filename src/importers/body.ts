import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Unsearched } from '../privacy/index.ts'
import { isReadable } from '../wire/decode.ts'
import type { Cursor } from './cursor.ts'
import { excessIn } from './excess.ts'
import { decompressedCap } from './limits.ts'
import { pythonValue } from './python.ts'
import type { ForeignBody } from './types.ts'

/** A body of one piece. */
export function bodyOf(bytes: Buffer | string, isExact = true): ForeignBody {
  return { pieces: [typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes], isExact }
}

/** A body that was stored as the value of its JSON: written again, it says the same in other bytes. */
export function jsonBody(value: unknown): ForeignBody {
  return bodyOf(jsonText(value), false)
}

/** JSON without spaces. Whole numbers that JavaScript cannot hold, and come as bigint, stay as they are. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('utf8'))
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item ?? null)}`)
      .join(',')}}`
  return JSON.stringify(value ?? null)
}

/**
 * The value of a text that is JSON, or a Python literal, of a map or a list; everything else stays what it is: models write
 * arguments that are neither.
 */
export function jsonOr(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{(]/.test(value) || excessIn(value) !== undefined) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    // It only looked like JSON.
    return pythonValue(value) ?? value
  }
}

/**
 * The bytes of a base64 text, in either alphabet.
 *
 * @throws HarvestError `HARVEST_IMPORT_BODY`
 */
export function base64Bytes(text: string, place: Cursor): Buffer {
  const clean = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(clean)) throw place.refuse('it is not base64', 'HARVEST_IMPORT_BODY')
  return Buffer.from(clean, 'base64')
}

/**
 * The bytes of a hexadecimal text.
 *
 * @throws HarvestError `HARVEST_IMPORT_BODY`
 */
export function hexBytes(text: string, place: Cursor): Buffer {
  if (!isHex(text)) throw place.refuse('it is not hexadecimal', 'HARVEST_IMPORT_BODY')
  return Buffer.from(text, 'hex')
}

export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-f]*$/i.test(text)
}

/** How the undoing of a content encoding ended: `stored` when the bytes are not in it, for recorders store bodies decoded. */
export type Decoded =
  | { readonly bytes: Buffer; readonly was: 'encoded' | 'stored' }
  /** It is in a coding that cannot be undone. */
  | { readonly unsearched: Unsearched }
  | 'bomb'

/**
 * Undoes content encodings, the last one first, and gives up where more comes out, after all of them, than any text is
 * compressed from.
 *
 * Readable text is left as it is: it was decoded when it was stored. Brotli has no magic number, and takes the first
 * bytes of some texts for a stream that says nothing.
 */
export function decodeBody(bytes: Buffer, contentEncoding: string): Decoded {
  let now = bytes
  if (contentEncoding !== '' && isReadable(bytes)) return { bytes, was: 'stored' }
  const cap = decompressedCap(bytes.length)
  let was: 'encoded' | 'stored' = 'stored'
  const codings = contentEncoding
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const unsearched = (reason: Unsearched['reason']): Decoded => ({
    unsearched: { size: bytes.length, coding: codings.join(', ').slice(0, 100), reason },
  })
  // Four codings on top of each other are more than any server uses.
  if (bytes.length > 0 && codings.length > 4) return unsearched('coding')
  for (const coding of codings.toReversed()) {
    const decoded = decodeOne(now, coding, cap)
    if (decoded === 'bomb') return 'bomb'
    if (decoded === undefined) {
      if (now.length === 0 || isBegunOtherwise(now, coding) || isMedia(now)) continue
      return unsearched(Object.hasOwn(decoders, coding) ? 'damaged' : 'coding')
    }
    now = decoded
    was = 'encoded'
  }
  // Seen in recordings whose header was dropped: the gzip magic number can start no text.
  if (was === 'stored' && now[0] === 0x1f && now[1] === 0x8b) {
    const decoded = decodeOne(now, 'gzip', cap)
    if (decoded === 'bomb') return 'bomb'
    if (decoded !== undefined) return { bytes: decoded, was: 'encoded' }
  }
  return { bytes: now, was }
}

/** Whether bytes do not begin as those of a coding do: then it was undone when they were stored. */
function isBegunOtherwise(bytes: Buffer, coding: string): boolean {
  const head = heads[coding]
  return head !== undefined && !bytes.subarray(0, head.length).equals(head.subarray(0, bytes.length))
}

/** Whether bytes begin as a picture, a sound, a film, a document or an archive does: no coding begins so. */
function isMedia(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 12)
  return /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF|%PDF|OggS|ID3|fLaC|PK\x03\x04|[^]{4}ftyp)/.test(head)
}

const gzipHead = Buffer.from([0x1f, 0x8b])
const heads: Readonly<Record<string, Buffer | undefined>> = {
  gzip: gzipHead,
  'x-gzip': gzipHead,
  zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
}

type Decoder = (bytes: Buffer, maxOutputLength: number) => Buffer

// The flush modes make a truncated body give its readable beginning instead of an error.
const finishFlush = constants.Z_SYNC_FLUSH
const decoders: Readonly<Record<string, readonly Decoder[]>> = {
  gzip: [(bytes, maxOutputLength) => gunzipSync(bytes, { finishFlush, maxOutputLength })],
  'x-gzip': [(bytes, maxOutputLength) => gunzipSync(bytes, { finishFlush, maxOutputLength })],
  // The name means zlib, yet some servers send raw deflate (RFC 9110, 8.4.1.2).
  deflate: [
    (bytes, maxOutputLength) => inflateSync(bytes, { finishFlush, maxOutputLength }),
    (bytes, maxOutputLength) => inflateRawSync(bytes, { finishFlush, maxOutputLength }),
  ],
  br: [
    (bytes, maxOutputLength) =>
      brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
  ],
  zstd: [
    (bytes, maxOutputLength) => zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_flush, maxOutputLength }),
  ],
}

function decodeOne(bytes: Buffer, coding: string, cap: number): Buffer | 'bomb' | undefined {
  if (bytes.length === 0) return undefined
  for (const decoder of Object.hasOwn(decoders, coding) ? decoders[coding]! : []) {
    try {
      return decoder(bytes, cap)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return 'bomb'
      // Not in this coding: the next one is tried, and at last the bytes are left as they are.
    }
  }
  return undefined
}
