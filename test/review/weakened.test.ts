import { describe, expect, it, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { compareRules, readRule } from '../../src/rules/index.ts'
import { weakenings } from '../../src/review/weakened.ts'
import { base, edit, good, planted } from './planted.ts'

const read = (text: string) => parseCase(text, 'refund-100x.case.yaml')
const found = (text: string): readonly string[] =>
  weakenings(read(base), read(text)).map(({ field, what }) => `${field}: ${what}`)

describe('a weaker case is named, and what is weaker in it', () => {
  it('there are as many as are claimed', () => {
    expect(planted.length).toBeGreaterThanOrEqual(30)
  })

  it.each(planted.map(([text, what]) => [what, text]))('%s', (what, text) => {
    expect(found(text)).toEqual([what])
  })

  it('with the line it stands in', () => {
    const [one] = weakenings(read(base), read(edit(['amount > 500', 'amount > 5000'])))
    expect(base.split('\n')[one!.line! - 1]).toContain('never refund')
  })
})

it('an outcome that is opened is named, and one that is closed is not', () => {
  const withOutcome = (outcome: string) => read(`${base.replace(/^outcome:.*\n(?: .*\n)*/m, '')}outcome: ${outcome}\n`)
  const named = (was: string, now: string) =>
    weakenings(withOutcome(was), withOutcome(now)).map(({ field, what }) => `${field}: ${what}`)
  expect(named('{ $only: { total: 25 } }', '{ total: 25 }')).toEqual(['outcome: may have other keys'])
  expect(named('{ $is: { total: 25 } }', '{}')).toContain('outcome: may have other keys')
  expect(named('{ total: 25 }', "{ $only: { total: '*' } }")).toEqual(['outcome.total: 25 → *'])
  expect(named('{ total: 25 }', '{ $only: { total: 25 } }')).toEqual([])
  expect(named("{ q: 'x' }", "{ q: { $is: '*' } }")).toEqual([])
})

describe('a good change is not named', () => {
  it('there are as many as are claimed', () => {
    expect(good.length).toBeGreaterThanOrEqual(30)
  })

  it.each(good)('%s', (_, text) => {
    expect(found(text)).toEqual([])
  })

  test('from fail to pass, and from * to a value', () => {
    const loose = edit(
      ['expect: pass', 'expect: fail'],
      ['count: 2', 'count: "*"'],
      ['lookup_order(order_id)', 'lookup_order(*)'],
    )
    expect(weakenings(read(loose), read(base))).toEqual([])
  })
})

describe('a new case', () => {
  const plain = base.replace(/match:\n(?: .*\n)+/, '').replace(/(?:drift|escapes|serve|tools|timeout): .*\n/g, '')

  it('as promoting writes it is not named', () => {
    expect(weakenings(undefined, read(plain))).toEqual([])
    expect(weakenings(undefined, read(plain.replace('expect: pass', 'expect: fail')))).toEqual([])
  })

  it.each([
    ['match: { trace: superset }\n', '', 'match.trace: causal → superset'],
    ['match: { args: ignore }\n', '', 'match.args: keys → ignore'],
    ['drift: { instructions: report }\n', '', 'drift.instructions: unproven → report'],
    ['escapes: { allow: [socket db:5432] }\n', '', 'escapes: allows socket db:5432'],
    ['', 'lookup_order(*)', 'baseline: lookup_order(*) accepts any arguments'],
  ])('that is weaker from the start is: %j %j', (more, call, what) => {
    const text = plain.replace('lookup_order(order_id)\n', `${call || 'lookup_order(order_id)'}\n`) + more
    expect(weakenings(undefined, read(text)).map((one) => `${one.field}: ${one.what}`)).toEqual([what])
  })
})

describe('of two rules', () => {
  it.each([
    ['never refund(amount > 500)', 'never refund(amount > 50)', 'stricter'],
    ['never refund(amount < 5)', 'never refund(amount < 2)', 'weaker'],
    ['always tokens < 500', 'always tokens < 5000', 'weaker'],
    ['always not cost > 1', 'always not cost > 2', 'weaker'],
    ['at most 1 refund()', 'at most 2 refund()', 'weaker'],
    ['at least 1 refund()', 'at least 2 refund()', 'stricter'],
    ['exactly 1 refund()', 'exactly 2 refund()', 'other'],
    ['at most 1 a() within 5 steps', 'at most 1 a() within 3 steps', 'weaker'],
    ['at most 1 a() within 5 steps', 'at most 1 a()', 'stricter'],
    ['a() preceded by b() within 5 steps', 'a() preceded by b()', 'weaker'],
    ['a(x > 5) preceded by b()', 'a(x > 9) preceded by b()', 'weaker'],
    ['a() preceded by b() returns (x > 5)', 'a() preceded by b() returns (x > 9)', 'stricter'],
    ['a() followed by b() within 30s', 'a() followed by b() within 3 steps', 'other'],
    ['never a(x > 5) after b(y > 1)', 'never a(x > 5) after b(y > 2)', 'other'],
    ['never a(x > 5) and b(x > 5)', 'never a(x > 6) and b(x > 4)', 'other'],
    ['never a(x=5)', 'never a(x=6)', 'other'],
    ['never a()', 'never b()', 'other'],
    ['never a()', 'never  a( )', 'same'],
  ] as const)('%s, then %s: %s', (before, after, change) => {
    expect(compareRules(readRule(before), readRule(after))).toBe(change)
  })
})
