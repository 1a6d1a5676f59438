// Over 300 lines: one ledger: which of its forks count, and what is added to it.
import { existsSync, readFileSync } from 'node:fs'
import { createHash, randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import type { Surroundings } from '../jobs/run-reads.ts'
import type { CodeFiles } from '../provenance/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { keepIfPossible, makeKeptFolder, writeKeptFile } from '../tape/kept-files.ts'
import { appendKeptText, readKeptText } from '../tape/links.ts'
import type { KeptRun, UncomparedHeaders } from '../fork/index.ts'
import type { ForkCache, ForkCacheEntry } from './fork-budget.ts'
import { keepReads, notComparable, otherReads, withOtherReads } from './fork-reads.ts'
import {
  asTheyWere,
  headersUnknown,
  keepRun,
  otherControl,
  otherRuns,
  recheck,
  type RecheckOptions,
} from './fork-runs.ts'
import { isPassing } from './oracle.ts'
import { otherOracle } from './regrading.ts'

/** All that makes forks answer the same question: forks of one can be counted together. */
export interface ForkQuestion {
  /** Digest of the tape. */
  readonly tape: string
  /** Key of the agent. */
  readonly agent: string
  /** What runs are graded by. */
  readonly oracle: string
  readonly tools: 'tape' | 'live'
  /** Digest of the reference run's tape. */
  readonly reference?: string
}

/** By which rules forks are graded: those that were graded by earlier ones are not counted with others. */
const grading = 5

/** What forks ran, and where. */
export interface Ran {
  /** Commit, as far as anybody knows. */
  readonly commit?: string
  /** One text for all of the code; absent where git knows none. */
  readonly code?: string
  /** Names the file beside the ledger that says what they read besides their code; see `RunReads`. */
  readonly reads?: string
  /** Digest of the unchanged run of their code; absent: it was the recorded one. */
  readonly control?: string
}

/** One line of a ledger: one fork. */
export interface ForkCacheLine extends Ran, ForkCacheEntry {
  /** Digest of its {@link ForkQuestion}. */
  readonly question: string
  /** Names the file beside the ledger that holds what it did, a `KeptRun`; absent: unknown. */
  readonly run?: string
}

/** A ledger in a file. */
export interface OpenedLedger extends ForkCache {
  /** Forks of this question that do not count: they ran other code, read other data, or end otherwise today. */
  readonly setAside: number
  /** Forks of this question that do not count either, for it is unknown whether they would end otherwise today. */
  readonly unchecked: number
  /** Nor these: the key of the digests of their headers is not there any more. */
  readonly keyless: number
  /** Nor these: other models answered them. */
  readonly ofOtherModels: number
  /** Of `entries`, how many have another grade today than when they were made. */
  readonly regraded: number
  /** Of `entries`, how many have the grade of then, for who grades would have to be paid for another one. */
  readonly gradedThen: number
  /** Headers of `entries` that were not compared; absent: without any. */
  readonly notCompared?: UncomparedHeaders
  /** Writes a fork down at once: what was paid for is not lost when the session is. */
  append(entry: ForkCacheEntry, run?: KeptRun): void
  /** Forks of this question that are there do not count any more. */
  restart(): void
}

/** What forks will run. */
export interface RanHere extends Ran {
  /** All of the code: what changed since earlier forks is named. */
  readonly files?: CodeFiles
  /**
   * Other code that differs in nothing that the run depends on: its forks count. For each the changed modules that no run loads,
   * by their absolute paths; what grades runs may load them. Default none.
   */
  readonly alike?: Readonly<Record<string, readonly string[]>>
}

/** Code that forks in a ledger ran, with its files. */
export interface FormerFiles {
  readonly code: string
  readonly files: CodeFiles
}

export interface LedgerOptions {
  readonly question: ForkQuestion
  readonly ran: RanHere
  /** Where forks run here. Absent: unknown, and so no earlier fork ran there. */
  readonly surroundings?: Surroundings
  /** Replays what forks did. Absent: it is unknown whether today's code does it again, and no earlier fork counts. */
  readonly rechecking?: RecheckOptions
  /** Leaves the forks of earlier sessions alone. */
  readonly isFresh?: boolean
  /** Models that answer: forks that another one answered do not count. Default: any. */
  readonly models?: ReadonlySet<string>
  /** Counts forks of unknown code, and leaves those of other code out instead of refusing them. */
  readonly isCrossVersion?: boolean
}

/**
 * Opens the ledger of a tape: a file of JSON Lines, one fork each, to which every session adds.
 *
 * A fork that was not paid for, or whose model could not be reached, is not written down: asked again it may get a grade.
 *
 * Forks of one code count together or not at all, where they may depend on what was not seen to change: those that happen to end
 * as before would be a choice among them. Those of other code are no reason against them, and stay for the day it is back.
 *
 * @throws HarvestError HARVEST_CROSS_VERSION when all forks of this question ran other code, or those of this code read something
 *   that is not as it was, do something else when they are replayed, or have headers that cannot be compared, unless they are to
 *   be left alone;
 *   HARVEST_ORACLE_CHANGED when who grades has no longer a grade that some of them had
 */
export async function openLedger(
  file: string,
  { question, ran: here, surroundings, rechecking, isFresh, models, isCrossVersion }: LedgerOptions,
): Promise<OpenedLedger> {
  const { files, alike: alikeCodes = {}, ...ran } = here
  const session = randomUUID()
  const unloaded = new Set(Object.values(alikeCodes).flat())
  const key = createHash('sha256')
    .update(canonicalJson({ ...question, grading } as Json))
    .digest('base64url')
    .slice(0, 24)
  let before = isCut(file) ? '\n' : ''
  const add = (line: ForkCacheLine | CacheRestart): void => {
    makeLedgerFolder(dirname(file))
    appendKeptText(file, `${before}${JSON.stringify(line)}\n`)
    before = ''
  }
  const isOfThisCode = (line: CacheRestart | ForkCacheLine): boolean => {
    if (isSameCode(line, ran)) return true
    // Who asked someone for a grade is not asked again, and may be other code than then.
    const isPaid = 'draw' in line && line.draw.grading !== undefined
    return Object.hasOwn(alikeCodes, line.code ?? '') && !isPaid
  }
  // A new beginning of this code leaves the forks of other code.
  const anew: CacheRestart = { question: key, anew: true, ...(ran.code === undefined ? {} : { code: ran.code }) }
  const isRestart = (line: ForkCacheLine | CacheRestart): boolean =>
    'anew' in line && (line.code === undefined || isOfThisCode(line))
  const lines = isFresh === true ? [] : readLedger(file).filter((line) => line.question === key)
  const kept = lines.slice(lines.findLastIndex(isRestart) + 1).filter((line) => 'draw' in line)
  // They stay for the day those models answer again.
  const isOfTheseModels = ({ draw: { models: answered = [] } }: ForkCacheLine): boolean =>
    models === undefined || answered.every((model) => models.has(model))
  const entries = kept.filter(isOfTheseModels)
  // Earlier forks are set aside by the first new one: a session that makes none, such as a dry run, changes nothing.
  let isToRestart = isFresh === true && existsSync(file)
  // What other code did says nothing of this one. Unknown code may be the same, and who asks for it counts that.
  const isUnknown = (line: Ran): boolean => line.code === undefined || ran.code === undefined
  const own = entries.filter((line) => isOfThisCode(line) || (isCrossVersion === true && isUnknown(line)))
  if (own.length === 0 && entries.length > 0 && isCrossVersion !== true) throw otherCode(file, entries, here)
  // Whether what was the key of a request is one today, its replay says.
  const readOthers = withOtherReads(file, own, { surroundings, isFree: () => true, unloaded })
  if (readOthers.size > 0 && isCrossVersion !== true) throw otherReads(file, readOthers)
  // The first forks of a session may not have come to what later ones read.
  const left = own.slice(own.findLastIndex((line) => readOthers.get(line) !== undefined) + 1)
  const alike = left.filter(({ control }) => control === ran.control)
  if (alike.length < left.length && isCrossVersion !== true) throw otherControl(file, left.length - alike.length)
  const {
    unknown,
    lostKey,
    others: otherwise,
    graded,
    regraded,
    gradedThen,
    isFree,
    notCompared,
    lost,
  } = rechecking === undefined
    ? { ...asTheyWere(alike), unknown: alike.length }
    : await recheck(file, alike, rechecking)
  if (lostKey !== undefined && isCrossVersion !== true) throw headersUnknown(file, alike.length, lostKey)
  if (otherwise.length > 0 && isCrossVersion !== true) throw otherRuns(file, otherwise, alike.length)
  const readNow = withOtherReads(file, graded, { surroundings, isFree, unloaded })
  // Those of whose reads nothing is known were looked at above.
  const otherKeys = new Map([...readNow].filter(([, changed]) => changed !== undefined))
  if (otherKeys.size > 0 && isCrossVersion !== true) throw otherReads(file, otherKeys)
  const ofOtherGrader = gradedThen === 0 ? [] : graded.filter((line) => !isSameCode(line, ran))
  if (ofOtherGrader.length > 0) throw otherCode(file, ofOtherGrader, here)
  // Those that would be made today are graded by this oracle as well, also where earlier ones are left out.
  if (lost !== undefined) throw otherOracle(lost, question.oracle, file)
  const counts = unknown + otherwise.length === 0 && lostKey === undefined && otherKeys.size === 0 ? graded : []
  isToRestart ||= counts.length < alike.length
  return {
    entries: counts,
    setAside: entries.length - counts.length - (unknown > 0 || lostKey !== undefined ? alike.length : 0),
    unchecked: unknown > 0 ? alike.length : 0,
    keyless: lostKey === undefined ? 0 : alike.length,
    ofOtherModels: kept.length - entries.length,
    regraded: counts.length === 0 ? 0 : regraded,
    gradedThen: counts.length === 0 ? 0 : gradedThen,
    ...(counts.length === 0 || notCompared === undefined ? {} : { notCompared }),
    restart: () => void keepIfPossible(file, () => add(anew)),
    append(line, run) {
      if (line.draw.grade === 'ungraded' && isPassing(line.draw.because)) return
      keepIfPossible(file, () => {
        if (isToRestart) add(anew)
        isToRestart = false
        makeLedgerFolder(dirname(file))
        const reads = surroundings === undefined ? undefined : keepReads(file, surroundings.reads(run?.keyVariables))
        add({
          question: key,
          ...line,
          session,
          ...ran,
          ...(reads === undefined ? {} : { reads }),
          ...(run === undefined ? {} : { run: keepRun(file, run) }),
        })
        if (files !== undefined && ran.code !== undefined) keepCode(dirname(file), ran.code, files)
      })
    },
  }
}

/** All forks in a ledger, of any question, in the order they ended. */
export function keptForks(file: string): readonly ForkCacheEntry[] {
  return readLedger(file).filter((line) => 'draw' in line)
}

/** The code that forks in a ledger ran, but for today's; what is kept of it no more is left out. */
export function formerFiles(file: string, today: string): readonly FormerFiles[] {
  const codes = new Set(readLedger(file).flatMap((line) => ('code' in line && line.code !== today ? line.code : [])))
  return [...codes].flatMap((code) => {
    const files = keptCode(dirname(file), code)
    return files === undefined ? [] : [{ code, files }]
  })
}

/** The forks of this question that stand above do not count any more. */
interface CacheRestart {
  readonly question: string
  readonly anew: true
  /** Those of this code, that is; absent: all of them. */
  readonly code?: string
}

/** A line that was cut in two is the last one of a session that was killed. */
function readLedger(file: string): readonly (ForkCacheLine | CacheRestart)[] {
  return (readKeptText(file) ?? '').split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as ForkCacheLine | CacheRestart]
    } catch {
      // What it held can be sampled again.
      return []
    }
  })
}

