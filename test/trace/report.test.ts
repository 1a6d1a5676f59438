import { expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { compareTraces, type MatchOptions, parseBaseline, type Trace } from '../../src/trace/index.ts'
import { type Call, type Layers, traceFrom } from './generators.ts'

const call = (name: string, args: Call['args'] = {}): Call => ({ name, args })
const order = { order_id: '100X' }
const run: Layers = [
  [call('lookup_order', order)],
  [call('search', { query: 'refund rules' }), call('get_user', { id: 7 })],
  [call('check_limit', { amount: 25 })],
  [call('refund', { amount: 25, ...order })],
  [call('send_email', { to: 'ann@example.com', body: 'Done.' })],
]
const baseline: Json = [
  'lookup_order(order_id)',
  ['get_user(id)', 'search(query)'],
  'check_limit(amount)',
  'refund(amount, order_id)',
  'send_email(body, to)',
]

function report(actual: Layers, match: MatchOptions = {}, expected = baseline): string {
  return `\n${compareTraces(parseBaseline(expected), traceFrom(actual), match).report}\n`
}
const at = (index: number, ...layers: Layers): Layers => [...run.slice(0, index), ...layers, ...run.slice(index + 1)]

test('a run that equals its baseline has nothing to tell', () => {
  expect(report(run)).toMatchInlineSnapshot(`
    "
    The run's calls are those of the baseline.
    "
  `)
})

test('a dropped tool is missing', () => {
  expect(report(at(3))).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 missing.

      missing    layer 4   refund(amount, order_id)

        … 2 calls as expected
        ∥ search(query)
        check_limit(amount)
      - refund(amount, order_id)
        send_email(body, to)
    "
  `)
})

test('an extra tool is extra', () => {
  expect(report(at(1, [...(run[1] ?? []), call('audit', order)]))).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 extra.

      extra      layer 2   audit(order_id)

        … 1 call as expected
        get_user(id)
        ∥ search(query)
      + ∥ audit(order_id)
        check_limit(amount)
        refund(amount, order_id)
        … 1 call as expected
    "
  `)
})

test('a moved call says where it went', () => {
  expect(report([run[0] ?? [], run[4] ?? [], ...run.slice(1, 4)])).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 moved.

      moved      layer 5   send_email(body, to)  →  made earlier, in layer 2 of the run

        lookup_order(order_id)
      + send_email(body, to)
        get_user(id)
        ∥ search(query)
        check_limit(amount)
        refund(amount, order_id)
      - send_email(body, to)
    "
  `)
})

test('a call no longer concurrent with another has moved', () => {
  expect(
    report(at(1, [call('get_user', { id: 7 })], [call('search', { query: 'refund rules' })])),
  ).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 moved.

      moved      layer 2   get_user(id)  →  made earlier, in layer 2 of the run

        lookup_order(order_id)
      + get_user(id)
        search(query)
      - ∥ get_user(id)
        check_limit(amount)
        refund(amount, order_id)
        … 1 call as expected
    "
  `)
})

test('two dependent calls that swapped are one that moved', () => {
  expect(report([run[0] ?? [], run[1] ?? [], run[3] ?? [], run[2] ?? [], run[4] ?? []])).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 moved.

      moved      layer 3   check_limit(amount)  →  made later, in layer 4 of the run

        … 1 call as expected
        get_user(id)
        ∥ search(query)
      - check_limit(amount)
        refund(amount, order_id)
      + check_limit(amount)
        send_email(body, to)
    "
  `)
})

test('an added argument is named with its value', () => {
  expect(report(at(3, [call('refund', { amount: 25, ...order, reason: 'late' })]))).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 with other arguments.

      arguments  layer 4   refund(amount, order_id)
                   + reason: "late"

        … 2 calls as expected
        ∥ search(query)
        check_limit(amount)
      - refund(amount, order_id)
      + refund(amount, order_id, reason)
        send_email(body, to)
    "
  `)
})

test('a changed value is shown before and after, under exact', () => {
  const exact = [
    'refund(amount: 25, order: {"id":"100X","lines":[1,2]}, note: "Customer says the parcel arrived open and half empty.")',
  ]
  const note = 'Customer says the parcel arrived open and quite empty.'
  const made = call('refund', { amount: 30, order: { id: '100X', lines: [1, 3], gift: true }, note })
  expect(report([[made]], { args: 'exact' }, exact)).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 with other arguments.

      arguments  layer 1   refund(amount: 25, note: "Customer says the parcel arrived open and half empty.", order: {"id":"100X","lines":[1,2]})
                   ~ amount: 25 → 30
                   ~ note: "Customer says the parcel arrived open and half empty." → "Customer says the parcel arrived open and quite empty."
                   + order.gift: true
                   ~ order.lines[1]: 2 → 3

      - refund(amount: 25, note: "Customer says the parcel arrived open and half empty.", order: {"id":"100X","lines":[1,2]})
      + refund(amount: 30, note: "Customer says the parcel arrived open and quite empty.", order: {"gift":true,"id":"100X","lines":[1,3]})
    "
  `)
})

test('another tool in the same place is renamed', () => {
  expect(report(at(3, [call('issue_refund', { amount: 25, ...order })]))).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 renamed.

      renamed    layer 4   refund(amount, order_id)  →  issue_refund(amount, order_id)

        … 2 calls as expected
        ∥ search(query)
        check_limit(amount)
      - refund(amount, order_id)
      + issue_refund(amount, order_id)
        send_email(body, to)
    "
  `)
})

