import { expect, test } from 'vitest'
import { caseErrorPlace, findDuplicateIds, hasUncheckedRules, parseCase } from '../../src/cases/index.ts'
import { contentOf, errorOf, full, head, messageOf } from './samples.ts'

const read = (text: string) => () => parseCase(text, 'refund-100x.case.yaml')

test('a case with four fields is a case', () => {
  expect(parseCase(head, 'a.case.yaml')).toEqual({
    file: 'a.case.yaml',
    id: 'refund-100x',
    agent: 'refund',
    tape: 'refund-100x.tape.jsonl',
    expect: 'pass',
    lines: { case: 1, agent: 2, tape: 3, expect: 4, baselineItems: [], ruleItems: [] },
  })
})

test('every field is read as it was written', () => {
  const { expected } = parseCase(full, 'a.case.yaml')
  expect(contentOf(full)).toEqual({
    id: 'refund-100x',
    agent: 'refund',
    tape: 'refund-100x.tape.jsonl',
    expect: 'pass',
    title: 'Never refunds more than the order value',
    tags: ['golden', 'incident'],
    lesson: { wrong: 'refunded 2500', right: 'refund 25' },
    pins: {
      commit: '4f2a9c1',
      dirty: false,
      models: ['claude-x'],
      prompt: 'sha256-aa',
      tools: 'sha256-bb',
      node: '24.21.0',
    },
    match: { trace: 'causal', args: 'keys', tools: { search: { args: ['query'] }, lookup_order: 'exact' } },
    drift: { messages: 'fail', headers: 'ignore' },
    escapes: { allow: ['socket 127.0.0.1:5432'] },
    serve: 'reworded',
    tools: { run: ['refund'] },
    timeout: 20000,
    baseline: ['lookup_order(order_id)', ['audit(*)', 'notify(channel)'], 'refund(amount, order_id)'],
    messages: [{ from: 'planner', to: 'worker', body: { order: 'A-100', amount: 25 } }],
    marks: [{ name: 'planned', data: [1, null] }, { name: 'done' }],
    states: [{ of: 'cart', call: 2, in: 4, changes: [{ path: '/total', value: 25 }, { path: '/note' }] }],
    rules: ['never refund(amount: $a) where $a > 500'],
    outcome: { refunded: 25, note: null },
    oracle: './src/oracle.ts#isRight',
    approved: { reason: 'limit is per order', by: 'Kim', at: '2026-11-20T10:00:00Z' },
  })
  expect(expected?.layers.map((layer) => layer.map(({ name }) => name))).toEqual([
    ['lookup_order'],
    ['audit', 'notify'],
    ['refund'],
  ])
})

test('the line of every field and of every baseline item is known, so that a failure can point at it', () => {
  expect(parseCase(full, 'a.case.yaml').lines).toEqual({
    case: 2,
    agent: 3,
    tape: 4,
    expect: 5,
    title: 6,
    tags: 7,
    lesson: 8,
    pins: 9,
    match: 10,
    drift: 11,
    escapes: 12,
    serve: 13,
    tools: 14,
    timeout: 15,
    baseline: 16,
    baselineItems: [17, 18, 19],
    messages: 20,
    marks: 22,
    states: 23,
    rules: 24,
    ruleItems: [25],
    outcome: 26,
    oracle: 27,
    approved: 28,
  })
})

test('an absent baseline asserts nothing, an empty one asserts that no tool is called', () => {
  expect(parseCase(head, 'a').expected).toBeUndefined()
  expect(parseCase(`${head}baseline: []\n`, 'a').expected).toEqual({ layers: [] })
})

test('an absent outcome asserts nothing, null asserts null', () => {
  expect('outcome' in parseCase(head, 'a')).toBe(false)
  expect(parseCase(`${head}outcome: null\n`, 'a').outcome).toBe(null)
})

