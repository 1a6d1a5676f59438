import { HarvestError } from '../../errors/index.ts'
import type { JobOutcome } from '../../jobs/run.ts'
import type { VerdictName } from '../../replay/index.ts'
import type { Interval } from '../../stats/index.ts'
import type { Loaded } from '../chosen-cases.ts'
import { saidText, withLost } from '../live.ts'

/** How often one case passed. */
export interface PassRate {
  readonly case: string
  readonly expect: 'pass' | 'fail'
  /** Runs that ended and were judged. */
  readonly runs: number
  /** Of a known-bad case: runs that did not go the recorded bad way. */
  readonly passed: number
  /** Runs by their verdict: a run that was not `same` did something else than the case says. */
  readonly verdicts: Readonly<Record<VerdictName, number>>
  /** What says which runs are good; `null`: the case itself. */
  readonly gradedBy: string | null
  /**
   * Runs that asked for what is not on the tape; not passed, unless the calls they made are graded ok. Where nothing says how
   * they would have ended, the interval is that of both: that each of them passed, and that none did.
   */
  readonly offTape: number
  /** Of these, graded ok. */
  readonly offTapeOk: number
  /** Of these, neither passed nor failed: nothing says how they would have ended. */
  readonly offTapeOpen: number
  /** Runs the budget did not pay for, that could not begin or not ask their model, or that cannot be graded; not judged. */
  readonly notRun: number
  /** Wilson score interval at 95 %; absent when nothing was judged. */
  readonly interval?: Interval
  /** Why runs did not pass, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly count: number; readonly example: string }[]
}

/** What the live runs of a case come to. */
export function rateOf({ case: { id, expect } }: Loaded, ended: readonly JobOutcome[]): PassRate {
  const judged = ended.filter((run) => !isNotRun(run))
  const isOffTape = (run: JobOutcome): boolean => codesOf(run).includes('HARVEST_NOT_RECORDED')
  const isPass = (run: JobOutcome): boolean => {
    if (isNotRun(run)) return false
    if (!HarvestError.is(run) && run.grade !== undefined) return run.grade.grade === 'ok'
    if (HarvestError.is(run) || codesOf(run).length > 0) return false
    // A known-bad run that now throws, as without its key, is not known to be fixed.
    if (expect === 'fail' && run.outcome.status === 'threw') return false
    return (run.verdict?.isGreen === true) === (expect === 'pass')
  }
  const passed = judged.filter(isPass).length
  const open = judged.filter((run) => isOffTape(run) && !isPass(run) && isOpenEnd(run, expect)).length
  return {
    case: id,
    expect,
    runs: judged.length,
    passed,
    verdicts: countsOf(judged.map(verdictIn)),
    gradedBy: ended.flatMap((run) => (HarvestError.is(run) ? [] : (run.grade?.by ?? [])))[0] ?? null,
    offTape: judged.filter(isOffTape).length,
    offTapeOk: judged.filter((run) => isOffTape(run) && isPass(run)).length,
    offTapeOpen: open,
    notRun: ended.length - judged.length,
    ...(judged.length === 0 ? {} : { interval: withLost(passed, judged.length - open, open) }),
    reasons: reasonsOf(ended.filter((run) => !isPass(run)).map((run) => reasonOf(run))),
  }
}

/** Whether a run that left its tape might have passed: it has no grade, or only has to be another one than the recorded. */
function isOpenEnd(run: JobOutcome, expect: PassRate['expect']): boolean {
  if (HarvestError.is(run)) return false
  const grade = run.grade?.grade
  return grade === undefined ? expect === 'fail' : grade === 'ungraded' || grade === 'undefined'
}

/** Problems of the run itself, beside what the case says about it. */
export function codesOf(run: JobOutcome): readonly string[] {
  return HarvestError.is(run) ? [run.code] : run.report.problems.map(({ code }) => code)
}

/** A run that asked for what is not on the tape, or that failed by itself, did something else than its case says. */
function verdictIn(run: JobOutcome): VerdictName {
  if (HarvestError.is(run) || codesOf(run).length > 0) return 'different'
  return run.verdict?.verdict ?? run.report.verdict.verdict
}

function countsOf(names: readonly VerdictName[]): PassRate['verdicts'] {
  const count = (name: VerdictName): number => names.filter((one) => one === name).length
  return { same: count('same'), different: count('different'), unproven: count('unproven') }
}

/**
 * What was not paid for, could not ask its model, or cannot be graded, is not judged; what went off its tape is, as not
 * passed.
 */
function isNotRun(run: JobOutcome): boolean {
  if (HarvestError.is(run) || run.unreached !== undefined) return true
  const codes = codesOf(run)
  const isUngraded = run.grade?.grade === 'ungraded' && !codes.includes('HARVEST_NOT_RECORDED')
  return isUngraded || codes.some((code) => code.startsWith('HARVEST_BUDGET_'))
}

function reasonOf(run: JobOutcome): readonly [code: string, example: string] {
  if (HarvestError.is(run)) return [run.code, run.message]
  const [problem] = run.report.problems
  if (problem !== undefined) return [problem.code, problem.message]
  if (run.unreached !== undefined) return ['ungraded', saidText(run.unreached)]
  if (run.grade !== undefined) return [run.grade.grade, run.grade.because ?? `The run is graded ${run.grade.grade}`]
  if (run.verdict?.isGreen === false) return [run.verdict.code, run.verdict.said]
  return ['reproduced', 'The agent went the recorded bad way again']
}

function reasonsOf(reasons: readonly (readonly [string, string])[]): PassRate['reasons'] {
  const groups = Object.entries(Object.groupBy(reasons, ([code]) => code))
  return groups
    .map(([code, list = []]) => ({ code, count: list.length, example: list[0]?.[1] ?? '' }))
    .sort((a, b) => b.count - a.count)
}
