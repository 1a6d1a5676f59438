import { isUnreached } from '../../live/unreached.ts'
import { keysRight } from '../../replay/index.ts'
import type { Tape } from '../../tape/index.ts'
import type { NextStep } from '../next-steps.ts'
import { typedAgain } from '../typed-again.ts'

/**
 * From models that could not be asked to what may be wrong.
 *
 * @param because - why runs have no grade, or the codes of their problems
 */
export function stepsToModels(because: readonly string[], tape: Tape): readonly NextStep[] {
  return because.some((one) => one === 'HARVEST_FORK_MODEL_UNREACHABLE' || isUnreached(one))
    ? [{ about: keysRight(tape), command: typedAgain({ 'no-cache': false }) }]
    : []
}
