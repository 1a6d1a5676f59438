import { type Counted, newcombe } from '../stats/index.ts'
import type { NextStep } from './next-steps.ts'
import { typedAgain } from './typed-again.ts'

/** A difference of two rates that is smaller is not looked for: to show it takes some 400 runs of either kind. */
export const smallest = 0.1

/**
 * Whether the first kind of runs is not right more often by as much as is looked for, with 95 % confidence: more runs would hardly
 * show more.
 */
export function isRuledOut(first: Counted, second: Counted): boolean {
  if (first.runs === 0 || second.runs === 0) return false
  return newcombe(first, second).high < smallest
}

/** The next step that takes four times as many runs. @param more - as many instead */
export function finerAnswer(runs: number, more = 4 * runs): NextStep {
  return { about: 'for a finer answer, with more runs', command: typedAgain({ runs: `${more}` }) }
}
