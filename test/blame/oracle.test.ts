import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { chooseJudging } from '../../src/blame/choose-oracle.ts'
import { requireGoodReference } from '../../src/blame/grade-task.ts'
import { createOracle, type GradedRun, type Judging, type OracleRun, requireFailure } from '../../src/blame/oracle.ts'
import { parseCase } from '../../src/cases/index.ts'
import { type ErrorCode, HarvestError } from '../../src/errors/index.ts'
import type { Json, TapeEvent } from '../../src/tape/index.ts'
import { errorOf } from '../recordings/make.ts'
import { refundOf } from './refund-run.ts'

const bad = refundOf(2500)
const good = refundOf(25)
const runOf = (tape = bad, more: Partial<GradedRun> = {}): GradedRun => {
  const outcome = tape.close?.outcome.status === 'returned' ? tape.close.outcome.value : undefined
  return { tape: bad, outcome: { status: 'returned', value: outcome }, events: tape.events, problems: [], ...more }
}
const gradeOf = async (judging: Judging, run: GradedRun) => (await createOracle(judging).grade(run)).grade
const asked = (ok: readonly string[], notOk: readonly string[] = []): Judging => ({
  by: 'expectations',
  ok: ok.map((text) => parseExpectation(text, '--ok')),
  bad: notOk.map((text) => parseExpectation(text, '--bad')),
})
const problem = (code: ErrorCode, asked?: string) =>
  new HarvestError(code, { what: 'It went wrong', ...(asked === undefined ? {} : { where: { asked } }) })

