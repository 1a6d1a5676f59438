import type { RuleCursor } from './cursor.ts'
import type { Atom, CallAtom, Condition, Measure, Phase } from './types.ts'

/** Reads what is true at one moment: a call, an answer of a model, a message, a mark, a measure, the end. */
export function parseAtom(cursor: RuleCursor): Atom {
  const { token } = cursor
  if (token.kind === 'name' || token.kind === 'text') return withSuffixes(cursor, parseCall(cursor))
  if (cursor.take('call'))
    return withSuffixes(cursor, { kind: 'call', name: '*', conditions: cursor.is('(') ? parseConditions(cursor) : [] })
  if (cursor.take('model')) return parseModel(cursor)
  if (cursor.take('message')) return parseMessage(cursor)
  if (cursor.take('mark'))
    return {
      kind: 'mark',
      name: cursor.name('the name of a mark'),
      conditions: cursor.is('(') ? parseConditions(cursor) : [],
    }
  if (cursor.take('run')) return parseEnd(cursor)
  if (cursor.take('agent')) {
    const op = cursor.comparison()
    if (op !== '=' && op !== '!=') cursor.fail("'=' or '!=' behind 'agent'")
    return { kind: 'agent', op, name: cursor.name('the name of an agent') }
  }
  if (cursor.take('@')) {
    const first = cursor.count('the number of a step')
    return { kind: 'at', first, last: cursor.take('..') ? cursor.count('the number of the last step') : first }
  }
  if (token.kind === 'word' && isMeasure(token.text)) return parseMeasure(cursor, token.text)
  return cursor.fail('a call such as refund(…), or one of: never, always, at most, model says, not, once, (')
}

function isMeasure(word: string): word is Measure {
  return ['tokens', 'cost', 'elapsed', 'took', 'step'].includes(word)
}

function parseMeasure(cursor: RuleCursor, measure: Measure): Atom {
  cursor.skip()
  const op = cursor.comparison()
  if (measure === 'elapsed' || measure === 'took')
    return { kind: 'measure', measure, op, value: cursor.duration('a time such as 30s or 500ms') }
  const { token } = cursor
  const value = cursor.scalar()
  if (typeof value !== 'number' || token.kind !== 'number') cursor.fail('a number', { token })
  return { kind: 'measure', measure, op, value }
}

function parseCall(cursor: RuleCursor): CallAtom {
  const { token, next } = cursor
  // Of a word that is no call, the word is what is wrong when a keyword looks like it.
  if (next.kind !== 'sign' || next.text !== '(') failAsCall(cursor)
  return { kind: 'call', name: cursor.name('the name of a tool'), conditions: parseConditions(cursor) }

  function failAsCall(at: RuleCursor): never {
    const expected = `'(' after the name of a tool: ${token.text}() for any call of it`
    try {
      return at.fail(expected)
    } catch (error) {
      if ((error as { problem?: { hint?: string } }).problem?.hint !== undefined) throw error
      at.skip()
      return at.fail(expected)
    }
  }
}

function withSuffixes(cursor: RuleCursor, call: CallAtom): CallAtom {
  let atom = call
  for (;;) {
    const before = cursor.token
    const phase = takePhase(cursor)
    if (phase !== undefined && atom.phase !== undefined)
      cursor.fail('one of ok, fails, answered, called, returns', { token: before })
    if (phase !== undefined) atom = { ...atom, ...phase }
    else if (!cursor.take('by')) return atom
    else atom = { ...atom, by: cursor.name('the name of an agent') }
  }
}

function takePhase(cursor: RuleCursor): Pick<CallAtom, 'phase' | 'returns' | 'error'> | undefined {
  if (cursor.take('returns')) return { phase: 'ok', returns: parseConditions(cursor) }
  if (cursor.take('fails')) return { phase: 'fails', ...(cursor.take('with') ? { error: cursor.pattern() } : {}) }
  for (const phase of ['ok', 'answered', 'called'] satisfies Phase[]) if (cursor.take(phase)) return { phase }
  return undefined
}

function parseModel(cursor: RuleCursor): Atom {
  if (cursor.take('says')) return { kind: 'model', says: cursor.pattern(), ...by(cursor) }
  if (cursor.take('asks')) {
    const { name, conditions } = cursor.take('call')
      ? { name: '*', conditions: cursor.is('(') ? parseConditions(cursor) : [] }
      : parseCall(cursor)
    return { kind: 'asks', name, conditions }
  }
  for (const phase of ['called', 'ok', 'fails', 'answered'] satisfies Phase[])
    if (cursor.take(phase)) return { kind: 'model', phase, ...by(cursor) }
  return { kind: 'model', ...by(cursor) }
}

function by(cursor: RuleCursor): { readonly by?: string } {
  return cursor.take('by') ? { by: cursor.name('the name of an agent') } : {}
}

function parseMessage(cursor: RuleCursor): Atom {
  const from = cursor.take('from') ? { from: cursor.name('the name of an agent') } : {}
  const to = cursor.take('to') ? { to: cursor.name('the name of an agent') } : {}
  const says = cursor.take('says') ? { says: cursor.pattern() } : {}
  return { kind: 'message', ...from, ...to, ...says }
}

function parseEnd(cursor: RuleCursor): Atom {
  if (cursor.take('ends')) return { kind: 'end' }
  if (cursor.take('fails')) return { kind: 'end', phase: 'fails' }
  if (cursor.take('returns')) return { kind: 'end', phase: 'ok', returns: parseConditions(cursor) }
  return cursor.fail("'ends', 'fails' or 'returns (…)'")
}

/** `(order_id=$id, amount > 500, note ~ /vip/i, country in [DE, AT], dry_run)`; `()` and `(*)` are any. */
function parseConditions(cursor: RuleCursor): readonly Condition[] {
  cursor.need('(')
  if (cursor.take(')')) return []
  if (cursor.take('*')) {
    cursor.need(')', "')': '*' stands alone")
    return []
  }
  const conditions: Condition[] = []
  do conditions.push(parseCondition(cursor))
  while (cursor.take(','))
  cursor.need(')', "',' or ')'")
  return conditions
}

function parseCondition(cursor: RuleCursor): Condition {
  const path = cursor.path()
  // As a line of a baseline writes it.
  if (cursor.take(':')) return { path, op: '=', value: cursor.operand('=') }
  if (cursor.take('~')) return { path, op: '~', pattern: cursor.pattern() }
  if (cursor.take('in')) {
    cursor.need('[')
    const values = [cursor.scalar()]
    while (cursor.take(',')) values.push(cursor.scalar())
    cursor.need(']', "',' or ']'")
    return { path, op: 'in', values }
  }
  if (!cursor.atComparison()) return { path, op: 'present' }
  const op = cursor.comparison()
  return { path, op, value: cursor.operand(op) }
}
