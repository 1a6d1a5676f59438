import fc from 'fast-check'
import type { Atom, Condition, Expression, Operand, Pattern, Scalar, Window } from '../../src/rules/types.ts'

const optional = <Name extends string, Value>(name: Name, value: fc.Arbitrary<Value>) =>
  fc
    .option(value, { nil: undefined })
    .map((one) => (one === undefined ? {} : { [name]: one }) as { [N in Name]?: Value })

const names = fc.oneof(
  fc.constantFrom('refund', 'db.query', 'a-b', 'send_*', 'next', 'call', 'a b', '7up', '"', 'true', 'é', ''),
  fc.string(),
)
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.integer(),
  fc.constantFrom(true, false, null, 'true', 'null', 'ok', 'a*', 'DE', 'A-8220', '30s', '7', ''),
  fc.string({ unit: 'binary' }),
)
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const pattern: fc.Arbitrary<Pattern> = fc.oneof(
  fc.string().map((contained) => ({ contained })),
  fc.record({
    source: fc.constantFrom('vip', String.raw`^src\/`, String.raw`\b(drop|delete)\b`, 'a b', '"'),
    flags: fc.constantFrom('', 'i'),
  }),
)
const variable = fc.constantFrom('v', 'w').map((name) => ({ variable: name }))
const path = fc.array(fc.oneof(fc.constantFrom('amount', 'order_id', 'a.b', '0', 'in', 'b-c'), fc.string()), {
  minLength: 1,
  maxLength: 3,
})

function condition(operand: fc.Arbitrary<Operand>): fc.Arbitrary<Condition> {
  return fc.oneof(
    fc.record({ path, op: fc.constant('present') }),
    fc.record({ path, op: fc.constantFrom('=', '!='), value: operand }),
    fc.record({
      path,
      op: fc.constantFrom('<', '<=', '>', '>='),
      value: fc.oneof(
        number.map((literal) => ({ literal })),
        variable,
      ),
    }),
    fc.record({ path, op: fc.constant('~'), pattern }),
    fc.record({ path, op: fc.constant('in'), values: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  ) as fc.Arbitrary<Condition>
}

const conditions = fc.array(
  condition(
    fc.oneof(
      scalar.map((literal) => ({ literal })),
      variable,
    ),
  ),
  { maxLength: 3 },
)
const by = optional('by', names)
const phases = fc.oneof(
  fc.constant({}),
  fc.constantFrom('called', 'ok', 'answered').map((phase) => ({ phase })),
  conditions.map((returns) => ({ phase: 'ok', returns })),
  optional('error', pattern).map((error) => ({ phase: 'fails', ...error })),
)
const whole = fc.nat(1_000_000)
const comparison = fc.constantFrom('=', '!=', '<', '<=', '>', '>=')
const merged = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object)

/** Any atom the language can say. */
export const atom = fc.oneof(
  merged(fc.record({ kind: fc.constant('call'), name: names, conditions }), phases, by),
  fc.record({ kind: fc.constant('asks'), name: names, conditions }),
  merged(
    fc.constant({ kind: 'model' }),
    fc.oneof(
      fc.constant({}),
      optional('says', pattern),
      fc.constantFrom('called', 'ok', 'fails').map((phase) => ({ phase })),
    ),
    by,
  ),
  merged(fc.constant({ kind: 'message' }), optional('from', names), optional('to', names), optional('says', pattern)),
  fc.record({ kind: fc.constant('mark'), name: names, conditions }),
  fc.oneof(
    fc.constantFrom({ kind: 'end' }, { kind: 'end', phase: 'fails' }),
    conditions.map((returns) => ({ kind: 'end', phase: 'ok', returns })),
  ),
  fc.record({
    kind: fc.constant('measure'),
    measure: fc.constantFrom('tokens', 'cost', 'step'),
    op: comparison,
    value: number,
  }),
  fc.record({
    kind: fc.constant('measure'),
    measure: fc.constantFrom('elapsed', 'took'),
    op: comparison,
    value: whole,
  }),
  fc.record({ kind: fc.constant('agent'), op: fc.constantFrom('=', '!='), name: names }),
  fc.tuple(whole, whole).map(([first, last]) => ({ kind: 'at', first, last })),
) as fc.Arbitrary<Atom>

const window = optional(
  'within',
  fc.oneof(fc.record({ steps: fc.nat(99) }), fc.record({ ms: whole })) as fc.Arbitrary<Window>,
)

/** Any expression of these atoms. */
export function expressionOf(
  atoms: fc.Arbitrary<Atom>,
  windows: fc.Arbitrary<object> = window,
): fc.Arbitrary<Expression> {
  const { expression } = fc.letrec<{ expression: Expression }>((tie) => {
    const part = tie('expression')
    return {
      expression: fc.oneof(
        { maxDepth: 4, depthSize: 'medium' },
        atoms.map((one): Expression => ({ type: 'atom', atom: one })),
        fc.record({ type: fc.constantFrom('not', 'never', 'always', 'previously', 'next'), operand: part }),
        merged(fc.record({ type: fc.constantFrom('once', 'historically', 'eventually'), operand: part }), windows),
        fc.record({ type: fc.constantFrom('and', 'or', 'implies'), left: part, right: part }),
        merged(
          fc.record({ type: fc.constantFrom('since', 'until', 'preceded', 'followed'), left: part, right: part }),
          windows,
        ),
        merged(
          fc.record({
            type: fc.constant('count'),
            bound: fc.constantFrom('most', 'least', 'exactly'),
            count: fc.nat(3),
            operand: part,
          }),
          windows,
        ),
        fc.record({ type: fc.constant('scope'), scope: fc.constantFrom('before', 'after'), operand: part, from: part }),
        fc.record({
          type: fc.constant('scope'),
          scope: fc.constantFrom('between', 'after-until'),
          operand: part,
          from: part,
          to: part,
        }),
      ) as fc.Arbitrary<Expression>,
    }
  })
  return expression
}

/** Any rule: an expression, with or without `where`. */
export const rule: fc.Arbitrary<Expression> = fc.oneof(
  expressionOf(atom),
  fc.record({
    type: fc.constant('where'),
    operand: expressionOf(atom),
    conditions: fc.array(
      fc.record({
        variable: fc.constantFrom('v', 'w'),
        op: fc.constantFrom('=', '!='),
        value: fc.oneof(
          scalar.map((literal) => ({ literal })),
          variable,
        ),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }) as fc.Arbitrary<Expression>,
)
