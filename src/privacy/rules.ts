import { HarvestError, neutralLine } from '../errors/index.ts'
import { headersFlag, redactorFlag, type RecordedRules, type TapeHeader } from '../tape/index.ts'
import { createRedactor, type Numbering, type Redactor } from './redactor.ts'
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

/** A redactor that does with live requests what the recorder of a tape did with its own. */
export function redactorOfTape(
  { redact, flags }: Pick<TapeHeader, 'redact' | 'flags'>,
  { keys = true, ...rest }: Numbering = {},
): Redactor {
  return createRedactor(rulesOfTape(redact), {
    ...rest,
    keys: flags.includes(headersFlag) && keys,
    version: flags.includes(redactorFlag) ? 2 : 1,
  })
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
        fix: ['the header was edited or damaged; to see by whom: git log -p -- <the tape>', 'or record the run again'],
      },
      { cause },
    )
  }
}