describe('two conditions that no run can meet', () => {
  const read = (ok: readonly string[]) => chooseJudging(bad, { ok })

  test.each<[readonly string[]]>([
    [['ok=true', 'ok=false']],
    [['refunded=25', 'reason=late', 'refunded=26']],
    [['order={"id":1,"total":25}', 'order.total=26']],
    [['.={"answer":"yes"}', 'answer=no']],
    [['items=[1,2]', 'items=[1]']],
  ])('are refused: %j', (ok) => {
    expect(() => read(ok)).toThrow('No run can meet both conditions')
  })

  test.each<[readonly string[]]>([
    [['never refund()', 'refund(amount: 25)']],
    [['refund(amount: 25)', 'at most 0 refund()']],
    [['refund(amount: 25)', 'refund(amount: 20)', 'at most 1 refund()']],
    [['refund(amount = 25)', 'never refund(amount > 20)']],
  ])('are refused where one is a limit of the calls that others ask for: %j', (ok) => {
    expect(() => read(ok)).toThrow('No run can meet both conditions')
  })

  test.each<[readonly string[]]>([
    [['at most 1 refund()', 'refund(amount: 25)', 'refund(order: 1)']],
    [['at most 2 refund()', 'refund(amount: 25)', 'refund(amount: 20)']],
    [['exactly 2 refund()', 'refund(amount: 25)']],
    [['never refund() fails', 'refund(amount: 25)']],
    [['never refund(amount > 25)', 'refund(amount: 25)']],
    [['at most 1 refund() within 2 steps', 'refund(amount: 25)', 'refund(amount: 20)']],
    [['never refund(amount > 20)', 'refund(*)']],
  ])('are no calls and a limit that some run keeps: %j', (ok) => {
    expect(read(ok)).toMatchObject({ by: 'expectations' })
  })

  test.each<[string, string]>([
    ['refund(amount: 25)', 'refund(*)'],
    ['refund(amount: 25)', 'refund(amount > 20)'],
    ['refund(amount: 25, order: 1)', 'refund(amount: 25)'],
    ['refund(amount = 25)', 'refund(amount)'],
    ['refunded=25', 'refunded=*'],
    ['order.total=26', 'order={"total":26}'],
    ['answer=refused', 'answer~^ref'],
  ])('are refused where a run that meets the one is bad by the other: %s, %s', (ok, notOk) => {
    expect(() => chooseJudging(bad, { ok: [ok], bad: [notOk] })).toThrow('is bad by the other')
    const kase = parseCase(
      `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: fail\nok: [${JSON.stringify(ok)}]\nbad: [${JSON.stringify(notOk)}]\n`,
      'a.case.yaml',
    )
    expect(() => chooseJudging(bad, { case: kase })).toThrow('is bad by the other')
  })

  test.each<[string, string]>([
    ['refund(*)', 'refund(amount: 25)'],
    ['refund(amount: 25)', 'refund(amount > 25)'],
    ['refund(amount > 20)', 'refund(amount > 30)'],
    ['refund(amount: 25)', 'audit()'],
    ['refunded=*', 'refunded=25'],
    ['refunded=*', 'refunded~[*]'],
    ['order={"total":26}', 'order~total'],
    ['answer~ref', 'answer=refused'],
  ])('are no two of which a run meets the one alone: %s, %s', (ok, notOk) => {
    expect(chooseJudging(bad, { ok: [ok], bad: [notOk] })).toMatchObject({ by: 'expectations' })
  })

  test('are none of what one run met: its calls, limits that it kept, and calls that it did not make', () => {
    const name = fc.constantFrom('refund', 'audit')
    const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 2 }))
    const call = fc.record({ name, args, kept: fc.nat(7) })
    const textOf = (one: { readonly name: string; readonly args: object }): string =>
      `${one.name}(${
        Object.entries(one.args)
          .map(([key, value]) => `${key}: ${value}`)
          .join(', ') || '*'
      })`
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        call,
        name,
        fc.nat(2),
        (made, other, limited, more) => {
          const part = (args: object, kept: number): object =>
            Object.fromEntries(Object.entries(args).filter((_, at) => (kept >> at) % 2 === 1))
          // One call may be what two conditions ask for.
          const ok = made.flatMap(({ name, args, kept }) =>
            [kept, 7 - kept].map((k) => textOf({ name, args: part(args, k) })),
          )
          const most = made.filter((one) => one.name === limited).length + more
          const isMade = made.some(
            (one) =>
              one.name === other.name && Object.entries(other.args).every(([key, value]) => one.args[key] === value),
          )
          const limits = [`at most ${most} ${limited}()`, ...(most === 0 ? [`never ${limited}()`] : [])]
          const asked = { ok: [...ok, ...limits], bad: isMade ? [] : [textOf(other)] }
          expect(chooseJudging(bad, asked)).toMatchObject({ by: 'expectations' })
        },
      ),
    )
  })

  test('are not read from one call with two values of an argument', () => {
    expect(() => read(['refund(amount: 25, amount: 30)'])).toThrow('No call has two values of one argument: amount.')
    expect(() => read(['refund(amount = 25, amount = 30)'])).toThrow('two values of one argument')
    expect(read(['refund(amount > 25, amount < 30)'])).toMatchObject({ by: 'expectations' })
  })

  test('are no two that one run met', () => {
    const key = fc.constantFrom('a', 'b', 'c')
    const value = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.integer(),
        fc.string(),
        fc.boolean(),
        fc.dictionary(key, tie('json')),
        fc.array(tie('json')),
      ),
    })).json
    fc.assert(
      fc.property(
        fc.dictionary(key, value),
        fc.array(fc.tuple(fc.array(key, { maxLength: 3 }), key), { minLength: 2, maxLength: 2 }),
        (run, asked) => {
          const met = asked.map(([path, leftOut]) => {
            const ends =
              path.map((_, at) => path.slice(0, path.length - at)).find((keys) => at(run, keys) !== undefined) ?? []
            // A map may hold more than is asked for.
            const said = JSON.stringify(at(run, ends), (name, part: Json) => (name === leftOut ? undefined : part))
            return `${ends.length === 0 ? '.' : ends.join('.')}=${said}`
          })
          expect(read(met)).toMatchObject({ by: 'expectations' })
        },
      ),
    )
  })
  const at = (value: Json, keys: readonly string[]): Json | undefined =>
    keys.reduce<Json | undefined>(
      (found, key) =>
        typeof found === 'object' && found !== null && !Array.isArray(found) && Object.hasOwn(found, key)
          ? (found as Readonly<Record<string, Json>>)[key]
          : undefined,
      value,
    )
})

