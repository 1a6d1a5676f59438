import { isOfCache, isOfService, isUnreached, unansweredText, withoutCache } from '../../live/unreached.ts'
import { keysRight } from '../../replay/index.ts'
import type { Tape } from '../../tape/index.ts'
import type { NextStep } from '../next-steps.ts'
import { parseDuration, runTimeMs } from '../live.ts'
import { typedAgain, typedValues } from '../typed-again.ts'

/**
 * From models that could not be asked to what may be wrong.
 *
 * @param because - why runs have no grade, or the codes of their problems
 */
export function stepsToModels(because: readonly string[], tape: Tape): readonly NextStep[] {
  const again = { 'no-cache': false }
  const isSlow = because.includes(unansweredText)
  const isLost = because.some(
    (one) =>
      one === 'HARVEST_FORK_MODEL_UNREACHABLE' ||
      (isUnreached(one) && one !== unansweredText && !isOfCache(one) && !isOfService(one)),
  )
  return [
    ...(because.some(isOfService) ? [{ about: 'once the service answers', command: typedAgain(again) }] : []),
    ...(because.some(isOfCache) ? [{ about: withoutCache, command: typedAgain(again) }] : []),
    ...(isLost ? [{ about: keysRight(tape), command: typedAgain(again) }] : []),
    ...(isSlow
      ? [{ about: 'if the model needs more time', command: typedAgain({ ...again, timeout: longerTime() }) }]
      : []),
  ]
}

function longerTime(): string {
  const [typed = ''] = typedValues('timeout')
  return `${Math.ceil((5 * (parseDuration(typed) ?? runTimeMs)) / 1_000)}s`
}
