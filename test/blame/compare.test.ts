import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBranches } from '../../src/blame/compare.ts'
import type { CallEvent, ExchangeEvent, Json, Outcome, TapeEvent } from '../../src/tape/index.ts'

interface Run {
  readonly events: readonly TapeEvent[]
  readonly close: {
    readonly kind: 'close'
    readonly n: number
    readonly at: number
    readonly events: number
    readonly outcome: Outcome
  }
}

function run(events: readonly TapeEvent[], value: Json = { refunded: 25 }): Run {
  return {
    events,
    close: { kind: 'close', n: 900, at: 9, events: events.length, outcome: { status: 'returned', value } },
  }
}

function tool(n: number, name: string, args: Json, result: Json = 'ok'): CallEvent {
  return { kind: 'tool', n, at: n, name, args, settled: [n + 1, n + 1], result }
}

/** A model that was asked with these messages and calls a tool. */
function model(
  n: number,
  messages: readonly Json[],
  calls: readonly (readonly [name: string, args: Json])[],
  id = `call_${n}`,
): ExchangeEvent {
  const tool_calls = calls.map(([name, args], at) => ({
    id: `${id}_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const message =
    calls.length === 0 ? { role: 'assistant', content: 'Done.' } : { role: 'assistant', content: null, tool_calls }
  const body = JSON.stringify({
    id: `chatcmpl-${id}`,
    model: 'gpt-4o',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  })
  return {
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: 'http://127.0.0.1:1/v1/chat/completions',
    request: { headers: [['content-type', 'application/json']], body: JSON.stringify({ model: 'gpt-4o', messages }) },
    response: {
      moment: [n + 1, n + 1],
      status: 200,
      headers: [['content-type', 'application/json']],
      chunks: [[n + 2, n + 2, body]],
      end: [n + 3, n + 3],
    },
  }
}

const asked: Json = { role: 'user', content: 'Refund A-100.' }
const decided = model(1, [asked], [['refund', { amount: 25 }]])
const parent = run([decided, tool(10, 'refund', { amount: 25 })])
const compare = (branch: Run, changed: readonly number[] = []) => compareBranches(parent, [branch], changed)[0]

describe('a branch compared with the run it parts from', () => {
  it('that is the same run differs in nothing', () => {
    expect(compare(run(parent.events))).toEqual({
      outcome: { same: true },
      trace: { same: true, differences: 0 },
      steps: { parent: 2, branch: 2 },
    })
  })

  it('says where the outcome first differs', () => {
    expect(compare(run(parent.events, { refunded: 10 }))?.outcome).toEqual({
      same: false,
      at: { path: 'refunded', recorded: '25', live: '10' },
    })
  })

  it('says which decision of the model is another one, and not that its bytes are', () => {
    const other = run([model(1, [asked], [['refund', { amount: 10 }]]), tool(10, 'refund', { amount: 10 })])
    expect(compare(other)).toMatchObject({
      trace: { same: false, first: { kind: 'arguments' } },
      first: { kind: 'answered', step: 1, before: 'refund(amount: 25)', after: 'refund(amount: 10)' },
    })
  })

  it('does not tell the step that somebody changed, but what came of it', () => {
    const other = run([model(1, [asked], [['refund', { amount: 10 }]]), tool(10, 'refund', { amount: 10 })])
    expect(compare(other, [1])?.first).toEqual({
      kind: 'asked',
      step: 2,
      before: 'refund(amount: 25)',
      after: 'refund(amount: 10)',
    })
  })

  it('a model that is asked about other things and decides the same is a difference only when there is no other', () => {
    const told: Json = { role: 'tool', content: '90' }
    const turns = (content: Json, amount: number): Run =>
      run([
        tool(1, 'lookup', {}, content),
        model(10, [asked, content], [['refund', { amount }]]),
        tool(20, 'refund', { amount }),
      ])
    const was = turns({ role: 'tool', content: '25' }, 25)
    const first = (branch: Run) => compareBranches(was, [branch], [1])[0]?.first
    expect(first(turns(told, 25))).toEqual({
      kind: 'asked',
      step: 2,
      before: 'gpt-4o is asked',
      after: 'gpt-4o is asked',
    })
    expect(first(turns(told, 90))).toMatchObject({ kind: 'answered', step: 2, after: 'refund(amount: 90)' })
    expect(first(run(turns(told, 25).events.slice(0, 2)))).toMatchObject({ kind: 'missing', step: 3 })
  })

  it('names the step that it does without', () => {
    expect(compare(run([decided]))?.first).toEqual({ kind: 'missing', step: 2, before: 'refund(amount: 25)' })
  })

  it('with other ids of calls is the same run', () => {
    const turn = (id: string): Run => {
      const first = model(1, [asked], [['lookup', {}]], id)
      const told: Json = { role: 'tool', tool_call_id: `${id}_0`, content: '25' }
      return run([first, tool(5, 'lookup', {}), model(10, [asked, told], [], `${id}-last`)])
    }
    const [one, other] = [turn('call_a'), turn('call_b')]
    expect(compareBranches(one, [other])[0]).not.toHaveProperty('first')
    expect(compareBranches(one, [run(turn('call_b').events.with(1, tool(5, 'lookup', { x: 1 })))])[0]).toHaveProperty(
      'first',
    )
  })

  it('for every order in which independent steps arrive, is the same run', () => {
    const calls = ['a', 'b', 'c', 'd'].map((name) => tool(10, name, { name }))
    const inOrder = (list: readonly CallEvent[]): Run =>
      run(list.map((call, at): CallEvent => ({ ...call, n: 10 + at, at: 10, settled: [100 + at, 20] })))
    fc.assert(
      fc.property(fc.shuffledSubarray(calls, { minLength: calls.length }), (shuffled) => {
        const [found] = compareBranches(inOrder(calls), [inOrder(shuffled)])
        expect(found).toMatchObject({ outcome: { same: true }, trace: { same: true } })
        expect(found).not.toHaveProperty('first')
      }),
    )
  })
})
