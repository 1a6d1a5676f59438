import type { RecordedRules } from './types.ts'

/** More than any application has; a tape from elsewhere must not make every text pay for a thousand rules. */
const rulesMost = 64
const patternLongest = 2048
const namesMost = 4096
const nameLongest = 1024

/**
 * Which bound the redaction options of a tape, or of a recorder, are beyond, as `redact.rules has more than 64 items`; `undefined`
 * when they are within all.
 */
export function beyondBounds({ rules = [], names = {}, families = [], ...lists }: RecordedRules): string | undefined {
  if (rules.length > rulesMost) return `redact.rules has more than ${rulesMost} items`
  for (const [at, { pattern, kind, placeholder = '' }] of rules.entries()) {
    if (pattern.length > patternLongest) return `redact.rules[${at}].pattern has more than ${patternLongest} characters`
    if (kind.length + placeholder.length > nameLongest)
      return `redact.rules[${at}] has more than ${nameLongest} characters`
  }
  const heads = families.map(({ head }) => head)
  const named = Object.entries(names).map(([name, list]) => [`names.${name}`, list] as const)
  for (const [name, list] of [...Object.entries(lists), ...named, ['families', heads] as const]) {
    // Unknown members are let through.
    if (!Array.isArray(list)) continue
    if (list.length > namesMost) return `redact.${name} has more than ${namesMost} items`
    const long = list.findIndex((item) => typeof item === 'string' && item.length > nameLongest)
    if (long !== -1) return `redact.${name}[${long}] has more than ${nameLongest} characters`
  }
  return undefined
}
