import { hearModelCalls, type HeardCall, lostCall } from '../fork/index.ts'
import { HarvestError } from '../errors/index.ts'
import type { TaskContext } from '../jobs/index.ts'
import { type Budget, estimatedUsage, noPrice, type Use } from '../live/index.ts'
import { mostOf, noUses, times } from '../live/budget.ts'
import { costOf, isPriced, type PriceTable } from '../providers/index.ts'
import type { GradedRun, GradeGiven, Oracle } from './oracle.ts'
import type { GradingUse } from './types.ts'

/** A grade, and the model calls that were made for it. */
export interface PaidGrade {
  readonly given: GradeGiven
  readonly calls: readonly HeardCall[]
}

/**
 * Grades a run and hears whom the oracle asks for it. One that runs no code asks no one for it.
 *
 * @param onLost - hears what was asked for a grade that is not given, for the oracle threw
 */
export async function gradeHeard(
  oracle: Oracle,
  run: GradedRun,
  onLost?: (calls: readonly HeardCall[]) => void,
): Promise<PaidGrade> {
  if (!oracle.mayVary) return { given: await oracle.grade(run), calls: [] }
  const { came, calls } = await hearModelCalls(() => oracle.grade(run), onLost)
  return { given: ofAnswered(came, calls), calls }
}

/** No grade where the model that was asked last gave no answer: what an oracle makes of its own error is not one. */
export function ofAnswered(given: GradeGiven, calls: readonly HeardCall[]): GradeGiven {
  const lost = lostCall(calls)
  if (lost === undefined || (given.grade !== 'ok' && given.grade !== 'bad')) return given
  return { grade: 'ungraded', because: `${lost}, which the oracle asked` }
}

/** Counts calls in a budget too. There is no question whether to pay: they were made. */
export function spendGrading(budget: Budget, calls: readonly HeardCall[]): void {
  for (const { model, usage, said } of calls) budget.paid(model, usage, said)
}

/** What of a command pays for grades. */
export type Paying = Pick<TaskContext, 'budget' | 'prices'>

/** What grades by one oracle have shown of those that follow. */
interface KnownGrades {
  /** What one used at most. */
  most: Use
  /** A model that was asked, and that has no price. */
  unpriced?: string
  /** The one under way while nothing is known of what grades use. */
  alone?: Promise<void>
}

/** Of each budget, by oracle. */
const knownGrades = new WeakMap<Budget, Map<string, KnownGrades>>()

function knownOf(about: string, budget: Budget): KnownGrades {
  const ofBudget = knownGrades.get(budget) ?? new Map<string, KnownGrades>()
  knownGrades.set(budget, ofBudget)
  const known = ofBudget.get(about) ?? { most: noUses }
  ofBudget.set(about, known)
  return known
}

/** Tells a budget what a grade used that was not paid from it, so none begins that does not fit. */
export function knowGrade(about: string, most: Use, budget: Budget): void {
  const known = knownOf(about, budget)
  known.most = mostOf(known.most, most)
}

/** What one grade used at most so far. */
export function dearestGrade(about: string, budget: Budget): Use {
  return knownOf(about, budget).most
}

/** By how much a grade may exceed the dearest one before it. */
export const margin = 1.5

/**
 * By how much each of several at once may: whoever looks further at one run than at those before asks more, and two may do so
 * together. Where less is left they are given one after the other.
 */
export const besideMargin = 20

/**
 * Grades a run out of the budget of a command. Grades show what further ones use: one begins beside others only where it fits
 * into the limits also if it uses far more than those before, and until one asked a model they are given one after the other. So
 * a limit is passed by one grade at most, whose like was not seen before.
 *
 * @param about - what grades
 * @throws HarvestError `HARVEST_BUDGET_USED` when it is not paid for; `HARVEST_BUDGET_PRICE` when dollars are the limit and its
 *   model has no price
 */
export async function gradeWithin(
  about: string,
  grade: () => Promise<GradeGiven>,
  { budget, prices }: Paying,
): Promise<PaidGrade> {
  const known = knownOf(about, budget)
  const { costUsd, tokens, calls } = budget.limits
  const isLimited = (costUsd ?? tokens ?? calls) !== undefined
  const isUnknown = (): boolean => isLimited && known.most.calls === 0
  while (isUnknown() && known.alone !== undefined) await known.alone
  const mine = Promise.withResolvers<void>()
  if (isUnknown()) known.alone = mine.promise
  const toCome = (): Use => ({ ...times(margin, known.most), calls: known.most.calls })
  const release =
    known.most.calls === 0
      ? () => undefined
      : await budget.reserve(() => times(besideMargin, known.most), { alone: toCome, unasked: toCome })
  try {
    const refuseUnpriced = (): void => {
      if (known.unpriced !== undefined && costUsd !== undefined) throw noPrice(known.unpriced)
    }
    refuseUnpriced()
    if (release === undefined) throw gradeUnpaid()
    // One that throws has asked all the same.
    const { came, calls: heard } = await hearModelCalls(() => Promise.allSettled([grade()]))
    spendGrading(budget, heard)
    known.most = mostOf(known.most, asUse(useOf(heard, prices)))
    const unpriced = heard.find(({ model }) => !isPriced(model, prices))?.model
    if (unpriced !== undefined) known.unpriced = unpriced
    refuseUnpriced()
    const [settled] = came
    if (settled.status === 'rejected') throw settled.reason
    return { given: ofAnswered(settled.value, heard), calls: heard }
  } finally {
    release?.()
    if (known.alone === mine.promise) delete known.alone
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
