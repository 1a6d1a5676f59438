import { closeSync, read as readCallback } from 'node:fs'
import { promisify } from 'node:util'
import { digestLength } from './digest.ts'
import { openTape } from './file.ts'
import { LineReader } from './lines.ts'
import { checkParent, isShared, orUnusable, parentAt } from './parent.ts'
import { empty, refuseCutHeader } from './read.ts'
import { isTorn } from './torn.ts'
import type { TapeClose, TapeEvent, TapeHeader } from './types.ts'

const read = promisify(readCallback)
const lineFeed = 0x0a
const step = 256 * 1024

/**
 * Reads a tape line by line, in file order, verifying as `readTape` does. Holds one line, the request bodies later
 * lines may refer to, what has begun and is not settled, and a bit per event: a tape of any length streams in about the same memory.
 *
 * The events a branch shares with its parent come first, streamed from the parent's file.
 *
 * A truncated tape ends without a `close`. The header is checked and not yielded: see `readTapeHeader`.
 *
 * @returns the digest of the last line read
 * @throws HarvestError as `readTape`, when the faulty line is reached
 */
export function streamTape(path: string): AsyncGenerator<TapeEvent | TapeClose, string> {
  return streamAt(path, 0)
}

async function* streamAt(path: string, depth: number): AsyncGenerator<TapeEvent | TapeClose, string> {
  const { fd } = openTape(path)
  try {
    const lines = new LineReader(path)
    const text = new LineBuffer()
    for (;;) {
      const { buffer, filled } = text
      const { bytesRead } = await read(fd, buffer, filled, buffer.length - filled, null)
      if (bytesRead === 0) break
      for (const [start, end] of text.lines(bytesRead)) {
        if (lines.line === 0) yield* shared(path, lines.header(buffer, start, end), depth)
        else yield* told(lines, lines.next(buffer, start, end))
      }
    }
    const { buffer, filled } = text
    if (filled === digestLength) {
      if (lines.line === 0) throw empty(path)
      yield* lines.open()
      return lines.digest
    }
    const rest = buffer.subarray(0, filled)
    if (lines.line === 0) {
      refuseCutHeader(rest.subarray(digestLength), path)
      yield* shared(path, lines.header(rest, digestLength, filled), depth)
    } else if (lines.isClosed || !isTorn(rest.toString('utf8', digestLength)))
      yield* told(lines, lines.next(rest, digestLength, filled))
    yield* lines.open()
    return lines.digest
  } finally {
    closeSync(fd)
  }
}

/** What a line tells: events that were not settled come before the closing line. */
function* told(
  lines: LineReader,
  item: TapeEvent | TapeClose | undefined,
): Generator<TapeEvent | TapeClose, void, undefined> {
  if (item?.kind === 'close') yield* lines.open()
  if (item !== undefined) yield item
}

/** What the parent of a branch holds of it. */
async function* shared(path: string, { parent }: TapeHeader, depth: number): AsyncGenerator<TapeEvent> {
  if (parent === undefined) return
  const file = parentAt(path, parent, depth)
  const lines = streamAt(file, depth + 1)
  let events = 0
  for (;;) {
    const line = await lines.next().catch((error: unknown) => orUnusable(path, file, () => rethrow(error)))
    if (line.done === true) return checkParent(path, file, parent, { digest: line.value, events })
    if (line.value.kind === 'close' || !isShared(line.value, parent)) continue
    events++
    yield line.value
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** What was read of a tape, cut into lines. Before each is room for the digest of the one before it: see openLine. */
export class LineBuffer {
  buffer: Buffer = Buffer.allocUnsafe(digestLength + step)
  /** Where the next bytes are put. */
  filled = digestLength

  #makeRoom(start: number): void {
    const rest = this.filled - start
    const needed = digestLength + rest + step
    // A long line doubles the buffer, so that its bytes are copied a few times and not once per read.
    const next =
      needed <= this.buffer.length ? this.buffer : Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2))
    this.buffer.copy(next, digestLength, start, this.filled)
    this.buffer = next
    this.filled = digestLength + rest
  }

  /** Where the lines begin and end that are whole with so many more bytes. The rest of them is moved to the front behind the last one. */
  *lines(bytesRead: number): Generator<readonly [start: number, end: number], void, undefined> {
    const searched = this.filled
    this.filled += bytesRead
    const text = this.buffer.subarray(0, this.filled)
    let start = digestLength
    for (let end = text.indexOf(lineFeed, searched); end !== -1; end = text.indexOf(lineFeed, start)) {
      yield [start, end]
      start = end + 1
    }
    this.#makeRoom(start)
  }
}
