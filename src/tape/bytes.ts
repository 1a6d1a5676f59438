import { isUtf8 } from 'node:buffer'

/** Bytes as they stand in a tape: text as text, anything else as base64. */
export type EncodedBytes = string | { readonly base64: string }

/** Text when the bytes are valid UTF-8 (a byte order mark stays), else base64: decoding gives the same bytes either way. */
export function encodeBytes(bytes: Uint8Array): EncodedBytes {
  const buffer = asBuffer(bytes)
  return isUtf8(buffer) ? buffer.toString('utf8') : { base64: buffer.toString('base64') }
}

/** The bytes {@link encodeBytes} was given. */
export function decodeBytes(encoded: EncodedBytes): Buffer {
  return typeof encoded === 'string' ? Buffer.from(encoded, 'utf8') : Buffer.from(encoded.base64, 'base64')
}

/** All pieces as one buffer; one piece is not copied. */
export function joinedBytes(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
