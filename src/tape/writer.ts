// Over 300 lines: one writer: what each call guarantees depends on the ones before.
import * as nodeFs from 'node:fs'
import { dirname } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { sealLine } from './digest.ts'
import { tapeFault } from './errors.ts'
import { hazardOf } from './hazards.ts'
import { RecentBodies } from './like.ts'
import { linkAs, temporaryFor } from './new-file.ts'
import { type OpenStep, type PartLine, PartsWritten } from './parts.ts'
import type { WrittenOutcome } from './shape.ts'
import type { ExchangeEvent, Outcome, StateEvent, Tape, TapeClose, TapeEvent, TapeHeader } from './types.ts'
import type { WrittenLine } from './written.ts'

/** What the last line says; kind and event count are added by the writer. */
export type Closing = Omit<TapeClose, 'kind' | 'events'>

/** A tape being written. Each call has reached the operating system when it returns: `kill -9` loses nothing. */
export interface TapeWriter extends Disposable {
  readonly path: string
  /** Bytes on disk so far. */
  readonly bytes: number
  /**
   * Adds a line for each event, all in one write. Request bodies are passed in full; the writer refers to earlier ones by
   * itself. A step can be written before it is settled; what its lines said already, later ones leave out.
   */
  append(...events: readonly (TapeEvent | OpenStep)[]): void
  /** Throws when the tape is no longer where it was begun, or no longer as it was written. */
  refuseElsewhere(): void
  /**
   * Writes the lines so far once more, from these: into another file, which then takes the place of the first one. A step has one line
   * then. Whoever reads it meanwhile, or is killed, has the lines as they were or as they are. Nothing else may be asked of the
   * writer until then.
   *
   * @returns does it line by line; says how many bytes each had
   */
  rewrite(lines: Iterable<WrittenLine>): Generator<number, void, undefined>
  /** Writes the last line and closes the file; throws as well when someone removed or emptied it meanwhile. */
  close(close: Closing): void
  /**
   * Writes another last line, longer than the one before, over it. Does nothing to a tape that is no longer where it was
   * written, or no longer as it was.
   */
  closeAgain(close: Closing): void
  /** Closes the file as it is: without a last line the tape is truncated. Does nothing after `close`. */
  [Symbol.dispose](): void
}

/** The calls a writer makes; tests pass failing ones. */
export type WriterDisk = Pick<
  typeof nodeFs,
  | 'mkdirSync'
  | 'openSync'
  | 'readSync'
  | 'writeSync'
  | 'ftruncateSync'
  | 'fstatSync'
  | 'closeSync'
  | 'unlinkSync'
  | 'linkSync'
  | 'lstatSync'
  | 'renameSync'
>

/**
 * Opens a new tape (mode 0600, in a directory made 0700 when missing) and writes its header.
 *
 * @throws HarvestError `HARVEST_TAPE_WRITE` when the file exists or cannot be written, with the I/O error as cause;
 * so does every method. The tape keeps the lines written before.
 */
