import { createHash, type Hash } from 'node:crypto'
import { cutOverlap as overlap } from './cut.ts'
import type { Moment } from '../tape/index.ts'

/** A part of a body as it came. */
export interface Piece {
  readonly bytes: Buffer
  /** Of an answer: when it came. */
  readonly moment?: Moment | undefined
}

/** What is left of a body that was cut: all of `head`, then nothing for so many bytes, then all of `tail`. */
export interface CutBody {
  readonly head: readonly Piece[]
  readonly tail: readonly Piece[]
  /** Bytes of the whole body, as they came. */
  readonly size: number
  /** SHA-256 of the whole body, in hex. */
  readonly sha256: string
  /** Bytes that may be kept of either end. */
  readonly window: number
}

/** Bytes kept of either end of a body for which there is no room. */
const leftOver = 4096
/** So that a huge piece can be cut. */
const pieceSize = 256 * 1024

/** Of a body of which nothing is there. Nothing is added to it. */
const empty: Piece[] = []

/**
 * The bytes of one body while they come in. Past its cap it holds the first and the last half of the cap and the overlap
 * of each, and counts and digests the rest.
 */
export class CappedBody {
  readonly #limit: number
  #window: number
  #pieces = empty
  #held = 0
  /** How many of the pieces stand before the cut. */
  #head: number | undefined
  #hash: Hash | undefined
  #size = 0
  #isLetGo = false

  /** @param cap - bytes, without the overlap */
  constructor(cap: number) {
    this.#window = Math.floor(cap / 2)
    // Not cut again for every piece.
    this.#limit = cap + Math.max(4 * overlap, Math.floor(cap / 4))
  }

  /** Bytes heard. */
  get size(): number {
    return this.#size
  }

  /** Bytes held. */
  get held(): number {
    return this.#held
  }

  /** Bytes that can be let go. */
  get loose(): number {
    return this.#isLetGo ? 0 : this.#held
  }

  /** All pieces, of a body that was not cut. */
  get pieces(): readonly Piece[] {
    return this.#pieces
  }

  /** Once nothing is added any more: what is left; `undefined` of a body that is whole. */
  get cut(): CutBody | undefined {
    if (this.#hash === undefined) return undefined
    const head = this.#head ?? 0
    return {
      head: this.#pieces.slice(0, head),
      tail: this.#pieces.slice(head),
      size: this.#size,
      // A request may be looked at while it still grows.
      sha256: this.#hash.copy().digest('hex'),
      window: this.#window,
    }
  }

  /** @param bytes - not changed by anybody afterwards */
  add(bytes: Buffer, moment?: Moment): void {
    this.#size += bytes.length
    this.#hash?.update(bytes)
    const isHuge = this.#held + bytes.length > this.#limit && bytes.length > pieceSize
    // A list that grows has room for 17, and most bodies are one piece.
    if (isHuge) this.#pieces = [...this.#pieces, ...partsOf(bytes, moment)]
    else if (this.#pieces.length === 0) this.#pieces = [{ bytes, moment }]
    else this.#pieces.push({ bytes, moment })
    this.#held += bytes.length
    if (this.#held > this.#limit) this.#shrink(this.#window + overlap)
  }

  /** Nothing is added any more, and there is no room for all of it. Returns how many bytes were let go; a little stays. */
  letGo(): number {
    const before = this.#held
    this.#isLetGo = true
    // Of a smaller body there would be nothing left behind the overlaps.
    this.#window = before > 4 * overlap ? Math.min(leftOver, this.#window) : 0
    this.#shrink(this.#window === 0 ? 0 : this.#window + overlap)
    return before - this.#held
  }

  /** It is not needed any more. */
  drop(): void {
    this.#pieces = empty
    this.#held = 0
  }

  /** Keeps so many bytes of either end, in whole pieces. */
  #shrink(window: number): void {
    if (this.#hash === undefined) {
      this.#hash = createHash('sha256')
      for (const { bytes } of this.#pieces) this.#hash.update(bytes)
    }
    const last = this.#pieces.length
    let headEnd = 0
    for (let bytes = 0; bytes < window && headEnd < (this.#head ?? last); headEnd++)
      bytes += this.#pieces[headEnd]!.bytes.length
    let tailStart = last
    for (let bytes = 0; bytes < window && tailStart > headEnd; ) bytes += this.#pieces[--tailStart]!.bytes.length
    this.#pieces = [...this.#pieces.slice(0, headEnd), ...this.#pieces.slice(tailStart)].map(own)
    this.#head = headEnd
    this.#held = this.#pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }
}

function partsOf(bytes: Buffer, moment: Moment | undefined): readonly Piece[] {
  const parts: Piece[] = []
  for (let from = 0; from < bytes.length; from += pieceSize)
    parts.push({ bytes: bytes.subarray(from, from + pieceSize), moment })
  return parts
}

/** A small part of a large piece would hold all of its memory. */
function own(piece: Piece): Piece {
  const { bytes } = piece
  return bytes.buffer.byteLength > 4 * pieceSize && bytes.length <= pieceSize
    ? { ...piece, bytes: Buffer.from(bytes) }
    : piece
}
