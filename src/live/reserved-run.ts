import { HarvestError } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import { costOf, isModelCall, type PriceTable, readModelCall } from '../providers/index.ts'
import { requestBytes, type Step } from '../tape/index.ts'
import { added, asUse, type Budget, estimatedUsage, noUses, times, type Use, usageOf } from './budget.ts'

/** What model calls used when they were recorded. One whose model has no price costs nothing here: it is refused itself. */
export function recordedUse(steps: readonly Step[], prices: PriceTable): Use {
  const calls = steps.flatMap((step) => (step.kind === 'exchange' && isModelCall(step) ? [step] : []))
  return calls.reduce<Use>((sum, call) => {
    const { request, response } = readModelCall(call) ?? {}
    const answered = (response?.text.length ?? 0) + JSON.stringify(response?.toolCalls ?? []).length
    const usage = usageOf(call) ?? estimatedUsage({ asked: requestBytes(call).length, answered })
    const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    return added(sum, { calls: 1, tokens, costUsd: costOf(usage, request?.model ?? '', prices) ?? 0 })
  }, noUses)
}

/** By how much a run that is made beside others may exceed what is expected of it. */
const margin = 1.5

/** What pays for one run, and sets apart what it is expected to use until it is released. */
export interface ReservedRun {
  readonly budget: Budget
  release(): void
}

/**
 * Sets apart what a run is expected to use, before it begins: runs that are all begun and none of them paid to its end say nothing.
 * Beside others it has to fit with half as much again, alone as it is expected.
 *
 * @throws HarvestError `HARVEST_BUDGET_USED` when it does not fit into what is left
 */
export async function reserveRun(budget: Budget, expected: Use): Promise<ReservedRun> {
  const own = budget.part()
  const release = await budget.reserve(times(margin, expected), {
    alone: () => expected,
    used: () => asUse(own.total),
  })
  if (release === undefined) throw runUnpaid(expected)
  return { budget: own, release }
}

function runUnpaid({ calls, costUsd = 0 }: Use): HarvestError {
  const cost = costUsd === 0 ? '' : `, $${costUsd.toFixed(4)}`
  return new HarvestError('HARVEST_BUDGET_USED', {
    what: 'What is left of the budget does not pay for one more run',
    where: { 'one run': `${counted(calls, 'model call')}${cost}, as recorded` },
    fix: ['raise the limit: all runs share it'],
  })
}
