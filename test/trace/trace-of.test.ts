import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExchangeEvent, Json, TapeEvent } from '../../src/tape/types.ts'
import { compareTraces, parseBaseline, renderBaseline, type TraceMode, traceOf } from '../../src/trace/index.ts'
import { layered } from '../../src/trace/layers.ts'
import type { PlacedCall } from '../../src/trace/placed.ts'
import { Run } from './run.ts'

describe('wrapped calls', () => {
  test('one after the other are layers', () => {
    const run = new Run()
    run.call('lookup', { id: 1 })
    run.call('search', { q: 'x' }, { kind: 'retrieval' })
    run.call('refund')
    expect(run.trace).toEqual(['lookup(id)', 'search(q)', 'refund()'])
  })

  test('that overlap are concurrent', () => {
    const run = new Run()
    const a = run.begin('a')
    const b = run.begin('b')
    b.settle()
    const c = run.begin('c')
    a.settle()
    c.settle()
    run.call('d')
    // c began after b was settled, while a still ran.
    expect(run.trace).toEqual([['a()', 'b()'], 'c()', 'd()'])
  })

  test('that never settled cause nothing', () => {
    const run = new Run()
    run.begin('hangs')
    run.call('a')
    expect(run.trace).toEqual([['a()', 'hangs()']])
  })

  test('inside another tool belong to it, and so do its models and MCP calls, however deep', () => {
    const run = new Run()
    const outer = run.begin('research')
    const inner = run.begin('search', {}, { in: outer.n, kind: 'retrieval' })
    run.call('fetch_page', {}, { in: inner.n })
    inner.settle()
    run.answer(...run.model(['inner_tool'], { in: outer.n }))
    run.model([], { in: outer.n })
    run.mcp('read', {}, { in: outer.n })
    outer.settle()
    run.call('after')
    expect(run.trace).toEqual(['research()', 'after()'])
  })

  test('of named values are not calls, and calls inside of them are', () => {
    const run = new Run()
    const value = run.begin('config', {}, { kind: 'value' })
    run.call('a', {}, { in: value.n })
    value.settle()
    expect(run.trace).toEqual(['a()'])
  })

  test('have no arguments that were undefined', () => {
    const run = new Run()
    const none = { $type: 'undefined' }
    run.call('a', { x: 1, y: none })
    run.call('b', ['x', none, 'z', none])
    run.call('c', { $type: 'deep', value: { x: { $type: 'rest', at: 0 } }, rest: [] })
    expect(run.trace).toEqual(['a(x)', 'b($1, $2, $3)', 'c(x)'])
  })

  test('have their arguments, place in the code and number', () => {
    const run = new Run()
    run.call('a', ['x', 2], { site: 'src/agent.ts:7:3' })
    expect(traceOf(run.events)).toEqual({ layers: [[{ name: 'a', args: ['x', 2], n: 1, site: 'src/agent.ts:7:3' }]] })
  })
})

