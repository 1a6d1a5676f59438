import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Case, loadCase, requireTapeFile } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import {
  casesCalled,
  type CaseSummary,
  findCase,
  findTape,
  type FindTapeOptions,
  idOf,
  inboxTape,
  listCases,
  nameOfFile,
  nearestCase,
  readPrices,
  RecordingFiles,
  renamedCase,
} from '../recordings/index.ts'
import { requireReplayable } from '../tape/grade.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { type Run, readRun, runOf } from '../report/run.ts'
import { noteNamed } from './named-tape.ts'

/**
 * The file of a tape the user named: any path, or what {@link findTape} knows: an id, the beginning of one, `latest`.
 *
 * @throws HarvestError `HARVEST_TAPE_MISSING` with the nearest id, `HARVEST_TAPE_AMBIGUOUS`
 */
export function findTapeFile(word: string, recordings = 'recordings', options: FindTapeOptions = {}): string {
  return noted(word, { file: fileOf(word, recordings, options), recordings, ...given(options) }).file
}

/** Of an exact search, names mean something else later. */
function given({ isExact, files }: FindTapeOptions): Pick<FindTapeOptions, 'files'> {
  return isExact === true || files === undefined ? {} : { files }
}

/** As {@link findTapeFile}, or the tape of the case whose file is named, by any path. */
export function findReplayed(word: string, recordings = 'recordings'): string {
  if (!/\.case\.ya?ml$/.test(word)) return findTapeFile(word, recordings)
  return existsSync(word) ? requireTapeFile(loadCase(resolve(word))) : findRun(word, recordings).file
}

function fileOf(word: string, recordings: string, options: FindTapeOptions): string {
  const isPath = /[/\\]|\.jsonl$/.test(word) || existsSync(word)
  return isPath ? resolve(word) : findTape(recordings, word, options)
}

function noted(word: string, found: FoundRun): FoundRun {
  const { file, recordings, case: kase, files } = found
  const isFoundBy = (id: string): boolean => {
    try {
      return fileOf(id, recordings, files === undefined ? {} : { files }) === resolve(file)
    } catch (error) {
      // No tape of that name, or several.
      if (HarvestError.is(error)) return false
      throw error
    }
  }
  const isCalled = (id: string): boolean => id === kase?.id || id === idOf(file) || id === basename(file, '.tape.jsonl')
  noteNamed({ word, file, isCalled, isFoundBy, ...(kase === undefined ? {} : { caseId: kase.id }) })
  return found
}

/** A tape to read, and the case it was found by. */
export interface FoundRun {
  readonly file: string
  /** The folder it was looked for in, whose prices count. */
  readonly recordings: string
  readonly case?: Case
  /** What was listed to find it. */
  readonly files?: RecordingFiles
}

/**
 * The tape the user named, as {@link findTapeFile}, or the tape of the case they named: `id`, `group/id`, or the path
 * of the case file. A case goes before a tape of the same name.
 *
 * @throws HarvestError as {@link findTapeFile}, and `HARVEST_CASE_…` when the case or its tape cannot be read
 */
export function findRun(
  word: string,
  recordings = 'recordings',
  options: Pick<FindTapeOptions, 'isExact' | 'beside'> = {},
): FoundRun {
  const files = new RecordingFiles(recordings)
  const isCaseFile = /\.case\.ya?ml$/.test(word)
  const isTape = word === 'latest' || word.endsWith('.tape.jsonl')
  const [named, ...others] = isCaseFile || isTape ? [] : casesCalled(recordings, word, files)
  if (!isCaseFile && named === undefined) {
    const search = { ...options, files, meant: meantBy(word, recordings, options.beside) }
    let file: string
    try {
      file = findTapeFile(word, recordings, search)
    } catch (error) {
      const begun = HarvestError.is(error, 'HARVEST_TAPE_AMBIGUOUS') ? onlyCaseBegunWith(word, files) : undefined
      if (begun === undefined) throw error
      return findRun(begun, recordings, options)
    }
    const kase = isTape ? undefined : caseBegunWith(word, file, { recordings, files })
    return { file, recordings, files, ...(kase === undefined ? {} : { case: kase }) }
  }
  const found = named !== undefined && others.length === 0 ? named : findCase(recordings, word)
  if (found.case === undefined) throw found.error ?? new Error(`the case ${found.file} has neither content nor error`)
  return noted(word, { file: requireTapeFile(found.case), recordings, case: found.case })
}

/**
 * The case that is to be run. A tape that is named in its place has to be one that a case can be made of.
 *
 * @throws HarvestError as `findCase`, and `HARVEST_TAPE_…` for a tape that cannot be replayed
 */
export function findCaseToRun(recordings: string, word: string): CaseSummary {
  try {
    return findCase(recordings, word)
  } catch (error) {
    const tape = HarvestError.is(error, 'HARVEST_CASE_MISSING') ? inboxTape(recordings, word) : undefined
    if (tape !== undefined) requireReplayable(readTape(tape))
    throw error
  }
}

/** The file of the one case that begins like this, where no other tape does: a case that was fixed has two tapes. */
function onlyCaseBegunWith(word: string, { cases, tapes }: RecordingFiles): string | undefined {
  const [only, ...others] = cases.filter((file) => nameOfFile(file).startsWith(word))
  if (only === undefined || others.length > 0) return undefined
  const isItsOwn = (name: string): boolean => name.startsWith(`${nameOfFile(only)}.`)
  return tapes.map((file) => basename(file)).every((name) => !name.startsWith(word) || isItsOwn(name))
    ? only
    : undefined
}

/** A case may be called otherwise than its files, which are what one sees in a folder. */
function meantBy(word: string, recordings: string, beside: string | undefined): NonNullable<FindTapeOptions['meant']> {
  return (nearest) => {
    const cases = listCases(recordings).filter(({ id }) => id !== beside)
    return renamedCase(word, cases) ?? nearest ?? nearestCase(word, cases)
  }
}

/** Whoever types the beginning of a case means the case, and not its tape alone. */
function caseBegunWith(
  word: string,
  file: string,
  { recordings, files }: { readonly recordings: string; readonly files: RecordingFiles },
): Case | undefined {
  const name = basename(file, '.tape.jsonl')
  if (!name.startsWith(word) || name === word || idOf(file) === word) return undefined
  return casesCalled(recordings, name, files)
    .flatMap(({ case: kase }) => kase ?? [])
    .find((kase) => requireTapeFile(kase) === file)
}

/** Reads the tape that was found, in one pass. */
export function openRun({ file, recordings }: FoundRun): Promise<Run> {
  return readRun(file, readPrices(recordings) ?? {})
}

/** Reads the tape that was found into memory, bodies and all. */
export function openTape({ file, recordings }: FoundRun): { readonly tape: Tape; readonly run: Run } {
  const tape = readTape(file)
  return { tape, run: runOf(tape, readPrices(recordings) ?? {}) }
}
