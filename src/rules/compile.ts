import { HarvestError } from '../errors/index.ts'
import { compare, holdsAt, identity, valueAt, type Values } from './atoms.ts'
import { columnOf } from './columns.ts'
import { type Core, looksAhead, lower } from './lower.ts'
import { Monitor } from './monitor.ts'
import { readRule } from './parse.ts'
import { textTest } from './patterns.ts'
import type { RunPosition } from './position.ts'
import { printRule } from './print.ts'
import type { Atom, BindingCondition, Expression, Measure, Pattern } from './types.ts'
import { atomsOf, type Binder, bindersOf, partsOf, variablesOf } from './variables.ts'

/** A rule ready to be held against runs. Make one with {@link compileRule}. */
export interface CompiledRule {
  /** The rule as it prints. */
  readonly text: string
  readonly expression: Expression
  /** Whether it can be asked of a run that goes on: it speaks of no later moment. */
  readonly isPast: boolean
  /** Whether it speaks of answers of models, of tokens or cost: bodies of model calls have to be read. */
  readonly readsModels: boolean
  /** What it measures. */
  readonly measures: readonly Measure[]
  /** Names of tools it speaks of, as globs. */
  readonly tools: readonly string[]
  /**
   * Whether it is about a whole run (`never …`, `… preceded by …`, `at most …`) and not about one moment.
   */
  readonly isAboutRuns: boolean
}

/** Values of one rule and run: more are not looked at. */
const maxBindings = 10_000

/**
 * Reads a rule and makes it ready.
 *
 * @throws HarvestError `HARVEST_RULE_SYNTAX` (place and what was expected there), `HARVEST_RULE_PATTERN`
 */
export function compileRule(rule: string | Expression): CompiledRule {
  const expression = typeof rule === 'string' ? readRule(rule) : rule
  const atoms = atomsOf(expression)
  // A pattern that cannot run is an error of the rule, not of the first run that has a text.
  for (const pattern of atoms.flatMap(patternsOf)) textTest(pattern)
  return {
    text: printRule(expression),
    expression,
    isPast: !looksAhead(lower(expression)),
    readsModels: atoms.some(readsModels),
    measures: atoms.flatMap((atom) => (atom.kind === 'measure' ? [atom.measure] : [])),
    tools: atoms.flatMap((atom) => (atom.kind === 'call' ? [atom.name] : [])),
    isAboutRuns: isAboutRuns(expression),
  }
}

/** What models decided has to be read for calls as well: tools that are not wrapped are known from there. */
function readsModels(atom: Atom): boolean {
  switch (atom.kind) {
    case 'call':
    case 'asks':
    case 'model':
      return true
    case 'measure':
      return atom.measure === 'tokens' || atom.measure === 'cost'
    default:
      return false
  }
}

function patternsOf(atom: Atom): readonly Pattern[] {
  const conditions = [
    ...('conditions' in atom ? atom.conditions : []),
    ...('returns' in atom ? (atom.returns ?? []) : []),
  ]
  const own = [...('says' in atom ? [atom.says] : []), ...('error' in atom ? [atom.error] : [])]
  return [...own, ...conditions.map((one) => ('pattern' in one ? one.pattern : undefined))].filter(
    (pattern) => pattern !== undefined,
  )
}

function isAboutRuns(expression: Expression): boolean {
  switch (expression.type) {
    case 'never':
    case 'always':
    case 'count':
    case 'preceded':
    case 'followed':
    case 'scope':
    case 'eventually':
      return true
    case 'not':
    case 'and':
    case 'or':
    case 'implies':
    case 'where':
      return partsOf(expression).some(isAboutRuns)
    default:
      return false
  }
}

/**
 * The positions of a finished run at which a rule holds, by index. With `$name` in it: for some value.
 */
export function positionsWhere(rule: CompiledRule, run: readonly RunPosition[]): readonly number[] {
  const { core, conditions, binders } = partsOfRule(rule)
  const found = new Set<number>()
  for (const values of bindings(binders, conditions, run))
    columnOf(core, run, values).forEach((holds, index) => {
      if (holds === 1) found.add(index)
    })
  return [...found].sort((a, b) => a - b)
}

/**
 * Whether a run is one that a rule speaks of: a rule about runs is true of it (with `$name`: for every value); a moment
 * happens in it. `and`, `or`, `not` and `implies` between moments are about the run: `refund() and not approve()` is a
 * run with a refund and without an approval. To join at one moment: `eventually (refund() and tokens > 5000)`.
 */
export function isTrueOfRun(rule: CompiledRule, run: readonly RunPosition[]): boolean {
  const { conditions, binders, expression } = partsOfRule(rule)
  const ask = (values: Values): boolean => isTrue(expression, run, values)
  const all = bindings(binders, conditions, run)
  return rule.isAboutRuns ? all.every(ask) : all.some(ask)
}