/** A session that was killed may have left half a line. */
function isCut(file: string): boolean {
  const text = readKeptText(file) ?? ''
  return text !== '' && !text.endsWith('\n')
}

function makeLedgerFolder(folder: string): void {
  if (!existsSync(folder)) makeKeptFolder(folder, folder)
}

/** Unknown code may be other code. */
function isSameCode(line: Ran, ran: Ran): boolean {
  return line.code !== undefined && line.code === ran.code
}

/** Which files forks ran, in the folder they are kept in. */
function codeFileOf(folder: string, code: string): string {
  return join(folder, `code-${code}.files`)
}

/** Keeps which files forks ran. */
export function keepCode(folder: string, code: string, files: CodeFiles): void {
  const file = codeFileOf(folder, code)
  if (readKeptText(file) === undefined) writeKeptFile(file, JSON.stringify(files))
}

/** Files that are not as they were for the latest of these forks; `undefined` when that was not kept. */
function changedSince(
  file: string,
  others: readonly ForkCacheLine[],
  { files }: RanHere,
): readonly string[] | undefined {
  const then = keptCode(dirname(file), others.at(-1)?.code ?? '')
  return files === undefined || then === undefined ? undefined : changedPaths(then, files)
}

/** Paths whose files are not the same in both. */
export function changedPaths(then: CodeFiles, now: CodeFiles): readonly string[] {
  return [...new Set([...Object.keys(then), ...Object.keys(now)])].filter((path) => then[path] !== now[path]).sort()
}

/** The files of code that forks ran; `undefined` when that is not kept any more. */
export function keptCode(folder: string, code: string): CodeFiles | undefined {
  const kept = codeFileOf(folder, code)
  if (!existsSync(kept)) return undefined
  try {
    return JSON.parse(readFileSync(kept, 'utf8')) as CodeFiles
  } catch {
    // A session that was killed may have left half of it.
    return undefined
  }
}

function otherCode(file: string, others: readonly ForkCacheLine[], here: RanHere): HarvestError {
  const { commit, code } = here
  const changed = changedSince(file, others, here)
  const commits = [...new Set(others.map((line) => line.commit?.slice(0, 10) ?? 'unknown'))]
  return notComparable(
    {
      what: 'The cached forks ran another version of the code',
      where: {
        forks: `${others.length}`,
        'made at': commits.join(', '),
        here: commit?.slice(0, 10) ?? 'unknown',
        ...(changed === undefined ? {} : { changed: neutralLine(firstNames(changed), 300) }),
        file,
      },
      why:
        code === undefined
          ? 'git does not track the code here, and unknown code counts as other code.'
          : 'Forks of two versions of the code are not comparable.',
    },
    code !== undefined,
  )
}
