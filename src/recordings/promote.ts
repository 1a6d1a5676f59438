import { lstatSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import {
  type Case,
  type CaseContent,
  type CaseExpectation,
  type CaseLesson,
  caseIdMeaning,
  isCaseId,
  parseCase,
  writeCase,
} from '../cases/index.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import type { RedactorOptions } from '../privacy/index.ts'
import { pinsOf } from '../provenance/index.ts'
import { requireGrade } from '../tape/grade.ts'
import { type Json, parseTape, readTapeHeader, type Tape, wholeTape } from '../tape/index.ts'
import { type MatchOptions, renderBaseline, traceOf } from '../trace/index.ts'
import { assertedOutcome } from './asserted-outcome.ts'
import { type CaseSummary, casesWhere, mayBeNamed } from './cases.ts'
import { makeFolder, readRegularFile, writeFileAtomic } from './files.ts'
import { sweepTemporaries } from '../tape/new-file.ts'
import { refuseLinks } from '../tape/links.ts'
import { refuseCut, refuseEmpty, refuseProgram, refuseSecrets, refuseUnfinished, refuseUnknown } from './promotable.ts'
import { findTape } from './tapes.ts'
import { mayBeTwin, type Twin, twinsAmong } from './twins.ts'

export interface PromoteOptions {
  /** The folder with `inbox/` and `golden/`. */
  readonly recordings: string
  /** Path of the tape, wherever it lies, or what {@link findTape} takes. */
  readonly tape: string
  /** Id of the case; becomes the name of both files. */
  readonly as: string
  /** Folder below `golden/`. Default: none. */
  readonly group?: string
  /** Agent to replay with. Default: the one the tape names. */
  readonly agent?: string
  /** Default `pass`. */
  readonly expect?: CaseExpectation
  readonly title?: string
  readonly tags?: readonly string[]
  readonly lesson?: CaseLesson
  /** Function that grades runs, such as `./src/oracle.ts#isRight`; for blame and fork. */
  readonly oracle?: string
  /** What a good run does, such as `refund(amount: 25)`; what a bad one does. For fix, rerun, blame and fork. */
  readonly ok?: readonly string[]
  readonly bad?: readonly string[]
  /** Values behind placeholders of the tape that stand in the source as they are. Default none. */
  readonly constants?: Readonly<Record<string, string>>
  /** What the agent must return, or throw under `$threw`. Default: what the tape says. */
  readonly outcome?: Json
  /** The import did not see the outcome, and the recorded tool calls are all the case is to check. */
  readonly baselineOnly?: boolean
  /** Promote a tape that lacks bodies that could not be searched for secrets. Default `false`. */
  readonly acceptUnsearched?: boolean
  /** Bodies of the tape are cut, and the agent does not read so far. */
  readonly acceptCut?: boolean
  /** The tape has no step, and the agent takes none. Default `false`. */
  readonly acceptEmpty?: boolean
  /** How the trace is compared; the baseline is written for it. Default: causal, keys. */
  readonly match?: MatchOptions
  /** How secrets are looked for once more; `false`: not at all. Default: as the recorder does without options. */
  readonly rescan?: boolean | RedactorOptions
}

export interface Promoted {
  readonly caseFile: string
  readonly tapeFile: string
  /** The case as it loads from now on. */
  readonly content: Case
  /** Text of the case file. */
  readonly text: string
}

/** A case that may be written: everything about it was checked, and nothing is on disk yet. */
export interface Promotion extends Promoted {
  /** The tape that is promoted, wherever it lies. */
  readonly source: string
  /** Bytes of the tape as they were checked. */
  readonly bytes: Buffer
  readonly recordings: string
  /** Names of request headers the recorder did not keep. */
  readonly droppedHeaders: readonly string[]
  /** What the run did that no recorder sees. */
  readonly unrecorded: readonly string[]
  /** Cases that check the same already. */
  readonly twins: readonly Twin[]
}

/**
 * Makes a case of a tape: baseline, outcome and pins are read from it, then tape and case are written to the golden
 * set. The tape given stays where it is.
 *
 * @throws what {@link preparePromotion} and {@link placePromotion} throw
 */
export function promote(options: PromoteOptions): Promoted {
  return placePromotion(preparePromotion(options))
}

/**
 * Reads and checks everything a promotion needs, and writes nothing.
 *
 * @throws HARVEST_PROMOTE_ID, _PROGRAM, _TRUNCATED, _INCOMPLETE, _CUT, _EMPTY, _OUTCOME, _SECRET, _EXISTS; HARVEST_TAPE_GRADE; HARVEST_TAPE_… when the
 * tape cannot be read
 */
export function preparePromotion(options: PromoteOptions): Promotion {
  const { recordings, as, group } = options
  refuseBadName('as', as)
  if (group !== undefined) refuseBadName('group', group)
  const folder = join(recordings, 'golden', ...(group === undefined ? [] : [group]))
  const source = tapeSource(recordings, options.tape)
  const read = readSource(source)
  const tape = parseTape(read.toString('utf8'), source)
  // The golden set stands by itself: a branch is promoted with what it shares with its parent.
  const bytes = tape.header.parent === undefined ? read : Buffer.from(wholeTape(tape))
  const text = bytes.toString('utf8')
  requireGrade(tape.header, 'replay')
  refuseProgram(tape, options.agent)
  refuseUnfinished(tape, options.acceptUnsearched)
  refuseCut(tape, options)
  refuseEmpty(tape, options)
  refuseUnknown(tape, options)
  if (options.rescan !== false) refuseSecrets(tape, text, options.rescan === true ? {} : (options.rescan ?? {}))
  const caseFile = join(folder, `${as}.case.yaml`)
  const caseText = writeCase(contentOf(tape, options), { schema: schemaSeenFrom(folder, recordings) })
  const content = parseCase(caseText, caseFile)
  // Every case of the golden set is looked at, once for both questions.
  const isLike = mayBeTwin(content)
  const others = casesWhere(recordings, (text, file) => mayBeNamed(as, text, file) || isLike(text))
  refuseTaken(others, as)
  return {
    recordings,
    source,
    bytes,
    droppedHeaders: tape.close?.droppedHeaders ?? [],
    unrecorded: tape.close?.unrecorded ?? [],
    twins: twinsAmong(others, content, tape),
    caseFile,
    tapeFile: join(folder, content.tape),
    content,
    text: caseText,
  }
}

/**
 * Writes a prepared promotion. The case is written last and makes the promotion: killed before, nothing is promoted,
 * and doing it again works.
 *
 * @throws HARVEST_PROMOTE_EXISTS, HARVEST_RECORDINGS_… when something cannot be written. Nothing is left behind then
 */
export function placePromotion({ recordings, bytes, caseFile, tapeFile, content, text }: Promotion): Promoted {
  const folder = dirname(caseFile)
  refuseLinks(recordings, folder)
  makeFolder(folder)
  sweepTemporaries(folder)
  const isOurs = placeTape(tapeFile, bytes)
  try {
    writeFileAtomic(caseFile, text, { exclusive: true })
  } catch (error) {
    // Someone else may have made a case of the same tape meanwhile: then the tape is theirs as well.
    if (isOurs && lstatSync(caseFile, { throwIfNoEntry: false }) === undefined) rmSync(tapeFile, { force: true })
    throw HarvestError.is(error, 'HARVEST_RECORDINGS_EXISTS') ? taken(content.id, caseFile) : error
  }
  return { caseFile, tapeFile, content, text }
}

function tapeSource(recordings: string, word: string): string {
  const isPath = /[/\\]/.test(word) || lstatSync(word, { throwIfNoEntry: false }) !== undefined
  return isPath ? word : findTape(recordings, word, { isExact: true })
}

function readSource(source: string): Buffer {
  // Tells missing, linked, empty and foreign files apart, each with its own code.
  readTapeHeader(source)
  return readRegularFile(source)
}

/**
 * Puts the tape into the golden set and tells whether that was needed: a promotion that was killed leaves the very
 * same tape. Another tape of this name belongs to a promotion that is under way, or was never finished.
 */
function placeTape(tapeFile: string, bytes: Buffer): boolean {
  try {
    writeFileAtomic(tapeFile, bytes, { exclusive: true })
    return true
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_RECORDINGS_EXISTS')) throw error
    if (readRegularFile(tapeFile).equals(bytes)) return false
    throw new HarvestError(
      'HARVEST_PROMOTE_EXISTS',
      {
        what: 'A tape of this name exists without a case',
        where: { file: tapeFile },
        why: 'An interrupted promotion leaves its tape; another one may be running.',
        fix: ['choose another id', `if it is obsolete: rm ${shellWord(tapeFile)}`],
      },
      { cause: error },
    )
  }
}

function contentOf(tape: Tape, options: PromoteOptions): CaseContent {
  const { as, agent, expect = 'pass', title, tags, lesson, match, oracle, ok = [], bad = [], constants } = options
  const outcome = options.outcome ?? assertedOutcome(tape)
  return {
    id: as,
    agent: agent ?? tape.header.agent,
    tape: `${as}.tape.jsonl`,
    expect,
    ...(title === undefined ? {} : { title }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(lesson === undefined ? {} : { lesson }),
    pins: pinsOf(tape),
    ...(match === undefined ? {} : { match }),
    baseline: baselineOf(tape, expect, match),
    ...(outcome === undefined ? {} : { outcome }),
    ...(oracle === undefined ? {} : { oracle }),
    ...(ok.length === 0 ? {} : { ok }),
    ...(bad.length === 0 ? {} : { bad }),
    ...(constants === undefined || Object.keys(constants).length === 0 ? {} : { constants }),
  }
}

/** Characters of a call that a baseline spells out whole. */
const callCap = 200

/** Of a known-bad run the wrong value is what matters: its calls are written with their values. */
function baselineOf({ events }: Tape, expect: CaseExpectation, match: MatchOptions | undefined): readonly Json[] {
  const trace = traceOf(events)
  const usual = renderBaseline(trace, match) as readonly Json[]
  if (expect === 'pass') return usual
  const exact = renderBaseline(trace, { ...match, args: 'exact' }) as readonly Json[]
  return exact.map((item, at) =>
    [item].flat().every((text) => String(text).length <= callCap) ? item : (usual[at] ?? item),
  )
}

function schemaSeenFrom(folder: string, recordings: string): string {
  const schema = join(dirname(resolve(recordings)), 'node_modules', 'vitest-harvest', 'case.schema.json')
  return relative(resolve(folder), schema).split(sep).join('/')
}

function refuseBadName(option: 'as' | 'group', name: string): void {
  if (isCaseId(name)) return
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
  throw new HarvestError('HARVEST_PROMOTE_ID', {
    what: `Invalid ${option === 'as' ? 'id of a case' : 'name of a folder'}: '${neutralLine(name, 60)}'`,
    why: `It becomes the name of a ${option === 'as' ? 'file' : 'folder'}, so it must be ${caseIdMeaning}.`,
    fix: isCaseId(slug) ? [`did you mean: --${option === 'as' ? 'as' : 'folder'} ${slug}`] : [],
  })
}

function refuseTaken(others: readonly CaseSummary[], id: string): void {
  const other = others.find((one) => one.id === id)
  if (other !== undefined) throw taken(id, other.file)
}

function taken(id: string, file: string): HarvestError {
  const tape = file.replace(/\.case\.ya?ml$/, '.tape.jsonl')
  const hasTape = lstatSync(tape, { throwIfNoEntry: false }) !== undefined
  return new HarvestError('HARVEST_PROMOTE_EXISTS', {
    what: `A case exists with the id ${id}`,
    where: { case: file },
    why: 'Ids are unique in the golden set, and a promotion never replaces a case.',
    fix: [
      'choose another id',
      hasTape
        ? `to replace it, take it out first: npx vitest-harvest tapes demote ${shellWord(id)}`
        : `its tape is gone; to replace it, remove it first: rm ${shellWord(file)}`,
    ],
  })
}
