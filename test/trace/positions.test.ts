import { describe, expect, it } from 'vitest'
import { compileRule, isTrueOfRun, type RunPosition } from '../../src/rules/index.ts'
import type { Json, TapeClose, TapeEvent, TapeHeader } from '../../src/tape/types.ts'
import { positionsOf } from '../../src/trace/index.ts'
import { Run } from './run.ts'

const header = { harvest: 1, id: 'run', agent: 'desk', startedAt: '', recorder: '', flags: [], pins: { node: '' } }
const closed = (outcome: TapeClose['outcome']): TapeClose => ({ kind: 'close', n: 1000, at: 1000, events: 0, outcome })

function positions(
  events: readonly TapeEvent[],
  close?: TapeClose,
  more: Partial<TapeHeader> = {},
): readonly RunPosition[] {
  return positionsOf({ header: { ...header, ...more }, events, ...(close === undefined ? {} : { close }) })
}

const told = (run: readonly RunPosition[]): readonly string[] =>
  run.map(({ kind, phase, name, step }) => [step ?? '-', kind, name, phase].filter(Boolean).join(' '))

const usage = (prompt_tokens: number, completion_tokens: number): Json => ({ prompt_tokens, completion_tokens })

/** A chat answer with words and, where it is given, usage. */
function say(run: Run, content: string, used?: Json): void {
  run.exchange(
    'https://api.example/v1/chat/completions',
    { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi.' }] },
    {
      model: 'gpt-5',
      choices: [{ index: 0, message: { role: 'assistant', content } }],
      ...(used === undefined ? {} : { usage: used }),
    },
  )
}

describe('a run as positions', () => {
  it('has two for each step, and calls inside calls between those of the outer one', () => {
    const run = new Run()
    const outer = run.begin('refund', { amount: 150 })
    run.call('bank', { sum: 150 }, { in: outer.n })
    outer.settle()
    run.begin('never_answered')
    expect(told(positions(run.events, closed({ status: 'returned', value: { refunded: 150 } })))).toEqual([
      '1 call refund called',
      '2 call bank called',
      '2 call bank ok',
      '1 call refund ok',
      '3 call never_answered called',
      '- end ok',
    ])
  })

  it('has calls that nothing wraps where a model asked for them and got an answer, with their results', () => {
    const run = new Run()
    const [lookup = '', refund = ''] = run.model([
      ['lookup', { order: 'A' }],
      ['refund', { amount: 150 }],
    ])
    run.messages.push({ role: 'tool', tool_call_id: lookup, content: '{"total": 209}' })
    run.messages.push({ role: 'tool', tool_call_id: refund, content: 'done' })
    run.model()
    const all = positions(run.events)
    expect(told(all)).toEqual([
      '1 model called',
      '1 model ok',
      '1 asks lookup',
      '1 asks refund',
      '1 call lookup called',
      '1 call refund called',
      '1 call lookup ok',
      '1 call refund ok',
      '2 model called',
      '2 model ok',
    ])
    expect(all.filter(({ kind, phase }) => kind === 'call' && phase === 'ok').map(({ result }) => result)).toEqual([
      { total: 209 },
      'done',
    ])
    // Both asked for in one answer: the refund did not know what the lookup found.
    expect(isTrueOfRun(compileRule('refund(amount > 100)'), all)).toBe(true)
    expect(isTrueOfRun(compileRule('refund() preceded by lookup()'), all)).toBe(false)
  })

  it('has a wrapped call once, though a model asked for it', () => {
    const run = new Run()
    const [id = ''] = run.model([['refund', { amount: 150 }]])
    run.call('refund', { amount: 150 })
    run.answer(id)
    run.model()
    expect(isTrueOfRun(compileRule('exactly 1 refund()'), positions(run.events))).toBe(true)
  })

  it('has what an MCP server answered, and its errors', () => {
    const run = new Run()
    const call = (result: Json): number =>
      run.exchange(
        'https://mcp.example/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read', arguments: { path: 'a' } } },
        { jsonrpc: '2.0', id: 1, ...(result as object) },
      )
    call({ result: { content: [{ type: 'text', text: '{"lines": 3}' }] } })
    call({ result: { structuredContent: { lines: 4 }, content: [] } })
    call({ result: { isError: true, content: [{ type: 'text', text: 'no such file' }] } })
    call({ error: { code: -1, message: 'server gone' } })
    const all = positions(run.events)
    const holds = (rule: string): boolean => isTrueOfRun(compileRule(rule), all)
    expect(holds('read(path=a) returns (lines=3)')).toBe(true)
    expect(holds('read() returns (lines=4)')).toBe(true)
    expect(holds('read() fails with "no such file"')).toBe(true)
    expect(holds('read() fails with "server gone"')).toBe(true)
    expect(holds('exactly 2 read() fails')).toBe(true)
  })

  it('counts tokens and cost so far, and knows when a part of them is unknown', () => {
    const run = new Run()
    say(run, 'One.', usage(1_000_000, 0))
    say(run, 'Two.', usage(0, 100_000))
    const sums = (of: 'tokens' | 'cost'): readonly unknown[] =>
      positions(run.events).flatMap(({ kind, phase, [of]: amount }) =>
        kind === 'model' && phase === 'ok' ? [amount] : [],
      )
    expect(sums('tokens')).toEqual([
      { known: 1_000_000, isWhole: true },
      { known: 1_100_000, isWhole: true },
    ])
    expect(sums('cost')).toEqual([
      { known: 1.25, isWhole: true },
      { known: 2.25, isWhole: true },
    ])
    say(run, 'Three.')
    expect(sums('tokens').at(-1)).toEqual({ known: 1_100_000, isWhole: false })
    const all = positions(run.events, closed({ status: 'returned' }))
    expect(isTrueOfRun(compileRule('model says "two"'), all)).toBe(true)
    expect(isTrueOfRun(compileRule('eventually (run ends and tokens > 1000000)'), all)).toBe(true)
    expect(isTrueOfRun(compileRule('always tokens < 9000000'), all)).toBe(false)
  })

  it('ends as the run did', () => {
    const error = { $type: 'error', name: 'TypeError', message: 'order is undefined' }
    expect(positions([], closed({ status: 'threw', error }))).toMatchObject([
      { kind: 'end', phase: 'fails', error: 'TypeError: order is undefined' },
    ])
    expect(positions([])).toEqual([])
  })

  it('has errors of calls, marks and messages', () => {
    const run = new Run()
    const moment = run.next()
    run.events.push({ kind: 'mark', n: moment, at: 5, name: 'planned', data: { budget: 6 } })
    run.events.push({ kind: 'message', n: run.next(), at: 6, from: 'lead', to: 'editor', body: { veto: true } })
    const begun = run.next()
    const end = run.next()
    const error = { $type: 'error', name: 'Error', message: 'timeout' }
    run.events.push({ kind: 'tool', n: begun, at: 10, name: 'search', args: ['q', 2], settled: [end, 5010], error })
    const all = positions(run.events)
    for (const rule of [
      'mark planned(budget > 5)',
      'message to editor says "veto"',
      'search(0=q) fails with "timeout"',
    ])
      expect(isTrueOfRun(compileRule(rule), all), rule).toBe(true)
    expect(isTrueOfRun(compileRule('eventually (search() fails and took >= 5s)'), all)).toBe(true)
  })

  it('of an imported trace has its model calls and what models said', () => {
    const events: readonly TapeEvent[] = [
      {
        kind: 'mark',
        n: 1,
        at: 0,
        name: 'model',
        data: { asked: 'gpt-5', usage: { inputTokens: 7, outputTokens: 3 } },
      },
      { kind: 'message', n: 2, at: 1, from: 'model', to: 'user', body: 'I refund it.' },
    ]
    const imported = { format: 'otlp', grade: 'signature-only', missing: [] } as const
    const all = positions(events, undefined, { imported })
    expect(isTrueOfRun(compileRule('model says "refund"'), all)).toBe(true)
    expect(all.at(-1)?.tokens).toEqual({ known: 10, isWhole: true })
    // A mark of the application of that name is no call of a model.
    expect(told(positions(events.slice(0, 1)))).toEqual(['- mark model'])
  })
})
