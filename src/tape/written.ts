import { closeSync, readSync } from 'node:fs'
import { digestLength } from './digest.ts'
import { openTape } from './file.ts'
import { LineReader } from './lines.ts'
import { withRoom } from './stream.ts'
import type { TapeEvent, TapeHeader } from './types.ts'

const lineFeed = 0x0a
const step = 256 * 1024

/** A line of a tape, with the event that it settles. */
export interface WrittenLine {
  readonly header?: TapeHeader
  readonly event?: TapeEvent
  /** Its length. */
  readonly bytes: number
}

/**
 * Reads so many bytes of a tape that this process writes, which are whole lines, in file order and as `streamTape` does: a line is
 * held, and the request bodies that later ones may refer to.
 */
export function* writtenLines(path: string, most: number): Generator<WrittenLine, void, undefined> {
  const { fd } = openTape(path)
  try {
    const lines = new LineReader(path)
    // Room for the digest before the first line: see openLine.
    let buffer: Buffer = Buffer.allocUnsafe(digestLength + step)
    let filled = digestLength
    for (let left = most; left > 0; ) {
      const read = readSync(fd, buffer, filled, Math.min(left, buffer.length - filled), null)
      if (read === 0) break
      left -= read
      const searched = filled
      filled += read
      let start = digestLength
      let end = buffer.subarray(0, filled).indexOf(lineFeed, searched)
      while (end !== -1) {
        yield { ...told(lines, buffer, start, end), bytes: end + 1 - start }
        start = end + 1
        end = buffer.subarray(0, filled).indexOf(lineFeed, start)
      }
      buffer = withRoom(buffer, start, filled)
      filled = digestLength + filled - start
    }
    for (const event of lines.open()) yield { event, bytes: 0 }
  } finally {
    closeSync(fd)
  }
}

function told(lines: LineReader, buffer: Buffer, start: number, end: number): Omit<WrittenLine, 'bytes'> {
  if (lines.line === 0) return { header: lines.header(buffer, start, end) }
  const item = lines.next(buffer, start, end)
  return item === undefined || item.kind === 'close' ? {} : { event: item }
}
