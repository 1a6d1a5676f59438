import { counted, grouped } from '../errors/words.ts'
import { noUses, passedBy } from '../live/budget.ts'
import type { BudgetLimits, Use } from '../live/index.ts'
import { money } from '../report/spending.ts'

/** A limit that was passed all the same, by how much and why, for people; nothing where each was kept. */
export function passedLines(limits: BudgetLimits, used: Use, grade?: Use): readonly string[] {
  return passedTexts(passedBy(limits, used) ?? {}, grade)
}

/** @param grade - what one grade used at most */
export function passedTexts(by: BudgetLimits, grade: Use = noUses): readonly string[] {
  const says = (
    text: (use: BudgetLimits) => string,
    of: (use: BudgetLimits) => number | undefined,
  ): readonly string[] =>
    of(by) === undefined
      ? []
      : [
          `passed the limit by ${text(by)}: ${
            (of(grade) ?? 0) > 0
              ? `one grade used up to ${text(grade)}, which is known once it is given${
                  (of(by) ?? 0) > (of(grade) ?? 0) ? ', and calls under way when it was reached ended' : ''
                }`
              : 'calls under way when it was reached ended'
          }`,
        ]
  return [
    ...says(
      ({ costUsd = 0 }) => money(costUsd),
      ({ costUsd }) => costUsd,
    ),
    ...says(
      ({ tokens = 0 }) => `${grouped(tokens)} tokens`,
      ({ tokens }) => tokens,
    ),
    ...says(
      ({ calls = 0 }) => counted(calls, 'call'),
      ({ calls }) => calls,
    ),
  ]
}
