import { isUtf8 } from 'node:buffer'
import { joinedBytes } from '../tape/index.ts'
import type { Redactor } from './redactor.ts'

/**
 * More than is kept on either side of a cut, in bytes: a secret across the border is found with it, and then it is
 * dropped.
 */
export const cutOverlap = 64 * 1024

/** What is kept of a body that was cut, redacted. Pieces are those given, without what belongs to the overlap. */
export interface KeptSides {
  readonly head: readonly Buffer[]
  readonly tail: readonly Buffer[]
  /** Bytes of the body that are kept, before redaction. */
  readonly kept: number
  /** Something in them was replaced. */
  readonly isChanged: boolean
}

/**
 * Redacts what is left of a cut body: at most `window` bytes of either end, and never what is nearer to the cut than
 * {@link cutOverlap}, for half of a secret could stand there. Characters are not cut.
 *
 * @param head - the first bytes of the body, `window` and the overlap if there were so many
 * @param tail - the last bytes of it
 */
export function redactSides(
  head: readonly Buffer[],
  tail: readonly Buffer[],
  window: number,
  redactor: Pick<Redactor, 'chunks'>,
): KeptSides {
  const first = joinedBytes(head)
  const last = joinedBytes(tail)
  const headEnd = characterStart(first, Math.min(window, Math.max(0, first.length - cutOverlap)))
  const tailStart = characterEnd(last, Math.max(last.length - window, Math.min(cutOverlap, last.length)))
  const front = side(head, { from: 0, to: wholeCharacters(first) }, { from: 0, to: headEnd }, redactor)
  const back = side(
    tail,
    { from: characterEnd(last, 0), to: last.length },
    { from: tailStart, to: last.length },
    redactor,
  )
  return {
    head: front.pieces,
    tail: back.pieces,
    kept: headEnd + last.length - tailStart,
    isChanged: front.isChanged || back.isChanged,
  }
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Looks through the bytes of `seen` and gives those of `kept`, which are among them. */
function side(
  pieces: readonly Buffer[],
  seen: Range,
  kept: Range,
  redactor: Pick<Redactor, 'chunks'>,
): { readonly pieces: readonly Buffer[]; readonly isChanged: boolean } {
  const parts: { readonly of: number; readonly bytes: Buffer; readonly isKept: boolean }[] = []
  let at = 0
  pieces.forEach((piece, of) => {
    const borders = [0, seen.from - at, kept.from - at, kept.to - at, seen.to - at, piece.length]
      .map((border) => Math.min(piece.length, Math.max(0, border)))
      .sort((a, b) => a - b)
    for (let n = 0; n + 1 < borders.length; n++) {
      const [from, to] = [borders[n]!, borders[n + 1]!]
      if (from === to || at + from < seen.from || at + to > seen.to) continue
      parts.push({ of, bytes: piece.subarray(from, to), isKept: at + from >= kept.from && at + to <= kept.to })
    }
    at += piece.length
  })
  const clean = redactor.chunks(parts.map(({ bytes }) => bytes))
  const result: Buffer[][] = pieces.map(() => [])
  let isChanged = false
  parts.forEach(({ of, bytes, isKept }, n) => {
    if (!isKept) return
    if (!clean[n]!.equals(bytes)) isChanged = true
    result[of]!.push(clean[n]!)
  })
  return { pieces: result.map(joinedBytes), isChanged }
}

/** Moves a border back to where a character begins. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && at - start < 3 && isInside(bytes, start)) start--
  return isInside(bytes, start) ? at : start
}

/** Moves a border on to where a character begins. */
function characterEnd(bytes: Buffer, at: number): number {
  let end = at
  while (end < bytes.length && end - at < 3 && isInside(bytes, end)) end++
  return isInside(bytes, end) ? at : end
}

function isInside(bytes: Buffer, at: number): boolean {
  return at < bytes.length && (bytes[at]! & 0xc0) === 0x80
}

/** The end of the last whole character, of bytes that are text. */
function wholeCharacters(bytes: Buffer): number {
  for (let short = 0; short < 4 && short < bytes.length; short++)
    if (isUtf8(bytes.subarray(0, bytes.length - short))) return bytes.length - short
  return bytes.length
}