test('a case is frozen and its maps have no prototype, so a name in the file is never a method', () => {
  const read = parseCase(`${head}match: { tools: { search: exact } }\noutcome: { deep: { list: [{}] } }\n`, 'a')
  const tools = read.match?.tools as Record<string, unknown>
  expect(tools['toString']).toBeUndefined()
  expect(Object.isFrozen(read) && Object.isFrozen(tools) && Object.isFrozen(read.outcome)).toBe(true)
})

test('a case with rules says that nobody checked them', () => {
  expect(hasUncheckedRules(parseCase(full, 'a'))).toBe(true)
  expect(hasUncheckedRules(parseCase(head, 'a'))).toBe(false)
  expect(hasUncheckedRules(parseCase(`${head}rules: []\n`, 'a'))).toBe(false)
})

test('an oracle that is no module of the project and its export is told with its line', () => {
  for (const oracle of [
    'isRight',
    './src/oracle.ts',
    '../oracle.ts#isRight',
    './src/../../x.ts#y',
    '/etc/x.ts#y',
    './x.ts#1',
  ])
    expect(messageOf(read(`${head}oracle: ${oracle}\n`))).toContain('refund-100x.case.yaml:5:9')
  expect(parseCase(`${head}oracle: ./src/oracle.ts#isRight\n`, 'a')).toMatchObject({
    oracle: './src/oracle.ts#isRight',
    lines: { oracle: 5 },
  })
})

test('an unknown key says which are known and which was probably meant', () => {
  expect(messageOf(read(`${head}basline:\n  - refund(*)\n`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:5:1

      5:1
        expected  one of case, agent, tape, expect, title, tags, lesson, pins, match, drift, escapes, serve, tools, timeout, baseline, messages, marks, states, rules, outcome, oracle, ok, bad, constants, approved, accepted, proven, replaces, history
        found     the key "basline"
        → did you mean baseline?

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_UNKNOWN_KEY)"
  `)
})

test('a wrong type says what was expected and what was found', () => {
  expect(messageOf(read(`${head}tags: golden\n`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:5:7

      5:7  tags
        expected  a list of texts
        found     the text "golden"

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_TYPE)"
  `)
})

test('all mistakes are told at once, in file order, with line and column', () => {
  const text = `case: Refund 100
agent: 12
tape: refund.tape.jsonl
expect: passes
pins: { commit: 1234567, models: gpt }
match:
  trace: casual
  tools: { search: { arg: [query] } }
timeout: 0
baseline:
  - refund(amount
  - [audit(*), notify()x]
  - search(query): 1
rules: [""]
outcome: .inf
`
  expect(messageOf(read(text))).toMatchInlineSnapshot(`
    "The case file has 14 issues

      case  refund-100x.case.yaml:1:7

      1:7  case
        expected  a slug: lower-case letters, digits, ".", "_" and "-", at most 128, beginning with a letter or digit, and no device name of Windows
        found     "Refund 100"
      2:8  agent
        expected  the key of an agent: one line of at most 200 characters
        found     the number 12
        → as a text it goes in quotes: "12"
      4:9  expect
        expected  one of pass, fail
        found     "passes"
      5:17  pins.commit
        expected  a text
        found     the number 1234567
        → as a text it goes in quotes: "1234567"
      5:34  pins.models
        expected  a list of texts
        found     the text "gpt"
      7:10  match.trace
        expected  one of causal, strict, sequence, unordered, subset, superset
        found     "casual"
        → did you mean causal?
      8:20  match.tools.search
        expected  the key "args", one of keys, exact, ignore, subset, superset, or a list of texts
        found     only "arg"
      8:22  match.tools.search
        expected  one of args
        found     the key "arg"
        → did you mean args?
      9:10  timeout
        expected  a whole number from 1 to 3600000
        found     0
      11:5  baseline[0]
        expected  at character 14 of the call: ',' or ')'
        found     "refund(amount"
        → calls look like refund(amount, order_id), search(query: "x", limit: *), lookup(*), or *
      12:16  baseline[1][1]
        expected  at character 9 of the call: nothing more
        found     "notify()x"
        → calls look like refund(amount, order_id), search(query: "x", limit: *), lookup(*), or *
      13:5  baseline[2]
        expected  a text that is not empty, or a list of texts
        found     a map
        → a text that holds a colon goes in quotes: 'search(query): 1'
      14:9  rules[0]
        expected  a text that is not empty
        found     an empty text
      15:10  outcome
        expected  a number that JSON can hold
        found     .inf
        → as a text it goes in quotes: ".inf"

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_INVALID)"
  `)
})

test('a missing field is named', () => {
  expect(messageOf(read('case: a\nagent: a\nexpect: pass\n'))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:1:1

      1:1
        expected  the key "tape", the name of a .tape.jsonl file in the same folder, without a path
        found     only "case", "agent", "expect"

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_MISSING_KEY)"
  `)
})

test('an empty file, a list, a text and two documents are no case', () => {
  expect(messageOf(read(''))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:1:1

      1:1
        expected  a map
        found     nothing

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_TYPE)"
  `)
  expect(errorOf(read('- a\n')).code).toBe('HARVEST_CASE_TYPE')
  expect(errorOf(read('refund\n')).code).toBe('HARVEST_CASE_TYPE')
  expect(errorOf(read(`${head}---\n${head}`)).code).toBe('HARVEST_CASE_SYNTAX')
})

