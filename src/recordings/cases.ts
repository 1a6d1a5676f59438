import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { type Case, caseText, loadCase, type PlainHead, plainHead, requireTapeFile } from '../cases/index.ts'
import { HarvestError, neutralLine, nearestWord } from '../errors/index.ts'
import { filesBelow, locate } from './files.ts'

/** A case file of the golden set, also one that cannot be used. */
export interface CaseSummary {
  readonly file: string
  /** Folder it lies in, seen from `golden/`, with `/`; empty for `golden/` itself. */
  readonly group: string
  /** What the case says, or what its file is called when it says nothing. */
  readonly id: string
  /** Absent when the file cannot be read as a case. */
  readonly case?: Case
  /** Why the file cannot be read, or why its tape cannot. */
  readonly error?: HarvestError
}

/** Every case outside the inbox, sorted by file; broken ones carry their error. */
export function listCases(recordings: string): readonly CaseSummary[] {
  return caseFiles(recordings).map((file) => summarize(recordings, file))
}

/**
 * The cases that may be asked for, of those {@link listCases} lists: the others are not parsed.
 *
 * @param may - gets a head of which any key may be absent; `true` when the case has to be parsed to know
 */
export function casesWhere(
  recordings: string,
  may: (head: PlainHead, file: string, text: string) => boolean,
): readonly CaseSummary[] {
  return caseFiles(recordings)
    .filter((file) => {
      const text = caseText(file)
      return text === undefined || may(plainHead(text), file, text)
    })
    .map((file) => summarize(recordings, file))
}

/** A tape and the case that has it. */
export interface CaseTape {
  /** Absolute path of the tape. */
  readonly tape: string
  readonly id: string
  /** File of the case. */
  readonly file: string
}

/**
 * Which case has which tape, and which it had before a fix replaced it. What the lines of a file say plainly is not parsed, so
 * a case that is invalid elsewhere is named too.
 */
export function tapesOfCases(recordings: string): {
  readonly present: readonly CaseTape[]
  readonly former: readonly CaseTape[]
} {
  const present: CaseTape[] = []
  const former: CaseTape[] = []
  for (const file of caseFiles(recordings)) {
    const text = caseText(file) ?? ''
    const { id, tape } = plainHead(text)
    const isPlain = id !== undefined && tape !== undefined
    if (isPlain) present.push({ tape: resolve(dirname(file), tape), id, file })
    if (isPlain && !/\b(?:replaces|history)\b/.test(text)) continue
    const { case: loaded } = summarize(recordings, file)
    if (loaded === undefined) continue
    const [own, ...others] = tapesOf(loaded)
    if (!isPlain) present.push({ tape: own, id: loaded.id, file })
    for (const one of new Set(others)) former.push({ tape: one, id: loaded.id, file })
  }
  return { present, former }
}

/** The cases that have an id: what they say, or what their file is called when it cannot be read as a case. */
export function casesNamed(recordings: string, id: string): readonly CaseSummary[] {
  return casesWhere(recordings, (head, file) => (head.id ?? id) === id || nameOfFile(file) === id).filter(
    (found) => found.id === id,
  )
}

function caseFiles(recordings: string): readonly string[] {
  const inbox = join(recordings, 'inbox') + sep
  return filesBelow(recordings, isCaseFile).filter((file) => !file.startsWith(inbox))
}

function nameOfFile(file: string): string {
  return basename(file).replace(/\.case\.ya?ml$/, '')
}

/** The cases that someone means by `id`, `group/id` or `golden/group/id`. */
export function casesCalled(recordings: string, word: string): readonly CaseSummary[] {
  return casesNamed(recordings, word.split('/').at(-1) ?? '').filter(({ id, group }) => {
    const name = group === '' ? id : `${group}/${id}`
    return word === id || word === name || word === `golden/${name}`
  })
}

/**
 * The case the user named: `id`, `group/id`, or the path of its file.
 *
 * @throws HARVEST_CASE_MISSING with the nearest id, HARVEST_CASE_AMBIGUOUS when several have it, HARVEST_RECORDINGS_OUTSIDE
 */
export function findCase(recordings: string, word: string): CaseSummary {
  if (isCaseFile(word)) {
    const file = locate(recordings, word)
    if (file !== undefined) return summarize(recordings, file)
  }
  const found = casesCalled(recordings, word)
  const [first, ...others] = found
  if (first !== undefined && others.length === 0) return first
  throw first === undefined ? missing(recordings, word, listCases(recordings)) : ambiguous(word, found)
}

/**
 * Takes a case out of the golden set: its file, then its tapes unless another case has the same ones.
 *
 * @returns the files that are gone
 */
export function removeCase(recordings: string, word: string): readonly string[] {
  const { file, case: loaded } = findCase(recordings, word)
  // The case first: killed in between, a tape without a case is only unused evidence.
  rmSync(file)
  if (loaded === undefined) return [file]
  const used = new Set(listCases(recordings).flatMap(({ case: other }) => (other === undefined ? [] : tapesOf(other))))
  const gone = [...new Set(tapesOf(loaded))].filter(
    (tape) => !used.has(tape) && lstatSync(tape, { throwIfNoEntry: false })?.isFile() === true,
  )
  for (const tape of gone) rmSync(tape)
  return [file, ...gone.map((tape) => join(dirname(file), basename(tape)))]
}

/** The tape of a case, and those it had before. */
function tapesOf({ file, tape, replaces, history = [] }: Case): readonly [own: string, ...former: string[]] {
  const former = [...history.map((one) => one.tape), ...(replaces === undefined ? [] : [replaces])]
  const pathOf = (name: string): string => resolve(dirname(file), name)
  return [pathOf(tape), ...former.map(pathOf)]
}

function isCaseFile(name: string): boolean {
  return /\.case\.ya?ml$/.test(name)
}

function summarize(recordings: string, file: string): CaseSummary {
  const place = { file, group: groupOf(recordings, file) }
  let loaded: Case
  try {
    loaded = loadCase(file)
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { ...place, id: nameOfFile(file), error }
  }
  try {
    requireTapeFile(loaded)
    return { ...place, id: loaded.id, case: loaded }
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { ...place, id: loaded.id, case: loaded, error }
  }
}

function groupOf(recordings: string, file: string): string {
  const parts = relative(resolve(recordings), dirname(resolve(file))).split(sep)
  return (parts[0] === 'golden' ? parts.slice(1) : parts).join('/')
}

function missing(recordings: string, word: string, cases: readonly CaseSummary[]): HarvestError {
  const ids = cases.map(({ id }) => id)
  const near = nearestWord(word.split('/').at(-1) ?? '', ids)
  return new HarvestError('HARVEST_CASE_MISSING', {
    what: `Unknown case '${neutralLine(word, 120)}'`,
    where: { recordings, cases: `${cases.length}` },
    fix: [...(near === undefined ? [] : [`did you mean: ${near}`]), 'to list them: npx vitest-harvest ls'],
  })
}

function ambiguous(word: string, cases: readonly CaseSummary[]): HarvestError {
  return new HarvestError('HARVEST_CASE_AMBIGUOUS', {
    what: `${cases.length} cases have the name '${neutralLine(word, 120)}'`,
    where: { cases: cases.map(({ file }) => file).join('\n') },
    fix: ['name one of them with its group: <group>/<id>', 'and give the others another id: ids are unique'],
  })
}
