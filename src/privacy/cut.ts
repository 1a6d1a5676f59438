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
  /** Something in them was replaced, or in what is searched of the part between them. */
  readonly isChanged: boolean
}

/**
 * Redacts what is left of a cut body: at most `window` bytes of either end, and never what is nearer to the cut than
 * {@link cutOverlap}, for half of a secret could stand there. Characters are not cut.
 *
 * @param head - the first bytes of the body, `window` and the overlap if there were so many
 * @param tail - the last bytes of it
 * @param context - a piece of `head` that is not of the body: it is read, and not kept
 */
export function redactSides(
  head: readonly Buffer[],
  tail: readonly Buffer[],
  window: number,
  redactor: Pick<Redactor, 'chunks'>,
  context?: Buffer,
): KeptSides {
  const first = new Bytes(head)
  const last = new Bytes(tail)
  const size = context?.length ?? 0
  const most = Math.min(window, Math.max(0, first.length - size - cutOverlap))
  const added = context && new Bytes(head.slice(0, head.indexOf(context))).length < most ? size : 0
  const headEnd = characterStart(first, most + added)
  const tailStart = characterEnd(last, Math.max(last.length - window, Math.min(cutOverlap, last.length)))
  const front = side(head, { from: 0, to: wholeCharacters(first) }, { from: 0, to: headEnd }, redactor, context)
  const back = side(
    tail,
    { from: characterEnd(last, 0), to: last.length },
    { from: tailStart, to: last.length },
    redactor,
  )
  return {
    head: front.pieces,
    tail: back.pieces,
    kept: headEnd - added + last.length - tailStart,
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
  context?: Buffer,
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
      parts.push({
        of,
        bytes: piece.subarray(from, to),
        isKept: piece !== context && at + from >= kept.from && at + to <= kept.to,
      })
    }
    at += piece.length
  })
  const clean = redactor.chunks(parts.map(({ bytes }) => bytes))
  const result: Buffer[][] = pieces.map(() => [])
  let isChanged = false
  parts.forEach(({ of, bytes, isKept }, n) => {
    // A digest of all of it would let what was dropped be guessed, too.
    if (!clean[n]!.equals(bytes)) isChanged = true
    if (!isKept) return
    result[of]!.push(clean[n]!)
  })
  return { pieces: result.map(joinedBytes), isChanged }
}

/** Moves a border back to where a character begins. */
function characterStart(bytes: Bytes, at: number): number {
  let start = at
  while (start > 0 && at - start < 3 && bytes.isInside(start)) start--
  return bytes.isInside(start) ? at : start
}

/** Moves a border on to where a character begins. */
function characterEnd(bytes: Bytes, at: number): number {
  let end = at
  while (end < bytes.length && end - at < 3 && bytes.isInside(end)) end++
  return bytes.isInside(end) ? at : end
}

/** The end of the last whole character, if the bytes are text. */
function wholeCharacters(bytes: Bytes): number {
  const start = characterStart(bytes, Math.max(0, bytes.length - 1))
  const lead = bytes.at(start) ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + length > bytes.length ? start : bytes.length
}

/** Bytes in pieces: joined, megabytes would be in memory once more. */
class Bytes {
  readonly #pieces: readonly Buffer[]
  readonly length: number

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces
    this.length = pieces.reduce((sum, { length }) => sum + length, 0)
  }

  at(place: number): number | undefined {
    let before = 0
    for (const piece of this.#pieces) {
      if (place < before + piece.length) return piece[place - before]
      before += piece.length
    }
    return undefined
  }

  /** Not at the begin of a character, if they are text. */
  isInside(place: number): boolean {
    return ((this.at(place) ?? 0) & 0xc0) === 0x80
  }
}
