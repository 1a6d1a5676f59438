import { isUtf8 } from 'node:buffer'
import zlib, { constants } from 'node:zlib'

/** Why a body could not be searched. It is then not kept: what was not looked into may hold anything. */
export interface Unsearched {
  /** Bytes it had, as it was sent. */
  readonly size: number
  /** Its `content-encoding`. */
  readonly coding: string
  /**
   * `coding`: an unknown one, or more than three. `damaged`: not in that coding, or with something behind
   * its end. `size`: more than 64 MB when undone.
   */
  readonly reason: 'coding' | 'damaged' | 'size'
}

/** A body without its codings, outermost first in `codings`; empty where it had none. */
export interface DecodedBody {
  readonly plain: Buffer
  readonly codings: readonly Coding[]
}

/** The codings of a body as its headers name them: several headers of that name are one list. */
export function codingOf(headers: readonly (readonly [name: string, value: string])[]): string | undefined {
  let codings: string | undefined
  for (const [name, value] of headers)
    if (name.length === codingName.length && name.toLowerCase() === codingName)
      codings = codings === undefined ? value : `${codings}, ${value}`
  return codings
}

const codingName = 'content-encoding'

/** The coding that headers state of a body which does not have it: no server can unpack it. */
export function falseCoding(
  headers: readonly (readonly [name: string, value: string])[],
  body: Buffer,
): string | undefined {
  const stated = codingOf(headers)
  if (stated === undefined || body.length === 0) return undefined
  const unpacked = unpack(body, stated)
  const isFalse = 'plain' in unpacked && unpacked.codings.length === 0 && !/^[\s,]*(?:identity[\s,]*)*$/i.test(stated)
  return isFalse ? stated : undefined
}

/** Whether headers state a body of which a part can be neither unpacked nor read as frames. */
export function isPackedBy(headers: readonly (readonly [name: string, value: string])[]): boolean {
  return headers.some(([name, value]) =>
    name === codingName
      ? value.toLowerCase() !== 'identity'
      : name === 'content-type' && /^application\/vnd\.amazon\.eventstream\b/i.test(value),
  )
}

const codingCap = 3
/** A small body must not become all the memory there is. */
const sizeCap = 64 * 1024 * 1024

type Coding = 'gzip' | 'deflate' | 'deflate-raw' | 'br' | 'zstd'

/**
 * Undoes the codings of a body, the last one first. One that is cut short gives what was there: more of it is never read.
 * A readable text is taken as it is, no matter what its header says.
 */
export function unpack(
  bytes: Buffer,
  contentEncoding: string | undefined,
): DecodedBody | { readonly unsearched: Unsearched } {
  const named = (contentEncoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (named.length === 0 || bytes.length === 0 || isReadable(bytes)) return { plain: bytes, codings: [] }
  const unsearched = (reason: Unsearched['reason']): { readonly unsearched: Unsearched } => ({
    unsearched: { size: bytes.length, coding: named.join(', ').slice(0, 100), reason },
  })
  if (named.length > codingCap) return unsearched('coding')
  const codings: Coding[] = []
  let plain = bytes
  for (const name of named.reverse()) {
    const ways = decoders[name]
    if (ways === undefined) return unsearched('coding')
    const step = firstOf(ways, plain)
    if ('reason' in step) return unsearched(step.reason)
    plain = step.plain
    codings.push(step.coding)
  }
  return { plain, codings }
}

/** Does the codings again, the innermost first. */
export function pack(plain: Buffer, codings: readonly Coding[]): Buffer {
  return codings.toReversed().reduce((bytes, coding) => encoders[coding](bytes), plain)
}

interface Step {
  readonly plain: Buffer
  readonly coding: Coding
}

interface Decoder {
  readonly coding: Coding
  readonly undo: (bytes: Buffer) => { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
}

function firstOf(ways: readonly Decoder[], bytes: Buffer): Step | { readonly reason: 'damaged' | 'size' } {
  for (const { coding, undo } of ways) {
    try {
      const { buffer, engine } = undo(bytes)
      if (engine.bytesWritten === bytes.length) return { plain: buffer, coding }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return { reason: 'size' }
      // Not in this coding: the next way, and at last none.
    }
  }
  return { reason: 'damaged' }
}

type Info = ReturnType<Decoder['undo']>
const flush = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: sizeCap, info: true }
const gunzip: Decoder = { coding: 'gzip', undo: (bytes) => zlib.gunzipSync(bytes, flush) as unknown as Info }

const decoders: Readonly<Record<string, readonly Decoder[]>> = {
  gzip: [gunzip],
  'x-gzip': [gunzip],
  // The name means zlib, yet some send raw deflate (RFC 9110, 8.4.1.2).
  deflate: [
    { coding: 'deflate', undo: (bytes) => zlib.inflateSync(bytes, flush) as unknown as Info },
    { coding: 'deflate-raw', undo: (bytes) => zlib.inflateRawSync(bytes, flush) as unknown as Info },
  ],
  br: [
    {
      coding: 'br',
      undo: (bytes) =>
        zlib.brotliDecompressSync(bytes, {
          ...flush,
          finishFlush: constants.BROTLI_OPERATION_FLUSH,
        }) as unknown as Info,
    },
  ],
  zstd: [
    {
      coding: 'zstd',
      undo: (bytes) =>
        zlib.zstdDecompressSync(bytes, { ...flush, finishFlush: constants.ZSTD_e_flush }) as unknown as Info,
    },
  ],
}

const encoders: Readonly<Record<Coding, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  'deflate-raw': (bytes) => zlib.deflateRawSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
}

/** Text a person could read: recorders and proxies undo a coding and leave its header. */
function isReadable(bytes: Buffer): boolean {
  return isUtf8(bytes) && !/[\0-\x08\x0e-\x1f\x7f]/.test(bytes.toString('utf8'))
}
