import { HarvestError } from '../errors/index.ts'
import { compileRule, type Expression, isTrueOfRun, positionsWhere, type RunPosition } from '../rules/index.ts'
import type { DebugStep } from './steps.ts'

/** A run that rules are held against. */
interface Run {
  readonly steps: readonly DebugStep[]
  readonly moments: readonly RunPosition[]
}

/**
 * The steps at which a rule holds: what is between two steps is at the later one, the end of the run at the last one. A rule
 * about a whole run is taken as where it is broken.
 *
 * @throws HarvestError `HARVEST_RULE_…`
 */
export function stepsWhere(rule: string, { steps, moments }: Run): readonly number[] {
  const compiled = compileRule(rule)
  const moment = compiled.isAboutRuns ? compileRule(brokenBy(compiled.expression)) : compiled
  const numbers = new Set<number>()
  for (const index of positionsWhere(moment, moments)) {
    const position = moments[index]
    if (position === undefined) continue
    const number = position.step ?? steps.find(({ event }) => event.n > position.n)?.number ?? steps.length
    if (number > 0) numbers.add(number)
  }
  return [...numbers].sort((a, b) => a - b)
}

/** A rule that a run breaks. */
export interface BrokenRule {
  readonly rule: string
  /** Number of the first step where it is broken; absent where that shows at the end of the run alone. */
  readonly step?: number
}

/** The rules of a case that a run breaks, in their order; one that is no rule says so in `unread`. */
export function brokenRules(
  rules: readonly string[],
  run: Run,
): { readonly broken: readonly BrokenRule[]; readonly unread: readonly string[] } {
  const broken: BrokenRule[] = []
  const unread: string[] = []
  for (const rule of rules) {
    try {
      if (isTrueOfRun(compileRule(rule), run.moments)) continue
      const [step] = stepsIfAny(rule, run)
      broken.push({ rule, ...(step === undefined ? {} : { step }) })
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      unread.push(rule)
    }
  }
  return { broken, unread }
}

function stepsIfAny(rule: string, run: Run): readonly number[] {
  try {
    return stepsWhere(rule, run)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_RULE_FUTURE')) return []
    throw error
  }
}

/** The moments at which a rule about a run is broken. */
function brokenBy(expression: Expression): Expression {
  switch (expression.type) {
    case 'where':
      return { ...expression, operand: brokenBy(expression.operand) }
    case 'never':
      return expression.operand
    case 'always':
      return { type: 'not', operand: expression.operand }
    case 'preceded': {
      const { left, right, within } = expression
      const once: Expression = { type: 'once', operand: done(right), ...(within === undefined ? {} : { within }) }
      return { type: 'and', left, right: { type: 'not', operand: once } }
    }
    default:
      throw new HarvestError('HARVEST_RULE_FUTURE', {
        what: 'Cannot stop at a rule about a whole run',
        why: 'It is decided only at the end of the run.',
        fix: ['stop at a call in it: break refund(amount > 100)'],
      })
  }
}

/** A call that says no phase has to be answered to have come before. */
function done(expression: Expression): Expression {
  if (expression.type === 'and' || expression.type === 'or')
    return { ...expression, left: done(expression.left), right: done(expression.right) }
  if (expression.type !== 'atom' || expression.atom.kind !== 'call' || expression.atom.phase !== undefined)
    return expression
  return { type: 'atom', atom: { ...expression.atom, phase: 'ok' } }
}
