import { addedUse } from './graded-use.ts'
import type { ForkDraw, GradingUse } from './types.ts'

/** What forks used. */
export interface ForksSpent {
  readonly forks: number
  readonly modelCalls: number
  readonly tokens: number
  /** US dollars; absent when no fork has a price. */
  readonly costUsd?: number
  /** The part of these that grading used; absent: nothing. */
  readonly grading?: GradingUse
}

export const emptySpent: ForksSpent = { forks: 0, modelCalls: 0, tokens: 0 }

/** With one more fork. */
export function added(spent: ForksSpent, draw: ForkDraw): ForksSpent {
  const costUsd = draw.costUsd === undefined ? spent.costUsd : (spent.costUsd ?? 0) + draw.costUsd
  return {
    forks: spent.forks + 1,
    modelCalls: spent.modelCalls + draw.modelCalls,
    tokens: spent.tokens + (draw.tokens ?? 0),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...gradingOf(spent, draw),
  }
}

/** The grading of both. */
function gradingOf(
  { grading: a }: Pick<ForksSpent, 'grading'>,
  { grading: b }: Pick<ForksSpent, 'grading'>,
): Pick<ForksSpent, 'grading'> {
  const grading = a === undefined || b === undefined ? (a ?? b) : addedUse(a, b)
  return grading === undefined ? {} : { grading }
}

/** With what grading the recorded run used. */
export function withRecorded(made: ForksSpent, used: GradingUse): ForksSpent {
  const { costUsd: ofForks, ...rest } = made
  const known = made.forks === 0 ? (ofForks ?? 0) : ofForks
  const costUsd = known === undefined || used.costUsd === undefined ? undefined : known + used.costUsd
  return {
    ...rest,
    modelCalls: made.modelCalls + used.modelCalls,
    tokens: made.tokens + used.tokens,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...gradingOf(made, { grading: used }),
  }
}

/** What both used. */
export function sumOf(a: ForksSpent, b: ForksSpent): ForksSpent {
  const costUsd = a.costUsd === undefined && b.costUsd === undefined ? undefined : (a.costUsd ?? 0) + (b.costUsd ?? 0)
  return {
    forks: a.forks + b.forks,
    modelCalls: a.modelCalls + b.modelCalls,
    tokens: a.tokens + b.tokens,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...gradingOf(a, b),
  }
}