test('concurrent calls that arrived in another order are told under strict only', () => {
  expect(report(run, { trace: 'strict' })).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 moved.

      moved      layer 2   get_user(id)  →  in another order

        lookup_order(order_id)
      - get_user(id)
      - ∥ search(query)
      + search(query)
      + ∥ get_user(id)
        check_limit(amount)
        refund(amount, order_id)
        … 1 call as expected
    "
  `)
})

test('under sequence calls are counted as they were made, and none is marked as concurrent', () => {
  const inOrder = (baseline as readonly string[]).flatMap((item) => (Array.isArray(item) ? item.toReversed() : item))
  expect(report(run, { trace: 'sequence' }, inOrder)).toContain("The run's calls are those of the baseline.")
  expect(report(at(4), { trace: 'sequence' })).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 missing, 1 moved.

      moved      call 2    get_user(id)  →  made later, as call 3 of the run
      missing    call 6    send_email(body, to)

        lookup_order(order_id)
      - get_user(id)
        search(query)
      + get_user(id)
        check_limit(amount)
        refund(amount, order_id)
      - send_email(body, to)
    "
  `)
  expect(
    report(at(3, [call('audit'), call('issue_refund', { amount: 25, ...order })]), { trace: 'sequence' }, inOrder),
  ).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 extra, 1 renamed.

      extra      call 5    audit()
      renamed    call 5    refund(amount, order_id)  →  issue_refund(amount, order_id)

        … 2 calls as expected
        get_user(id)
        check_limit(amount)
      + audit()
      - refund(amount, order_id)
      + issue_refund(amount, order_id)
        send_email(body, to)
    "
  `)
})

test('where order means nothing there are no layers to tell of', () => {
  expect(report(at(3, [call('pay_out', { sum: 25 })]), { trace: 'unordered' })).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 missing, 1 extra.

      missing    refund(amount, order_id)
      extra      pay_out(sum)

        … 3 calls as expected
        check_limit(amount)
        send_email(body, to)
      - refund(amount, order_id)
      + pay_out(sum)
    "
  `)
  expect(report(at(3), { trace: 'superset' })).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 missing.

      missing    refund(amount, order_id)

        … 3 calls as expected
        check_limit(amount)
        send_email(body, to)
      - refund(amount, order_id)
    "
  `)
  expect(report(at(3, [call('pay_out', { sum: 25 })]), { trace: 'subset' })).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 extra.

      extra      pay_out(sum)

        … 3 calls as expected
        check_limit(amount)
        send_email(body, to)
      + pay_out(sum)
    "
  `)
})

test('a function that refuses arguments is named', () => {
  expect(
    report([[call('pay', { amount: 5 })]], { tools: { pay: () => false } }, ['pay(amount: 5)']),
  ).toMatchInlineSnapshot(`
    "
    The run's calls differ from the baseline: 1 with other arguments.

      arguments  layer 1   pay(amount: 5)
                   refused by the function for 'pay'

      - pay(amount: 5)
      + pay(amount: 5)  (refused)
    "
  `)
})

test('a long report names what it leaves out and stays below sixty lines', () => {
  const long = Array.from({ length: 300 }, (_, i) => [call(`step_${i}`, { value: 'x'.repeat(500) })])
  const other = long.map((layer, i) => (i % 3 === 0 ? [call(`other_${i}`)] : layer))
  const expected = long.map(([one]) => `${one?.name}(value: "${'y'.repeat(300)}")`)
  const text = report(other, {}, expected)
  const lines = text.split('\n')
  expect(lines.length).toBeLessThan(60)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200)
  expect(lines.filter((line) => line.includes('more'))).toEqual(['  … and 392 more', '    … 568 more lines'])
})

test('the first difference is the first in causal order, whatever its kind', () => {
  const { first, differences } = compareTraces(parseBaseline(baseline), traceFrom([...run.slice(1), [call('audit')]]))
  expect(first).toEqual({
    kind: 'missing',
    expected: { name: 'lookup_order', args: { order_id: undefined } },
    layer: 0,
  })
  expect(differences.map(({ kind, layer }) => [kind, layer])).toEqual([
    ['missing', 0],
    ['extra', 4],
  ])
})

test('calls that agree read the same in both texts, as the baseline has them', () => {
  const actual: Trace = traceFrom(at(4))
  const { expectedText, actualText } = compareTraces(
    parseBaseline(['lookup_order(*)', ...(baseline as Json[]).slice(1)]),
    actual,
  )
  expect(expectedText).toMatchInlineSnapshot(`
    "lookup_order(*)
    get_user(id)
    ∥ search(query)
    check_limit(amount)
    refund(amount, order_id)
    send_email(body, to)"
  `)
  expect(actualText).toMatchInlineSnapshot(`
    "lookup_order(*)
    get_user(id)
    ∥ search(query)
    check_limit(amount)
    refund(amount, order_id)"
  `)
})