test('broken YAML is told with its place and how texts are quoted', () => {
  expect(messageOf(read(`${head}baseline:\n  - search(query: "x", limit)\n`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:6:22

      6:22
        expected  YAML
        found     Unexpected scalar at node end
        → a text that holds a colon, a # or quotes goes in quotes

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_SYNTAX)"
  `)
})

test('a key that stands twice is refused: one of the two would be lost in silence', () => {
  expect(
    messageOf(read(`${head}outcome:\n  refunded: 25\n  currency: EUR\n  refunded: 2500\n`)),
  ).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:8:3

      8:3  outcome
        expected  each key once
        found     "refunded" again

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_DUPLICATE_KEY)"
  `)
})

test('a whole number with more digits than a double holds is refused, one that comes out the same is not', () => {
  expect(errorOf(read(`${head}outcome: { id: 9007199254740993 }\n`)).code).toBe('HARVEST_CASE_NUMBER')
  expect(parseCase(`${head}outcome: { id: 1152921504606847000 }\n`, 'a').outcome).toEqual({ id: 2 ** 60 })
})

test('an error knows its place in the file, for the stack trace', () => {
  const error = errorOf(read(`${head}outcome:\n  constructor: 1\n`))
  expect(caseErrorPlace(error)).toEqual({ file: 'refund-100x.case.yaml', line: 6, column: 3 })
  expect(caseErrorPlace(errorOf(() => parseCase('', 'C:\\golden\\a:b.case.yaml')))).toEqual({
    file: 'C:\\golden\\a:b.case.yaml',
    line: 1,
    column: 1,
  })
})

test('line and column hold behind a byte order mark, Windows line ends and characters of two units', () => {
  const error = errorOf(read(`# 🧾\r\n${head.replaceAll('\n', '\r\n')}titel: x\r\n`))
  expect(caseErrorPlace(error)).toMatchObject({ line: 6, column: 1 })
})

test('two cases with one id are named with their places', () => {
  const cases = ['golden/b/x.case.yaml', 'golden/a/x.case.yaml', 'golden/a/y.case.yaml'].map((file, index) =>
    parseCase(index < 2 ? full : head.replace('100x', '200x'), file),
  )
  const found = findDuplicateIds(cases)
  expect(found.map(({ id, cases: same }) => [id, same.map(({ file }) => file)])).toEqual([
    ['refund-100x', ['golden/a/x.case.yaml', 'golden/b/x.case.yaml']],
  ])
  expect(found[0]?.error.message).toMatchInlineSnapshot(`
    "2 cases have the id refund-100x

      case   golden/a/x.case.yaml:2:1
      and 2  golden/b/x.case.yaml:2:1

    An id must be unique in the golden set, because commands use it.
    → give one of them another id in its \`case:\` line
    (HARVEST_CASE_DUPLICATE_ID)"
  `)
})