describe('what is expected of a run', () => {
  test.each([
    ['answer=I refunded 25 EUR.', 'ok'],
    ['answer~25 EUR', 'ok'],
    ['answer~^25', 'bad'],
    ['answer=25', 'bad'],
    ['.={"answer":"*"}', 'ok'],
    ['refund(amount: 25)', 'ok'],
    ['refund(amount: 2500)', 'bad'],
    ['refund(*)', 'ok'],
    ['escalate(*)', 'bad'],
    ['nothing.of[3].this=1', 'bad'],
    ['at most 1 refund()', 'ok'],
    ['never refund()', 'bad'],
    ['refund(amount < 100)', 'ok'],
    ['refund(amount=2500)', 'bad'],
    ['refund() preceded by lookup_order()', 'ok'],
    ['run returns (answer ~ "25 EUR")', 'ok'],
    ['run returns (answer ~ "2500 EUR")', 'bad'],
  ])('--ok %s', async (text, grade) => {
    expect(await gradeOf(asked([text]), runOf(good))).toBe(grade)
  })

  test('what fits --bad is bad, what does not is ok; with both, what fits neither is ungraded', async () => {
    const only = asked([], ['refund(amount: 2500)'])
    expect([await gradeOf(only, runOf(bad)), await gradeOf(only, runOf(good))]).toEqual(['bad', 'ok'])
    const both = asked(['refund(amount: 25)'], ['refund(amount: 2500)'])
    expect(await gradeOf(both, runOf(refundOf(20)))).toBe('ungraded')
    expect(await gradeOf(both, runOf(good))).toBe('ok')
    expect(createOracle(both).about).toBe('--ok refund(amount: 25) --bad refund(amount: 2500)')
  })

  test.each(['', 'refunded', '=25', 'a..b=1', 'a[x]=1', 'answer~('])(
    "'%s' is refused with what can be written",
    (text) => {
      expect(errorOf(() => parseExpectation(text, '--ok')).code).toBe('HARVEST_ORACLE_EXPECTATION')
    },
  )

  test('a refusal says what can be written', () => {
    expect(errorOf(() => parseExpectation('answer~(', '--bad')).message).toMatchInlineSnapshot(`
      "Invalid expectation of a run

        at              --bad
        text            answer~(
        returned value  refunded=25 or 'answer~25 EUR'
        tool call       'refund(amount: 25)' or 'refund(*)'
        rule            'at most 1 refund()'

      Invalid regular expression: /(/u: Unterminated group
      → write it in one of these forms, with the names of your run
      → to see which tools the run calls and what it returns: npx vitest-harvest show '<tape>'
      (HARVEST_ORACLE_EXPECTATION)"
    `)
  })
})

describe('a case as oracle', () => {
  const kase = (expect: string, more = '') =>
    parseCase(`case: refund\nagent: refund\ntape: refund.tape.jsonl\nexpect: ${expect}\n${more}`, 'refund.case.yaml')
  const answer = 'outcome: { answer: I refunded 2500 EUR. }\n'

  test('of a known-bad incident its outcome is the bad one', async () => {
    const judging: Judging = { by: 'case', case: kase('fail', answer) }
    expect([await gradeOf(judging, runOf(bad)), await gradeOf(judging, runOf(good))]).toEqual(['bad', 'ok'])
    expect(createOracle(judging).about).toBe('not the outcome of case refund')
  })

  test('of a passing case its outcome is the good one', async () => {
    const judging: Judging = { by: 'case', case: kase('pass', answer) }
    expect([await gradeOf(judging, runOf(bad)), await gradeOf(judging, runOf(good))]).toEqual(['ok', 'bad'])
  })

  test('a known-bad run that threw, with no outcome, is bad for throwing', async () => {
    const tape = refundOf(2500, { outcome: { status: 'threw', error: { $type: 'error', name: 'E', message: 'x' } } })
    const more = 'baseline: ["refund(amount, order_id)"]\n'
    expect(chooseJudging(tape, { case: kase('fail', more) })).toEqual({ by: 'ending' })
    expect(chooseJudging(tape, { case: kase('pass', more) })).toMatchObject({ by: 'case' })
    expect(chooseJudging(bad, { case: kase('fail', more) })).toMatchObject({ by: 'case' })
  })

  test('without an outcome its baseline is', async () => {
    const judging: Judging = { by: 'case', case: kase('fail', 'baseline: ["refund(amount, order_id)"]\n') }
    const only = bad.events.filter((event) => event.kind === 'tool' && event.name === 'refund')
    expect([await gradeOf(judging, runOf(bad)), await gradeOf(judging, runOf(bad, { events: only }))]).toEqual([
      'ok',
      'bad',
    ])
  })
})

