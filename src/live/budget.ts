// Over 300 lines: one budget: what it counts, sets apart and refuses.
import { HarvestError, neutralLine } from '../errors/index.ts'
import { costOf, isPriced, type PriceTable, readModelCall, type Usage } from '../providers/index.ts'
import type { ExchangeEvent, RunUsage } from '../tape/index.ts'

/** What live runs have used. */
export interface Spent extends RunUsage {
  /** Some provider sent no tokens, and they were estimated, on the high side. */
  readonly isEstimated?: true
  /** Calls that had no answer yet when someone ended the command: they are not counted, and their cost is unknown. */
  readonly open?: number
}

/** What live runs may use, all together. */
export interface BudgetLimits {
  /** US dollars. */
  readonly costUsd?: number
  /** Input and output tokens. */
  readonly tokens?: number
  readonly calls?: number
}

/** Characters of a request and of its answer. */
export interface TextSizes {
  readonly asked: number
  readonly answered: number
}

/** Adds up what models use, and refuses the call after which a limit may be passed. */
export interface Budget {
  /**
   * The error for a model call that may not be made any more.
   *
   * @param asked - bytes of the request
   */
  refusal(model: string, asked?: number): HarvestError | undefined
  /** Notes one model call. When the provider sent no tokens, they are estimated from the size of what was said. */
  spent(model: string, usage: Usage | undefined, said: TextSizes): void
  /** Notes one model call that was made without asking {@link refusal}. */
  paid(model: string, usage: Usage | undefined, said: TextSizes): void
  readonly total: Spent
  readonly limits: BudgetLimits
  /** Counts what one run uses of this budget. */
  part(): Budget
  /**
   * Sets apart what a run may use, before it begins; waits for others to end when it does not fit beside them.
   *
   * @param use - asked again whenever another one ended, which may have shown more
   * @returns gives it back once what the run used is counted; `undefined` when it does not fit into what is left
   */
  reserve(use: Use | (() => Use), options?: ReserveOptions): Promise<(() => void) | undefined>
  /** Counts what was used before this budget was opened, or is set apart for what follows it. */
  carry(use: Use): void
}

export interface ReserveOptions {
  /** What fits once all others have ended is enough. Default: as beside them. */
  readonly alone?: () => Use
  /** What the run has used of it so far: that is counted already. Default: nothing. */
  readonly used?: () => Use
  /** What of it calls will use that do not ask for a refusal: those that do are refused as if that were used already. */
  readonly unasked?: () => Use
}

/** What runs use, or may use. */
export interface Use {
  readonly calls: number
  readonly tokens: number
  /** US dollars; absent when a model has no price. */
  readonly costUsd?: number
}

export const noUses: Use = { calls: 0, tokens: 0, costUsd: 0 }

/** As limits count it. */
export function asUse({ modelCalls, inputTokens, outputTokens, costUsd }: Spent): Use {
  return { calls: modelCalls, tokens: inputTokens + outputTokens, ...(costUsd === undefined ? {} : { costUsd }) }
}

/** So many times the same. */
export function times(factor: number, { calls, tokens, costUsd }: Use): Use {
  return {
    calls: factor * calls,
    tokens: factor * tokens,
    ...(costUsd === undefined ? {} : { costUsd: factor * costUsd }),
  }
}

export function added(sum: Use, use: Use): Use {
  const isKnown = sum.costUsd !== undefined && use.costUsd !== undefined
  return {
    calls: sum.calls + use.calls,
    tokens: sum.tokens + use.tokens,
    ...(isKnown ? { costUsd: (sum.costUsd ?? 0) + (use.costUsd ?? 0) } : {}),
  }
}

/** The most of each. */
export function mostOf(a: Use, b: Use): Use {
  const isKnown = a.costUsd !== undefined && b.costUsd !== undefined
  return {
    calls: Math.max(a.calls, b.calls),
    tokens: Math.max(a.tokens, b.tokens),
    ...(isKnown ? { costUsd: Math.max(a.costUsd, b.costUsd) } : {}),
  }
}

