import { costOf, type PriceTable } from '../providers/index.ts'
import type { RunUsage } from '../tape/index.ts'
import type { TapeFacts } from './tape-facts.ts'

/**
 * What a run cost in US dollars: by the project's own prices, else as the recorder counted, else by list prices.
 *
 * @returns `undefined` when the price of a model or the tokens of an answer are not known: unknown is not zero
 */
export function costOfRun(facts: TapeFacts, prices: PriceTable | undefined): number | undefined {
  const computed = facts.usage.map(({ asked, answered, tokens }) => {
    return costOf(tokens, asked, prices) ?? (answered === undefined ? undefined : costOf(tokens, answered, prices))
  })
  const known = computed.every((cost) => cost !== undefined) ? computed.reduce((sum, cost) => sum + cost, 0) : undefined
  if (facts.state === 'unreadable') return undefined
  return prices === undefined ? (facts.counted?.costUsd ?? known) : (known ?? facts.counted?.costUsd)
}

/** Tokens in and out, all models together; as the recorder counted when an answer on the tape does not tell. */
export function tokensOf({ usage, counted }: TapeFacts): Partial<Pick<RunUsage, 'inputTokens' | 'outputTokens'>> {
  if (usage.length === 0 || usage.some(({ tokens }) => tokens === undefined)) {
    return counted === undefined ? {} : { inputTokens: counted.inputTokens, outputTokens: counted.outputTokens }
  }
  const sum = (of: 'inputTokens' | 'outputTokens'): number => usage.reduce((all, { tokens }) => all + tokens![of], 0)
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') }
}
