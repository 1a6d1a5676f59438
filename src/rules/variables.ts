import type { Atom, Condition, Expression } from './types.ts'

/** Where an atom takes the value of `$name` from. */
export interface BindingPath {
  readonly variable: string
  readonly from: 'args' | 'result'
  readonly path: readonly string[]
}

/** An atom that gives values to variables. */
export interface Binder {
  readonly atom: Atom
  readonly paths: readonly BindingPath[]
}

/** The parts of an expression, from left to right. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case 'atom':
      return []
    case 'and':
    case 'or':
    case 'implies':
    case 'since':
    case 'until':
    case 'preceded':
    case 'followed':
      return [expression.left, expression.right]
    case 'scope':
      return 'to' in expression
        ? [expression.operand, expression.from, expression.to]
        : [expression.operand, expression.from]
    default:
      return [expression.operand]
  }
}

/** The atoms of an expression, from left to right. */
export function atomsOf(expression: Expression): readonly Atom[] {
  return expression.type === 'atom' ? [expression.atom] : partsOf(expression).flatMap(atomsOf)
}

/** Names of all `$name` of a rule, in the order they appear. */
export function variablesOf(expression: Expression): readonly string[] {
  const inAtoms = atomsOf(expression).flatMap((atom) =>
    conditionsOf(atom).flatMap(([, condition]) =>
      'value' in condition && 'variable' in condition.value ? [condition.value.variable] : [],
    ),
  )
  const inWhere =
    expression.type === 'where'
      ? expression.conditions.flatMap(({ variable, value }) => [
          variable,
          ...('variable' in value ? [value.variable] : []),
        ])
      : []
  return [...new Set([...inAtoms, ...inWhere])]
}

/** The atoms that bind all variables of a rule (or at least so many of them) with `=`. */
export function bindersOf(expression: Expression, atLeast = variablesOf(expression).length): readonly Binder[] {
  return atomsOf(expression).flatMap((atom) => {
    const paths = conditionsOf(atom).flatMap(([from, condition]): readonly BindingPath[] =>
      condition.op === '=' && 'variable' in condition.value
        ? [{ variable: condition.value.variable, from, path: condition.path }]
        : [],
    )
    const bound = new Set(paths.map(({ variable }) => variable))
    return bound.size > 0 && bound.size >= atLeast ? [{ atom, paths }] : []
  })
}

function conditionsOf(atom: Atom): readonly (readonly ['args' | 'result', Condition])[] {
  const args = 'conditions' in atom ? atom.conditions : []
  const result = 'returns' in atom ? (atom.returns ?? []) : []
  return [...args.map((one) => ['args', one] as const), ...result.map((one) => ['result', one] as const)]
}
