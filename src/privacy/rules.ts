import { HarvestError, neutralLine } from '../errors/index.ts'
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

/** The options a tape was recorded with. */
export function rulesOfTape(recorded: RecordedRules | undefined): RedactorOptions {
  const { rules, ...rest } = recorded ?? {}
  if (rules === undefined) return rest
  return { ...rest, rules: rules.map(({ flags, ...rule }) => ({ ...rule, pattern: patternOf(rule.pattern, flags) })) }
}

function patternOf(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_PRIVACY_OPTION',
      {
        what: 'The redaction options cannot be used',
        where: { pattern: neutralLine(pattern), of: 'the header of the tape' },
      },
      { cause },
    )
  }
}
