import { describe, expect, test } from 'vitest'
import { mutantsOf } from '../../src/blame/mutants.ts'
import { decisionOf, positionsOf } from '../../src/blame/positions.ts'
import { stepsOf, type Tape, type TapeEvent } from '../../src/tape/index.ts'
import { refundOf, refundRun } from './refund-run.ts'

describe('positions of a run', () => {
  test('are its steps in causal order, those under way at the same time in one place', () => {
    expect(positionsOf(refundOf(2500))).toEqual([
      {
        steps: [1],
        all: [1],
        label: `the model's decision lookup_order(order_id: "A-100"), refund_policy(country: "DE")`,
        isExogenous: false,
      },
      {
        steps: [2, 3],
        all: [2, 3],
        label: 'the answer of lookup_order(order_id: "A-100") and the answer of refund_policy(country: "DE")',
        isExogenous: true,
      },
      {
        steps: [4],
        all: [4],
        label: `the model's decision refund(amount: 2500, order_id: "A-100")`,
        isExogenous: false,
      },
      {
        steps: [5],
        all: [5],
        label: 'the answer of refund(amount: 2500, order_id: "A-100")',
        isExogenous: true,
      },
      { steps: [6], all: [6], label: `the model's answer "I refunded 2500 EUR."`, isExogenous: false },
    ])
  })

  test("a provider's error has its status", () => {
    const tape = refundOf(2500)
    const [first, ...rest] = tape.events
    if (first?.kind !== 'exchange' || first.response === undefined) throw new TypeError('no answer')
    const [n = 0, at = 0] = first.response.chunks[0] ?? []
    const refused = (body: string, status: number) => {
      const response = { ...first.response!, status, chunks: [[n, at, body] as const] }
      return positionsOf({ ...tape, events: [{ ...first, response } as TapeEvent, ...rest] })[0]?.label
    }
    const body = JSON.stringify({ error: { message: 'Slow down', type: 'rate_limit_error' } })
    expect(refused(body, 429)).toBe("the model's error 429, rate_limit_error")
    expect(refused(body, 200)).toBe("the model's error, rate_limit_error")
  })

  test('what happened inside a tool call belongs to the call', () => {
    const tape = refundOf(25)
    const tool = tape.events.find(({ kind, n }) => kind === 'tool' && n > 8)!
    const inner: TapeEvent = {
      kind: 'tool',
      n: tool.n + 0.5,
      at: 0,
      in: tool.n,
      name: 'post',
      args: {},
      settled: [tool.n + 0.6, 0],
    }
    const nested: Tape = { ...tape, events: [...tape.events, inner].sort((a, b) => a.n - b.n) }
    expect(positionsOf(nested)[3]).toMatchObject({ steps: [5], all: [5, 6], label: expect.stringContaining('refund') })
    expect(positionsOf(nested)[4]).toMatchObject({ steps: [7] })
  })

  test('a step that never got an answer holds no other one up', () => {
    const tape = refundOf(25)
    const open = tape.events.map((event) => {
      if (event.kind !== 'tool' || event.name !== 'lookup_order') return event
      const { settled: _, ...rest } = event
      return rest
    })
    expect(positionsOf({ ...tape, events: open }).map(({ steps }) => steps)).toEqual([[1], [2], [3], [4], [5], [6]])
  })

  test('every step is in one place', () => {
    const tape = refundOf(25)
    expect(positionsOf(tape).flatMap(({ all }) => all)).toEqual(stepsOf(tape).map((_, index) => index + 1))
  })
})

describe('mutants of a step', () => {
  const steps = stepsOf(refundOf(2500))
  const of = (number: number) => mutantsOf(steps[number - 1]!, number)

  test('of a tool change one value of its answer and keep the shape', () => {
    expect(of(2).map((one) => (one.kind === 'value' ? [one.patch.path, one.patch.value] : []))).toEqual([
      ['result.order_id', ''],
      ['result.order_id', 'A-010'],
      ['result.total', 0],
      ['result.total', 2500],
      ['result.total', 0.25],
      ['result.total', -25],
      ['result.total', 26],
      ['result.total', 52],
      ['result.paid', false],
    ])
  })

  test('of a model that called a tool change one argument, and leave the tools alone', () => {
    const decided = of(4).map((one) => (one.kind === 'decision' && 'calls' in one.decision ? one.decision.calls : []))
    expect(decided).toContainEqual([{ name: 'refund', args: { order_id: 'A-100', amount: 0 } }])
    expect(decided.every((calls) => calls.length === 1 && calls[0]?.name === 'refund')).toBe(true)
  })

  test('of a model that only speaks there are none: what it says is the outcome', () => {
    expect(decisionOf(steps[5]!)?.response?.text).toBe('I refunded 2500 EUR.')
    expect(of(6)).toEqual([])
  })

  test('are all different, none is the recorded answer, and there are not too many', () => {
    const result = { a: 0, b: '', c: [], d: null, e: 7, f: '77', many: Array.from({ length: 100 }, (_, i) => i) }
    const tape = refundRun([{ calls: [{ name: 'read', args: {}, result }] }, { say: 'done' }])
    const mutants = mutantsOf(stepsOf(tape)[1]!, 2)
    expect(mutants).toHaveLength(40)
    expect(new Set(mutants.map((one) => JSON.stringify(one))).size).toBe(40)
    const small = refundRun([
      { calls: [{ name: 'read', args: {}, result: { zero: 0, none: '', f: '77' } }] },
      { say: '' },
    ])
    const paths = mutantsOf(stepsOf(small)[1]!, 2).map(
      (one) => one.kind === 'value' && [one.patch.path, one.patch.value],
    )
    expect(paths).toEqual([
      ['result.zero', 1],
      ['result.f', ''],
    ])
  })
})