export function createTapeWriter(
  { path, header }: { readonly path: string; readonly header: TapeHeader },
  disk: WriterDisk = nodeFs,
): TapeWriter {
  let lines = new TapeLines()
  const first = lines.header(header)
  // It has its name when its header is written: who is killed before that leaves no tape without one.
  const unnamed = temporaryFor(path)
  let fd: number | undefined = failing(path, 'open', () => openNew(disk, unnamed))
  let written = 0
  let torn = false
  let closedAt: number | undefined

  function put(line: Buffer): void {
    failing(path, 'write', () => {
      if (fd === undefined) throw new TypeError('the tape is closed')
      if (torn) mend(fd)
      let at = 0
      try {
        while (at < line.length) at += disk.writeSync(fd, line, at, line.length - at, written + at)
      } catch (error) {
        torn = at > 0
        throw error
      }
      written += line.length
    })
  }

  /** Half a line must not stay before a whole one: a reader would call the tape broken there. */
  function mend(file: number): void {
    disk.ftruncateSync(file, written)
    torn = false
  }

  /** An open file can be written to when it cannot be found any more. */
  function refuseRemoved(): void {
    if (failing(path, 'look at', () => disk.fstatSync(fd!).nlink) > 0) return
    throw tapeFault(
      'HARVEST_TAPE_WRITE',
      { source: path },
      {
        what: 'The tape was removed during the recording',
        why: 'Its folder was emptied, removed or replaced during the run.',
      },
    )
  }

  /** What has another name by now is not replaced by a file of this one. */
  function refuseMoved(): void {
    const [open, named] = [disk.fstatSync(fd!), disk.lstatSync(path, { throwIfNoEntry: false })]
    if (named?.ino !== open.ino) throw new Error('the tape has another name by now')
  }

  /** Lines that were written since then stand behind zeros, as if nothing had been cut off. */
  function refuseEmptied(): void {
    if (fd === undefined) return
    const file = fd
    const first = Buffer.alloc(1)
    const isWhole = failing(path, 'look at', () => {
      disk.readSync(file, first, 0, 1, 0)
      return first.toString('latin1') === '{' && disk.fstatSync(file).size >= written
    })
    if (isWhole) return
    throw tapeFault(
      'HARVEST_TAPE_WRITE',
      { source: path },
      {
        what: 'The tape was cut off during the recording',
        why: 'Another process emptied its file, as a rotation of logs with `copytruncate` does.',
      },
    )
  }

  function shut(): void {
    const open = fd
    fd = undefined
    if (open !== undefined) failing(path, 'close', () => disk.closeSync(open))
  }

  try {
    put(first.bytes)
    failing(path, 'open', () => linkAs(unnamed, path, disk))
    first.done()
  } catch (error) {
    shut()
    throw error
  } finally {
    removeQuietly(disk, unnamed)
  }
  return {
    path,
    get bytes() {
      return written
    },
    append(...events) {
      let line: PendingLine | undefined
      try {
        for (const event of events) line = failing(path, 'write', () => lines.any(event, line))
      } finally {
        // An event that cannot be written takes none of those before it along.
        if (line !== undefined) {
          put(line.bytes)
          line.done()
        }
      }
    },
    refuseElsewhere() {
      refuseEmptied()
      refuseRemoved()
      failing(path, 'find', refuseMoved)
    },
    *rewrite(old) {
      const again = new TapeLines()
      const fresh = temporaryFor(path)
      let size = 0
      let file: number | undefined
      const putAgain = ({ header, event }: WrittenLine, to: number): void => {
        const line = header === undefined ? event && again.event(event) : again.header(header)
        if (line === undefined) return
        const { bytes } = line
        for (let at = 0; at < bytes.length; ) at += disk.writeSync(to, bytes, at, bytes.length - at, size + at)
        size += bytes.length
        line.done()
      }
      try {
        const to = (file = failing(path, 'rewrite', () => openNew(disk, fresh)))
        for (const line of old) {
          failing(path, 'rewrite', () => putAgain(line, to))
          yield line.bytes
        }
        refuseEmptied()
        refuseRemoved()
        failing(path, 'rewrite', () => {
          refuseMoved()
          // A system may not replace a file that is open.
          shut()
          disk.renameSync(fresh, path)
          fd = file
        })
      } finally {
        removeQuietly(disk, fresh)
        if (fd !== file && file !== undefined) disk.closeSync(file)
        fd ??= disk.openSync(path, 'r+')
      }
      lines = again
      written = size
      torn = false
    },
    close(close) {
      try {
        const line = failing(path, 'write', () => lines.close(close))
        refuseEmptied()
        const at = written
        put(line.bytes)
        refuseRemoved()
        closedAt = at
      } finally {
        shut()
      }
    },
    closeAgain(close) {
      if (closedAt === undefined) return
      const { bytes } = failing(path, 'write', () => lines.close(close))
      let file: number
      try {
        file = disk.openSync(path, 'r+')
      } catch (error) {
        // It was moved or removed: whoever has it now has it as it was.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        throw error
      }
      try {
        const { size } = disk.fstatSync(file)
        if (size !== written || closedAt + bytes.length < size) return
        // In one write: whoever reads it meanwhile sees one last line or the other.
        disk.writeSync(file, bytes, 0, bytes.length, closedAt)
        written = closedAt + bytes.length
      } finally {
        disk.closeSync(file)
      }
    },
    [Symbol.dispose]: shut,
  }
}

/** It has another name by now, or is no tape. */
function removeQuietly(disk: WriterDisk, file: string): void {
  try {
    disk.unlinkSync(file)
  } catch {
    // A file that was renamed is not there any more; another one that stays is swept later.
  }
}

