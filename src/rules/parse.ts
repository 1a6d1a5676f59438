import { RuleCursor, Unreadable } from './cursor.ts'
import { parseAtom } from './parse-atom.ts'
import { ruleSyntaxError } from './problem.ts'
import type { BindingCondition, Expression, RuleProblem } from './types.ts'
import { bindersOf, variablesOf } from './variables.ts'

/** How tight a word binds; printing reads it too. */
export const binding = {
  where: 1,
  scope: 5,
  pattern: 10,
  prefix: 15,
  implies: 20,
  or: 30,
  and: 40,
  since: 50,
  tight: 60,
  atom: 100,
} as const

const infix: Readonly<Record<string, number>> = {
  where: binding.where,
  before: binding.scope,
  after: binding.scope,
  between: binding.scope,
  preceded: binding.pattern,
  followed: binding.pattern,
  implies: binding.implies,
  or: binding.or,
  and: binding.and,
  since: binding.since,
  until: binding.since,
}

/** Reads a rule; any other text is a problem with its place. Never throws. */
export function parseRule(text: string): { readonly expression: Expression } | { readonly problem: RuleProblem } {
  try {
    const cursor = new RuleCursor(text)
    const expression = parseExpression(cursor, 0)
    if (cursor.token.kind !== 'end')
      cursor.fail('the end, or one of: and, or, preceded by, followed by, after, before, between, within, where')
    const problem = unboundProblem(text, expression)
    return problem === undefined ? { expression } : { problem }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { problem: error.problem }
  }
}

/**
 * Reads a rule that stands in no file.
 *
 * @throws HarvestError `HARVEST_RULE_SYNTAX` with the place and what was expected there
 */
export function readRule(text: string): Expression {
  const parsed = parseRule(text)
  if ('problem' in parsed) throw ruleSyntaxError(parsed.problem)
  return parsed.expression
}

/** A pattern of operators by precedence: V. R. Pratt, Top down operator precedence (1973). */
function parseExpression(cursor: RuleCursor, above: number): Expression {
  cursor.part()
  let left = parsePrefix(cursor)
  for (;;) {
    const { kind, text } = cursor.token
    const power = kind === 'word' ? infix[text] : undefined
    if (power === undefined || power <= above) return left
    cursor.part()
    cursor.skip()
    left = parseInfix(cursor, left, text, power)
  }
}

function parseInfix(cursor: RuleCursor, left: Expression, word: string, power: number): Expression {
  switch (word) {
    case 'where':
      return { type: 'where', operand: left, conditions: parseWhere(cursor) }
    case 'preceded':
    case 'followed':
      cursor.need('by', `'by' after '${word}'`)
      return { type: word, left, right: parseExpression(cursor, power), ...window(cursor) }
    case 'since':
    case 'until':
      return { type: word, left, right: parseExpression(cursor, power), ...window(cursor) }
    case 'before':
      return { type: 'scope', scope: 'before', operand: left, from: parseExpression(cursor, power) }
    case 'after': {
      const from = parseExpression(cursor, binding.since)
      if (!cursor.take('until')) return { type: 'scope', scope: 'after', operand: left, from }
      return { type: 'scope', scope: 'after-until', operand: left, from, to: parseExpression(cursor, binding.since) }
    }
    case 'between': {
      // Tighter than `and`, which stands between the two ends.
      const from = parseExpression(cursor, binding.and)
      cursor.need('and', "'and' with the other end")
      return { type: 'scope', scope: 'between', operand: left, from, to: parseExpression(cursor, binding.and) }
    }
    case 'implies':
      // To the right: `a implies b implies c` is `a implies (b implies c)`.
      return { type: 'implies', left, right: parseExpression(cursor, power - 1) }
    default:
      return { type: word as 'and' | 'or', left, right: parseExpression(cursor, power) }
  }
}

function parsePrefix(cursor: RuleCursor): Expression {
  const { kind, text } = cursor.token
  if (cursor.take('(')) {
    const expression = parseExpression(cursor, binding.where)
    if (cursor.is('where')) cursor.fail("')': 'where' stands at the end of the whole rule")
    cursor.need(')')
    return expression
  }
  if (kind !== 'word') return { type: 'atom', atom: parseAtom(cursor) }
  switch (text) {
    case 'never':
    case 'always':
      cursor.skip()
      return { type: text, operand: parseExpression(cursor, binding.prefix) }
    case 'not':
      cursor.skip()
      return { type: 'not', operand: parseTight(cursor) }
    case 'once':
    case 'historically':
    case 'previously':
    case 'eventually':
    case 'next': {
      cursor.skip()
      const operand = parseTight(cursor)
      // One moment back or on has no room for a window.
      return { type: text, operand, ...(text === 'previously' || text === 'next' ? {} : window(cursor)) }
    }
    case 'at': {
      cursor.skip()
      const bound = cursor.take('most') ? 'most' : cursor.take('least') ? 'least' : cursor.fail("'most' or 'least'")
      return parseCount(cursor, bound)
    }
    case 'exactly':
      cursor.skip()
      return parseCount(cursor, 'exactly')
    default:
      return { type: 'atom', atom: parseAtom(cursor) }
  }
}

function parseTight(cursor: RuleCursor): Expression {
  return parseExpression(cursor, binding.tight)
}

function parseCount(cursor: RuleCursor, bound: 'most' | 'least' | 'exactly'): Expression {
  const count = cursor.count('a number')
  return { type: 'count', bound, count, operand: parseExpression(cursor, binding.prefix), ...window(cursor) }
}

function window(cursor: RuleCursor): Pick<Extract<Expression, { type: 'count' }>, 'within'> {
  const within = cursor.window()
  return within === undefined ? {} : { within }
}

function parseWhere(cursor: RuleCursor): readonly BindingCondition[] {
  const conditions: BindingCondition[] = []
  do {
    if (cursor.token.kind !== 'variable') cursor.fail('$name of a value bound in the rule')
    const variable = cursor.skip().text.slice(1)
    const op = cursor.comparison()
    conditions.push({ variable, op, value: cursor.operand(op) })
  } while (cursor.take('and'))
  return conditions
}

/** A value that nothing gives would make a rule true by accident: one call has to bind all of them with `=`. */
function unboundProblem(text: string, expression: Expression): RuleProblem | undefined {
  const variables = variablesOf(expression)
  if (variables.length === 0 || bindersOf(expression).length > 0) return undefined
  const bound = new Set(bindersOf(expression, 1).flatMap(({ paths }) => paths.map(({ variable }) => variable)))
  const name = variables.find((variable) => !bound.has(variable)) ?? variables.at(-1)!
  const all = variables.map((variable) => `$${variable}`).join(', ')
  return {
    text,
    column: Math.max(0, text.indexOf(`$${name}`)),
    expected: variables.length === 1 ? `a call with =$${name}` : `one call with = for each of ${all}`,
    got: 'none',
    hint: `$name stands for every value that one call gives with '=': refund(order_id=$${name})`,
  }
}
