import { isUtf8 } from 'node:buffer'
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type InputType,
  zstdDecompressSync,
} from 'node:zlib'

/** A body longer than this is not read: a small file must not become all the memory there is. */
const maxBytes = 64 * 1024 * 1024

/** What a body may grow to no matter what it is compressed from. */
const smallBody = 1024 * 1024

/** Text is compressed to a tenth; a thousandth is what bombs are made of. */
const maxRatio = 200

/** How many bytes may come out of so many compressed ones: the work on all bodies of a tape is bounded by its size. */
function capOf({ length }: Uint8Array): number {
  return Math.min(maxBytes, Math.max(smallBody, length * maxRatio))
}

/**
 * Undoes the content encodings of a body, last one first. A truncated body gives what was there.
 *
 * Recorders that store bodies decoded often keep the header: readable text, and bytes that do not decode, are returned as
 * they are.
 */
export function decodeBody(bytes: Uint8Array, contentEncoding: string | undefined): Uint8Array {
  if (contentEncoding !== undefined && isReadable(bytes)) return bytes
  const codings = (contentEncoding ?? '').split(',').map((coding) => coding.trim().toLowerCase())
  const decoded = codings.reverse().reduce(decodeOne, bytes)
  // Seen in recordings whose header was dropped: the gzip magic number can start no text.
  return decoded[0] === 0x1f && decoded[1] === 0x8b ? decodeOne(decoded, 'gzip') : decoded
}

/**
 * Whether bytes are text a person could read, and so encoded no more. Brotli and deflate have no magic number: they take
 * the first bytes of some texts, such as `[1,2]`, for a stream that says nothing.
 */
export function isReadable(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !/[\0-\x08\x0e-\x1f\x7f]/.test(new TextDecoder().decode(bytes))
}

function decodeOne(bytes: Uint8Array, coding: string): Uint8Array {
  for (const decoder of decodersOf(coding, capOf(bytes))) {
    try {
      return decoder(bytes)
    } catch {
      // Not in this coding, or longer than its cap: tried the next one, and at last left as it is.
    }
  }
  return bytes
}

type Decoder = (bytes: InputType) => Uint8Array

function decodersOf(coding: string, maxOutputLength: number): readonly Decoder[] {
  // The flush modes make a truncated body give its readable beginning instead of an error.
  const flush = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength }
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return [(bytes) => gunzipSync(bytes, flush)]
    case 'deflate':
      // The name means zlib, yet some servers send raw deflate (RFC 9110, 8.4.1.2).
      return [(bytes) => inflateSync(bytes, flush), (bytes) => inflateRawSync(bytes, flush)]
    case 'br':
      return [
        (bytes) => brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
      ]
    case 'zstd':
      return [(bytes) => zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_flush, maxOutputLength })]
    default:
      return []
  }
}
