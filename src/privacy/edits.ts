/** A replacement in a text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with edits applied; they stand in order and apart. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let from = 0
  for (const { start, end, text: instead } of edits) {
    result += text.slice(from, start) + instead
    from = end
  }
  return result + text.slice(from)
}

/**
 * Pieces of bytes with edits applied: a replacement goes to the piece where the text it replaces begins, the rest
 * of that text is cut from later pieces. Pieces without a change are the same buffers.
 *
 * @param text - what all pieces together say in UTF-8
 */
export function editedPieces(pieces: readonly Buffer[], text: string, edits: readonly Edit[]): readonly Buffer[] {
  const cuts = inBytes(text, edits)
  const result: Buffer[] = []
  let at = 0
  let next = 0
  for (const piece of pieces) {
    const [from, to] = [at, at + piece.length]
    at = to
    while (next < cuts.length && cuts[next]!.end <= from) next++
    const parts: Buffer[] = []
    let copied = from
    for (let cut = next; cut < cuts.length && cuts[cut]!.start < to; cut++) {
      const { start, end, text: instead } = cuts[cut]!
      if (start > copied) parts.push(piece.subarray(copied - from, start - from))
      if (start >= from) parts.push(Buffer.from(instead, 'utf8'))
      copied = Math.min(end, to)
    }
    const isClean = parts.length === 0 && copied === from
    if (copied < to) parts.push(piece.subarray(copied - from))
    result.push(isClean ? piece : Buffer.concat(parts))
  }
  return result
}

function inBytes(text: string, edits: readonly Edit[]): readonly Edit[] {
  let [characters, bytes] = [0, 0]
  const move = (to: number): number => {
    bytes += Buffer.byteLength(text.slice(characters, to), 'utf8')
    characters = to
    return bytes
  }
  return edits.map(({ start, end, text: instead }) => ({ start: move(start), end: move(end), text: instead }))
}
