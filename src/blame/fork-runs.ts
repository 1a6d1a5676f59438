import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import {
  allUncompared,
  isFreeIn,
  type KeptRun,
  type NotAgain,
  type SentAgain,
  type UncomparedHeaders,
} from '../fork/index.ts'
import type { IsFree } from '../jobs/run-reads.ts'
import { writeKeptFile } from '../tape/kept-files.ts'
import { notComparable } from './fork-reads.ts'
import type { GradeGiven } from './oracle.ts'
import { type KeptToday, lostGrade, type LostGrade } from './regrading.ts'
import type { ForkDraw } from './types.ts'

/**
 * Keeps beside a ledger what a fork did.
 *
 * @returns the name it is kept under: the same for the same
 */
export function keepRun(file: string, run: KeptRun): string {
  const text = JSON.stringify(run)
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  const kept = runFileOf(file, name)
  if (!existsSync(kept)) writeKeptFile(kept, gzipSync(text))
  return name
}

function runFileOf(file: string, name: string): string {
  return join(dirname(file), `run-${name}.json.gz`)
}

function keptRun(file: string, name: string | undefined): KeptRun | undefined {
  if (name === undefined) return undefined
  try {
    return JSON.parse(gunzipSync(readFileSync(runFileOf(file, name))).toString('utf8')) as KeptRun
  } catch {
    // It is gone, or a session that was killed left half of it.
    return undefined
  }
}

/** What kept forks did when they were replayed. */
export interface Rechecked<Line> {
  /** Forks of which it is unknown whether today's code does the same. */
  readonly unknown: number
  /** Why the digests of their headers cannot be compared; absent: they can. */
  readonly lostKey?: LostKey
  /** What forks do otherwise today, one for each that does: the names of headers, or something else. */
  readonly others: readonly OtherRun[]
  /** The forks, with their grades of today. */
  readonly graded: readonly Line[]
  /** How many of these had another grade. */
  readonly regraded: number
  /** How many have the grade they got, for who grades would have to be paid for another one: all of them, or none. */
  readonly gradedThen: number
  /** Which variables may have another value, as the replays show. */
  readonly isFree: IsFree
  /** Headers that were not compared; absent: without any. */
  readonly notCompared?: UncomparedHeaders
  /** A grade that none of those has any more that had it. */
  readonly lost?: LostGrade
}

type OtherRun = Extract<NotAgain, { readonly changedHeaders: unknown }>
type LostKey = Extract<NotAgain, { readonly headersKey: unknown }>['headersKey']

export interface RecheckOptions {
  /** A fork as today's code does it, and as it is graded today. */
  again(run: KeptRun, was: ForkDraw): Promise<KeptToday>
  readonly onRecheck?: (done: number, of: number) => void
}

/** Replays what forks did, offline, and grades it. Where it is not known what one did, the others need no replay. */
export async function recheck<Line extends { readonly run?: string; readonly draw: ForkDraw }>(
  file: string,
  lines: readonly Line[],
  { again, onRecheck }: RecheckOptions,
): Promise<Rechecked<Line>> {
  const runs = lines.map(({ run }) => keptRun(file, run))
  const unread = runs.filter((run) => run === undefined).length
  if (unread > 0) return { ...asTheyWere(lines), unknown: unread }
  const known = new Map<string, KeptToday>()
  const [then, graded]: [Line[], Line[]] = [[], []]
  const others: OtherRun[] = []
  const sent: SentAgain[] = []
  let [unknown, regraded, gradedThen] = [0, 0, 0]
  for (const [index, line] of lines.entries()) {
    const name = line.run ?? ''
    if (!known.has(name)) known.set(name, await again(runs[index]!, line.draw))
    const today = known.get(name)
    onRecheck?.(index + 1, lines.length)
    // All have one key.
    if (today !== undefined && 'headersKey' in today) return { ...asTheyWere(lines), lostKey: today.headersKey }
    if (today === undefined) unknown++
    else if ('changedHeaders' in today) others.push(today)
    else {
      const { given } = today
      sent.push(today)
      if (given === undefined) gradedThen++
      else if (given.grade !== line.draw.grade) regraded++
      then.push(line)
      graded.push(given === undefined ? line : { ...line, draw: withGrade(line.draw, given) })
    }
    if (unknown > 0) break
  }
  if (unknown > 0) return { ...asTheyWere(lines), unknown, others }
  // Grades of then and of today are not counted together.
  const all = { unknown, others, ...sentByAll(sent) }
  if (gradedThen > 0) return { ...asTheyWere(lines), ...all, gradedThen: lines.length }
  const lost = lostGrade(then, graded)
  return { ...all, graded, regraded, gradedThen, ...(lost === undefined ? {} : { lost }) }
}

/** Forks that were not replayed. */
export function asTheyWere<Line>(lines: readonly Line[]): Rechecked<Line> {
  return { unknown: 0, others: [], graded: lines, regraded: 0, gradedThen: 0, isFree: () => false }
}

function sentByAll(sent: readonly SentAgain[]): Pick<Rechecked<never>, 'isFree' | 'notCompared'> {
  const notCompared = allUncompared(sent.map((one) => one.notCompared))
  const isFree: IsFree = (name, isNamed) => sent.every((one) => isFreeIn(one, name, isNamed))
  return { isFree, ...(notCompared === undefined ? {} : { notCompared }) }
}

function withGrade({ because: _, ...draw }: ForkDraw, { grade, because }: GradeGiven): ForkDraw {
  return { ...draw, grade, ...(because === undefined ? {} : { because }) }
}

export function otherRuns(file: string, others: readonly OtherRun[], of: number): HarvestError {
  const names = [...new Set(others.flatMap(({ changedHeaders }) => changedHeaders))].sort()
  const isByHeaders = others.every(({ changedHeaders }) => changedHeaders.length > 0)
  return notComparable(
    {
      what: isByHeaders ? 'The cached forks send other headers today' : 'The cached forks end otherwise today',
      where: {
        forks: `${of}`,
        otherwise: `${others.length}`,
        ...(names.length === 0 ? {} : { headers: neutralLine(firstNames(names), 300) }),
        file,
      },
      why: isByHeaders
        ? 'Replayed with the answers they got then, some send another value in a header: what that selects is not as it was.'
        : 'Replayed with the answers they got then, some do something else: the code reads what is not as it was.',
    },
    true,
  )
}

/** Forks whose headers cannot be compared with those of today. */
export function headersUnknown(file: string, forks: number, lostKey: LostKey): HarvestError {
  return notComparable(
    {
      what: 'The headers of the cached forks cannot be compared with those of today',
      where: { forks: `${forks}`, key: join(dirname(file), 'headers.key'), file },
      why: `They are kept as digests, ${
        lostKey === 'missing'
          ? 'whose key is missing or damaged'
          : 'which were made with another key than the one that is there'
      }: whether the code sends the same is unknown.`,
    },
    true,
  )
}

/** Forks that other code than today's was compared with, or the same code elsewhere. */
export function otherControl(file: string, others: number): HarvestError {
  return notComparable(
    {
      what: 'The unchanged run is not what it was for the cached forks',
      where: { forks: `${others}`, file },
      why: 'Forks are compared with the unchanged run, and the code reads what is not as it was.',
    },
    true,
  )
}
