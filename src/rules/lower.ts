import type { Atom, Expression, Phase, Window } from './types.ts'

/** What all forms of a rule come down to: past operators, future operators, and a count. */
export type Core =
  | { readonly op: 'atom'; readonly atom: Atom }
  | { readonly op: 'not' | 'previous' | 'next' | 'always'; readonly of: Core }
  | { readonly op: 'once' | 'eventually'; readonly of: Core; readonly within?: Window }
  | { readonly op: 'and' | 'or'; readonly left: Core; readonly right: Core }
  | { readonly op: 'since' | 'until'; readonly left: Core; readonly right: Core; readonly within?: Window }
  /** At least so many in the window that ends here, or since the run began. */
  | { readonly op: 'count'; readonly of: Core; readonly count: number; readonly within?: Window }

/** @param scope - which positions count, for the operators of whole runs */
export function lower(expression: Expression, scope?: Core): Core {
  const inScope = (core: Core): Core => (scope === undefined ? core : and(scope, core))
  switch (expression.type) {
    case 'atom':
      return { op: 'atom', atom: expression.atom }
    case 'where':
      return lower(expression.operand, scope)
    case 'not':
      return not(lower(expression.operand))
    case 'and':
    case 'or':
      return { op: expression.type, left: lower(expression.left), right: lower(expression.right) }
    case 'implies':
      return implies(lower(expression.left), lower(expression.right))
    case 'never':
      return { op: 'always', of: not(inScope(lower(expression.operand))) }
    case 'always': {
      const of = lower(expression.operand)
      return { op: 'always', of: scope === undefined ? of : implies(scope, of) }
    }
    case 'eventually':
      return { op: 'eventually', of: inScope(lower(expression.operand)), ...window(expression) }
    case 'once':
      return { op: 'once', of: lower(expression.operand), ...window(expression) }
    case 'historically':
      return not({ op: 'once', of: not(lower(expression.operand)), ...window(expression) })
    case 'previously':
      return { op: 'previous', of: lower(expression.operand) }
    case 'next':
      return { op: 'next', of: lower(expression.operand) }
    case 'since':
    case 'until':
      return {
        op: expression.type,
        left: lower(expression.left),
        right: lower(expression.right),
        ...window(expression),
      }
    case 'preceded': {
      const before: Core = { op: 'once', of: lower(done(expression.right)), ...window(expression) }
      return { op: 'always', of: implies(inScope(lower(expression.left)), before) }
    }
    case 'followed': {
      const after: Core = { op: 'eventually', of: lower(done(expression.right)), ...window(expression) }
      return { op: 'always', of: implies(inScope(lower(done(expression.left))), after) }
    }
    case 'count':
      return lowerCount(expression, inScope(lower(expression.operand)))
    case 'scope':
      return lower(expression.operand, scopeOf(expression))
  }
}

function lowerCount({ bound, count, within }: Extract<Expression, { type: 'count' }>, of: Core): Core {
  const counted = (at: number): Core => ({ op: 'count', of, count: at, ...window({ within }) })
  const most: Core = { op: 'always', of: not(counted(count + 1)) }
  const least: Core = { op: 'eventually', of: counted(count) }
  return bound === 'most' ? most : bound === 'least' ? least : and(most, least)
}

function scopeOf(expression: Extract<Expression, { type: 'scope' }>): Core {
  const from = lower(done(expression.from))
  if (!('to' in expression))
    return expression.scope === 'before'
      ? not({ op: 'once', of: from })
      : { op: 'previous', of: { op: 'once', of: from } }
  const to = lower(done(expression.to))
  const isOpen: Core = { op: 'since', left: not(to), right: from }
  // `between` speaks of stretches that ended.
  return expression.scope === 'between' ? and(isOpen, { op: 'eventually', of: to }) : isOpen
}

/** The same with calls that say no phase taken when they are done: a lookup that only was asked for has found nothing. */
function done(expression: Expression): Expression {
  const phase: Phase = 'ok'
  if (expression.type === 'and' || expression.type === 'or')
    return { ...expression, left: done(expression.left), right: done(expression.right) }
  if (expression.type !== 'atom') return expression
  const { atom } = expression
  return atom.kind === 'call' && atom.phase === undefined ? { type: 'atom', atom: { ...atom, phase } } : expression
}

const not = (of: Core): Core => ({ op: 'not', of })
const and = (left: Core, right: Core): Core => ({ op: 'and', left, right })
const implies = (left: Core, right: Core): Core => ({ op: 'or', left: not(left), right })

function window({ within }: { readonly within?: Window | undefined }): { readonly within?: Window } {
  return within === undefined ? {} : { within }
}

/** Whether what it says of a moment depends on what comes later. */
export function looksAhead(core: Core): boolean {
  switch (core.op) {
    case 'atom':
      return false
    case 'next':
    case 'eventually':
    case 'always':
    case 'until':
      return true
    case 'and':
    case 'or':
    case 'since':
      return looksAhead(core.left) || looksAhead(core.right)
    default:
      return looksAhead(core.of)
  }
}
