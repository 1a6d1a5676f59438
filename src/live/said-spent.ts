import { HarvestError, withFacts } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import type { Spent } from './budget.ts'

/** To a hundredth of a cent; less than that with two digits, so that a call that was paid for never costs $0.0000. */
export function costText(costUsd: number | undefined): string {
  if (costUsd === undefined) return 'cost unknown'
  const digits = costUsd > 0 && costUsd < 0.0001 ? 1 - Math.floor(Math.log10(costUsd)) : 4
  return `$${costUsd.toFixed(digits)}`
}

type Used = Pick<Spent, 'costUsd' | 'modelCalls' | 'open'>

/** What models used, for people. */
export function usedText({ modelCalls, costUsd, open }: Used): string {
  return `${counted(modelCalls, 'model call')}, ${costText(costUsd)}${openText(open)}`
}

/** Of calls that were under way at the end. */
export function openText(open = 0): string {
  return open === 0 ? '' : `; ${counted(open, 'more call')} still open, cost not known`
}

/** What is refused after something was spent says what that was: no answer says it. */
export function withSpent<E>(error: E, used: Used | undefined): E | HarvestError {
  if (!HarvestError.is(error) || used === undefined || used.modelCalls + (used.open ?? 0) === 0) return error
  return withFacts(error, { where: { ...error.facts.where, spent: usedText(used) } })
}