/** The folder is there already, but for the first tape. */
function openNew(disk: WriterDisk, path: string): number {
  try {
    return disk.openSync(path, 'wx+', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    makeFolder(disk, dirname(path))
    return disk.openSync(path, 'wx+', 0o600)
  }
}

/**
 * Makes a folder and those above it. Not `recursive: true`: below /proc, where nothing can be made, that never returns,
 * and a recorder must not hang its agent.
 */
function makeFolder(disk: WriterDisk, folder: string): void {
  try {
    disk.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const above = dirname(folder)
    if (code !== 'ENOENT' || above === folder || nodeFs.existsSync(above)) throw error
    makeFolder(disk, above)
    makeFolder(disk, folder)
  }
}

/** The text of a tape with fresh digests; without `close` it is a truncated one. Bodies are passed in full. */
export function serializeTape(header: TapeHeader, events: readonly TapeEvent[], close?: Closing): string {
  const lines = new TapeLines()
  const made = Array.from(linesOf(lines, { header, events }), (bytes) => bytes.toString('utf8'))
  if (close !== undefined) made.push(lines.close(close).bytes.toString('utf8'))
  return made.join('')
}

/** The lines of a tape that is not closed, each to be written before the next is made. */
function* linesOf(lines: TapeLines, { header, events }: Pick<Tape, 'header' | 'events'>): Generator<Buffer> {
  const first = lines.header(header)
  yield first.bytes
  first.done()
  for (const event of events) {
    const line = lines.event(event)
    yield line.bytes
    line.done()
  }
}

/** A line, and those before it that are not written yet. They count only once they are: `done` moves the chain on. */
interface PendingLine {
  /** To be written before the next line is made: see `sealLine`. */
  readonly bytes: Buffer
  readonly digest: string
  done(): void
}

class TapeLines {
  readonly #bodies = new RecentBodies()
  readonly #states = new RecentBodies()
  readonly #parts = new PartsWritten()
  #digest = ''
  #events = 0

  header(header: TapeHeader): PendingLine {
    return this.#seal(header, () => {})
  }

  any(event: TapeEvent | OpenStep, lead?: PendingLine): PendingLine {
    return 'part' in event ? this.open(event, lead) : this.event(event, lead)
  }

  /** @param lead - lines that are to be written together with this one */
  event(event: TapeEvent, lead?: PendingLine): PendingLine {
    const isBegun = this.#parts.has(event.n)
    const { line, done } = this.#parts.settle(event)
    return this.#line(line, event, { isFirst: !isBegun, done }, lead)
  }

  open(step: OpenStep, lead?: PendingLine): PendingLine {
    const isBegun = this.#parts.has(step.event.n)
    const { line, done } = this.#parts.open(step)
    return this.#line(line, step.event, { isFirst: !isBegun, done }, lead)
  }

  /** A line with its request body as a reference, when that is shorter. */
  #line(
    line: TapeEvent | PartLine,
    event: TapeEvent,
    { isFirst, done }: { readonly isFirst: boolean; readonly done: () => void },
    lead?: PendingLine,
  ): PendingLine {
    const written = (): void => {
      done()
      if (isFirst) this.#events++
    }
    if (event.kind === 'state') return this.#state(event, written, lead)
    const { request } = line as { readonly request?: ExchangeEvent['request'] }
    const body = request?.body
    if (event.kind !== 'exchange' || body === undefined || (typeof body === 'object' && 'base64' in body))
      return this.#seal(line, written, lead)
    if (typeof body !== 'string')
      throw new TypeError(`the request body of event ${event.n} is a reference: pass it in full`)
    const like = this.#bodies.findLike(event.url, body)
    const short = like === undefined ? line : { ...line, request: { ...request, body: like } }
    const remembered = (): void => {
      this.#bodies.remember(event.n, event.url, body)
      written()
    }
    return this.#seal(short, remembered, lead)
  }

  /** A snapshot as a reference to one before, when that is shorter. */
  #state(event: StateEvent, written: () => void, lead?: PendingLine): PendingLine {
    const { data, ...rest } = event
    const text = JSON.stringify(data)
    const like = this.#states.findLike(event.name, text)
    const remembered = (): void => {
      this.#states.remember(event.n, event.name, text)
      written()
    }
    return this.#seal(like === undefined ? event : { ...rest, like }, remembered, lead)
  }

  close({
    n,
    at,
    outcome,
    incomplete,
    unrecorded,
    droppedHeaders,
    kept,
    retention,
    usage,
    prints,
    timers,
    timersInCalls,
    timersUnheeded,
    unread,
    unseen,
    inPart,
    input,
    late,
  }: Closing): PendingLine {
    const ofTimers = { timers, timersInCalls, timersUnheeded }
    const rest = {
      incomplete,
      unrecorded,
      droppedHeaders,
      kept,
      retention,
      usage,
      prints,
      ...ofTimers,
      unread,
      unseen,
      inPart,
      input,
      late,
    }
    // `JSON.stringify` leaves out what is undefined.
    return this.#seal({ kind: 'close', n, at, outcome: writeOutcome(outcome), events: this.#events, ...rest }, () => {})
  }

  #seal(value: object, done: () => void, lead?: PendingLine): PendingLine {
    const json = JSON.stringify(value)
    const hazard = hazardOf(value, json)
    if (hazard !== undefined) throw new TypeError(hazard)
    const { bytes, digest } = sealLine(lead?.digest ?? this.#digest, json, lead && Buffer.from(lead.bytes))
    return {
      bytes,
      digest,
      done: () => {
        lead?.done()
        this.#digest = digest
        done()
      },
    }
  }
}

/** The outcome as it stands on the line; `readOutcome` is the way back. */
function writeOutcome(outcome: Outcome): WrittenOutcome {
  return outcome.status === 'unknown' ? { status: 'returned', unknown: true } : outcome
}

function failing<T>(path: string, deed: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (HarvestError.is(error)) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw tapeFault(
      'HARVEST_TAPE_WRITE',
      { source: path },
      {
        what: `The recorder could not ${deed} a tape`,
        where: { error: message },
        ...(code === 'EEXIST' && { why: 'A tape with this id exists already; a tape is never overwritten.' }),
        ...(code === 'ENOSPC' && { why: 'The disk is full. The lines written before stay readable.' }),
      },
      { cause: error },
    )
  }
}
