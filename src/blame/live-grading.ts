import { parseCase } from '../cases/index.ts'
import type { TaskContext } from '../jobs/index.ts'
import { noUses } from '../live/budget.ts'
import type { Use } from '../live/index.ts'
import type { ReplayResult } from '../match/types.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { chooseJudging } from './choose-oracle.ts'
import { loadOracle, type NamedOracle } from './named-oracle.ts'
import { requireGoodReference } from './grade-task.ts'
import { asUse, dearestGrade, gradeWithin, type Paying, useOf } from './graded-use.ts'
import { createOracle, type GradeGiven } from './oracle.ts'
import { referenceOf } from './reference-run.ts'
import { loadStandIns, type StandInsFile } from './stand-ins.ts'

/** How live runs of a case are graded, and who answers their tools. Files are absolute paths. */
export interface LiveGrading {
  /** Something says what a good run is: these, a function, or `ok` and `bad` of the case. */
  readonly isGraded: boolean
  readonly ok: readonly string[]
  readonly bad: readonly string[]
  readonly oracle?: NamedOracle
  readonly tools: 'tape' | 'live' | StandInsFile
  readonly reference?: string
}

/** What a live run needs of its grading. */
export interface OpenLiveGrading {
  /** The tape, followed by what a reference run alone knows an answer to. */
  readonly tape: Tape
  readonly options: {
    readonly tools: 'tape' | 'live'
    readonly standIns?: NonNullable<Awaited<ReturnType<typeof loadStandIns>>>
  }
  /** What one grade used at most so far. */
  expected(): Use
  /** @throws HarvestError `HARVEST_BUDGET_USED` when its grade is not paid for */
  grade(run: ReplayResult): Promise<(GradeGiven & { readonly by: string; readonly used?: Use }) | undefined>
}

/** @throws HarvestError `HARVEST_ORACLE_…`, `HARVEST_FORK_TOOLS` */
export async function openLiveGrading(
  { isGraded, ok, bad, oracle: named, tools, reference }: LiveGrading,
  {
    tape,
    case: given,
    importModule,
    timeoutMs,
    ...paying
  }: Pick<TaskContext, 'tape' | 'case' | 'importModule'> & Partial<Pick<TaskContext, 'timeoutMs'>> & Paying,
): Promise<OpenLiveGrading> {
  const standIns = await loadStandIns(tools, importModule)
  const judge =
    named === undefined
      ? undefined
      : await loadOracle(named, { importModule, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  const kase = given === undefined ? {} : { case: parseCase(given.text, given.file) }
  const oracle = isGraded
    ? createOracle(chooseJudging(tape, { ok, bad, ...(judge === undefined ? {} : { judge }), ...kase }))
    : undefined
  const good = reference === undefined ? undefined : requireClosed(readTape(reference))
  // One that runs code may have to be paid, and this is asked of each run.
  if (good !== undefined && oracle?.mayVary === false) await requireGoodReference(oracle, good)
  return {
    tape: good === undefined ? tape : referenceOf(tape, good).tape,
    options: { tools: tools === 'live' ? 'live' : 'tape', ...(standIns === undefined ? {} : { standIns }) },
    expected: () => (oracle === undefined ? noUses : dearestGrade(oracle.about, paying.budget)),
    async grade({ outcome, events, problems }) {
      if (oracle === undefined) return undefined
      const grade = () => oracle.grade({ tape, outcome, events, problems })
      const { given, calls } = oracle.mayVary
        ? await gradeWithin(oracle.about, grade, paying)
        : { given: await grade(), calls: [] }
      const used = calls.length === 0 ? {} : { used: asUse(useOf(calls, paying.prices)) }
      return { ...given, by: oracle.about, ...used }
    },
  }
}