describe('a run that did not end as runs do', () => {
  const judging = asked(['refund(amount: 25)'], ['refund(amount: 2500)'])
  const threw = (error: unknown, events: readonly TapeEvent[] = good.events) =>
    runOf(good, { outcome: { status: 'threw', error }, events })

  test('threw: a crash', async () => {
    expect(await gradeOf(judging, threw(new TypeError('x is undefined')))).toBe('crash')
  })

  test('threw what the recorded run threw: bad', async () => {
    const error = new TypeError('x is undefined')
    const encoded = { $type: 'error', name: 'TypeError', message: 'x is undefined' }
    const tape = refundOf(2500, { outcome: { status: 'threw', error: encoded } })
    expect(await gradeOf({ by: 'ending' }, { ...threw(error), tape })).toBe('bad')
    expect(await gradeOf({ by: 'ending' }, { ...threw(new Error('other')), tape })).toBe('crash')
    expect(await gradeOf({ by: 'ending' }, { ...runOf(good), tape })).toBe('ok')
  })

  const answered = (status: number): readonly TapeEvent[] =>
    good.events.map((event) =>
      event.kind === 'exchange' && event.response !== undefined
        ? { ...event, response: { ...event.response, status } }
        : event,
    )

  test.each([401, 429, 503, 400])('threw after its model answered %d: ungraded', async (status) => {
    const given = await createOracle(judging).grade(threw(new Error('APIError'), answered(status)))
    expect(given).toEqual({ grade: 'ungraded', because: `A model answered with status ${status}` })
  })

  test('threw after its model refused a request, as it did when it was recorded: a crash', async () => {
    const tape = { ...good, events: answered(400) }
    const given = await createOracle(judging).grade({ ...threw(new Error('APIError'), answered(400)), tape })
    expect(given.grade).toBe('crash')
  })

  test('threw because its model could not be reached: nobody can say', async () => {
    const events = good.events.map((event) => {
      if (event.kind !== 'exchange') return event
      const { response: _, ...rest } = event
      return rest
    })
    expect(await gradeOf(judging, threw(new Error('fetch failed'), events))).toBe('ungraded')
  })

  test.each([
    ['HARVEST_FORK_PREFIX', 'undefined'],
    ['HARVEST_RUN_ABORTED', 'timeout'],
    ['HARVEST_AGENT_TIMEOUT', 'timeout'],
    ['HARVEST_ESCAPE', 'ungraded'],
    ['HARVEST_BUDGET_USED', 'ungraded'],
  ] as const)('%s: %s', async (code, grade) => {
    expect(await gradeOf(judging, runOf(good, { problems: [problem(code)] }))).toBe(grade)
  })

  test('off its tape it is graded by the calls it made, where calls alone are asked for', async () => {
    const problems = [problem('HARVEST_NOT_RECORDED', 'refund({"amount":25})')]
    expect(await gradeOf(judging, runOf(good, { problems }))).toBe('ok')
    expect(await gradeOf(judging, runOf(bad, { problems }))).toBe('bad')
    const unsaid = await createOracle(asked(['answer~25'])).grade(runOf(good, { problems }))
    expect(unsaid).toEqual({
      grade: 'ungraded',
      because: 'It went wrong: refund({"amount":25}) (HARVEST_NOT_RECORDED)',
    })
    // A bad call that was not made yet may still be made.
    expect(await gradeOf(asked([], ['refund(amount: 2500)']), runOf(good, { problems }))).toBe('ungraded')
  })

  test('its time was up: a timeout, whatever it did', async () => {
    expect(await gradeOf(judging, runOf(good, { isTimedOut: true }))).toBe('timeout')
  })
})

