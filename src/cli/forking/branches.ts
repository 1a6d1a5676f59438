import { type BranchComparison, compareBranches, type Grade, isGraded } from '../../blame/index.ts'
import { areTooMany } from '../../blame/lost-forks.ts'
import { unansweredIn } from '../../blame/off-tape.ts'
import { type Interval, wilson } from '../../stats/index.ts'
import { withLost } from '../live.ts'
import { HarvestError } from '../../errors/index.ts'
import type { FinishedFork, ForkRequest, SerializedError } from '../../fork/index.ts'
import type { Spent } from '../../live/index.ts'
import type { Tape } from '../../tape/index.ts'
import { branchTape } from './branch-tape.ts'
import { type ControlRun, numberIn } from './control.ts'
import type { Grader } from './grading.ts'
import type { MadeForks } from './make.ts'
import { sumSpent } from './sum-spent.ts'

/** A fork and how it differs from its parent. */
export interface BranchSummary {
  readonly seed: string
  readonly request: ForkRequest
  /** Absent: the fork could not be made. */
  readonly fork?: FinishedFork
  /** Absent: the run cannot be judged. */
  readonly compared?: BranchComparison
  /** Absent: it cannot be judged, or it is unknown what a good run is. */
  readonly grade?: Grade
  /** Why it cannot be judged, the first reason first. */
  readonly problems: readonly SerializedError[]
  /** Made before, by the same code. */
  readonly isReused: boolean
  /** File it was written to. */
  readonly saved?: string
}

/** What several forks of one plan say together. */
export interface Together {
  readonly forks: number
  readonly judged: number
  /** Judged ones whose outcome is that of the unchanged run; `null`: not compared, the import did not see it. */
  readonly asRecorded: number | null
  /** Judged ones that are not the same run as another. */
  readonly distinct: number
  /**
   * Wilson score interval at 95 %, for display. Each run behind a live tail is a draw of its own, also where it comes out
   * like another; without one, each seed is a draw of what the code draws itself, as soon as two of them come out otherwise. It is
   * absent where all are equal: these are copies. Absent too where too many live runs were not judged: those left are no rate.
   */
  readonly interval?: Interval
  /** How many were given each grade; absent when it is unknown what a good run is. */
  readonly grades?: Readonly<Partial<Record<Grade, number>>>
  /** The same of those that left the tape: by the calls they made until then. They are compared with nothing. */
  readonly byCalls?: Readonly<Partial<Record<Grade, number>>>
  /** Of the forks that were made now. */
  readonly spent: Spent
}

/** Compares forks with the unchanged run, and grades them when someone says what a good run is. */
export async function tellBranches(
  parent: Tape,
  { control, made, interrupted }: MadeForks,
  grader: Grader | undefined,
): Promise<readonly BranchSummary[]> {
  const branches: BranchSummary[] = []
  const judged: { readonly at: number; readonly fork: FinishedFork; readonly branch: Tape }[] = []
  for (const { request, fork, isReused } of made) {
    const common = { seed: request.seed, request, isReused }
    if (HarvestError.is(fork)) {
      branches.push({ ...common, problems: [{ code: fork.code, message: fork.message }] })
      continue
    }
    const problems = problemsOf(fork)
    if (problems.length > 0) {
      // As in blame: calls that were made are made, no matter what would have followed.
      const isOffTape = problems[0]?.code === 'HARVEST_NOT_RECORDED'
      const byCalls = isOffTape
        ? grader?.gradeCalls?.({ ...fork, events: branchTape(fork.branch, parent).events })
        : undefined
      branches.push({ ...common, fork, problems, ...(byCalls === undefined ? {} : { grade: byCalls }) })
      continue
    }
    const tape = branchTape(fork.branch, parent)
    const [compared] = compareBranches(control.run, [tape], changedSteps(request, control))
    judged.push({ at: branches.length, fork, branch: tape })
    branches.push({ ...common, fork, problems, ...(compared === undefined ? {} : { compared }) })
  }
  const grades = (await grader?.grade(judged, interrupted)) ?? []
  const gradeAt = new Map(judged.map(({ at }, index) => [at, grades[index]]))
  return branches.map((branch, at) => {
    const grade = gradeAt.get(at)
    if (grade === undefined) return branch
    if (typeof grade === 'string') return { ...branch, grade }
    // It would be taken for a run of another grade.
    const { compared: _, ...rest } = branch
    const isEnded = grade.code === 'HARVEST_CLI_INTERRUPTED'
    return { ...rest, problems: [{ code: grade.code, message: isEnded ? notGraded : grade.message }] }
  })
}

const notGraded = 'not graded: the command was ended before'

