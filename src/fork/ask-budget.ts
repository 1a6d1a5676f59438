import { HarvestError } from '../errors/index.ts'
import { costOf, type PriceTable, readModelCall } from '../providers/index.ts'
import { type ExchangeEvent, requestBytes, type TapeEvent } from '../tape/index.ts'
import type { Budget, Use } from '../live/budget.ts'

/** What one ask may use: three times what the recorded steps used that it stands for. */
export interface Allowance extends Use {
  /** Input and output tokens of one call, at most. */
  readonly callInput: number
  readonly callOutput: number
}

const margin = 3

/** Characters of a token, at least: as estimates count them. */
const tokenBytes = 3

/**
 * What an ask from one step on may use.
 *
 * @param recorded - the model calls from there on
 * @param live - what the agent asks in their place now
 */
export function allowanceOf(
  recorded: readonly ExchangeEvent[],
  live: readonly TapeEvent[],
  prices: PriceTable,
): Allowance {
  const bytes = live.flatMap((event) =>
    event.kind === 'exchange' && readModelCall(event) ? [requestBytes(event).length] : [],
  )
  const calls = recorded.map((event) => {
    const { usage, text = '', toolCalls = [] } = readModelCall(event)?.response ?? {}
    const written = text.length + JSON.stringify(toolCalls).length
    const said = Math.ceil(Math.max(requestBytes(event).length, ...bytes) / tokenBytes)
    return {
      input: Math.max(usage?.inputTokens ?? 0, said),
      output: usage?.outputTokens ?? Math.ceil(written / tokenBytes),
    }
  })
  const callInput = Math.max(0, ...calls.map(({ input }) => input))
  const callOutput = margin * Math.max(1, ...calls.map(({ output }) => output))
  const count = margin * Math.max(1, calls.length)
  // Where nothing was asked in their place yet, the recorded models are the ones that will be.
  const asked = live.flatMap((event) => modelOf(event))
  const models = [...new Set(asked.length > 0 ? asked : recorded.flatMap((event) => modelOf(event)))]
  const costs = models.map((model) => costOf({ inputTokens: callInput, outputTokens: callOutput }, model, prices))
  const dearest = costs.every((cost) => cost !== undefined) ? Math.max(0, ...costs) : undefined
  return {
    calls: count,
    tokens: count * (callInput + callOutput),
    ...(dearest === undefined ? {} : { costUsd: count * dearest }),
    callInput,
    callOutput,
  }
}

/** The model a request asks, as it names it. */
export function modelOf(event: TapeEvent): readonly string[] {
  const model = event.kind === 'exchange' ? readModelCall(event)?.request.model : undefined
  return model === undefined || model === '' ? [] : [model]
}

/**
 * The budget of one ask. It refuses the call that may pass what is set apart for the ask: an agent that asks that often
 * does not do as recorded.
 */
export function askBudget(whole: Budget, allowance: Allowance, prices: PriceTable): Budget {
  const own = whole.part()
  const budget: Budget = {
    ...own,
    refusal(model, asked = 0) {
      const { modelCalls, inputTokens, outputTokens, costUsd } = own.total
      const input = Math.max(allowance.callInput, Math.ceil(asked / tokenBytes))
      const next = costOf({ inputTokens: input, outputTokens: allowance.callOutput }, model, prices)
      const isOver =
        modelCalls + 1 > allowance.calls ||
        inputTokens + outputTokens + input + allowance.callOutput > allowance.tokens ||
        (allowance.costUsd !== undefined &&
          (costUsd ?? Number.POSITIVE_INFINITY) + (next ?? Number.POSITIVE_INFINITY) > allowance.costUsd)
      return isOver ? askUsedUp(allowance, modelCalls) : own.refusal(model, asked)
    },
    get total() {
      return own.total
    },
    part: () => budget,
  }
  return budget
}

function askUsedUp({ calls }: Allowance, made: number): HarvestError {
  return new HarvestError('HARVEST_BUDGET_ASK', {
    what: 'The agent calls its models more than three times as often as recorded',
    where: { 'model calls': `${made} made, at most ${calls}` },
    why: 'Each ask gets three times the calls, tokens and cost of the recorded steps.',
    fix: ['check whether the changed question makes the agent loop'],
  })
}
