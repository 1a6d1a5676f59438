import { closeSync, readSync } from 'node:fs'
import { openTape } from './file.ts'
import { LineReader } from './lines.ts'
import { LineBuffer } from './stream.ts'
import type { TapeEvent, TapeHeader } from './types.ts'

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
    const text = new LineBuffer()
    for (let left = most; left > 0; ) {
      const { buffer, filled } = text
      const bytesRead = readSync(fd, buffer, filled, Math.min(left, buffer.length - filled), null)
      if (bytesRead === 0) break
      left -= bytesRead
      for (const [start, end] of text.lines(bytesRead))
        yield { ...told(lines, buffer, start, end), bytes: end + 1 - start }
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