/** What is left of what was set apart. */
function leftOf(whole: Use, used: Use): Use {
  const left = (of: (one: Use) => number): number => Math.max(0, of(whole) - of(used))
  const isKnown = whole.costUsd !== undefined
  return {
    calls: left(({ calls }) => calls),
    tokens: left(({ tokens }) => tokens),
    ...(isKnown ? { costUsd: left(({ costUsd }) => costUsd ?? 0) } : {}),
  }
}

/** By how much limits were passed; absent parts were kept, or were no limits. `undefined`: all were kept. */
export function passedBy(limits: BudgetLimits, used: Use): BudgetLimits | undefined {
  const over = (limit: number | undefined, of: number | undefined): number =>
    limit === undefined || of === undefined ? 0 : Math.max(0, of - limit)
  const { costUsd, tokens, calls } = {
    // Sums of prices are not exact.
    costUsd: Number(over(limits.costUsd, used.costUsd).toFixed(9)),
    tokens: over(limits.tokens, used.tokens),
    calls: over(limits.calls, used.calls),
  }
  if (costUsd + tokens + calls === 0) return undefined
  return { ...(costUsd > 0 && { costUsd }), ...(tokens > 0 && { tokens }), ...(calls > 0 && { calls }) }
}

/**
 * Opens a budget. A limit in dollars needs a price for every model: without one nothing would ever reach the limit.
 *
 * A call is refused once a limit is reached; the calls under way then may still pass it.
 *
 * @param onSpent - hears of each call, once it begins and once it has ended
 */
export function openBudget(
  limits: BudgetLimits,
  prices: PriceTable = {},
  onSpent: (total: Spent) => void = () => undefined,
): Budget {
  const total = { modelCalls: 0, inputTokens: 0, outputTokens: 0 }
  let costUsd: number | undefined = 0
  let isEstimated: true | undefined
  let ended = 0
  const carried = { calls: 0, tokens: 0, costUsd: 0 }
  const reserved = new Set<() => Use>()
  const unasked = new Set<Use>()
  let wake = Promise.withResolvers<void>()
  const fits = (use: Use): boolean => {
    const sum = (of: (one: Use) => number): number =>
      [...[...reserved].map((left) => left()), use, carried].reduce((all, one) => all + of(one), 0)
    // An unknown cost fits into no limit.
    const dollars = sum((one) => one.costUsd ?? Number.POSITIVE_INFINITY) + (costUsd ?? Number.POSITIVE_INFINITY)
    return (
      sum(({ calls }) => calls) + total.modelCalls <= (limits.calls ?? Number.POSITIVE_INFINITY) &&
      sum(({ tokens }) => tokens) + total.inputTokens + total.outputTokens <=
        (limits.tokens ?? Number.POSITIVE_INFINITY) &&
      (limits.costUsd === undefined || dollars <= limits.costUsd)
    )
  }
  const say = (): void => {
    const open = total.modelCalls - ended
    onSpent({ ...whole.total, modelCalls: ended, ...(open > 0 ? { open } : {}) })
  }
  const whole: Budget = {
    refusal(model) {
      if (limits.costUsd !== undefined && !isPriced(model, prices)) return noPrice(model)
      const held = (of: (one: Use) => number): number => [...unasked, carried].reduce((all, one) => all + of(one), 0)
      const calls = total.modelCalls + held((one) => one.calls)
      const tokens = total.inputTokens + total.outputTokens + held((one) => one.tokens)
      const dollars = (costUsd ?? Number.POSITIVE_INFINITY) + held((one) => one.costUsd ?? 0)
      if (limits.calls !== undefined && calls >= limits.calls) return usedUp('calls', limits.calls)
      if (limits.tokens !== undefined && tokens >= limits.tokens) return usedUp('tokens', limits.tokens)
      if (limits.costUsd !== undefined && dollars >= limits.costUsd) return usedUp('US dollars', limits.costUsd)
      total.modelCalls++
      say()
      return undefined
    },
    spent(model, told, said) {
      const usage = told?.inputTokens === undefined && told?.outputTokens === undefined ? estimatedUsage(said) : told
      if (usage !== told) isEstimated = true
      total.inputTokens += usage.inputTokens ?? 0
      total.outputTokens += usage.outputTokens ?? 0
      const cost = costOf(usage, model, prices)
      costUsd = cost === undefined || costUsd === undefined ? undefined : costUsd + cost
      ended++
      say()
    },
    paid(model, usage, said) {
      total.modelCalls++
      whole.spent(model, usage, said)
    },
    get total() {
      return { ...total, ...(costUsd === undefined ? {} : { costUsd }), ...(isEstimated ? { isEstimated } : {}) }
    },
    limits,
    part: () => partOf(whole, prices),
    async reserve(use, { alone, used, unasked: ofUnasked } = {}) {
      const toSetApart = typeof use === 'function' ? use : () => use
      while (!fits(toSetApart())) {
        if (reserved.size === 0) {
          if (alone !== undefined && fits(alone())) break
          return undefined
        }
        // What is set apart for the others is rarely used up.
        await wake.promise
      }
      const [whole, held] = [{ ...toSetApart() }, ofUnasked && { ...ofUnasked() }]
      const one = (): Use => (used === undefined ? whole : leftOf(whole, used()))
      reserved.add(one)
      if (held !== undefined) unasked.add(held)
      return () => {
        reserved.delete(one)
        if (held !== undefined) unasked.delete(held)
        wake.resolve()
        wake = Promise.withResolvers<void>()
      }
    },
    carry({ calls, tokens, costUsd: dollars }) {
      carried.calls += calls
      carried.tokens += tokens
      carried.costUsd += dollars ?? 0
    },
  }
  return whole
}

