import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeProblem, type Expression, parseRule, printRule, readRule } from '../../src/rules/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { rule } from './arbitrary.ts'

/** A rule as it says itself again. */
const again = (text: string): string => printRule(readRule(text))

describe('a rule in words', () => {
  it.each([
    'refund(order_id=$id) preceded by lookup_order(order_id=$id)',
    'never refund(amount > 500)',
    'at most 1 refund(order_id=$id) ok',
    'refund(order_id=$id, amount=$a) preceded by lookup_order(order_id=$id) returns (total >= $a)',
    'refund(order_id=$id, amount=$a) preceded by approve(order_id=$id) returns (decision=approved) where $a > 100',
    'charge(charge_id=$c) followed by send_receipt(charge_id=$c) within 30s',
    'git_commit() preceded by run_tests() returns (failed=0) within 10 steps',
    String.raw`never call(path ~ /^src\//) by reviewer`,
    String.raw`never sql(query ~ /\b(drop|delete|truncate|update)\b/i)`,
    'never http_get() after begin() until commit()',
    'never send_email() after model says /ignore (all|previous) (rules|instructions)/i',
    'at most 5 search() within 1m',
    'always tokens < 50000',
    'lookup_order() fails followed by lookup_order() or escalate()',
    'never a() between b() and c()',
    'never a() before b() and c()',
    'exactly 2 a() ok within 500ms',
    'at least 1 a() fails with "timeout"',
    'refund() answered or refund() called',
    'a(country in [DE, "A T", 7, true, null], dry_run)',
    'a(items.0.id="7")',
    'a("a.b" . c=1)',
    'model asks refund(amount > 100)',
    'model fails by billing',
    'message from a to b says "veto"',
    'mark planned(budget > 5)',
    'run fails or run returns (status=done) or run ends',
    'took > 30s and elapsed <= 2m and cost > 0.5 and step >= 3 and agent = billing',
    '@7 or @7..12',
    '"next"(a=1) or db.*(sql) or call(path)',
    'a() since (not b()) within 3 steps',
    'once (historically a()) within 5 steps',
    'a() implies b() implies c()',
    '(a() implies b()) implies c()',
    'never (never a() or b()) and c()',
  ])('reads and prints %s', (text) => {
    expect(again(text)).toBe(text)
  })

  it.each([
    ['refund( amount:5 , * )', undefined],
    ['refund(*)', 'refund()'],
    ['refund(amount: 5)', 'refund(amount=5)'],
    ['call', 'call()'],
    ['never((a()))', 'never a()'],
    ['a() within', undefined],
    ['at most 5 search() within 60s', 'at most 5 search() within 1m'],
    ['a(x=30s)', 'a(x=30000)'],
    ['a(x=1e3)', 'a(x=1000)'],
    ['a() and b() or c() and d()', 'a() and b() or c() and d()'],
    ['once a()\n  and b()', 'once a() and b()'],
    ['a(status=ok)', 'a(status=ok)'],
  ])('%s is %s', (text, printed) => {
    const parsed = parseRule(text)
    expect('problem' in parsed ? undefined : printRule(parsed.expression)).toBe(printed)
  })

  it('for every rule, what it prints reads back as the same rule', () => {
    let same = 0
    fc.assert(
      fc.property(rule, (expression: Expression) => {
        const parsed = parseRule(printRule(expression))
        // A $name that no call binds is refused; all else has to come back.
        if ('problem' in parsed) expect(parsed.problem.got, describeProblem(parsed.problem)).toBe('none')
        else expect(parsed.expression, `${(same += 1)}`).toEqual(expression)
      }),
      { numRuns: 2000 },
    )
    expect(same).toBeGreaterThan(500)
  })

  it.each(['(', 'not ', 'never ', 'a() and ', 'a() implies ', 'a() preceded by ', 'a() within '])(
    'of more operators and brackets than anyone writes is refused, and of many is read: %j',
    (unit) => {
      for (const text of [unit.repeat(20_000), `${unit.repeat(20_000)}a()`])
        expect(parseRule(text)).toHaveProperty('problem')
      const many = `${unit.repeat(200)}a()${unit === '(' ? ')'.repeat(200) : ''}`
      if (!unit.includes('within')) expect(again(again(many))).toBe(again(many))
    },
  )

  it('for every text, reading ends in a rule or a problem inside the text', () => {
    const near = fc
      .array(
        fc.oneof(
          fc.constantFrom('never', 'a(', ')', '$v', '=', '/x/', '"', '"b"', '5', 'steps', 'within', '.', '@', '['),
          fc.string(),
        ),
      )
      .map((words) => words.join(' '))
    fc.assert(
      fc.property(near, (text) => {
        const parsed = parseRule(text)
        if ('problem' in parsed) {
          expect(parsed.problem.column).toBeGreaterThanOrEqual(0)
          expect(parsed.problem.column).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a text that is no rule', () => {
  it.each([
    ['nevr refund()', 1, "'(' after the name of a tool: nevr() for any call of it", "did you mean 'never'?"],
    ['refund preceded by lookup()', 8, "'(' after the name of a tool: refund() for any call of it", undefined],
    ['refund(order_id=) preceded by lookup()', 17, 'a value: text in "…", a number, a word, or $name', undefined],
    ['never refund(amount > 500', 26, "',' or ')'", undefined],
    ['a() followed by b() within 5', 29, "'steps', or a time such as 30s", undefined],
    ['a() followed by b() within soon', 28, "'5 steps' or a time such as 30s", undefined],
    ['at most refund()', 9, 'a number', undefined],
    ['at 5 refund()', 4, "'most' or 'least'", undefined],
    ['never model says ignore', 18, 'a pattern /…/ or a text "…"', undefined],
    ['never model says "issue', 18, 'a closing "', expect.stringContaining('YAML')],
    ['a() followed b()', 14, "'by' after 'followed'", undefined],
    ['a() preceeded by b()', 5, expect.stringContaining('the end'), "did you mean 'preceded'?"],
    ['', 1, expect.stringContaining('a call such as refund(…)'), undefined],
    ['refund(amount > big)', 17, "a number or $name behind '>'", undefined],
    ['refund(amount == 5)', 16, 'a value', "write '=' once"],
    ['refund(note ~ /a/g)', 18, "a pattern with no flag, or with 'i'", undefined],
    ['refund(note ~ /a)', 15, 'a closing /', undefined],
    [String.raw`refund(note = "\q")`, 15, 'text in "…" as JSON writes it', expect.stringContaining('backslash')],
    ["refund(note = 'late')", 15, 'text in "…"', undefined],
    ['took > 30', 8, 'a time such as 30s or 500ms', undefined],
    ['tokens > 30s', 10, 'a number', undefined],
    ['agent > billing', 9, "'=' or '!=' behind 'agent'", undefined],
    ['(a() where $v > 1) and b()', 6, "')': 'where' stands at the end of the whole rule", undefined],
    ['never refund() where amount > 5', 22, '$name of a value bound in the rule', undefined],
    ['never refund(amount > $max)', 23, 'a call with =$max', expect.stringContaining('refund(order_id=$max)')],
    ['a(x=$v) preceded by b(y=$w)', 25, 'one call with = for each of $v, $w', expect.anything()],
    ['a() b()', 5, expect.stringContaining('the end'), undefined],
    ['refund() ok fails', 13, 'one of ok, fails, answered, called, returns', undefined],
    ['a($ = 1)', 3, 'a name after $', undefined],
    ['a() ; b()', 5, 'a call, a word or a value', undefined],
    ['run off', 5, "'ends', 'fails' or 'returns (…)'", undefined],
    ['@x', 2, 'the number of a step', undefined],
    ['never a() between b()', 22, "'and' with the other end", undefined],
  ])('%s: column %i, expected %s', (text, column, expected, hint) => {
    const parsed = parseRule(text)
    if (!('problem' in parsed)) throw new Error(`read as ${printRule(parsed.expression)}`)
    expect({ column: parsed.problem.column + 1, expected: parsed.problem.expected, hint: parsed.problem.hint }).toEqual(
      {
        column,
        expected,
        hint,
      },
    )
  })

  it('is shown with a caret under the place', () => {
    const error = (() => {
      try {
        return readRule('refund(order_id=$id) preceeded by lookup()')
      } catch (thrown) {
        return thrown
      }
    })()
    expect(HarvestError.is(error, 'HARVEST_RULE_SYNTAX')).toBe(true)
    expect(String(error)).toMatchInlineSnapshot(`
      "HarvestError: Invalid rule

      refund(order_id=$id) preceeded by lookup()
                           ^ expected the end, or one of: and, or, preceded by, followed by, after, before, between, within, where, got 'preceeded', near column 22
      → did you mean 'preceded'?

      → the language of rules: https://github.com/vitest-harvest/vitest-harvest/blob/main/docs/rules.md
      (HARVEST_RULE_SYNTAX)"
    `)
  })
})
