import { HarvestError } from '../errors/index.ts'
import { dirname, join } from 'node:path'
import type { FailedJob, Task } from '../jobs/index.ts'
import { mostOf, noUses } from '../live/budget.ts'
import { type Spent, unpaid, type Use } from '../live/index.ts'
import { decodeValue, type Json, parseTape, type Tape } from '../tape/index.ts'
import { asUse, gradeWithin, knowGrade, useOf } from './graded-use.ts'
import { requirePlace } from '../fork/index.ts'
import { codeDigest } from '../provenance/index.ts'
import { KeptGrades } from './kept-grades.ts'
import { loadOracle, type NamedOracle } from './named-oracle.ts'
import { createOracle, type GradeGiven, type Oracle } from './oracle.ts'
import type { Grade } from './types.ts'

/** What the task `grade` is asked for. */
export interface GradeRequest {
  readonly oracle: NamedOracle
  /** Forks of the tape: how each ended, and the text of its branch. Default: the recorded run is graded. */
  readonly forks?: readonly { readonly outcome: EncodedOutcome; readonly branch: string }[]
  /** Where grades that were paid for are kept; absent: nowhere. */
  readonly kept?: { readonly folder: string; readonly isFresh: boolean }
  /** Someone said that models may be paid for grades: else the first one that asks a model is the last. Default true. */
  readonly mayPay?: boolean
  /** What a grade by this oracle used at most, in processes before. */
  readonly most?: Use
}

/** How a run ended, encoded. */
export interface EncodedOutcome {
  readonly status: 'returned' | 'threw'
  readonly value: Json
}

export interface GradeAnswer {
  /** In the order they were asked for: a grade, or why it was not paid for. */
  readonly grades: readonly (Grade | FailedJob['failed'])[]
  /** What models used for them. */
  readonly spent: Spent
  /** What one of them used at most. */
  readonly most: Use
  /** One of them asked a model, now or before. */
  readonly isPaid: boolean
}

/** Grades runs by a function of the project, in the process that can load it. The models it asks are paid from the budget. */
export const gradeTask: Task = async (asked, context) => {
  const { tape, tapeFile, budget, prices } = context
  const { oracle: named, forks, kept, mayPay = true, most: before } = asked as unknown as GradeRequest
  const oracle = createOracle({ by: 'function', ...(await loadOracle(named, context)) })
  if (before !== undefined) knowGrade(oracle.about, before, budget)
  const grades: GradeAnswer['grades'][number][] = []
  let most = noUses
  let isPaid = (before?.calls ?? 0) > 0
  if (kept !== undefined && mayPay && forks === undefined) requirePlace(tape, kept.folder)
  const keptGrades =
    kept === undefined
      ? undefined
      : new KeptGrades(oracle, {
          ...kept,
          code: await codeDigest(process.cwd()),
          surroundings: context.surroundings,
        })
  const soFar = (): GradeAnswer => ({ grades, spent: budget.total, most, isPaid })
  const add = (one: GradeAnswer['grades'][number]): void => {
    grades.push(one)
    context.say(soFar() as unknown as Json)
  }
  const gradeOne = async (run: string, grade: () => Promise<Grade>): Promise<void> => {
    const known = keptGrades?.get(run)
    // Those alone are kept that were paid for.
    isPaid ||= known !== undefined
    if (known !== undefined) return add(known)
    if (isPaid && !mayPay) return add(notToPay())
    const made = await gradeWithin(oracle.about, async () => ({ grade: await grade() }), context).catch(unpaid)
    if (HarvestError.is(made)) return add({ code: made.code, facts: made.facts })
    isPaid ||= made.calls.length > 0
    most = mostOf(most, asUse(useOf(made.calls, prices)))
    if (made.calls.length > 0) keptGrades?.keep(run, made.given.grade)
    add(made.given.grade)
  }
  if (forks === undefined) await gradeOne(`recorded ${tape.digest}`, () => gradeRecorded(oracle, tape))
  for (const { outcome, branch } of forks ?? []) {
    // It names its parent as seen from the parent's own folder.
    const { events } = parseTape(branch, join(dirname(tapeFile), 'branch.tape.jsonl'))
    await gradeOne(JSON.stringify([tape.digest, outcome, branch]), () => gradeFork(oracle, tape, outcome, events))
  }
  return soFar() as unknown as Json
}

/** That more of what an oracle asks a model would have to be paid, and nothing says that it may. */
export function notToPay(): HarvestError {
  return new HarvestError('HARVEST_BUDGET_USED', {
    what: 'The oracle asks a model, and nothing says that it may be paid',
    why: 'Without --live a limit is what allows it. That it asks a model is known by one grade, and no other is asked for.',
    fix: ['to pay for grades, with a limit: --max-cost 0.50', "or grade by a call that is right: --ok '<call>'"],
  })
}

/** The grade of a fork that ended without problems. */
export async function gradeFork(
  oracle: Oracle,
  tape: Tape,
  outcome: EncodedOutcome,
  events: Tape['events'],
): Promise<Grade> {
  return (await gradeEnded(oracle, { tape, outcome, events })).grade
}

/** As {@link gradeFork}, with the reason where there is no grade. */
export function gradeEnded(
  oracle: Oracle,
  {
    tape,
    outcome: { status, value },
    events,
  }: Pick<Tape, 'events'> & { readonly tape: Tape; readonly outcome: EncodedOutcome },
): Promise<GradeGiven> {
  const decoded = decodeValue(value)
  const outcome = status === 'returned' ? { status, value: decoded } : { status, error: decoded }
  return oracle.grade({ tape, outcome, events, problems: [] })
}

/**
 * Refuses a reference run that is no good one: its answers would stand for what is right.
 *
 * @param isNeeded - whether only tools that run again could give the answers instead. Default: it can be left out
 * @throws HarvestError `HARVEST_BLAME_REFERENCE`
 */
export async function requireGoodReference(oracle: Oracle, reference: Tape, isNeeded = false): Promise<void> {
  const grade = await gradeRecorded(oracle, reference)
  if (grade !== 'bad' && grade !== 'crash' && grade !== 'timeout') return
  throw new HarvestError('HARVEST_BLAME_REFERENCE', {
    what: `The run of --reference is no good run: it is graded ${grade}`,
    where: { reference: reference.header.id, 'graded by': oracle.about },
    why: 'Its answers stand in for those of a good run, so nothing could be said with them.',
    fix: [
      "name a good run: --reference '<tape|case>'",
      isNeeded ? `${runTools}, without --reference` : 'or go on without one: the same command, without --reference',
    ],
  })
}

/** What repairs take answers from where no reference run has them. */
export const runTools = 'or run the tools again, with their side effects: --tools live'

/** The grade of the recorded run; a program's exit cannot be graded. One whose end was not seen is graded by the calls it made. */
export async function gradeRecorded(oracle: Oracle, tape: Tape): Promise<Grade> {
  const outcome = tape.close?.outcome
  if (outcome === undefined || outcome.status === 'exited') return 'ungraded'
  const { events } = tape
  if (outcome.status === 'unknown') return oracle.gradeCalls?.({ events, tape }) ?? 'ungraded'
  const ended =
    outcome.status === 'returned'
      ? { status: outcome.status, value: outcome.value === undefined ? undefined : decodeValue(outcome.value) }
      : { status: outcome.status, error: decodeValue(outcome.error) }
  return (await oracle.grade({ tape, outcome: ended, events, problems: [] })).grade
}
