import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { compileRule, isTrueOfRun, type RunPosition, positionsWhere, RuleMonitor } from '../../src/rules/index.ts'
import { isNamed } from '../../src/rules/atoms.ts'
import { runOf } from './runs.ts'

const refund = { kind: 'call', step: 1, name: 'refund', agent: 'billing' } as const
const args = {
  order_id: 'A-8220',
  amount: 150,
  note: 'VIP customer',
  items: [{ sku: 'x1' }],
  country: 'DE',
  cents: '15000',
}
const run = runOf([
  { kind: 'model', phase: 'called', step: 1 },
  { kind: 'model', phase: 'ok', step: 1, text: 'I will refund 150.', tokens: { known: 900, isWhole: true } },
  { kind: 'asks', name: 'refund', args, step: 1 },
  { ...refund, phase: 'called', args, step: 2 },
  { ...refund, phase: 'ok', args, step: 2, result: { status: 'done', total: 209 }, tookMs: 40_000 },
  { kind: 'call', name: 'lookup', phase: 'called', args: [7], step: 3 },
  { kind: 'call', name: 'lookup', phase: 'fails', args: [7], error: 'Error: timeout after 5 s', step: 3 },
  { kind: 'mark', name: 'planned', args: { budget: 6 } },
  { kind: 'message', from: 'lead', to: 'editor', text: '{"veto":true}' },
  {
    kind: 'end',
    phase: 'ok',
    result: { refunded: 150 },
    tokens: { known: 900, isWhole: false },
    cost: { known: 0, isWhole: false },
  },
])

describe('an atom', () => {
  it.each([
    ['refund()', [3]],
    ['refund(amount > 100)', [3]],
    ['refund(amount > 150)', []],
    ['refund(amount >= 150, amount <= 150)', [3]],
    ['refund(amount="150")', [3]],
    ['refund(amount != 150)', []],
    ['refund(cents > 9000)', [3]],
    ['refund(note > 1)', []],
    ['refund(missing != 1)', []],
    ['refund(note ~ /vip/i)', [3]],
    ['refund(note ~ /vip/)', []],
    ['refund(note ~ "vip CUST")', [3]],
    ['refund(items.0.sku=x1)', [3]],
    ['refund(items.length)', []],
    ['refund(constructor)', []],
    ['refund(country in [AT, DE])', [3]],
    ['refund(country in [AT])', []],
    ['refund(items)', [3]],
    ['refund() ok', [4]],
    ['refund() answered', [4]],
    ['refund() returns (status=done, total >= 200)', [4]],
    ['refund() returns (total > 209)', []],
    ['refund() by billing', [3]],
    ['refund() by sales', []],
    ['re*d() or lookup(0=7)', [3, 5]],
    ['lookup() fails', [6]],
    ['lookup() fails with "TIMEOUT"', [6]],
    ['lookup() fails with /refused/', []],
    ['call() called', [3, 5]],
    ['model', [0]],
    ['model ok', [1]],
    ['model says /refund \\d+/', [1]],
    ['model asks refund(amount > 100)', [2]],
    ['mark planned(budget > 5)', [7]],
    ['message from lead to editor says /veto/', [8]],
    ['message to lead', []],
    ['run ends', [9]],
    ['run returns (refunded=150)', [9]],
    ['run fails', []],
    ['@2', [3, 4]],
    ['@1..2 and call() answered', [4]],
    ['took > 30s', [4]],
    ['elapsed >= 90ms', [9]],
    ['agent = billing', [3, 4]],
    // What is not known of a sum makes it larger, never smaller.
    ['run ends and tokens >= 900', [9]],
    ['run ends and tokens < 5000', []],
    ['model ok and tokens < 5000', [1]],
  ])('%s holds at %j', (text, positions) => {
    expect(positionsWhere(compileRule(text), run)).toEqual(positions)
  })

  it.each([
    ['db.*', 'db.query', true],
    ['db.*', 'db', false],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a.c', 'abc', false],
  ])('%s names %s: %s', (glob, name, isFit) => {
    expect(isNamed(glob, name)).toBe(isFit)
  })
})

describe('a rule', () => {
  it.each([
    ['refund() and lookup()', true],
    ['refund() and approve()', false],
    ['refund() and not approve()', true],
    ['not refund()', false],
    ['never approve()', true],
    ['refund() preceded by lookup()', false],
    ['eventually (refund() and agent = billing)', true],
    ['eventually (refund() and lookup())', false],
    ['always tokens < 5000', false],
  ])('%s is true of the run: %s', (text, isTrue) => {
    expect(isTrueOfRun(compileRule(text), run)).toBe(isTrue)
  })

  it.each([
    ['never refund()', true],
    ['at least 1 refund()', false],
    ['eventually refund()', false],
    ['refund()', false],
    ['not refund()', true],
    ['refund() preceded by lookup()', true],
  ])('%s is true of a run without a moment: %s', (text, isTrue) => {
    expect(isTrueOfRun(compileRule(text), [])).toBe(isTrue)
  })

  it('calls asked for together are not one before the other', () => {
    const both = (second: RunPosition['phase']): readonly RunPosition[] =>
      runOf([
        { kind: 'call', name: 'lookup', phase: 'called' },
        { kind: 'call', name: 'lookup', phase: second! },
        { kind: 'call', name: 'refund', phase: 'called' },
      ])
    const rule = compileRule('refund() preceded by lookup()')
    expect(isTrueOfRun(rule, both('ok'))).toBe(true)
    expect(isTrueOfRun(rule, both('fails'))).toBe(false)
    expect(isTrueOfRun(rule, both('called'))).toBe(false)
  })

  it('that speaks of later moments cannot stop a run that goes on', () => {
    expect(codeOf(() => new RuleMonitor(compileRule('eventually refund()')))).toBe('HARVEST_RULE_FUTURE')
    expect(new RuleMonitor(compileRule('refund() and not once lookup()')).step(run[3]!)).toBe(true)
  })

  it.each(['refund(note ~ /(?=vip)/)', String.raw`model says /(a)\1/`])(
    'with a pattern that takes more than linear time is refused when it is read: %s',
    (text) => {
      expect(codeOf(() => compileRule(text))).toBe('HARVEST_RULE_PATTERN')
    },
  )

  it('takes its time from the text and not from the pattern', () => {
    const text = `${'a'.repeat(5000)}!`
    const says = runOf([{ kind: 'model', phase: 'ok', text }])
    // With backtracking, each of these takes longer than the age of the universe.
    expect(positionsWhere(compileRule('model says /^(a+)+$/'), says)).toEqual([])
    expect(positionsWhere(compileRule('model says /^(a|a)*$/'), says)).toEqual([])
  })

  it('with more values than are looked at is an error', () => {
    const many = runOf(
      Array.from({ length: 10_001 }, (_, x) => ({
        kind: 'call' as const,
        name: 'a',
        phase: 'called' as const,
        args: { x },
      })),
    )
    expect(codeOf(() => isTrueOfRun(compileRule('at most 1 a(x=$v)'), many))).toBe('HARVEST_RULE_BINDINGS')
  })
})

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (HarvestError.is(error)) return error.code
    throw error
  }
  return 'none'
}
