import { HarvestError, neutralLine } from '../errors/index.ts'
import type { RunUsage } from '../tape/index.ts'
import type { Metered } from './usage.ts'
import type { BudgetOptions, Limits } from './options.ts'

/** What a run can use up. */
export type Budgeted = keyof BudgetOptions

/** A run passed a limit. */
export interface BudgetEvent {
  /** Id of the run. */
  readonly run: string
  readonly agent: string
  readonly of: Budgeted
  readonly level: keyof Limits
  readonly limit: number
  readonly used: number
  readonly usage: RunUsage
}

/** A limit of a budget. */
export type BudgetLimit = readonly [of: Budgeted, level: keyof Limits, limit: number]

/** The limits of a budget, one by one. */
export function limitsOf(budget: BudgetOptions = {}): readonly BudgetLimit[] {
  return (['tokens', 'costUsd', 'calls'] as const).flatMap((of) =>
    (['soft', 'hard'] as const).flatMap((level) => {
      const limit = budget[of]?.[level]
      return limit === undefined ? [] : [[of, level, limit] as const]
    }),
  )
}

const none: readonly Omit<BudgetEvent, 'run' | 'agent'>[] = []

/** Counts what one run uses and tells each limit that is passed, once. */
export class UsageCounter {
  readonly #limits: readonly BudgetLimit[]
  #passed: Set<string> | undefined
  #modelCalls = 0
  #inputTokens = 0
  #outputTokens = 0
  #costUsd = 0
  #isCostKnown = true
  /** By the id under which a provider keeps an answer: what was counted of it. */
  #kept: Map<string, Counted> | undefined
  /** Of those, the ones whose tokens are reported later. */
  #open: Set<string> | undefined

  constructor(limits: readonly BudgetLimit[]) {
    this.#limits = limits
  }

  get usage(): RunUsage {
    const { costUsd } = this
    return {
      modelCalls: this.#modelCalls,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...(costUsd === undefined ? {} : { costUsd }),
    }
  }

  /** In US dollars; `undefined` where a part of it is not known. */
  get costUsd(): number | undefined {
    return this.#isCostKnown && (this.#open?.size ?? 0) === 0 ? roundedUsd(this.#costUsd) : undefined
  }

  get tokens(): number {
    return this.#inputTokens + this.#outputTokens
  }

  /**
   * Adds a model call; answers with the limits it passed. What is not known is not counted, and makes the cost unknown. A
   * poll is no call, and of what adds to an answer only what it used beyond the counts before is added.
   */
  add(call: Metered): readonly Omit<BudgetEvent, 'run' | 'agent'>[] {
    const { usage, missing, moreOf, isPoll } = call
    const before = moreOf === undefined ? undefined : this.#kept?.get(moreOf)
    const inputTokens = usage?.inputTokens ?? 0
    const outputTokens = usage?.outputTokens ?? 0
    const costUsd = call.costUsd ?? 0
    if (!isPoll) this.#modelCalls += 1
    this.#inputTokens += beyond(inputTokens, before?.inputTokens)
    this.#outputTokens += beyond(outputTokens, before?.outputTokens)
    this.#costUsd += beyond(costUsd, before?.costUsd)
    if (missing !== undefined) this.#isCostKnown = false
    const id = moreOf ?? call.keptAs
    if (id !== undefined)
      this.#keep(id, call, (usage === undefined ? before : undefined) ?? { inputTokens, outputTokens, costUsd })
    if (this.#limits.length === 0) return none
    const used = { tokens: this.tokens, costUsd: roundedUsd(this.#costUsd), calls: this.#modelCalls }
    return this.#limits.flatMap(([of, level, limit]) => {
      if (used[of] <= limit || this.#passed?.has(of + level)) return []
      this.#passed ??= new Set()
      this.#passed.add(of + level)
      return [{ of, level, limit, used: used[of], usage: this.usage }]
    })
  }

  #keep(id: string, { usage, isUnderWay }: Metered, counted: Counted): void {
    this.#kept ??= new Map()
    this.#kept.set(id, counted)
    this.#open ??= new Set()
    if (usage !== undefined) this.#open.delete(id)
    else if (isUnderWay) this.#open.add(id)
  }
}

interface Counted {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

function beyond(now: number, before = 0): number {
  return Math.max(0, now - before)
}

/** To a trillionth of a dollar: prices are no finer, the sums of floating point are. */
function roundedUsd(costUsd: number): number {
  return Math.round(costUsd * 1e12) / 1e12
}

/** A model call that a budget or an outlier was to count, and without enough counts. */
export function usageUnknown(model: string, missing: 'tokens' | 'price'): HarvestError {
  return new HarvestError('HARVEST_USAGE_UNKNOWN', {
    what: `Cannot count a model call: ${missing === 'price' ? 'its model has no price' : 'the response has no token usage'}`,
    where: { model: neutralLine(model) },
    why: 'This call is not counted, so the run can exceed its budget.',
    fix:
      missing === 'price'
        ? [`give its price in dollars per million tokens: prices: { '${neutralLine(model)}': { input: …, output: … } }`]
        : ['request usage: OpenAI streams send it with stream_options: { include_usage: true }'],
  })
}
