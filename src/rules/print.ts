import { plainName, words } from './lexer.ts'
import { binding } from './parse.ts'
import type { Atom, Condition, Expression, Operand, Pattern, Scalar, Window } from './types.ts'

/** A rule as text that reads back as the same rule. */
export function printRule(expression: Expression): string {
  switch (expression.type) {
    case 'atom':
      return printAtom(expression.atom)
    case 'never':
    case 'always':
      return `${expression.type} ${operand(expression.operand, binding.prefix + 1)}`
    case 'not':
      return `not ${operand(expression.operand, binding.tight)}`
    case 'once':
    case 'historically':
    case 'previously':
    case 'eventually':
    case 'next':
      return `${expression.type} ${last(expression, expression.operand, binding.tight)}`
    case 'and':
    case 'or':
      return infix(expression.type, expression, binding[expression.type])
    case 'implies':
      return `${operand(expression.left, binding.implies + 1)} implies ${operand(expression.right, binding.implies)}`
    case 'since':
    case 'until':
      return infix(expression.type, expression, binding.since)
    case 'preceded':
    case 'followed':
      return infix(`${expression.type} by`, expression, binding.pattern)
    case 'count': {
      const bound = expression.bound === 'exactly' ? 'exactly' : `at ${expression.bound}`
      return `${bound} ${expression.count} ${last(expression, expression.operand, binding.prefix + 1)}`
    }
    case 'scope':
      return printScope(expression)
    case 'where':
      return `${operand(expression.operand, binding.where)} where ${expression.conditions
        .map(({ variable, op, value }) => `$${variable} ${op} ${printOperand(value)}`)
        .join(' and ')}`
  }
}

function bindingOf(expression: Expression): number {
  switch (expression.type) {
    case 'where':
    case 'scope':
    case 'implies':
    case 'or':
    case 'and':
    case 'atom':
      return binding[expression.type]
    case 'preceded':
    case 'followed':
      return binding.pattern
    case 'never':
    case 'always':
    case 'count':
      return binding.prefix
    case 'since':
    case 'until':
      return binding.since
    default:
      return binding.tight
  }
}

function operand(expression: Expression, atLeast: number): string {
  const text = printRule(expression)
  return bindingOf(expression) >= atLeast ? text : `(${text})`
}

interface Windowed {
  readonly within?: Window
}

/** The last operand and the window behind it, which must not be taken for one of the operand. */
function last({ within }: Windowed, expression: Expression, atLeast: number): string {
  if (within === undefined) return operand(expression, atLeast)
  return `${operand(expression, binding.atom)} within ${printWindow(within)}`
}

function infix(
  word: string,
  expression: Windowed & { readonly left: Expression; readonly right: Expression },
  power: number,
): string {
  return `${operand(expression.left, power)} ${word} ${last(expression, expression.right, power + 1)}`
}

function printScope(expression: Extract<Expression, { type: 'scope' }>): string {
  const inner = operand(expression.operand, binding.scope)
  const end = (one: Expression): string => operand(one, binding.since + 1)
  switch (expression.scope) {
    case 'before':
      return `${inner} before ${operand(expression.from, binding.scope + 1)}`
    case 'after':
      return `${inner} after ${end(expression.from)}`
    case 'after-until':
      return `${inner} after ${end(expression.from)} until ${end(expression.to)}`
    case 'between':
      return `${inner} between ${end(expression.from)} and ${end(expression.to)}`
  }
}

function printWindow(within: Window): string {
  return 'steps' in within ? `${within.steps} steps` : printDuration(within.ms)
}

function printDuration(ms: number): string {
  for (const [unit, length] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const)
    if (ms > 0 && ms % length === 0) return `${ms / length}${unit}`
  return `${ms}ms`
}

