import { HarvestError } from '../../errors/index.ts'
import type { BudgetLimits, Spent } from '../../live/index.ts'
import { usedText } from '../../live/said-spent.ts'
import type { PriceTable } from '../../providers/index.ts'
import type { Tape } from '../../tape/index.ts'
import { roomForAll } from '../budget-step.ts'
import { sumSpent } from '../forking/sum-spent.ts'
import type { CommandInput } from '../command.ts'
import { limitNames, readLivePlan, saysToPay } from '../live.ts'
import { forkSpec } from '../spec/debug.ts'
import { debugSpec } from '../spec/debugger.ts'
import { type OptionChanges, typedAgain } from '../typed-again.ts'

const consent = ['live', 'tools', ...limitNames]

/** Consent is given by the command line and asked for by the call: one of both alone asks no model. */
export function offline(given: CommandInput): CommandInput {
  return {
    ...given,
    has: (name) => !consent.includes(name) && given.has(name),
    values: (name) => (consent.includes(name) ? [] : given.values(name)),
  }
}

/** A line that makes so many runs of a tape. */
export interface PaidLine {
  readonly text: string
  readonly tape: Tape
  readonly runs: number
  readonly prices: PriceTable
}

/** What all lines of one debugger, or all calls of its server, may use together: each is given what those before it left. */
export class SessionBudget {
  readonly #limits: BudgetLimits
  #spent: Spent = sumSpent([])
  /** What lines needed that had too little. */
  readonly #lacking = new Map<string, OptionChanges>()

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** The budget of a command line: none where it allows nothing, for then a line allows what it asks for. */
  static of(given: CommandInput): SessionBudget {
    return new SessionBudget(saysToPay(given) ? readLivePlan(given, debugSpec).limits : {})
  }

  /** The limits of a line: those it names. The default of `fork` holds where neither the line nor the debugger names one. */
  ofLine(input: CommandInput): BudgetLimits {
    const isNamed = limitNames.some((name) => input.has(name))
    return isNamed || Object.keys(this.#limits).length === 0 ? readLivePlan(input, forkSpec).limits : {}
  }

  /**
   * What the next line may use, within limits of its own.
   *
   * @throws HarvestError `HARVEST_DEBUG_BUDGET` when nothing is left
   */
  within(own: BudgetLimits, { text, tape, runs, prices }: PaidLine): BudgetLimits {
    const left = this.#left()
    const { costUsd, tokens, calls } = left
    const used = Object.entries({ 'max-cost': costUsd, 'max-tokens': tokens, 'max-calls': calls }).find(
      ([, left]) => left !== undefined && left <= 0,
    )
    if (used !== undefined) {
      const all = { codes: ['HARVEST_BUDGET_USED'], runs: () => [[tape, runs]] as const, limits: left, prices }
      throw new HarvestError('HARVEST_DEBUG_BUDGET', {
        what: `the budget of this debugger is used up: --${used[0]}`,
        where: { used: usedText(this.#spent) },
        why: 'All its lines share it.',
        fix: [`to leave room for this line as well: ${typedAgain(this.withRoom(text, roomForAll(all)))}`],
      })
    }
    return {
      ...least('costUsd', own.costUsd, costUsd),
      ...least('tokens', own.tokens, tokens),
      ...least('calls', own.calls, calls),
    }
  }

  /** Whether a limit of the debugger, not one of the line, is what ends its runs. */
  binds({ costUsd, tokens, calls }: BudgetLimits): boolean {
    const left = this.#left()
    const isLess = (one: number | undefined, own: number | undefined): boolean =>
      one !== undefined && one <= (own ?? Number.POSITIVE_INFINITY)
    return isLess(left.costUsd, costUsd) || isLess(left.tokens, tokens) || isLess(left.calls, calls)
  }

  /**
   * Options of the debugger with room for a line that needs so much, beside what was used before it and what other lines lacked:
   * those are done again with it.
   */
  withRoom(line: string, needed: OptionChanges): OptionChanges {
    this.#lacking.set(line, needed)
    const { costUsd = 0, inputTokens, outputTokens, modelCalls } = this.#spent
    const before = { 'max-cost': costUsd, 'max-tokens': inputTokens + outputTokens, 'max-calls': modelCalls }
    const raised = Object.entries(before).flatMap(([name, used]) => {
      if (needed[name] === undefined) return []
      const sum = [...this.#lacking.values()].reduce((all, one) => all + Number(one[name] ?? 0), used)
      return [[name, name === 'max-cost' ? (Math.ceil(sum * 100) / 100).toFixed(2) : `${sum}`]]
    })
    return Object.fromEntries(raised) as OptionChanges
  }

  /** Notes what a line used. */
  add(spent: Spent): void {
    this.#spent = sumSpent([this.#spent, spent])
  }

  #left(): BudgetLimits {
    const { costUsd, tokens, calls } = this.#limits
    const { costUsd: cost = costUsd, inputTokens, outputTokens, modelCalls } = this.#spent
    return {
      // What a cost that is unknown leaves is nothing.
      ...(costUsd === undefined ? {} : { costUsd: Number((costUsd - (cost ?? 0)).toFixed(6)) }),
      ...(tokens === undefined ? {} : { tokens: tokens - inputTokens - outputTokens }),
      ...(calls === undefined ? {} : { calls: calls - modelCalls }),
    }
  }
}

function least(name: keyof BudgetLimits, ...values: readonly (number | undefined)[]): BudgetLimits {
  const all = values.filter((value) => value !== undefined)
  return all.length === 0 ? {} : { [name]: Math.min(...all) }
}
