import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { forksFolder } from '../../recordings/index.ts'
import { chooseJudging, noOracle } from '../../blame/choose-oracle.ts'
import { type GradeAnswer, gradeFork, gradeRecorded, type GradeRequest, notToPay } from '../../blame/grade-task.ts'
import { type Grade, isGraded } from '../../blame/index.ts'
import { oracleOfCase } from '../../blame/named-oracle.ts'
import { createOracle, gradeOfCalls, noGrade, type RunWithoutEnd } from '../../blame/oracle.ts'
import { HarvestError } from '../../errors/index.ts'
import type { FinishedFork } from '../../fork/index.ts'
import { noUses } from '../../live/budget.ts'
import type { Spent } from '../../live/index.ts'
import type { Json, Tape } from '../../tape/index.ts'
import { saysGood } from '../../cases/index.ts'
import type { CommandInput } from '../command.ts'
import { runTask } from '../../jobs/run.ts'
import { readLivePlan } from '../live.ts'
import { payable } from '../live-grading.ts'
import { forkSpec } from '../spec/debug.ts'
import type { Parent } from './make.ts'
import type { Purse } from './purse.ts'

/** A fork and its branch, as far as it is graded. */
export interface GradedFork {
  readonly fork: Pick<FinishedFork, 'branch' | 'fingerprint' | 'outcome' | 'prefix'>
  readonly branch: Tape
}

/** Says of runs whether they are good ones, and of the recorded run as well. */
export interface Grader {
  /** What it goes by, for people. */
  readonly by: string
  readonly recorded: Grade
  /** A known-bad case says what is bad alone: each other end is `ok` by it, and may be as bad. */
  readonly takesAnyOther: boolean
  /**
   * The grades of forks, in their order, or why one has none: it is not paid for, or someone ended the command.
   *
   * @param ended - someone ended the command: nothing begins any more that may have to be paid
   */
  grade(forks: readonly GradedFork[], ended?: HarvestError): Promise<readonly (Grade | HarvestError)[]>
  /** Someone ended the command while it graded. */
  ended?(): HarvestError | undefined
  /** Of a run that the tape had no answer for: by the calls it made until then, where these decide. */
  gradeCalls?(run: Omit<RunWithoutEnd, 'tape'>): 'bad' | 'ok' | undefined
}

/**
 * The grader of a command: by `--ok` and `--bad`, or else by the case. The function a case names as its `oracle` is run in
 * the project's own Vitest, once before anything is forked: a name that leads nowhere is reported before it costs anything.
 *
 * @param purse - pays for the models that the function asks
 * @returns `undefined` when neither says what a good run is
 * @throws HarvestError `HARVEST_ORACLE_…`; `HARVEST_BUDGET_PRICE` when dollars are the limit and a model of the function has no
 *   price
 */