/** An atom as text, such as `refund(amount > 100) fails with /timeout/`. */
function printAtom(atom: Atom): string {
  switch (atom.kind) {
    case 'call':
      return [printCall(atom), ...printPhase(atom), ...printBy(atom)].join(' ')
    case 'asks':
      return `model asks ${printCall(atom)}`
    case 'model':
      return [
        'model',
        ...(atom.says === undefined ? [] : ['says', printPatternText(atom.says)]),
        ...(atom.phase === undefined ? [] : [atom.phase]),
        ...printBy(atom),
      ].join(' ')
    case 'message':
      return [
        'message',
        ...(atom.from === undefined ? [] : ['from', name(atom.from)]),
        ...(atom.to === undefined ? [] : ['to', name(atom.to)]),
        ...(atom.says === undefined ? [] : ['says', printPatternText(atom.says)]),
      ].join(' ')
    case 'mark':
      return `mark ${name(atom.name)}${atom.conditions.length === 0 ? '' : printConditions(atom.conditions)}`
    case 'end':
      if (atom.returns !== undefined) return `run returns ${printConditions(atom.returns)}`
      return atom.phase === 'fails' ? 'run fails' : 'run ends'
    case 'measure': {
      const isTime = atom.measure === 'elapsed' || atom.measure === 'took'
      return `${atom.measure} ${atom.op} ${isTime ? printDuration(atom.value) : atom.value}`
    }
    case 'agent':
      return `agent ${atom.op} ${name(atom.name)}`
    case 'at':
      return atom.first === atom.last ? `@${atom.first}` : `@${atom.first}..${atom.last}`
  }
}

function printCall(atom: { readonly name: string; readonly conditions: readonly Condition[] }): string {
  return `${atom.name === '*' ? 'call' : name(atom.name)}${printConditions(atom.conditions)}`
}

function printPhase({ phase, returns, error }: Extract<Atom, { kind: 'call' }>): readonly string[] {
  if (returns !== undefined) return ['returns', printConditions(returns)]
  if (error !== undefined) return ['fails with', printPatternText(error)]
  return phase === undefined ? [] : [phase]
}

function printBy({ by }: { readonly by?: string }): readonly string[] {
  return by === undefined ? [] : ['by', name(by)]
}

function printConditions(conditions: readonly Condition[]): string {
  return `(${conditions.map(printCondition).join(', ')})`
}

function printCondition(condition: Condition): string {
  const path = printPath(condition.path)
  switch (condition.op) {
    case 'present':
      return path
    case '~':
      return `${path} ~ ${printPatternText(condition.pattern)}`
    case 'in':
      return `${path} in [${condition.values.map(printScalar).join(', ')}]`
    case '=':
      return `${path}=${printOperand(condition.value)}`
    default:
      return `${path} ${condition.op} ${printOperand(condition.value)}`
  }
}

function printPath(path: readonly string[]): string {
  const isPlain = (part: string): boolean => /^[A-Za-z_]\w*(?:-\w+)*$/.test(part)
  const isPlace = (part: string): boolean => /^(?:0|[1-9]\d*)$/.test(part)
  // A place in a list is a part of a plain name; where a name cannot begin so, the parts stand apart.
  if (isPlain(path[0] ?? '') && path.every((part) => isPlain(part) || isPlace(part))) return path.join('.')
  return path.map((part) => (isPlain(part) || isPlace(part) ? part : JSON.stringify(part))).join(' . ')
}

function printOperand(value: Operand): string {
  return 'variable' in value ? `$${value.variable}` : printScalar(value.literal)
}

function printScalar(value: Scalar): string {
  if (typeof value !== 'string') return String(value)
  const isWord = plainName.test(value) && !value.includes('*') && !['true', 'false', 'null'].includes(value)
  return isWord ? value : JSON.stringify(value)
}

/** A pattern as it is written in a rule. */
export function printPatternText(pattern: Pattern): string {
  return 'contained' in pattern ? JSON.stringify(pattern.contained) : `/${pattern.source}/${pattern.flags}`
}

function name(text: string): string {
  return plainName.test(text) && !words.includes(text) ? text : JSON.stringify(text)
}
