import { hearModelCalls, type HeardCall } from '../fork/index.ts'
import { HarvestError } from '../errors/index.ts'
import type { TaskContext } from '../jobs/index.ts'
import { type Budget, estimatedUsage, noPrice, type Use } from '../live/index.ts'
import { mostOf, noUses } from '../live/budget.ts'
import { costOf, isPriced, type PriceTable } from '../providers/index.ts'
import type { GradedRun, GradeGiven, Oracle } from './oracle.ts'
import type { GradingUse } from './types.ts'

/** A grade, and the model calls that were made for it. */
export interface PaidGrade {
  readonly given: GradeGiven
  readonly calls: readonly HeardCall[]
}

/** Grades a run and hears whom the oracle asks for it. One that runs no code asks no one for it. */
export async function gradeHeard(oracle: Oracle, run: GradedRun): Promise<PaidGrade> {
  if (!oracle.mayVary) return { given: await oracle.grade(run), calls: [] }
  const { came, calls } = await hearModelCalls(() => oracle.grade(run))
  return { given: came, calls }
}

/** Counts calls in a budget too. There is no question whether to pay: they were made. */
export function spendGrading(budget: Budget, calls: readonly HeardCall[]): void {
  for (const { model, usage, said } of calls) budget.paid(model, usage, said)
}

/** What of a command pays for grades. */
export type Paying = Pick<TaskContext, 'budget' | 'limits' | 'prices'>

/** What grades by one oracle have shown of those that follow. */
interface KnownGrades {
  /** The first one is given. */
  readonly first: Promise<void>
  /** What one used at most. */
  most: Use
  /** A model that was asked, and that has no price. */
  unpriced?: string
}

/** Of each budget, by oracle. */
const knownGrades = new WeakMap<Budget, Map<string, KnownGrades>>()

/** Tells a budget what a grade used in another process, so none begins here that does not fit. */
export function knowGrade(about: string, most: Use, budget: Budget): void {
  knownGrades.set(budget, new Map([[about, { first: Promise.resolve(), most }]]))
}

/** By how much a grade may exceed the dearest one before it. */
export const margin = 1.5

/**
 * Grades a run out of the budget of a command. The first grade shows what one uses: until it is given no other begins, and
 * from then on none that does not fit.
 *
 * @param about - what grades
 * @throws HarvestError `HARVEST_BUDGET_USED` when it is not paid for; `HARVEST_BUDGET_PRICE` when dollars are the limit and its
 *   model has no price
 */
export async function gradeWithin<T>(
  about: string,
  grade: () => Promise<T>,
  paying: Paying,
): Promise<{ readonly given: T; readonly calls: readonly HeardCall[] }> {
  const { budget, limits, prices } = paying
  const ofBudget = knownGrades.get(budget) ?? new Map<string, KnownGrades>()
  knownGrades.set(budget, ofBudget)
  const before = ofBudget.get(about)
  const mine = Promise.withResolvers<void>()
  const known = before ?? { first: mine.promise, most: noUses }
  ofBudget.set(about, known)
  const refuseUnpriced = (): void => {
    if (known.unpriced !== undefined && limits.costUsd !== undefined) throw noPrice(known.unpriced)
  }
  if (before !== undefined) await before.first
  refuseUnpriced()
  const { calls: expected, tokens, costUsd } = known.most
  const toCome = {
    calls: expected,
    tokens: margin * tokens,
    ...(costUsd === undefined ? {} : { costUsd: margin * costUsd }),
  }
  const release = expected === 0 ? () => undefined : await budget.reserve(toCome, true)
  if (release === undefined) throw gradeUnpaid()
  try {
    // One that throws has asked all the same.
    const { came, calls } = await hearModelCalls(() => Promise.allSettled([grade()]))
    spendGrading(budget, calls)
    known.most = mostOf(known.most, asUse(useOf(calls, prices)))
    const unpriced = calls.find(({ model }) => !isPriced(model, prices))?.model
    if (unpriced !== undefined) known.unpriced = unpriced
    refuseUnpriced()
    const [settled] = came
    if (settled.status === 'rejected') throw settled.reason
    return { given: settled.value, calls }
  } finally {
    release()
    mine.resolve()
  }
}

/** What a grade used, as a budget counts it. */
export function asUse({ modelCalls, tokens, costUsd }: GradingUse): Use {
  return { calls: modelCalls, tokens, ...(costUsd === undefined ? {} : { costUsd }) }
}

function gradeUnpaid(): HarvestError {
  return new HarvestError('HARVEST_BUDGET_USED', {
    what: 'The budget does not pay for grading this run',
    why: 'The oracle calls a model, and that is paid from the same budget.',
    fix: ['raise the limit: all runs share it'],
  })
}

/** What calls used; tokens that a provider did not tell are estimated, as those of forks are. */
export function useOf(calls: readonly HeardCall[], prices: PriceTable): GradingUse {
  return calls.reduce<GradingUse>((sum, { model, usage: told, said }) => {
    const isTold = told?.inputTokens !== undefined || told?.outputTokens !== undefined
    const usage = isTold ? told : estimatedUsage(said)
    const costUsd = costOf(usage, model, prices)
    const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    return addedUse(sum, { modelCalls: 1, tokens, ...(costUsd === undefined ? {} : { costUsd }) })
  }, noUse)
}

export const noUse: GradingUse = { modelCalls: 0, tokens: 0, costUsd: 0 }

/** A use of unknown cost makes the sum unknown. */
export function addedUse(a: GradingUse, b: GradingUse): GradingUse {
  const isKnown = a.costUsd !== undefined && b.costUsd !== undefined
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    tokens: a.tokens + b.tokens,
    ...(isKnown ? { costUsd: a.costUsd + b.costUsd } : {}),
  }
}

/** So many times the same. */
export function timesUse({ modelCalls, tokens, costUsd }: GradingUse, times: number): GradingUse {
  return {
    modelCalls: times * modelCalls,
    tokens: times * tokens,
    ...(costUsd === undefined ? {} : { costUsd: times * costUsd }),
  }
}
