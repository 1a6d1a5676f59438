import { HarvestError, withFacts } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import type { Spent } from './budget.ts'

/** To a hundredth of a cent. */
export function costText(costUsd: number | undefined): string {
  return costUsd === undefined ? 'cost unknown' : `$${costUsd.toFixed(4)}`
}

/** What models used, for people. */
export function usedText({ modelCalls, costUsd }: Pick<Spent, 'costUsd' | 'modelCalls'>): string {
  return `${counted(modelCalls, 'model call')}, ${costText(costUsd)}`
}

/** What is refused after something was spent says what that was: no answer says it. */
export function withSpent<E>(error: E, used: Pick<Spent, 'costUsd' | 'modelCalls'> | undefined): E | HarvestError {
  if (!HarvestError.is(error) || used === undefined || used.modelCalls === 0) return error
  return withFacts(error, { where: { ...error.facts.where, spent: usedText(used) } })
}
