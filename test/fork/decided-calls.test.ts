import { expect, test } from 'vitest'
import { besideRecorded, completeCalls } from '../../src/cli/forking/decided-calls.ts'
import type { TypedCall } from '../../src/cli/forking/words.ts'
import { currentFlags, type Json, parseTape, serializeTape, type Tape } from '../../src/tape/index.ts'

/** A run whose model decided these calls at its one step. */
function tapeOf(...calls: readonly (readonly [name: string, args: Json])[]): Tape {
  const toolCalls = calls.map(([name, args], index) => ({
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const parameters = { type: 'object', properties: { note: {}, to: {} }, required: ['to'] }
  const offered = [{ type: 'function', function: { name: 'send_mail', parameters } }]
  const message = { role: 'assistant', content: null, tool_calls: toolCalls }
  const answer = JSON.stringify({ model: 'gpt-5', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
  const header = {
    harvest: 1,
    id: 'decided',
    agent: 'refund',
    input: null,
    startedAt: '2026-11-22T10:00:00.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
  const exchange = {
    kind: 'exchange' as const,
    n: 1,
    at: 0,
    via: 'undici' as const,
    method: 'POST',
    url: 'https://api.openai.com/v1/chat/completions',
    request: { headers: [], body: JSON.stringify({ model: 'gpt-5', messages: [], tools: offered }) },
    response: {
      moment: [2, 1] as const,
      status: 200,
      headers: [],
      chunks: [[3, 1, answer] as const],
      end: [4, 1] as const,
    },
  }
  const close = { n: 5, at: 2, outcome: { status: 'returned' as const, value: null } }
  return parseTape(serializeTape(header, [exchange], close), 'decided.tape.jsonl')
}

const part = (name: string, args: Json): TypedCall => ({ name, args, isWhole: false })

test('as many calls of a tool as were recorded are completed in their order', () => {
  const tape = tapeOf(['refund', { order_id: 'A-1', amount: 1 }], ['refund', { order_id: 'A-2', amount: 2 }])
  const calls = completeCalls([part('refund', { amount: 10 }), part('refund', { amount: 20 })], 1, tape)
  expect(calls.map(({ args }) => args)).toEqual([
    { order_id: 'A-1', amount: 10 },
    { order_id: 'A-2', amount: 20 },
  ])
  expect(besideRecorded(calls, 1, tape)).toEqual({ kept: ['refund.order_id', 'refund.order_id'], missing: [] })
})

test('a call that could stand for one of several is not completed by a guess: what it lacks is said', () => {
  const tape = tapeOf(['refund', { order_id: 'A-1', amount: 1 }], ['refund', { order_id: 'A-2', amount: 2 }])
  const calls = completeCalls([part('refund', { amount: 10 })], 1, tape)
  expect(calls).toEqual([{ name: 'refund', args: { amount: 10 } }])
  expect(besideRecorded(calls, 1, tape)).toEqual({ kept: [], missing: ['order_id'] })
})

test('a call of another tool keeps nothing, and lacks what its schema requires', () => {
  const tape = tapeOf(['refund', { order_id: 'A-1', amount: 1 }])
  const calls = completeCalls([part('send_mail', { note: 'sorry' })], 1, tape)
  expect(calls).toEqual([{ name: 'send_mail', args: { note: 'sorry' } }])
  expect(besideRecorded(calls, 1, tape)).toEqual({ kept: [], missing: ['to'] })
})

test('a call typed as JSON or without arguments is whole', () => {
  const tape = tapeOf(['refund', { order_id: 'A-1', amount: 1 }])
  for (const typed of [{ ...part('refund', { amount: 10 }), isWhole: true }, part('refund', {})])
    expect(completeCalls([typed], 1, tape)).toEqual([{ name: 'refund', args: typed.args }])
})
