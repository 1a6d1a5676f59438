/** A replacement in a text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Parts of a text that are put together at a time: a text that grows by each of them keeps them all until it is read. */
const block = 4_096

/** The text with edits applied; they stand in order and apart. */
export function edited(text: string, edits: Iterable<Edit>): string {
  const blocks: string[] = []
  let parts: string[] = []
  let from = 0
  for (const { start, end, text: instead } of edits) {
    parts.push(text.slice(from, start), instead)
    from = end
    if (parts.length < block) continue
    blocks.push(parts.join(''))
    parts = []
  }
  return blocks.join('') + parts.join('') + text.slice(from)
}

/** A replacement in bytes. */
export interface ByteEdit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/**
 * Pieces of bytes with edits applied: a replacement goes to the piece where what it replaces begins, the rest of
 * that is cut from later pieces. Pieces without a change are the same buffers.
 */
export function cutPieces(pieces: readonly Buffer[], edits: readonly ByteEdit[]): readonly Buffer[] {
  const result: Buffer[] = []
  let at = 0
  let next = 0
  for (const piece of pieces) {
    const [from, to] = [at, at + piece.length]
    at = to
    while (next < edits.length && edits[next]!.end <= from) next++
    const parts: Buffer[] = []
    let copied = from
    for (let cut = next; cut < edits.length && edits[cut]!.start < to; cut++) {
      const { start, end, bytes } = edits[cut]!
      if (start > copied) parts.push(piece.subarray(copied - from, start - from))
      if (start >= from) parts.push(bytes)
      copied = Math.min(end, to)
    }
    const isClean = parts.length === 0 && copied === from
    if (copied < to) parts.push(piece.subarray(copied - from))
    result.push(isClean ? piece : Buffer.concat(parts))
  }
  return result
}

/** Edits of a text as edits of its bytes. */
export function inBytes(text: string, edits: Iterable<Edit>, coding: 'utf8' | 'latin1'): readonly ByteEdit[] {
  let [characters, bytes] = [0, 0]
  const move = (to: number): number => {
    bytes += Buffer.byteLength(text.slice(characters, to), coding)
    characters = to
    return bytes
  }
  return Array.from(edits, ({ start, end, text: instead }) => ({
    start: move(start),
    end: move(end),
    bytes: Buffer.from(instead, coding),
  }))
}
