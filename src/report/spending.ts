import type { CountedCall } from '../providers/counted.ts'
import { costOf, type PriceTable, type Usage } from '../providers/index.ts'
import type { ImportedModelCall } from '../providers/imported-model-call.ts'
import type { RunUsage } from '../tape/index.ts'
import { counted, grouped } from '../errors/words.ts'

/** What the model calls of a run used, as far as their answers say. */
export interface Spending {
  readonly modelCalls: number
  /** Absent when no answer said how many; see `untold`. */
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Calls that were answered without a word about tokens: the sums above are too small by these. */
  readonly untold: number
  /** US dollars; absent when a call that counts has no known cost. */
  readonly costUsd?: number
  /** Models without a price. */
  readonly unpriced: readonly string[]
}

/** What one model call used. A refused call costs nothing. */
export interface CallSpending {
  readonly model: string
  readonly usage?: Usage
  readonly costUsd?: number
  readonly isRefused: boolean
}

/** Reads tokens and cost of one model call. A price for the model that was asked for counts before that of the one that answered. */
export function spendingOf({ request, response }: CountedCall, prices: PriceTable): CallSpending {
  const { usage, model: answered } = response ?? {}
  const costUsd =
    costOf(usage, request.model, prices) ?? (answered === undefined ? undefined : costOf(usage, answered, prices))
  return {
    model: request.model || (answered ?? ''),
    isRefused: response?.error !== undefined && usage === undefined,
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** As {@link spendingOf}, of a call that an imported trace tells of. */
export function importedSpending(
  { model, answered, usage, isError }: ImportedModelCall,
  prices: PriceTable,
): CallSpending {
  const costUsd = costOf(usage, model, prices) ?? (answered === undefined ? undefined : costOf(usage, answered, prices))
  return {
    model,
    isRefused: isError && usage === undefined,
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Adds up the model calls of a run. */
export function addUp(calls: readonly CallSpending[]): Spending {
  const paid = calls.filter(({ isRefused }) => !isRefused)
  // Unknown is not zero: where no answer says how many, there is no sum.
  const sum = (of: 'inputTokens' | 'outputTokens'): Partial<Pick<Spending, typeof of>> => {
    const counts = paid.flatMap(({ usage }) => usage?.[of] ?? [])
    return counts.length === 0 && paid.length > 0 ? {} : { [of]: counts.reduce((total, count) => total + count, 0) }
  }
  const isPriced = paid.every(({ costUsd }) => costUsd !== undefined)
  const unpriced = paid.filter(({ usage, costUsd }) => usage !== undefined && costUsd === undefined)
  return {
    modelCalls: calls.length,
    ...sum('inputTokens'),
    ...sum('outputTokens'),
    untold: paid.filter(({ usage }) => usage?.inputTokens === undefined && usage?.outputTokens === undefined).length,
    ...(isPriced ? { costUsd: paid.reduce((total, { costUsd = 0 }) => total + costUsd, 0) } : {}),
    unpriced: [...new Set(unpriced.map(({ model }) => model))].sort(),
  }
}

/** `3 model calls, 812 tokens in, 24 out, $0.0023`; what is not known is called unknown. */
export function spendingText(spending: Spending, counts?: RunUsage): string {
  const { modelCalls } = spending
  if (modelCalls === 0) return 'no model calls'
  return [counted(modelCalls, 'model call'), tokensText(spending), costText(spending, counts)].join(', ')
}

/** `812 tokens in, 24 out`. */
export function tokensText({ modelCalls, inputTokens, outputTokens, untold }: Spending): string {
  if (inputTokens === undefined && outputTokens === undefined) return 'tokens unknown'
  const known = [
    inputTokens === undefined ? 'tokens in unknown' : `${counted(inputTokens, 'token')} in`,
    // Embeddings have no output, and say nothing of it.
    ...(outputTokens === undefined ? [] : [`${grouped(outputTokens)} out`]),
  ].join(', ')
  return untold === 0 ? known : `at least ${known} (${untold} of ${counted(modelCalls, 'call')} without usage)`
}

/** `$0.0023`, or why it is not known. `counts` is what the recorder counted, with prices this machine may not have. */
export function costText({ costUsd, unpriced }: Spending, counts?: RunUsage): string {
  if (costUsd !== undefined) return money(costUsd)
  if (counts?.costUsd !== undefined) return `${money(counts.costUsd)} as the recorder counted`
  return unpriced.length === 0 ? 'cost unknown' : `cost unknown (no price for ${unpriced.join(', ')})`
}

interface Used {
  readonly usage?: Usage
  readonly costUsd?: number
  readonly isPoll?: true
  /** HTTP status. */
  readonly status?: number
}

/** `812 in (300 cached), 24 out (10 reasoning), $0.0023`, for one call. */
export function callSpendingText({ usage, costUsd, isPoll, status = 0 }: Used): string {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage ?? {}
  // A refused call costs nothing, as in the sum.
  if (inputTokens === undefined && outputTokens === undefined)
    return isPoll ? 'a poll' : status >= 400 ? 'no tokens' : 'tokens unknown'
  const cached = ofThem([cachedTokens, 'cached'], [cacheWriteTokens, 'written to the cache'])
  return [
    ...(isPoll ? ['a poll'] : []),
    ...(inputTokens === undefined ? [] : [`${grouped(inputTokens)} in${cached}`]),
    ...(outputTokens === undefined ? [] : [`${grouped(outputTokens)} out${ofThem([reasoningTokens, 'reasoning'])}`]),
    ...(costUsd === undefined ? [] : [money(costUsd)]),
  ].join(', ')
}

function ofThem(...parts: readonly (readonly [count: number | undefined, of: string])[]): string {
  const told = parts.flatMap(([count = 0, of]) => (count === 0 ? [] : [`${grouped(count)} ${of}`]))
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}

/** `$1.25`, `$0.0312`, `$0.000045`. */
export function money(usd: number): string {
  if (usd === 0) return '$0'
  // Four digits behind the point, up to six where the amount needs them.
  return `$${usd >= 1 ? usd.toFixed(2) : usd.toFixed(6).replace(/0{1,2}$/, '')}`
}
