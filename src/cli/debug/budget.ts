import type { BudgetLimits, Spent } from '../../live/index.ts'
import { sumSpent } from '../forking/sum-spent.ts'
import type { CommandInput } from '../command.ts'
import { wrong } from './words.ts'

const consent = ['live', 'max-cost', 'max-tokens', 'max-calls']

/** Consent is given by the command line and asked for by the call: one of both alone asks no model. */
export function offline(given: CommandInput): CommandInput {
  return {
    ...given,
    has: (name) => !consent.includes(name) && given.has(name),
    values: (name) => (consent.includes(name) ? [] : given.values(name)),
  }
}

/** What all calls of one server may use together: each call is given what those before it left. */
export class ServerBudget {
  readonly #limits: BudgetLimits
  #spent: Spent = sumSpent([])

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /**
   * The options of the next call.
   *
   * @throws HarvestError when nothing is left
   */
  get options(): readonly string[] {
    const { costUsd, tokens, calls } = this.#limits
    const { costUsd: cost = costUsd, inputTokens, outputTokens, modelCalls } = this.#spent
    const left = {
      // What a cost that is unknown leaves is nothing.
      'max-cost': costUsd === undefined ? undefined : Number((costUsd - (cost ?? 0)).toFixed(6)),
      'max-tokens': tokens === undefined ? undefined : tokens - inputTokens - outputTokens,
      'max-calls': calls === undefined ? undefined : calls - modelCalls,
    }
    return Object.entries(left).flatMap(([name, value]) => {
      if (value === undefined) return []
      if (value <= 0) throw wrong(`the budget of this server is used up: --${name}`, ['start it again'])
      return [`--${name}=${value}`]
    })
  }

  /** Notes what a call used. */
  add(spent: Spent): void {
    this.#spent = sumSpent([this.#spent, spent])
  }
}
