import { isUtf8 } from 'node:buffer'
import { seamState } from '../seam/source.ts'
import { joinedBytes } from '../tape/index.ts'
import type { Piece } from '../privacy/index.ts'

/** Bytes of an answer that are looked at before it is complete. */
const most = 1024 * 1024
/** How much an answer grows before it is looked through again, unless so much time has passed. */
const growth = 1.25
const patienceMs = 1000

const { uptime } = seamState().natives

/** Tells which pieces of an answer under way can be written. Looks through a growing text a few times, not with each piece. */
export class EarlyPieces {
  #written = 0
  #seenBytes = 0
  #seenAt = Number.NEGATIVE_INFINITY
  #isOver = false

  /**
   * The pieces that can be written now, from the first; `undefined` when there are no more of them than before.
   *
   * @param settled - how much of a text will stay as it is
   */
  next(pieces: readonly Piece[], settled: (text: string) => number): readonly Piece[] | undefined {
    if (this.#isOver) return undefined
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0)
    const now = uptime()
    if (bytes < this.#seenBytes * growth && now < this.#seenAt + patienceMs) return undefined
    this.#seenBytes = bytes
    this.#seenAt = now
    this.#isOver = bytes > most
    if (this.#isOver) return undefined
    const body = joinedBytes(pieces.map((piece) => piece.bytes))
    this.#isOver = !isText(body)
    if (this.#isOver) return undefined
    const text = body.toString('utf8')
    const end = settled(text)
    const count = wholeWithin(pieces, Buffer.byteLength(text.slice(0, end)))
    if (count <= this.#written) return undefined
    this.#written = count
    return pieces.slice(0, count)
  }

  /** Whether it is worth looking again later. */
  isBehind(pieces: readonly Piece[]): boolean {
    return !this.#isOver && this.#written < pieces.length
  }
}

/** How many pieces end within so many bytes. */
function wholeWithin(pieces: readonly Piece[], bytes: number): number {
  let [count, end] = [0, 0]
  while (count < pieces.length && (end += pieces[count]!.bytes.length) <= bytes) count++
  return count
}

/** UTF-8, but for a last character that is still to come. A first byte that is no letter begins a binary frame. */
function isText(bytes: Buffer): boolean {
  if (bytes[0] === 0) return false
  return [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, Math.max(0, bytes.length - cut))))
}
