import { createHash } from 'node:crypto'
import { type CutBody, isPackedBy, type Piece, redactSides, type Redactor } from '../privacy/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import {
  type Chunk,
  encodeBytes,
  type EncodedBytes,
  type ExchangeEvent,
  type HeaderPair,
  joinedBytes,
  type RecordedResponse,
  type WholeBody,
} from '../tape/index.ts'

/** What stands on the tape of a request whose body was cut; an empty body where nothing is kept. */
export function cutRequest(
  headers: readonly HeaderPair[],
  left: CutBody,
  redactor: Redactor,
): Pick<ExchangeEvent['request'], 'body' | 'cut' | 'whole'> {
  const { head, tail, facts } = sides(headers, left, redactor)
  const kept = joinedBytes([...head, ...tail])
  return { ...(kept.length === 0 ? {} : { body: encodeBytes(kept) }), ...facts }
}

/** What stands on the tape of an answer whose body was cut. */
export function cutAnswer(
  headers: readonly HeaderPair[],
  left: CutBody,
  redactor: Redactor,
): Pick<RecordedResponse, 'chunks' | 'cut' | 'whole'> {
  const { head, tail, facts } = sides(headers, left, redactor)
  const pieces = [...left.head, ...left.tail]
  return { chunks: chunksOf(pieces, [...head, ...tail].map(encodeBytes)), ...facts }
}

interface Sides {
  readonly head: readonly Buffer[]
  readonly tail: readonly Buffer[]
  readonly facts: { readonly cut: number; readonly whole: WholeBody }
}

function sides(headers: readonly HeaderPair[], left: CutBody, redactor: Redactor): Sides {
  const steady = (pieces: readonly Piece[]): readonly Buffer[] =>
    pieces.map(({ bytes }) => steadyBoundary(headers, bytes).body)
  // The part of it that is there cannot be unpacked, or read as frames: it cannot be looked through.
  const isSearched = !isPackedBy(headers)
  const [head, tail] = isSearched ? [steady(left.head), steady(left.tail)] : [[], []]
  const kept = redactSides(head, tail, left.window, redactor)
  const at = kept.head.reduce((sum, { length }) => sum + length, 0)
  const digest = kept.isChanged
    ? {
        keptSha256: createHash('sha256')
          .update(joinedBytes([...kept.head, ...kept.tail]))
          .digest('hex'),
      }
    : { sha256: left.sha256 }
  const facts = { cut: left.size - kept.kept, whole: { size: left.size, at, window: left.window, ...digest } }
  return { head: kept.head, tail: kept.tail, facts }
}

export function bytesOf(pieces: readonly Piece[]): readonly Buffer[] {
  return pieces.map(({ bytes }) => bytes)
}

/** Pieces with their moments. What was cut out of one may have been all of it; those of one moment came as one. */
export function chunksOf(pieces: readonly Piece[], encoded: readonly EncodedBytes[]): readonly Chunk[] {
  const chunks: Chunk[] = []
  encoded.forEach((bytes, i) => {
    const { moment } = pieces[i]!
    if (bytes === '' || moment === undefined) return
    const [n, at] = moment
    const last = chunks.at(-1)
    if (last?.[0] === n) chunks[chunks.length - 1] = [n, at, joined(last[2], bytes)]
    else chunks.push([n, at, bytes])
  })
  return chunks
}

function joined(first: EncodedBytes, second: EncodedBytes): EncodedBytes {
  if (typeof first === 'string' && typeof second === 'string') return first + second
  const bytes = (part: EncodedBytes): Buffer =>
    typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.base64, 'base64')
  return encodeBytes(Buffer.concat([bytes(first), bytes(second)]))
}