describe('calls a model asked for', () => {
  test('are listed once when a wrapped function ran them', () => {
    const run = new Run()
    const ids = run.model([['lookup', { id: 1 }]])
    run.call('lookup', { id: 1 })
    run.answer(...ids)
    run.model()
    expect(run.trace).toEqual(['lookup(id)'])
  })

  test('in one response are concurrent although the agent ran them one by one', () => {
    const run = new Run()
    run.answer(...run.model(['a', 'b', 'c']))
    for (const name of ['c', 'a', 'b']) run.call(name)
    run.answer(...run.model(['d']))
    run.call('d')
    run.model()
    expect(run.trace).toEqual([['a()', 'b()', 'c()'], 'd()'])
  })

  test('of two responses are in order even when their tools are the same', () => {
    const run = new Run()
    for (const q of ['x', 'y']) {
      run.answer(...run.model([['search', { q }]]))
      run.call('search', { q })
    }
    expect(renderBaseline(traceOf(run.events), { args: 'exact' })).toEqual(['search(q: "x")', 'search(q: "y")'])
  })

  test('and ran nowhere we see are listed when the run answered them', () => {
    const run = new Run()
    const [first = ''] = run.model(['lookup', 'forgotten'])
    run.answer(first)
    run.call('wrapped')
    run.answer(...run.model(['refund']))
    run.model()
    expect(run.trace).toEqual([['lookup()', 'wrapped()'], 'refund()'])
  })

  test('stand between their response and the request that answers them', () => {
    const run = new Run()
    run.call('before')
    const ids = run.model(['decided'])
    run.call('meanwhile')
    run.answer(...ids)
    run.model()
    run.call('after')
    expect(run.trace).toEqual(['before()', ['decided()', 'meanwhile()'], 'after()'])
  })

  test('are all listed when the run wraps no tool at all, even the last ones', () => {
    const run = new Run()
    run.model(['a'])
    run.model(['b', 'c'])
    expect(run.trace).toEqual(['a()', ['b()', 'c()']])
  })

  test('are not listed when the response broke off and nobody answered', () => {
    const run = new Run()
    const partial =
      'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"half","arguments":"{\\"a"}}]}}]}\n\n'
    run.events.push({
      kind: 'exchange',
      n: 1,
      at: 1,
      via: 'undici',
      method: 'POST',
      url: 'https://api.example/v1/chat/completions',
      request: { headers: [], body: JSON.stringify({ model: 'm', messages: [] }) },
      response: { moment: [2, 2], status: 200, headers: [], chunks: [[3, 3, partial]] },
      aborted: [4, 4],
    })
    expect(run.trace).toEqual([])
  })

  test('with arguments other than those that ran are still the same call', () => {
    const run = new Run()
    run.answer(...run.model([['search', { q: 'x' }]]))
    run.call('search', { q: 'x', limit: 10 })
    run.model()
    expect(run.trace).toEqual(['search(limit, q)'])
  })

  test('of the same name are told apart by their arguments', () => {
    const run = new Run()
    const [, second = ''] = run.model([
      ['search', { q: 'refused' }],
      ['search', { q: 'allowed' }],
    ])
    run.call('search', { q: 'allowed' })
    run.answer(second)
    run.model()
    expect(renderBaseline(traceOf(run.events), { args: 'exact' })).toEqual(['search(q: "allowed")'])
  })

  test('and that the provider ran are not listed', () => {
    const run = new Run()
    const content = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'tool_use', id: 't', name: 'mine', input: {} },
    ]
    run.exchange(
      'https://api.example/v1/messages',
      { model: 'm', messages: [] },
      { type: 'message', content, stop_reason: 'tool_use' },
    )
    expect(run.trace).toEqual(['mine()'])
  })

  test('that a torn stream began and a poll told whole are those of the poll, and count once', () => {
    const run = new Run()
    const threads = 'https://api.openai.com/v1/threads/t1/runs'
    const asked = {
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":7}' } }],
    }
    const answer = { id: 'r1', object: 'thread.run', status: 'requires_action' }
    const whole = { ...answer, required_action: { submit_tool_outputs: asked } }
    const n = run.exchange(threads, { stream: true }, '')
    const [torn] = run.events as [ExchangeEvent]
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"ord' } }
    const begun = [
      { ...answer, status: 'in_progress' },
      { object: 'thread.run.step.delta', id: 's1', delta: { step_details: { tool_calls: [call] } } },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`)
    const { end: _, ...cut } = torn.response!
    run.events[0] = { ...torn, response: { ...cut, chunks: [[n + 2, n + 2, begun.join('')]] } }
    const poll = { method: 'GET', request: { headers: [] } }
    const first = run.exchange(`${threads}/r1`, {}, whole, poll)
    run.exchange(`${threads}/r1`, {}, whole, poll)
    run.exchange(`${threads}/r1/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: 'c1', output: 'x' }] }, answer)
    expect(traceOf(run.events).layers).toEqual([[{ name: 'lookup', args: { order: 7 }, n: first }]])
  })

  test('without ids are answered by name', () => {
    const run = new Run()
    const url = 'https://g.example/v1beta/models/g:generateContent'
    const turn = (contents: readonly Json[], ...names: readonly string[]): void => {
      const parts = names.map((name) => ({ functionCall: { name, args: {} } }))
      run.exchange(url, { contents }, { candidates: [{ content: { parts }, finishReason: 'STOP' }] })
    }
    const result = (name: string): Json => ({ role: 'user', parts: [{ functionResponse: { name, response: {} } }] })
    const wrapped = run.begin('wrapped')
    wrapped.settle()
    turn([], 'search')
    turn([result('search')], 'search', 'never_answered')
    turn([result('search'), result('search')], 'search')
    // The third search was refused: the results of the first two stand there once more.
    turn([result('search'), result('search')])
    expect(run.trace).toEqual(['wrapped()', 'search()', 'search()'])
  })
})