function isTrue(expression: Expression, run: readonly RunPosition[], values: Values): boolean {
  switch (expression.type) {
    case 'not':
      return !isTrue(expression.operand, run, values)
    case 'and':
      return isTrue(expression.left, run, values) && isTrue(expression.right, run, values)
    case 'or':
      return isTrue(expression.left, run, values) || isTrue(expression.right, run, values)
    case 'implies':
      return !isTrue(expression.left, run, values) || isTrue(expression.right, run, values)
    default: {
      const core = lower(expression)
      if (!isAboutRuns(expression)) return columnOf(core, run, values).includes(1)
      return run.length === 0 ? isTrueOfNothing(core) : columnOf(core, run, values)[0] === 1
    }
  }
}

/** In a run without a moment, everything is always so and nothing ever happens. */
function isTrueOfNothing(core: Core): boolean {
  switch (core.op) {
    case 'not':
      return !isTrueOfNothing(core.of)
    case 'and':
      return isTrueOfNothing(core.left) && isTrueOfNothing(core.right)
    case 'or':
      return isTrueOfNothing(core.left) || isTrueOfNothing(core.right)
    default:
      return core.op === 'always'
  }
}

/**
 * A rule over a run that goes on, position by position; with `$name`, for some value seen so far.
 *
 * @throws HarvestError `HARVEST_RULE_FUTURE` for a rule that speaks of later moments
 */
export class RuleMonitor {
  readonly #rule: ReturnType<typeof partsOfRule>
  readonly #seen: RunPosition[] = []
  readonly #monitors = new Map<string, Monitor>()

  constructor(rule: CompiledRule) {
    if (!rule.isPast)
      throw new HarvestError('HARVEST_RULE_FUTURE', {
        what: 'Cannot stop at a rule about later moments',
        where: { rule: rule.text },
        why: 'A stop is decided from what happened before its moment.',
        fix: ['use once, previously, since or historically in place of never, always, eventually, next and until'],
      })
    this.#rule = partsOfRule(rule)
    if (this.#rule.binders.length === 0) this.#monitors.set('', new Monitor(this.#rule.core, {}))
  }

  /** Takes the next position; whether the rule holds there. */
  step(position: RunPosition): boolean {
    const { core, binders, conditions } = this.#rule
    if (binders.length === 0) return this.#monitors.get('')!.step(position)
    for (const [key, values] of bindingsAt(binders, conditions, position)) {
      if (this.#monitors.has(key)) continue
      if (this.#monitors.size >= maxBindings) throw tooManyBindings(maxBindings)
      const monitor = new Monitor(core, values)
      // What came before the value was known counts: `once c()` may have been.
      for (const before of this.#seen) monitor.step(before)
      this.#monitors.set(key, monitor)
    }
    this.#seen.push(position)
    // Each one has to see it.
    return [...this.#monitors.values()].filter((monitor) => monitor.step(position)).length > 0
  }
}

interface RuleParts {
  readonly expression: Expression
  readonly core: Core
  readonly conditions: readonly BindingCondition[]
  readonly binders: readonly Binder[]
}

function partsOfRule({ expression }: CompiledRule): RuleParts {
  const conditions: BindingCondition[] = []
  let inner = expression
  while (inner.type === 'where') {
    conditions.push(...inner.conditions)
    inner = inner.operand
  }
  const variables = variablesOf(expression)
  const binders = variables.length === 0 ? [] : bindersOf(expression, variables.length)
  return { expression: inner, core: lower(inner), conditions, binders }
}

/** The values of a run that a rule is asked for; without `$name`, once. */
function bindings(
  binders: readonly Binder[],
  conditions: readonly BindingCondition[],
  run: readonly RunPosition[],
): readonly Values[] {
  if (binders.length === 0) return [{}]
  const found = new Map<string, Values>()
  for (const position of run)
    for (const [key, values] of bindingsAt(binders, conditions, position)) {
      if (!found.has(key)) found.set(key, values)
      if (found.size > maxBindings) throw tooManyBindings(maxBindings)
    }
  return [...found.values()]
}

/** What the calls at a position give: keys tell values apart as rules do. */
function bindingsAt(
  binders: readonly Binder[],
  conditions: readonly BindingCondition[],
  position: RunPosition,
): readonly (readonly [key: string, values: Values])[] {
  return binders.flatMap(({ atom, paths }) => {
    const values: Record<string, NonNullable<Values[string]>> = Object.create(null)
    for (const { variable, from, path } of paths) {
      const value = valueAt(position[from], path)
      if (value === undefined) return []
      values[variable] = value as never
    }
    const isMeant = conditions.every(({ variable, op, value }) =>
      compare(values[variable], op, 'variable' in value ? (values[value.variable] ?? null) : value.literal),
    )
    if (!isMeant || !holdsAt(atom, position, values)) return []
    const key = JSON.stringify(
      Object.keys(values)
        .sort()
        .map((name) => identity(values[name]!)),
    )
    return [[key, values] as const]
  })
}

function tooManyBindings(limit: number): HarvestError {
  return new HarvestError('HARVEST_RULE_BINDINGS', {
    what: 'Too many values match a variable of the rule',
    where: { limit: `${limit} values of $name` },
    fix: ['narrow the call that binds $name: refund(order_id=$id, amount > 100)'],
  })
}
