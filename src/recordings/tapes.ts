// Over 300 lines: how tapes are found, beside what is said of those that are not.
import { closeSync, fstatSync, lstatSync, readSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
import { stepsElsewhere, stepsInPackages } from '../errors/above.ts'
import { HarvestError, neutralLine, nearestWord, shellWord } from '../errors/index.ts'
import { toRecord } from '../errors/usual-steps.ts'
import { type Outcome, readOutcome, readTapeHeader, type TapeClose, type WrittenOutcome } from '../tape/index.ts'
import { filesBelow, isTapeFile, locate, openRegular, RecordingFiles } from './files.ts'

/** What the first and the last line of a tape say. Lines between are not read, so they may be damaged. */
export type TapeSummary = ReadableTape | UnreadableTape

/** A tape with a header: `closed`, or `truncated` when its last line is missing or cut. */
export interface ReadableTape {
  readonly state: 'closed' | 'truncated'
  readonly file: string
  readonly bytes: number
  readonly id: string
  readonly agent: string
  /** ISO 8601. */
  readonly startedAt: string
  /** How the run ended; absent when truncated, as is everything below. */
  readonly outcome?: Outcome['status']
  readonly events?: number
  readonly durationMs?: number
  /** Why something is missing, when the recorder failed on the way. */
  readonly incomplete?: string
}

export interface UnreadableTape {
  readonly state: 'unreadable'
  readonly file: string
  readonly error: HarvestError
}

/** Every tape below a folder, the one started last first; what cannot be read comes after, with its error. */
export function listTapes(folder: string): readonly TapeSummary[] {
  const tapes = tapeFiles(folder).map(summarize)
  const startOf = (tape: TapeSummary): string => (tape.state === 'unreadable' ? '' : tape.startedAt)
  return tapes.sort((a, b) => (startOf(a) === startOf(b) ? 0 : startOf(a) < startOf(b) ? 1 : -1))
}

/** How {@link findTape} looks, and what it proposes. */
export interface FindTapeOptions {
  /** The beginning of a name does not do: for what changes the tape, or makes something of it. Default false */
  readonly isExact?: boolean
  /** Those of the recordings, where they were listed already. */
  readonly files?: RecordingFiles
  /** The other one of two, which is not proposed in the place of this one. */
  readonly beside?: string
  /** Where there is no such tape: what was probably meant, given the nearest name of a tape. */
  meant?(nearest: string | undefined): string | undefined
}

/**
 * The file of a tape the user named: by a path inside the recordings, by its file name or its id, by a beginning of
 * one that no other tape has, or as `latest` for the one of the inbox that was started last. A case and the tape it was
 * promoted from may have one name: reading takes that of the case, changing that of the inbox.
 *
 * @throws HARVEST_TAPE_MISSING, HARVEST_TAPE_AMBIGUOUS with those it could be, HARVEST_RECORDINGS_OUTSIDE
 */
export function findTape(recordings: string, word: string, options: FindTapeOptions = {}): string {
  if (/[/\\]/.test(word) || word.endsWith('.tape.jsonl')) {
    const file = locate(recordings, word)
    if (file === undefined) throw missing(recordings, word)
    return file
  }
  if (word === 'latest') return latest(recordings)
  const all = options.files ?? new RecordingFiles(recordings)
  const end = `${word}.tape.jsonl`
  const isNamed = (file: string): boolean => file.endsWith(end) && stemOf(file) === word
  if (options.isExact === true) {
    // That of the inbox goes before all others.
    const [only, ...others] = all.inboxTapes.filter(isNamed)
    if (only !== undefined && others.length === 0) return resolve(only)
  }
  const files = all.tapes
  const begins = (name: string): boolean => word !== '' && name.startsWith(word)
  const nameBegins = (file: string): boolean => word !== '' && file.startsWith(word, file.lastIndexOf(sep) + 1)
  // A tape keeps its id when it is promoted, and gets another name: names go first.
  let known: ReadonlyMap<string, string> | undefined
  const idsOf = (): ReadonlyMap<string, string> =>
    (known ??= new Map(files.filter((file) => mayHaveId(file, word)).map((file) => [file, idOf(file) ?? ''])))
  const ways: readonly (() => readonly string[])[] = [
    () => files.filter(isNamed),
    () => files.filter((file) => idsOf().get(file) === word),
    () => files.filter((file) => nameBegins(file) && begins(stemOf(file))),
    () => files.filter((file) => begins(idsOf().get(file) ?? '')),
  ]
  for (const [at, way] of ways.entries()) {
    const found = way()
    const [file, ...others] =
      at < 2 ? preferred(found, join(recordings, options.isExact === true ? 'inbox' : 'golden')) : found
    if (file === undefined) continue
    if (options.isExact === true && at >= 2) throw notWhole(word, [file, ...others])
    if (others.length === 0) return resolve(file)
    throw ambiguous(word, [file, ...others])
  }
  // Ids of the inbox are other customers' runs: only names that people gave are worth a guess.
  const named = files.filter((file) => relative(join(recordings, 'inbox'), file).startsWith('..'))
  const names = [...named.map(stemOf), ...(all.inboxTapes.length > 0 ? ['latest'] : [])]
  const nearest = nearestWord(
    word,
    names.filter((name) => name !== options.beside),
  )
  throw missing(recordings, word, { nearest: options.meant?.(nearest) ?? nearest, isEmpty: files.length === 0 })
}

/** The one file below this folder, where there is one; otherwise all of them. */
function preferred(files: readonly string[], folder: string): readonly string[] {
  const inside = files.filter((file) => !relative(folder, file).startsWith('..'))
  return inside.length === 1 ? inside : files
}

function latest(recordings: string): string {
  const inbox = join(recordings, 'inbox')
  const [newest] = listTapes(inbox)
  if (newest !== undefined && newest.state !== 'unreadable') return resolve(newest.file)
  throw new HarvestError('HARVEST_TAPE_MISSING', {
    what: 'The inbox has no readable tape',
    where: { inbox },
    fix: [`record a run: ${toRecord}`, 'or name a tape by its path'],
  })
}

function tapeFiles(folder: string): readonly string[] {
  return filesBelow(folder, isTapeFile)
}

function stemOf(file: string): string {
  return basename(file, '.tape.jsonl')
}

/** As its header says, when it can be read. */
export function idOf(file: string): string | undefined {
  try {
    return readTapeHeader(file).id
  } catch {
    // Whoever looks for an id looks among files of all kinds; what is wrong with one, `ls` and `check` say.
    return undefined
  }
}

/** Whether the header of a tape says this id. */
export function hasId(file: string, id: string): boolean {
  return mayHaveId(file, id) && idOf(file) === id
}

const headRoom = Buffer.allocUnsafeSlow(4 * 1024)

/** Whether an id, or one that begins like this, may stand in the header: most are ruled out by their bytes, unparsed. */
function mayHaveId(file: string, id: string): boolean {
  if (!/^[\w.-]+$/.test(id)) return true
  let descriptor: number | undefined
  try {
    descriptor = openRegular(file)
    const bytes = headRoom.subarray(0, readSync(descriptor, headRoom, 0, headRoom.length, 0))
    const end = bytes.indexOf(lineFeed)
    const head = end === -1 ? bytes : bytes.subarray(0, end)
    // A letter may be written as `\u0061`.
    return head.includes(id) || head.includes('\\u') || (end === -1 && bytes.length === headRoom.length)
  } catch {
    // As for idOf: what is wrong with it, others say.
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function summarize(file: string): TapeSummary {
  try {
    const header = readTapeHeader(file)
    const { id, agent, startedAt } = header
    const { bytes, close } = readClose(file)
    const head = { file, bytes, id, agent, startedAt }
    if (close === undefined) return { state: 'truncated', ...head }
    const { outcome, events, at, incomplete } = close
    return {
      state: 'closed',
      ...head,
      outcome: readOutcome(outcome, header).status,
      events,
      durationMs: at,
      ...(incomplete === undefined ? {} : { incomplete }),
    }
  } catch (error) {
    return { state: 'unreadable', file, error: HarvestError.is(error) ? error : unreadable(file, error) }
  }
}

/**
 * How the run of a tape ended, unverified; `undefined` when the tape is truncated.
 *
 * @throws what {@link readTapeHeader} and {@link closeOf} throw
 */
export function outcomeOf(file: string): Outcome | undefined {
  const close = closeOf(file)
  return close === undefined ? undefined : readOutcome(close.outcome, readTapeHeader(file))
}

/** A closing line as it is written: what an outcome means, the header says as well, see {@link outcomeOf}. */
type ClosingLine = Omit<TapeClose, 'outcome'> & { readonly outcome: WrittenOutcome }

/**
 * The last line of a tape, unverified; `undefined` when it is truncated, or a link, which is no tape.
 *
 * @throws HARVEST_TAPE_UNREADABLE when the system does not let us read it
 */
export function closeOf(file: string): ClosingLine | undefined {
  try {
    return lstatSync(file).isSymbolicLink() ? undefined : readClose(file).close
  } catch (error) {
    throw unreadable(file, error)
  }
}

function readClose(file: string): { readonly bytes: number; readonly close?: ClosingLine } {
  const descriptor = openRegular(file)
  try {
    const { size } = fstatSync(descriptor)
    const close = asClose(lastLine(descriptor, size))
    return { bytes: size, ...(close === undefined ? {} : { close }) }
  } finally {
    closeSync(descriptor)
  }
}

/** Reads backwards, in pieces that grow: the last line holds the return value and may be long. */
function lastLine(descriptor: number, size: number): string {
  for (let length = 64 * 1024; ; length *= 8) {
    const bytes = Buffer.alloc(Math.min(length, size))
    readSync(descriptor, bytes, 0, bytes.length, size - bytes.length)
    let end = bytes.at(-1) === lineFeed ? bytes.length - 1 : bytes.length
    if (bytes[end - 1] === carriageReturn) end--
    // Only what ends like a closing line is looked at, however far it goes back.
    if (end === 0 || bytes[end - 1] !== closeBrace) return ''
    const start = bytes.lastIndexOf(lineFeed, end - 1)
    if (start !== -1 || length >= size) return bytes.toString('utf8', start + 1, end)
    if (length >= lineCap) return ''
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const closeBrace = 0x7d
/** Where the search for the beginning of a last line ends: no string is twice as long. */
const lineCap = 256 * 1024 * 1024

function asClose(line: string): ClosingLine | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    // A line cut short: the tape is truncated, and that is what is said.
    return undefined
  }
  const close = value as Partial<ClosingLine> | null
  const isClose =
    close?.kind === 'close' && typeof close.outcome?.status === 'string' && typeof close.events === 'number'
  return isClose ? (close as ClosingLine) : undefined
}

function unreadable(file: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_TAPE_UNREADABLE',
    {
      what: 'The tape cannot be read',
      where: { tape: file, system: cause instanceof Error ? cause.message : String(cause) },
      fix: [`to see its permissions: ls -l ${shellWord(file)}`],
    },
    { cause },
  )
}

function notWhole(word: string, files: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_TAPE_AMBIGUOUS', {
    what: `No tape has the id '${neutralLine(word, 60)}': it is only a prefix`,
    where: { tapes: listed(files) },
    why: 'Commands that change tapes take whole ids only, so that a typo never hits another tape.',
    fix: files.slice(0, 3).map((file) => `if it is this one: ${neutralLine(stemOf(file), 200)}`),
  })
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 10).map((file) => neutralLine(file, 400))
  return [...shown, ...(files.length > shown.length ? [`… and ${files.length - shown.length} more`] : [])].join('\n')
}

