import type { Atom, Condition, Expression, RuleComparison, Window } from './types.ts'
import { partsOf } from './variables.ts'

/** What a changed rule is to the runs it judges: more of them are refused, more of them pass, or that cannot be said. */
export type RuleChange = 'same' | 'stricter' | 'weaker' | 'other'

/** Compares two rules that differ in numbers alone; all other differences are `other`. */
export function compareRules(before: Expression, after: Expression): RuleChange {
  const found = new Set(changesIn(before, after, 1))
  if (found.size === 0) return 'same'
  const [only = 'other'] = found
  return found.size === 1 ? only : 'other'
}

/** 1: the part holding more often makes more runs pass; -1: fewer. */
type Sense = 1 | -1
type Change = Exclude<RuleChange, 'same'>

function changesIn(before: Expression, after: Expression, sense: Sense): readonly Change[] {
  if (before.type !== after.type) return ['other']
  if (before.type === 'atom' && after.type === 'atom') return atomChanges(before.atom, after.atom, sense)
  if (before.type === 'where' && after.type === 'where' && !isSame(before.conditions, after.conditions))
    return ['other']
  if (before.type === 'scope' && after.type === 'scope') {
    const [, ...ends] = partsOf(before)
    const [, ...endsAfter] = partsOf(after)
    if (before.scope !== after.scope || !isSame(ends, endsAfter)) return ['other']
    return changesIn(before.operand, after.operand, sense)
  }
  const senses = sensesOf(before, sense)
  const parts = partsOf(before)
  const others = partsOf(after)
  const inside = parts.flatMap((part, at) => changesIn(part, others[at]!, senses[at]!))
  return [...inside, ...countChanges(before, after, sense), ...windowChanges(before, after, sense)]
}

function sensesOf(expression: Expression, sense: Sense): readonly Sense[] {
  const against: Sense = sense === 1 ? -1 : 1
  switch (expression.type) {
    case 'not':
    case 'never':
      return [against]
    case 'implies':
    case 'preceded':
    case 'followed':
      return [against, sense]
    case 'count':
      return [expression.bound === 'most' ? against : sense]
    default:
      return [sense, sense, sense]
  }
}

function countChanges(before: Expression, after: Expression, sense: Sense): readonly Change[] {
  if (before.type !== 'count' || after.type !== 'count') return []
  if (before.bound !== after.bound) return ['other']
  if (before.count === after.count) return []
  if (before.bound === 'exactly') return ['other']
  const holdsMore = after.count > before.count === (before.bound === 'most')
  return [changeOf(holdsMore, sense)]
}

function windowChanges(before: Expression, after: Expression, sense: Sense): readonly Change[] {
  const [one, other] = [windowOf(before), windowOf(after)]
  if (isSame(one, other)) return []
  if (before.type === 'since' || before.type === 'until') return ['other']
  if (before.type === 'count' && before.bound === 'exactly') return ['other']
  const [was, is] = [lengthOf(one), lengthOf(other)]
  if (one !== undefined && other !== undefined && 'steps' in one !== 'steps' in other) return ['other']
  // A longer window finds more; what must not be found, or must be so all the time, holds less often.
  const findsMore = is > was
  const isAgainst = before.type === 'historically' || (before.type === 'count' && before.bound === 'most')
  return [changeOf(findsMore !== isAgainst, sense)]
}

function windowOf(expression: Expression): Window | undefined {
  return 'within' in expression ? expression.within : undefined
}

function lengthOf(window: Window | undefined): number {
  return window === undefined ? Infinity : 'steps' in window ? window.steps : window.ms
}

function atomChanges(before: Atom, after: Atom, sense: Sense): readonly Change[] {
  if (isSame(before, after)) return []
  if (before.kind === 'measure' && after.kind === 'measure' && isSame({ ...before, value: 0 }, { ...after, value: 0 }))
    return numberChange(before.op, before.value, after.value, sense)
  const [one, other] = [conditionsOf(before), conditionsOf(after)]
  if (one.length !== other.length || !isSame(bare(before), bare(after))) return ['other']
  return one.flatMap((condition, at) => conditionChange(condition, other[at]!, sense))
}

function conditionChange(before: Condition, after: Condition, sense: Sense): readonly Change[] {
  if (isSame(before, after)) return []
  if (!('value' in before && 'value' in after) || before.op !== after.op || !isSame(before.path, after.path))
    return ['other']
  if (!('literal' in before.value && 'literal' in after.value)) return ['other']
  const [was, is] = [before.value.literal, after.value.literal]
  return typeof was === 'number' && typeof is === 'number' ? numberChange(before.op, was, is, sense) : ['other']
}

function numberChange(op: RuleComparison, was: number, is: number, sense: Sense): readonly Change[] {
  if (op === '=' || op === '!=') return ['other']
  return [changeOf((op === '<' || op === '<=') === is > was, sense)]
}

function changeOf(holdsMore: boolean, sense: Sense): Change {
  return holdsMore === (sense === 1) ? 'weaker' : 'stricter'
}

function conditionsOf(atom: Atom): readonly Condition[] {
  return [...('conditions' in atom ? atom.conditions : []), ...('returns' in atom ? (atom.returns ?? []) : [])]
}

function bare(atom: Atom): object {
  return { ...atom, conditions: [], ...('returns' in atom ? { returns: atom.returns?.length } : {}) }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