function changedSteps({ changes = [] }: ForkRequest, { data }: ControlRun): readonly number[] {
  return changes.flatMap((change) =>
    'step' in change && change.step !== undefined ? [numberIn(data, change.step)] : [],
  )
}

/** Why a fork cannot be judged. */
export function problemsOf({ prefix, problems }: FinishedFork): readonly SerializedError[] {
  const left = prefix.divergence === undefined ? [] : [prefix.divergence]
  const others = problems.filter(({ code, message }) => code !== 'HARVEST_UNUSED' && message !== left[0]?.message)
  return [...left, ...others]
}

/** Whether the run called a tool that nothing answered: asking models alone goes no further. */
export function hasOpenCall({ fork, problems }: BranchSummary, parent: Tape): boolean {
  if (fork === undefined || !problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED')) return false
  return unansweredIn(branchTape(fork.branch, parent), parent).length > 0
}

/** Adds forks of one plan up. */
export function together(branches: readonly BranchSummary[]): Together {
  const judged = branches.filter(({ compared }) => compared !== undefined)
  const asRecorded = judged.some(({ compared }) => compared?.outcome.same === null)
    ? null
    : judged.filter(({ compared }) => compared?.outcome.same).length
  const distinct = new Set(judged.map(({ fork }) => fork?.fingerprint)).size
  const isLive = areLive(branches)
  const lost = branches.length - judged.length
  return {
    forks: branches.length,
    judged: judged.length,
    asRecorded,
    distinct,
    // Where all are the same run, nothing was drawn: they are copies of one observation, and say nothing of a chance.
    ...((distinct > 1 || isLive) && asRecorded !== null && !(isLive && areTooMany(lost, branches.length))
      ? { interval: isLive ? withLost(asRecorded, judged.length, lost) : wilson(asRecorded, judged.length) }
      : {}),
    ...gradesIn('grades', judged),
    ...gradesIn(
      'byCalls',
      branches.filter(({ compared }) => compared === undefined),
    ),
    spent: sumSpent(branches.flatMap(({ fork, isReused }) => (fork === undefined || isReused ? [] : [fork.spent]))),
  }
}

/** Whether a live model was there to answer each of them. */
export function areLive(branches: readonly BranchSummary[]): boolean {
  return branches.length > 0 && branches.every(({ request: { tail } }) => tail.from === 'live')
}

/** Good ends, of all that have a grade: those that left the tape by the calls they made. */
export interface Hits {
  readonly hits: number
  readonly runs: number
  /** Runs that have no grade, or could not be compared: they might be hits. */
  readonly lost: number
}

/**
 * How many forks are graded ok, of those that have a grade; `undefined` where nothing grades, or where too many have none:
 * those left are no rate.
 */
export function gradedOk(sum: Pick<Together, 'byCalls' | 'forks' | 'grades'>): Hits | undefined {
  const { forks } = sum
  const runs = withGrade(sum)
  if (runs === 0 || areTooMany(forks - runs, forks)) return undefined
  return { hits: (sum.grades?.ok ?? 0) + (sum.byCalls?.ok ?? 0), runs, lost: forks - runs }
}

/** Forks that have a grade, also those that left the tape: one that is ungraded has none. */
export function withGrade({ grades, byCalls }: Pick<Together, 'byCalls' | 'grades'>): number {
  const counts = [...Object.entries(grades ?? {}), ...Object.entries(byCalls ?? {})]
  return counts.reduce((all, [grade, count]) => all + (isGraded(grade as Grade) ? count : 0), 0)
}

/** Whether they are asked for good runs, and not only for other ones. */
export function areGraded({ grades, byCalls }: Pick<Together, 'byCalls' | 'grades'>): boolean {
  return grades !== undefined || byCalls !== undefined
}

/** Where runs are graded one has to have a grade, else one to be judged; of live runs so many that they are a rate. */
export function isDecided(sum: Together, isLive: boolean): boolean {
  if (areGraded(sum)) return isLive ? gradedOk(sum) !== undefined : withGrade(sum) > 0
  return sum.judged > 0 && !(isLive && areTooMany(sum.forks - sum.judged, sum.forks))
}

function gradesIn(
  name: 'byCalls' | 'grades',
  branches: readonly BranchSummary[],
): Pick<Together, 'byCalls' | 'grades'> {
  const counts: Partial<Record<Grade, number>> = {}
  for (const { grade } of branches) if (grade !== undefined) counts[grade] = (counts[grade] ?? 0) + 1
  return Object.keys(counts).length === 0 ? {} : { [name]: counts }
}

/** Whether tools ran for real in any of them. */
export function areToolsReal(branches: readonly BranchSummary[]): boolean {
  return branches.some(({ request: { tail } }) => tail.from === 'live' && tail.tools === 'live')
}
