import { margin } from '../../blame/graded-use.ts'
import { asUse, mostOf, noUses } from '../../live/budget.ts'
import type { BudgetLimits, Spent, Use } from '../../live/index.ts'
import { withSpent } from '../../live/said-spent.ts'
import type { PriceTable } from '../../providers/index.ts'
import { passedLines } from '../passed-limit.ts'
import { sumSpent } from './sum-spent.ts'

/** What pays for the forks of a command and for their grades: each are made in a process of its own, one after the other. */
export class Purse {
  readonly limits: BudgetLimits
  readonly prices: PriceTable
  /** Someone said that models may be paid: by `--live`, or by a limit. */
  readonly mayPay: boolean
  #forks = sumSpent([])
  #grading = sumSpent([])
  #mostOfGrade = noUses

  /** @param mayPay - default: a limit is given */
  constructor(limits: BudgetLimits, prices: PriceTable, mayPay = Object.keys(limits).length > 0) {
    this.limits = limits
    this.mayPay = mayPay
    this.prices = prices
  }

  /** What grades used; `undefined` where no model was asked for them. */
  get grading(): Spent | undefined {
    return this.#grading.modelCalls === 0 ? undefined : this.#grading
  }

  /** What one grade used at most. */
  get mostOfGrade(): Use {
    return this.#mostOfGrade
  }

  /** What forks used, those that were begun and did not end too. */
  get forks(): Spent {
    return this.#forks
  }

  /** What forks and grades used. */
  get spent(): Spent {
    return sumSpent([this.#forks, this.#grading])
  }

  get used(): Use {
    return asUse(this.spent)
  }

  /** A limit that was passed all the same, for people. */
  get passed(): readonly string[] {
    return passedLines(this.limits, this.used, this.#mostOfGrade)
  }

  /** What of the limits so many forks may not use: what is used, and what grades them, but no more than half of what is left. */
  besideForks(forks: number): Use {
    const { used, limits } = this
    const most = this.#mostOfGrade
    const apart = (limit: number | undefined, before: number, needed: number): number =>
      before + Math.min(needed, limit === undefined ? needed : Math.max(0, limit - before) / 2)
    const { costUsd } = most
    return {
      calls: Math.floor(apart(limits.calls, used.calls, forks * most.calls)),
      tokens: apart(limits.tokens, used.tokens, margin * forks * most.tokens),
      ...(costUsd === undefined || used.costUsd === undefined
        ? {}
        : { costUsd: apart(limits.costUsd, used.costUsd, margin * forks * costUsd) }),
    }
  }

  /** What is refused meanwhile says what was spent until then: no answer does. */
  async saying<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw withSpent(error, this.spent)
    }
  }

  paidForks(spent: readonly Spent[]): void {
    this.#forks = sumSpent([this.#forks, ...spent])
  }

  paidGrades(spent: Spent, most: Use): void {
    this.#grading = sumSpent([this.#grading, spent])
    this.#mostOfGrade = mostOf(this.#mostOfGrade, most)
  }
}
