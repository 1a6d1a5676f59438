import { existsSync, lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { type Case, caseText, loadCase, plainHead, requireTapeFile } from '../cases/index.ts'
import { stepsElsewhere, stepsInPackages } from '../errors/above.ts'
import { HarvestError, neutralLine, nearestWord, shellWord } from '../errors/index.ts'
import { isCaseFile, locate, pathsBelow, RecordingFiles } from './files.ts'
import { tapesOfRun } from './index-runs.ts'
import { hasId, outcomeOf } from './tapes.ts'

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
  return new RecordingFiles(recordings).cases.map((file) => summarize(recordings, file))
}

/**
 * The cases that may be asked for, of those {@link listCases} lists: the others are not parsed.
 *
 * @param may - `true` when the case has to be parsed to know
 */
export function casesWhere(
  recordings: string,
  may: (text: string, file: string) => boolean,
  files = new RecordingFiles(recordings),
): readonly CaseSummary[] {
  return files.cases
    .filter((file) => {
      const text = caseText(file)
      return text === undefined || may(text, file)
    })
    .map((file) => summarize(recordings, file))
}

/** Whether a word may stand in the text of a case: an escape can hide it. */
export function maySay(text: string, word: string): boolean {
  return text.includes(word) || text.includes('\\')
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
 *
 * @param may - gets the text of a case; `false`: it is not asked about
 */
export function tapesOfCases(
  recordings: string,
  files = new RecordingFiles(recordings),
  may: (text: string) => boolean = () => true,
): {
  readonly present: readonly CaseTape[]
  readonly former: readonly CaseTape[]
} {
  const present: CaseTape[] = []
  const former: CaseTape[] = []
  let folder = { from: '', pathOf: pathsBelow('.') }
  for (const file of files.cases) {
    const text = caseText(file) ?? ''
    if (!may(text)) continue
    const { id, tape } = plainHead(text)
    const isPlain = id !== undefined && tape !== undefined
    if (isPlain) {
      const from = dirname(file)
      // Thousands of cases lie in one folder.
      if (from !== folder.from) folder = { from, pathOf: pathsBelow(resolve(from)) }
      present.push({ tape: folder.pathOf(tape), id, file })
    }
    if (isPlain && !text.includes('replaces') && !text.includes('history')) continue
    const { case: loaded } = summarize(recordings, file)
    if (loaded === undefined) continue
    const [own, ...others] = tapesOf(loaded)
    if (!isPlain) present.push({ tape: own, id: loaded.id, file })
    for (const one of new Set(others)) former.push({ tape: one, id: loaded.id, file })
  }
  return { present, former }
}

/**
 * The cases that have a tape, or one of the same run: as {@link tapesOfCases}, first those that have this very file. Ids are
 * compared first, and cases read only where one of their tapes may be it.
 */
export async function casesOfTape(
  recordings: string,
  file: string,
  id: string,
  files = new RecordingFiles(recordings),
): Promise<ReturnType<typeof tapesOfCases>> {
  const path = resolve(file)
  const ofRun = await tapesOfRun(recordings, files, id)
  const name = basename(path)
  const isFile = (tape: string): boolean => tape.endsWith(name) && resolve(tape) === path
  const own = files.tapesOutside.filter(isFile)
  const same = [...own, ...ofRun.filter((tape) => !isFile(tape) && hasId(tape, id))]
  const [paths, names] = [new Set(same.map((tape) => resolve(tape))), same.map((tape) => basename(tape))]
  if (same.length === 0) return { present: [], former: [] }
  const { present, former } = tapesOfCases(recordings, files, (text) => names.some((name) => maySay(text, name)))
  const [now, before] = [present, former].map((list) =>
    list.filter(({ tape }) => paths.has(tape)).sort((a, b) => Number(b.tape === path) - Number(a.tape === path)),
  )
  return { present: now ?? [], former: before ?? [] }
}

/** The cases that have an id: what they say, or what their file is called when it cannot be read as a case. */
export function casesNamed(recordings: string, id: string, files?: RecordingFiles): readonly CaseSummary[] {
  return casesWhere(recordings, (text, file) => mayBeNamed(id, text, file), files).filter((found) => found.id === id)
}

/** Whether the case of this text may have an id. */
export function mayBeNamed(id: string, text: string, file: string): boolean {
  return (file.includes(id) && nameOfFile(file) === id) || (maySay(text, id) && (plainHead(text).id ?? id) === id)
}

/** The name of the file of a case, which is its id unless the case says otherwise. */
export function nameOfFile(file: string): string {
  return basename(file).replace(/\.case\.ya?ml$/, '')
}

/** The cases that someone means by `id`, `group/id` or `golden/group/id`. */
export function casesCalled(recordings: string, word: string, files?: RecordingFiles): readonly CaseSummary[] {
  return casesNamed(recordings, word.split('/').at(-1) ?? '', files).filter(({ id, group }) => {
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
  const near = renamedCase(word, cases) ?? nearestCase(word, cases)
  const tape = inboxTape(recordings, word)
  return new HarvestError('HARVEST_CASE_MISSING', {
    what: `Unknown case '${neutralLine(word, 120)}'`,
    where: { recordings, cases: `${cases.length}` },
    fix: [
      ...(near === undefined ? [] : [`did you mean: ${shellWord(near)} instead of ${shellWord(word)}`]),
      ...(tape === undefined
        ? []
        : [
            `it is a tape, to make a case of it: npx vitest-harvest promote ${shellWord(word)} --as '<id>'${wayToJudge(tape)}`,
          ]),
      ...stepsElsewhere(recordings),
      ...stepsInPackages(recordings, word),
      'to list them: npx vitest-harvest ls --golden',
    ],
  })
}

/** The tape of the inbox that a word is the id of. */
export function inboxTape(recordings: string, word: string): string | undefined {
  const file = join(recordings, 'inbox', `${word}.tape.jsonl`)
  return basename(word) === word && existsSync(file) ? file : undefined
}

/** Of a run whose end was not seen a case can check the calls alone, unless someone says more. */
function wayToJudge(tape: string): string {
  return outcomeOf(tape)?.status === 'unknown' ? ' --baseline' : ''
}

/** The case whose file or tape is called like this word, and which is called otherwise itself. */
export function renamedCase(word: string, cases: readonly CaseSummary[]): string | undefined {
  const name = word.split('/').at(-1) ?? ''
  const hasTape = ({ case: loaded }: CaseSummary): boolean => loaded?.tape === `${name}.tape.jsonl`
  return (cases.find(({ file }) => nameOfFile(file) === name) ?? cases.find(hasTape))?.id
}

/** The case whose id was probably mistyped. */
export function nearestCase(word: string, cases: readonly CaseSummary[]): string | undefined {
  const ids = cases.map(({ id }) => id)
  return nearestWord(word.split('/').at(-1) ?? '', ids)
}

function ambiguous(word: string, cases: readonly CaseSummary[]): HarvestError {
  return new HarvestError('HARVEST_CASE_AMBIGUOUS', {
    what: `${cases.length} cases have the name '${neutralLine(word, 120)}'`,
    where: { cases: cases.map(({ file }) => file).join('\n') },
    fix: ['name one of them with its group: <group>/<id>', 'and give the others another id: ids are unique'],
  })
}
