import type { Spent } from '../../live/index.ts'

/** What runs used, all together. */
export function sumSpent(all: readonly Spent[]): Spent {
  const none: Spent = { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
  return all.reduce<Spent>((total, one) => {
    const open = (total.open ?? 0) + (one.open ?? 0)
    // One unknown cost makes the sum unknown.
    const isKnown = total.costUsd !== undefined && one.costUsd !== undefined
    return {
      modelCalls: total.modelCalls + one.modelCalls,
      inputTokens: total.inputTokens + one.inputTokens,
      outputTokens: total.outputTokens + one.outputTokens,
      ...(isKnown ? { costUsd: (total.costUsd ?? 0) + (one.costUsd ?? 0) } : {}),
      ...(total.isEstimated || one.isEstimated ? { isEstimated: true as const } : {}),
      ...(open === 0 ? {} : { open }),
    }
  }, none)
}
