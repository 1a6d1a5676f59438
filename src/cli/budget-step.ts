import { allowanceOf } from '../fork/ask-budget.ts'
import { noUses } from '../live/budget.ts'
import type { BudgetLimits, Use } from '../live/index.ts'
import { isModelCall, type PriceTable } from '../providers/index.ts'
import { stepsOf, type Tape } from '../tape/index.ts'
import type { NextStep } from './next-steps.ts'
import { type OptionChanges, typedAgain } from './typed-again.ts'

/** Live runs that a limit may have kept from their end. */
export interface LimitedRuns {
  /** Codes of what ended them. */
  readonly codes: readonly string[]
  /** What was asked for: tapes, and how often each is run. Only looked at where a limit was reached. */
  runs(): readonly (readonly [tape: Tape, times: number])[]
  /** What grading one of these runs uses, where that is paid for. */
  readonly grading?: Use
  /** Grades besides one for each run. Default: that of the recorded run. */
  readonly furtherGrades?: number
  readonly limits: BudgetLimits
  readonly prices: PriceTable
}

/** The same with limits that all runs fit into; none where no limit was reached. */
export function stepsAfterBudget(runs: LimitedRuns): readonly NextStep[] {
  const changes = roomForAll(runs)
  if (Object.keys(changes).length === 0) return []
  return [{ about: 'to leave room for all runs', command: typedAgain(changes) }]
}

/** Options with limits that all runs fit into, three times what was recorded of each; none where no limit was reached. */
export function roomForAll({
  codes,
  runs,
  grading = noUses,
  furtherGrades = 1,
  limits,
  prices,
}: LimitedRuns): OptionChanges {
  if (!codes.includes('HARVEST_BUDGET_USED')) return {}
  const all = runs().map(([tape, times]) => {
    const calls = stepsOf(tape).flatMap((step) => (step.kind === 'exchange' && isModelCall(step) ? [step] : []))
    return { times, one: allowanceOf(calls, tape.events, prices) }
  })
  const sum = (of: (one: Use) => number): number =>
    all.reduce((total, { times, one }) => total + times * (of(one) + 2 * of(grading)), 2 * furtherGrades * of(grading))
  const dollars = sum(({ costUsd }) => costUsd ?? 0)
  return {
    ...raised(
      'max-calls',
      limits.calls,
      sum(({ calls }) => calls),
      String,
    ),
    ...raised(
      'max-tokens',
      limits.tokens,
      sum(({ tokens }) => tokens),
      String,
    ),
    ...raised('max-cost', limits.costUsd, dollars, (usd) => (Math.ceil(usd * 100) / 100).toFixed(2)),
  }
}

/** A limit that is there, and is never below twice what was too little. */
function raised(
  option: string,
  limit: number | undefined,
  needed: number,
  text: (limit: number) => string,
): Readonly<Record<string, string>> {
  return limit === undefined ? {} : { [option]: text(Math.max(2 * limit, needed)) }
}