export async function graderOf(parent: Parent, given: CommandInput, purse: Purse): Promise<Grader | undefined> {
  const { tape, case: kase } = parent
  const [ok, bad] = [given.values('ok'), given.values('bad')]
  const isTold = ok.length + bad.length > 0
  const named = isTold || kase === undefined ? undefined : payable(oracleOfCase(kase), given, forkSpec)
  if (named !== undefined) {
    let interrupted: HarvestError | undefined
    const ask = async (forks?: GradeRequest['forks']): Promise<readonly (Grade | HarvestError)[]> => {
      const { limits, prices, used, mostOfGrade } = purse
      const folder = resolve(forksFolder(parent.recordings, parent.file))
      const kept = existsSync(parent.recordings) ? { kept: { folder, isFresh: given.has('no-cache') } } : {}
      const request: GradeRequest = {
        oracle: named,
        mayPay: purse.mayPay,
        ...kept,
        ...(forks && { forks, most: mostOfGrade }),
      }
      const options = JSON.parse(JSON.stringify(request)) as Json
      let soFar: GradeAnswer | undefined
      let spent: Spent | undefined
      const told = await runTask(
        { tape: parent.file, timeoutMs: readLivePlan(given, forkSpec).timeoutMs, task: { name: 'grade', options } },
        {
          limits,
          prices,
          carried: used,
          onReport: (heard) => (soFar = heard as unknown as GradeAnswer),
          onSpent: (heard) => (spent = heard),
        },
      ).catch((error: unknown) => {
        // Those that were given are paid for, and what was asked for one that was not.
        const paid = spent ?? soFar?.spent
        if (paid !== undefined) purse.paidGrades(paid, soFar?.most ?? noUses)
        if (forks === undefined || !HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) throw error
        return error
      })
      if (HarvestError.is(told)) {
        interrupted = told
        const given = soFar?.grades.map(asGrade) ?? []
        return forks!.map((_, at) => given[at] ?? told)
      }
      const answer = told as unknown as GradeAnswer
      purse.paidGrades(answer.spent, answer.most)
      if (answer.isPaid && forks === undefined && !purse.mayPay) throw notToPay()
      return answer.grades.map(asGrade)
    }
    const [recorded] = await ask()
    if (recorded === undefined || HarvestError.is(recorded)) throw recorded ?? new TypeError('no grade')
    return {
      by: `the oracle of its case, ${named.name}`,
      recorded,
      takesAnyOther: false,
      ended: () => interrupted,
      grade: (forks, ended = interrupted) =>
        ended === undefined ? gradeOnce(forks, ask) : Promise.resolve(forks.map(() => ended)),
    }
  }
  const isSaid = kase !== undefined && (saysGood(kase) || kase.outcome !== undefined || kase.expected !== undefined)
  if (!isTold && !isSaid) return undefined
  const judging = chooseJudging(tape, { ok, bad, ...(kase === undefined ? {} : { case: kase }) })
  const oracle = createOracle(judging)
  return {
    by: oracle.about,
    recorded: await gradeRecorded(oracle, tape),
    takesAnyOther: judging.by === 'case' && judging.case.expect === 'fail',
    gradeCalls: (run) => gradeOfCalls({ ...run, tape }, judging),
    grade: (forks) =>
      Promise.all(forks.map(({ fork: { outcome }, branch }) => gradeFork(oracle, tape, outcome, branch.events))),
  }
}

/**
 * Refuses a question that is about grades where the recorded run has none: every end of a fork would be another one.
 *
 * @throws HarvestError `HARVEST_ORACLE_MISSING`, `HARVEST_ORACLE_UNGRADED`
 */
export function requireGrade(grader: Grader | undefined, tape: Tape): Grader {
  if (grader === undefined)
    throw noOracle(tape, 'A decision is critical when another one changes the grade, so the run needs one.')
  const { by, recorded } = grader
  if (!isGraded(recorded)) throw noGrade(tape, { tape: tape.header.id, 'graded by': by, grade: recorded })
  return grader
}

/** Forks that are the same run have one grade: whoever is paid for it is asked once. */
async function gradeOnce(
  forks: readonly GradedFork[],
  ask: (forks: GradeRequest['forks']) => Promise<readonly (Grade | HarvestError)[]>,
): Promise<readonly (Grade | HarvestError)[]> {
  const same = Map.groupBy(forks, ({ fork: { prefix, fingerprint, outcome } }) =>
    JSON.stringify([prefix.steps, fingerprint, outcome]),
  )
  const distinct = [...same.values()].flatMap(([first]) => first ?? [])
  if (distinct.length === 0) return []
  const grades = await ask(distinct.map(({ fork: { outcome, branch } }) => ({ outcome, branch })))
  const graded = new Map([...same.values()].flatMap((all, at) => all.map((one) => [one, grades[at]] as const)))
  return forks.map((one) => graded.get(one) ?? 'ungraded')
}

function asGrade(one: GradeAnswer['grades'][number]): Grade | HarvestError {
  return typeof one === 'string' ? one : new HarvestError(one.code, one.facts)
}