function ambiguous(word: string, files: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_TAPE_AMBIGUOUS', {
    what: `${files.length} tapes match '${neutralLine(word, 60)}'`,
    where: { tapes: listed(files) },
    fix: [`name one of them by its path, such as: npx vitest-harvest show ${shellWord(files[0] ?? '')}`],
  })
}

function missing(
  recordings: string,
  word: string,
  { nearest, isEmpty = false }: { readonly nearest?: string | undefined; readonly isEmpty?: boolean } = {},
): HarvestError {
  return new HarvestError('HARVEST_TAPE_MISSING', {
    what: `Unknown tape '${neutralLine(word, 120)}'`,
    where: { recordings },
    why: 'It is not in the inbox: in production, the recorder keeps a sample and what stood out.',
    fix: [
      ...(nearest === undefined ? [] : [`did you mean: ${shellWord(nearest)} instead of ${shellWord(word)}`]),
      ...stepsElsewhere(recordings),
      ...stepsInPackages(recordings, word),
      ...(isEmpty
        ? [`to record a run: ${toRecord}`]
        : ['to see the runs: npx vitest-harvest ls', "to find it by its text: npx vitest-harvest ls --text '<words>'"]),
      "if its recorder writes to another folder: --dir '<folder>'",
    ],
  })
}