describe('calls to MCP servers', () => {
  test('are calls of the trace', () => {
    const run = new Run()
    run.mcp('read', { path: 'a' })
    run.mcp('write', { path: 'a' }, { via: 'stdio', url: 'stdio:server', method: '' })
    expect(run.trace).toEqual(['read(path)', 'write(path)'])
  })

  test.for(['read', 'files__read', 'mcp__files__read', 'files_read', 'files.read'])(
    'account for a model asking for %s',
    (asked) => {
      const run = new Run()
      run.answer(...run.model([[asked, { path: 'a' }]]))
      run.mcp('read', { path: 'a' })
      run.model()
      expect(run.trace).toEqual(['read(path)'])
    },
  )

  test('do not account for a tool that only ends alike', () => {
    const run = new Run()
    run.answer(...run.model([['get_user', { id: 1 }]]))
    run.mcp('user', { name: 'Ann' })
    run.model()
    expect(run.trace).toEqual([['get_user(id)', 'user(name)']])
  })
})

test('a run without calls has no layers', () => {
  const run = new Run()
  run.model()
  run.events.push({ kind: 'mark', n: 90, at: 90, name: 'done' }, { kind: 'draws', n: 91, at: 91, draws: [] })
  expect(traceOf(run.events)).toEqual({ layers: [] })
  expect(traceOf([])).toEqual({ layers: [] })
})

test('calls inside each other in a circle, or settled before they began, stop nothing', () => {
  const odd: TapeEvent[] = [
    { kind: 'tool', n: 1, at: 1, in: 2, name: 'a', args: {}, settled: [3, 3] },
    { kind: 'tool', n: 2, at: 2, in: 2, name: 'b', args: {}, settled: [1, 1] },
    { kind: 'tool', n: 9, at: 9, in: 77, name: 'c', args: {} },
  ]
  expect(renderBaseline(traceOf(odd))).toEqual([['a()', 'b()'], 'c()'])
})

/** A turn: the tools asked for, and the order and overlap in which a scheduler runs them. */
const turn = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(3)), { minLength: 1, maxLength: 4 })

function play(
  turns: readonly (readonly (readonly [string, number])[])[],
  schedule: readonly number[],
  wrapped: boolean,
): Json {
  const run = new Run()
  const pick = (i: number): number => schedule[i % schedule.length] ?? 0
  for (const [t, asked] of turns.entries()) {
    const ids = run.model(asked.map(([name, id]) => [name, { id }] as const))
    if (wrapped) {
      const order = asked.map((one, i) => ({ one, key: pick(t + i) })).sort((x, y) => x.key - y.key)
      const open: (() => void)[] = []
      for (const [i, { one }] of order.entries()) {
        open.push(run.begin(one[0], { id: one[1] }).settle)
        // Settled at once, in order, or all at the end: sequential, overlapping and parallel agents.
        if (pick(t * 3 + i) % 2 === 0) open.splice(pick(i) % open.length, 1)[0]?.()
      }
      for (const settle of open) settle()
    }
    run.answer(...ids)
  }
  run.model()
  const shuffled = run.events.map((event, i) => ({ event, key: pick(i * 7) })).sort((x, y) => x.key - y.key)
  return renderBaseline(traceOf(shuffled.map(({ event }) => event)), { args: 'exact' })
}

