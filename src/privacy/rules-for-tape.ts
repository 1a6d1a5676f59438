import type { RecordedRules } from '../tape/index.ts'
import type { RedactorOptions } from './types.ts'

/** The options as data for the header of a tape. */
export function rulesForTape({ rules, ...rest }: RedactorOptions): RecordedRules {
  if (rules === undefined) return rest
  return {
    ...rest,
    rules: rules.map(({ pattern, ...rule }) => ({ ...rule, pattern: pattern.source, flags: pattern.flags })),
  }
}
