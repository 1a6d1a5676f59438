import { closeSync, existsSync, fstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HarvestError, shellWord } from '../../errors/index.ts'
import { toRecord } from '../../errors/usual-steps.ts'
import {
  fileCap,
  type TapeDraft,
  type ImportFacts,
  type ImportFormat,
  importRecordings,
  several,
} from '../../importers/index.ts'
import { createRedactor, type RedactorOptions } from '../../privacy/index.ts'
import { makeFolder, openRegular, writeNewFiles } from '../files.ts'
import { sweepTemporaries } from '../../tape/new-file.ts'
import { refuseLinks } from '../../tape/links.ts'
import { createTapeWriter } from '../../tape/index.ts'
import type { Candidate } from './candidates.ts'
import type { TapeIds } from './tape-ids.ts'

export interface ImportSettings {
  readonly agent: string
  /** Absent: detected from what each file holds. */
  readonly format?: ImportFormat
  /** Id of the one tape. */
  readonly as?: string
  /** What the agent was called with in the one run. */
  readonly input?: { readonly value: unknown }
  /** The application's own rules. */
  readonly redact?: RedactorOptions
}

/** A recording that is a tape now. */
export interface ImportedRecording {
  readonly file: string
  readonly tape: string
  readonly id: string
  readonly facts: ImportFacts
}

/** A file that was refused, and why. */
export interface Refused {
  readonly file: string
  readonly error: HarvestError
}

/**
 * Imports one file into the inbox: read, redacted, and written whole or not at all. Of a file that holds several runs all
 * tapes are there or none, so that the same import can be made again. Nothing is overwritten.
 *
 * @throws HarvestError `HARVEST_IMPORT_…`, `HARVEST_RECORDINGS_WRITE`, `HARVEST_RECORDINGS_LINK`
 */
export function importFile(
  { file, stem }: Candidate,
  { ids, inbox }: { readonly ids: TapeIds; readonly inbox: Inbox },
  settings: ImportSettings,
): readonly ImportedRecording[] {
  const { agent, format, as, input, redact } = settings
  const redactor = createRedactor(redact)
  const clean = (name: string | undefined): string | undefined => name && redactor.name(name)
  const { count, tapes } = importRecordings({
    file,
    bytes: bytesOf(file),
    agent,
    id: (name) => as ?? ids.of(nameOf(redactor.name(stem), clean(name), count)),
    ...(format === undefined ? {} : { format }),
    ...(input === undefined ? {} : { input }),
    ...(redact === undefined ? {} : { redact }),
  })
  if (count > 1 && (as !== undefined || input !== undefined)) throw several(file, count)
  return writeNewFiles((add) =>
    Array.from(tapes, (made) => {
      const { id } = made.header
      const tape = join(inbox.folder, `${id}.tape.jsonl`)
      try {
        add(tape, (temporary) => writeTape(temporary, made))
      } catch (error) {
        throw HarvestError.is(error, 'HARVEST_RECORDINGS_EXISTS') ? exists({ file, tape, id, count }, error) : error
      }
      return { file, tape, id, facts: made.facts }
    }),
  )
}

function exists(
  {
    file,
    tape,
    id,
    count,
  }: { readonly file: string; readonly tape: string; readonly id: string; readonly count: number },
  cause: unknown,
): HarvestError {
  const again = `npx vitest-harvest import ${shellWord(file)}`
  // Several runs are named after their file and themselves: together they go to another folder.
  const both = count > 1 ? `${again} --dir recordings/again` : `${again} --as ${freeId(tape, id)}`
  return new HarvestError(
    'HARVEST_IMPORT_EXISTS',
    {
      what: 'A tape of this name exists, and imports never overwrite',
      where: { file, tape },
      fix: [`to have both: ${both}`, `to replace it: npx vitest-harvest tapes rm ${shellWord(id)}`],
    },
    { cause },
  )
}

/** The first name in the folder of a tape that no tape has: `greeting-2`. */
function freeId(tape: string, id: string): string {
  for (let number = 2; ; number++)
    if (!existsSync(join(dirname(tape), `${id}-${number}.tape.jsonl`))) return `${id}-${number}`
}

/** What a tape is named after: its file, and of several runs in one file each after its own name, too. */
function nameOf(stem: string, name: string | undefined, count: number): string {
  if (count > 1) return name === undefined ? stem : `${stem}-${name}`
  return isGeneric(stem) ? (name ?? stem) : stem
}

/** The inbox of one import, made and cleared of what a killed process left when the first tape is there to be written. */
export class Inbox {
  readonly #recordings: string
  #folder: string | undefined

  constructor(recordings: string) {
    this.#recordings = recordings
  }

  get folder(): string {
    if (this.#folder !== undefined) return this.#folder
    const folder = join(this.#recordings, 'inbox')
    makeFolder(folder)
    refuseLinks(this.#recordings, folder)
    sweepTemporaries(folder)
    this.#folder = folder
    return folder
  }
}

/** Polly.JS calls every file `recording.har`. */
function isGeneric(stem: string): boolean {
  return stem === 'recording'
}

function writeTape(path: string, { header, events, close }: TapeDraft): void {
  using writer = createTapeWriter({ path, header })
  for (const event of events) writer.append(event)
  writer.close(close)
}

/** @throws HarvestError `HARVEST_IMPORT_MISSING` for what is no readable file, `HARVEST_IMPORT_TOO_LARGE` */
export function bytesOf(file: string): Buffer {
  let open: number
  try {
    open = openRegular(file)
  } catch (cause) {
    throw unreadable(file, cause)
  }
  try {
    const stats = fstatSync(open)
    // A device has no end.
    if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: 'no regular file' })
    const { size } = stats
    if (size > fileCap)
      throw new HarvestError('HARVEST_IMPORT_TOO_LARGE', {
        what: 'Cannot import the recording',
        where: { file, problem: `it has ${size} bytes; ${fileCap} are read at most` },
        fix: [`split the recording into several files, or record the run again: ${toRecord}`],
      })
    return readFileSync(open)
  } catch (cause) {
    throw HarvestError.is(cause) ? cause : unreadable(file, cause)
  } finally {
    closeSync(open)
  }
}

function unreadable(file: string, cause: unknown): HarvestError {
  const { code = String(cause) } = cause as NodeJS.ErrnoException
  return new HarvestError(
    'HARVEST_IMPORT_MISSING',
    {
      what: 'Cannot read the file to import',
      where: { file, system: code },
      fix: [`check that it is a readable file, not a link: ls -l ${shellWord(file)}`],
    },
    { cause },
  )
}
