import { createRequire } from 'node:module'
import { HarvestError } from '../errors/index.ts'
import { printPatternText } from './print.ts'
import type { Pattern } from './types.ts'

const require = createRequire(import.meta.url)
const tests = new Map<string, (text: string) => boolean>()

/**
 * Whether a text fits a pattern, in time that grows with the text alone: texts come from strangers, and `RegExp` takes
 * hours over some of them. The engine is loaded for the first pattern.
 *
 * @throws HarvestError `HARVEST_RULE_PATTERN` for what no such engine can do: lookaround and back references
 */
export function textTest(pattern: Pattern): (text: string) => boolean {
  if ('contained' in pattern) {
    const wanted = pattern.contained.toLowerCase()
    return (text) => text.toLowerCase().includes(wanted)
  }
  const key = printPatternText(pattern)
  const test = tests.get(key) ?? compile(pattern)
  tests.set(key, test)
  return test
}

function compile(pattern: Exclude<Pattern, { contained: string }>): (text: string) => boolean {
  const { RE2JS } = require('re2js') as typeof import('re2js')
  try {
    const compiled = RE2JS.compile(
      RE2JS.translateRegExp(pattern.source),
      pattern.flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0,
    )
    return (text) => compiled.matcher(text).find()
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_RULE_PATTERN',
      {
        what: 'Unsupported pattern in a rule',
        where: { pattern: printPatternText(pattern), reason: cause instanceof Error ? cause.message : String(cause) },
        why: 'Patterns run in linear time, which rules out lookaround and back references.',
        fix: ['write it without (?=…), (?!…), (?<=…) and \\1, or as two conditions joined by `and`'],
      },
      { cause },
    )
  }
}
