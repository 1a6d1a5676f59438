import { HarvestError, neutral, page } from '../errors/index.ts'
import type { RuleProblem } from './types.ts'

/** The rule, a caret under the place, and what was expected there. */
export function describeProblem({ text, column, expected, got, hint }: RuleProblem): string {
  const line = neutral(text.replaceAll(/\s/g, ' '))
  const caret = ' '.repeat(neutral(text.slice(0, column).replaceAll(/\s/g, ' ')).length)
  const told = `${line}\n${caret}^ expected ${expected}, got ${neutral(got)}, near column ${column + 1}`
  return hint === undefined ? told : `${told}\n→ ${neutral(hint)}`
}

/** The error of a rule that stands in no file. */
export function ruleSyntaxError(problem: RuleProblem): HarvestError {
  return new HarvestError('HARVEST_RULE_SYNTAX', {
    what: 'Invalid rule',
    detail: describeProblem(problem),
    fix: [`the language of rules: ${page('rules')}`],
  })
}
