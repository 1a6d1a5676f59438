import { closeSync, readSync } from 'node:fs'
import type { HarvestError } from '../errors/index.ts'
import { tapeFault } from './errors.ts'
import { openTape, sizeCap, unreadable } from './file.ts'
import { type LineLook, LineReader } from './lines.ts'
import { withShared } from './parent.ts'
import { cutInHeader, isTorn } from './torn.ts'
import type { Tape, TapeClose, TapeEvent, TapeHeader } from './types.ts'

const lineFeed = 0x0a
const openBrace = 0x7b

/**
 * Reads a whole tape into memory and verifies every line of it.
 *
 * A tape that was cut (its process was killed) loads up to its last whole line and has no `close`; see
 * `requireClosed`. Refuses files over 512 MiB, symlinks, and everything that is not a tape.
 *
 * A branch comes with the events it shares with its parent, whose file is read as well.
 *
 * @example
 * const { header, events, close } = readTape('recordings/golden/refund.tape.jsonl')
 * @throws HarvestError `HARVEST_TAPE_MISSING`, `_UNREADABLE`, `_EMPTY`, `_LINE`, `_TAMPERED`, `_VERSION`, `_PARENT`, and
 * `_TRUNCATED` when not even the header is whole
 */
export function readTape(path: string): Tape {
  return readAt(path, 0)
}

function readAt(path: string, depth: number): Tape {
  const { fd, size } = openTape(path)
  try {
    if (size > sizeCap)
      throw unreadable(path, `It has ${size} bytes; the largest tape that is read whole has ${sizeCap}.`)
    return readBytes(wholeFile(fd, size), path, depth)
  } finally {
    closeSync(fd)
  }
}

/** As `readFileSync`, which would ask for the size once more. */
function wholeFile(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size)
  let length = 0
  while (length < size) {
    const read = readSync(fd, bytes, length, size - length, null)
    if (read === 0) break
    length += read
  }
  return bytes.subarray(0, length)
}

/** As {@link readTape}, from text. `source` names it in messages; the parent of a branch is looked for beside it. */
export function parseTape(text: string, source: string): Tape {
  return readBytes(Buffer.from(text, 'utf8'), source)
}

/** As {@link parseTape}, for who looks at the lines as well: each is taken apart once. */
export function parseTapeLines(text: string, source: string, look: LineLook): Tape {
  return readBytes(Buffer.from(text, 'utf8'), source, 0, look)
}

/** Reads and verifies line 1 only: cheap for a tape of any length. */
export function readTapeHeader(path: string): TapeHeader {
  const { fd } = openTape(path)
  try {
    const bytes = firstLine(fd)
    if (bytes.length === 0) throw empty(path)
    if (bytes.length > headCap) throw longHeader(path)
    const end = bytes.indexOf(lineFeed)
    if (end === -1) refuseCutHeader(bytes, path)
    return new LineReader(path).header(bytes, 0, end === -1 ? bytes.length : end)
  } finally {
    closeSync(fd)
  }
}

/** Bytes that a header may have: more is no text that a recorder wrote. */
const headCap = 64 * 1024 * 1024

function longHeader(path: string): HarvestError {
  return unreadable(path, `Line 1 has more than ${headCap} bytes.`)
}

/** A file that begins like no header is read no further. */
function firstLine(fd: number): Buffer {
  let bytes = Buffer.allocUnsafe(4 * 1024)
  let length = 0
  while (length <= headCap && (length === 0 || bytes[0] === openBrace)) {
    const read = readSync(fd, bytes, length, bytes.length - length, length)
    const fresh = bytes.subarray(length, length + read)
    length += read
    if (read === 0 || fresh.includes(lineFeed)) break
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(bytes.length * 4, headCap + 1))
  }
  return bytes.subarray(0, length)
}

/** As {@link readTape}, from bytes, which are scratch space afterwards. @internal */
export function readBytes(bytes: Buffer, source: string, depth = 0, look?: LineLook): Tape {
  if (bytes.length === 0) throw empty(source)
  const lines = new LineReader(source, look)
  const firstEnd = bytes.indexOf(lineFeed)
  if ((firstEnd === -1 ? bytes.length : firstEnd) > headCap) throw longHeader(source)
  if (firstEnd === -1) refuseCutHeader(bytes, source)
  let end = firstEnd === -1 ? bytes.length : firstEnd
  const header = lines.header(bytes, 0, end)
  const events: TapeEvent[] = []
  let close: TapeClose | undefined
  let ascending = true
  const add = (event: TapeEvent): void => {
    if (ascending && events.length > 0 && events[events.length - 1]!.n > event.n) ascending = false
    events.push(event)
  }
  while (end < bytes.length - 1) {
    const start = end + 1
    const lineEnd = bytes.indexOf(lineFeed, start)
    if (lineEnd === -1 && !lines.isClosed && isTorn(bytes.toString('utf8', start))) break
    end = lineEnd === -1 ? bytes.length : lineEnd
    const item = lines.next(bytes, start, end)
    if (item?.kind === 'close') close = item
    else if (item !== undefined) add(item)
  }
  lines.open().forEach(add)
  // Lines are written as things end; a run is read in the order they began.
  if (!ascending) events.sort((a, b) => a.n - b.n)
  const tape: Tape = { source, header, events, ...(close !== undefined && { close }), digest: lines.digest }
  return withShared(tape, readAt, depth)
}

/** The header is the only line: is it whole? */
export function refuseCutHeader(bytes: Buffer, source: string): void {
  if (isTorn(bytes.toString('utf8'))) throw cutInHeader(source)
}

export function empty(source: string): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_EMPTY',
    { source },
    {
      what: 'The tape is empty',
      why: 'The recorder writes the header first, so another program created or emptied this file.',
    },
  )
}