test('for every run: the order and overlap in which an agent runs the calls of a response change nothing', () => {
  const schedule = fc.array(fc.nat(50), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), schedule, schedule, (turns, one, other) => {
      const trace = play(turns, one, true)
      expect(play(turns, other, true)).toEqual(trace)
      // Unwrapped, the decisions alone give the same trace.
      expect(play(turns, one, false)).toEqual(trace)
      expect(trace).toHaveLength(turns.length)
    }),
    { numRuns: 500 },
  )
})

test('for every set of spans and groups: each call is in the layer of its longest chain', () => {
  const span = fc.record({
    at: fc.nat(30),
    length: fc.integer({ min: 1, max: 12 }),
    hangs: fc.boolean(),
    group: fc.integer({ min: -1, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(span, { maxLength: 12 }), (spans) => {
      // Distinct moments, as on a tape.
      const calls: PlacedCall[] = spans.map(({ at, length, hangs, group }, i) => ({
        call: { name: `c${i}`, args: {}, n: i },
        issued: at + i / 100,
        settled: hangs && i % 3 === 0 ? Infinity : at + length + 0.5 + i / 100,
        group: group === -1 ? -1 - i : group,
      }))
      const layerByChain = (call: PlacedCall): number => {
        const causes = calls.filter((other) => other.settled < call.issued && other.group !== call.group)
        return Math.max(-1, ...causes.map(layerByChain)) + 1
      }
      const expected: string[][] = []
      for (const call of calls) (expected[layerByChain(call)] ??= []).push(call.call.name)
      expect(layered(calls).map((layer) => layer.map(({ name }) => name))).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
})

test('twenty thousand calls are read, one after the other, all at once, and asked for by a model', () => {
  const run = new Run()
  for (let i = 0; i < 20_000; i++) run.call(`tool_${i % 7}`, { i })
  expect(traceOf(run.events).layers).toHaveLength(20_000)
  const wide = new Run()
  const open = Array.from({ length: 20_000 }, (_, i) => wide.begin('same', { i }))
  for (const { settle } of open) settle()
  expect(traceOf(wide.events).layers).toHaveLength(1)
  const asked = new Run()
  asked.model(Array.from({ length: 20_000 }, (_, i) => ['same', { i }]))
  for (let i = 0; i < 20_000; i++) asked.call('same', { i: i + 1 })
  expect(traceOf(asked.events).layers).toHaveLength(1)
})

describe('under sequence', () => {
  test('calls asked for at once are the same as calls asked for one after the other', () => {
    const atOnce = new Run()
    atOnce.answer(...atOnce.model(['b', 'a']))
    atOnce.model()
    const oneByOne = new Run()
    oneByOne.answer(...oneByOne.model(['b']))
    oneByOne.answer(...oneByOne.model(['a']))
    oneByOne.model()
    const compare = (trace: TraceMode, wanted: Run, run: Run): boolean =>
      compareTraces(parseBaseline(renderBaseline(traceOf(wanted.events), { trace })), traceOf(run.events), { trace })
        .equal
    for (const [wanted, run] of [
      [atOnce, oneByOne],
      [oneByOne, atOnce],
    ] as const) {
      expect(compare('sequence', wanted, run)).toBe(true)
      expect(compare('causal', wanted, run)).toBe(false)
    }
    const otherWay = new Run()
    otherWay.answer(...otherWay.model(['a', 'b']))
    otherWay.model()
    expect(compare('sequence', atOnce, otherWay)).toBe(false)
  })

  test('a call stands where it was made, whatever led to it', () => {
    const run = new Run()
    const ids = run.model(['a', 'b'])
    run.call('a')
    const own = run.begin('own')
    run.call('b')
    own.settle()
    run.answer(...ids)
    run.model()
    expect(run.trace).toEqual([['a()', 'b()'], 'own()'])
    expect(renderBaseline(traceOf(run.events), { trace: 'sequence' })).toEqual(['a()', 'own()', 'b()'])
  })
})