describe('a function as oracle', () => {
  const judging = (judge: (run: OracleRun) => unknown): Judging => ({
    by: 'function',
    name: './src/oracle.ts#isRight',
    judge: judge as never,
  })

  test('is given what the agent returned, its calls, and what its tools really did', async () => {
    const seen: OracleRun[] = []
    await gradeOf(
      judging((run) => seen.push(run) > 0),
      runOf(good),
    )
    expect(seen[0]).toMatchObject({
      value: { answer: 'I refunded 25 EUR.' },
      trace: [{ name: 'lookup_order' }, { name: 'refund_policy' }, { name: 'refund', args: { amount: 25 } }],
      messages: [],
    })
    expect(seen[0]?.sideEffects.at(-1)).toEqual({
      name: 'refund',
      args: { order_id: 'A-100', amount: 25 },
      result: { refunded: 25 },
    })
  })

  test.each([
    [true, 'ok'],
    [false, 'bad'],
    [undefined, 'ungraded'],
    ['crash', 'crash'],
  ])('%s is %s', async (answer, grade) => {
    expect(
      await gradeOf(
        judging(() => answer),
        runOf(good),
      ),
    ).toBe(grade)
  })

  test('what is no grade is refused, and so is a function that throws', async () => {
    await expect(
      gradeOf(
        judging(() => 'fine'),
        runOf(good),
      ),
    ).rejects.toMatchObject({ code: 'HARVEST_ORACLE_ANSWER' })
    const throws = judging(() => {
      throw new TypeError('no refund')
    })
    await expect(gradeOf(throws, runOf(good))).rejects.toMatchObject({
      code: 'HARVEST_ORACLE_THREW',
      // Another run than the one that was named may be graded first.
      facts: { where: { tape: runOf(good).tape.header.id } },
    })
  })

  test('what never answers is waited for as long as a run is, and named', async () => {
    const timed = (judge: () => unknown, timeoutMs: number) => ({ ...judging(judge), timeoutMs }) as Judging
    const never = timed(() => new Promise(() => {}), 20)
    await expect(gradeOf(never, runOf(good))).rejects.toMatchObject({
      code: 'HARVEST_ORACLE_TIMEOUT',
      facts: { where: { waited: '0.02 s' }, fix: expect.arrayContaining(['to give it more time: --timeout 10m']) },
    })
    expect(
      await gradeOf(
        timed(async () => true, 20_000),
        runOf(good),
      ),
    ).toBe('ok')
  })
})

test('a reference run that is graded bad is refused, and one that is good or has no grade is not', async () => {
  const oracle = createOracle(asked(['refund(amount: 25)']))
  await expect(requireGoodReference(oracle, good)).resolves.toBeUndefined()
  await expect(
    requireGoodReference({ ...oracle, grade: async () => ({ grade: 'ungraded' }) }, bad),
  ).resolves.toBeUndefined()
  await expect(requireGoodReference(oracle, bad)).rejects.toThrowErrorMatchingInlineSnapshot(`
    [HarvestError: The run of --reference is no good run: it is graded bad

      reference  run
      graded by  --ok refund(amount: 25)

    Its answers stand in for those of a good run, so nothing could be said with them.
    → name a good run: --reference '<tape|case>'
    → or go on without one: the same command, without --reference
    (HARVEST_BLAME_REFERENCE)]
  `)
})

test('a recorded run that is graded ok leaves nothing to blame', () => {
  const by = (about: string) => ({ about })
  expect(() => requireFailure({ grade: 'crash' }, by('x'), bad)).not.toThrow()
  const byFunction = by('--oracle ./src/oracle.ts#isRight')
  expect(errorOf(() => requireFailure({ grade: 'ok' }, byFunction, bad)).message).toMatchInlineSnapshot(`
    "Nothing to blame: the oracle grades the recorded run \`ok\`

      tape       run
      graded by  --oracle ./src/oracle.ts#isRight
      grade      ok

    → if what it did was bad: --bad 'refund(amount: 2500, order_id: "A-100")', without --ok
    → to say what would be right, such as refund(…) or answer=…: --ok '<right>'
    → to find the answers it depends on: --mutate, without --repairs
    (HARVEST_ORACLE_OK)"
  `)
  const flaky = { ...byFunction, agreement: { same: 3, of: 5 } }
  expect(errorOf(() => requireFailure({ grade: 'ok' }, flaky, bad)).facts.where).toMatchObject({
    grade: 'ok, in 3 of 5 single grades',
  })
  expect(errorOf(() => requireFailure({ grade: 'ungraded', because: 'why' }, by('x'), bad)).code).toBe(
    'HARVEST_ORACLE_UNGRADED',
  )
})
