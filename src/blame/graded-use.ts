import { hearModelCalls, type HeardCall } from '../fork/index.ts'
import { type Budget, estimatedUsage } from '../live/index.ts'
import { costOf, type PriceTable } from '../providers/index.ts'
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
  for (const { model, usage, said } of calls) budget.spent(model, usage, said)
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