/** Counts for itself, and in `whole`, which refuses. */
function partOf(whole: Budget, prices: PriceTable): Budget {
  const own = openBudget({}, prices)
  const part: Budget = {
    refusal: (model, asked) => whole.refusal(model, asked) ?? own.refusal(model, asked),
    spent(model, usage, said) {
      whole.spent(model, usage, said)
      own.spent(model, usage, said)
    },
    paid(model, usage, said) {
      whole.paid(model, usage, said)
      own.paid(model, usage, said)
    },
    get total() {
      return own.total
    },
    limits: whole.limits,
    part: () => partOf(part, prices),
    reserve: whole.reserve,
    carry: whole.carry,
  }
  return part
}

/** What a model call used, as its answer says it; a call that was refused used nothing. `undefined`: it does not say. */
export function usageOf(call: ExchangeEvent): Usage | undefined {
  const usage = readModelCall(call)?.response?.usage
  const isStated = usage?.inputTokens !== undefined || usage?.outputTokens !== undefined
  const isRefused = (call.response?.status ?? 200) >= 400
  return isRefused && !isStated ? { inputTokens: 0, outputTokens: 0 } : usage
}

/** Streams tell no tokens unless they are asked to. A token is rarely shorter than three characters, so this is high. */
export function estimatedUsage({ asked, answered }: TextSizes): Usage {
  return { inputTokens: Math.ceil(asked / 3), outputTokens: Math.ceil(answered / 3) }
}

/**
 * The error for a limit in dollars where a model has no price.
 *
 * @param instead - another limit, as an option
 */
export function noPrice(
  model: string,
  instead = '--max-tokens 100000',
  code: 'HARVEST_BUDGET_PRICE' | 'HARVEST_BLAME_PRICE' = 'HARVEST_BUDGET_PRICE',
): HarvestError {
  const price = `{ ${JSON.stringify(neutralLine(model))}: { "input": 1.25, "output": 10 } }`
  return new HarvestError(code, {
    what: 'Unknown price of a model, so a dollar limit cannot be kept',
    where: { model: neutralLine(model) },
    why: 'A dollar limit needs a price for every model.',
    fix: [
      `to give its price, in US dollars per million tokens: prices: ${price}`,
      `or limit something else: ${instead}, without --max-cost`,
    ],
  })
}

/** The refusal of a budget, to go on with; other errors are thrown. */
export function unpaid(error: unknown): HarvestError {
  if (HarvestError.is(error, 'HARVEST_BUDGET_USED')) return error
  throw error
}

/** What leaves room for all runs, the command says that knows how many there are. */
function usedUp(unit: string, limit: number): HarvestError {
  return new HarvestError('HARVEST_BUDGET_USED', {
    what: `Budget used up: ${limit} ${unit}`,
    fix: ['raise the limit: all runs share it'],
  })
}
