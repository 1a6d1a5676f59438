import { describe, expect, it } from 'vitest'
import { type TapeDraft, importRecordings } from '../../src/importers/index.ts'
import type { CallEvent } from '../../src/tape/types.ts'
import { traceOf } from '../../src/trace/index.ts'
import { lines, runSamples } from './run-samples.ts'
import { imported } from './samples.ts'

function callsOf({ events }: TapeDraft): readonly CallEvent[] {
  return events.filter((event): event is CallEvent => event.kind === 'tool')
}

function layersOf({ events }: TapeDraft): readonly (readonly string[])[] {
  return traceOf(events).layers.map((layer) => layer.map(({ name }) => name).sort())
}

function modelsOf({ events }: TapeDraft): readonly unknown[] {
  return events.flatMap((event) => (event.kind === 'mark' && event.name === 'model' ? [event.data] : []))
}

/** Who said what. */
function saidIn({ events }: TapeDraft): readonly string[] {
  return events.flatMap((event) => (event.kind === 'message' ? [`${event.from}: ${JSON.stringify(event.body)}`] : []))
}

describe('a session of an agent kit', () => {
  const event = (author: string, seconds: number, parts: readonly object[], more: object = {}): object => ({
    author,
    invocationId: 'i-1',
    timestamp: 1772600767.5 + seconds,
    content: { role: author === 'user' ? 'user' : 'model', parts },
    ...more,
  })
  const session = {
    id: 's-1',
    appName: 'desk',
    userId: 'u',
    state: {},
    events: [
      event('user', 0, [{ text: 'Look up both.' }]),
      event('desk', 1, [{ text: 'I l' }], { partial: true }),
      event(
        'desk',
        1,
        [{ functionCall: { id: 'a', name: 'look', args: { id: 1 } } }, { functionCall: { id: 'b', name: 'seek' } }],
        {
          modelVersion: 'gemini-3',
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
        },
      ),
      {
        ...event('desk', 3, [
          { functionResponse: { id: 'b', name: 'seek', response: { found: 2 } } },
          { functionResponse: { id: 'a', name: 'look', response: { found: 1 } } },
        ]),
        content: {
          role: 'user',
          parts: [
            { functionResponse: { id: 'b', name: 'seek', response: { found: 2 } } },
            { functionResponse: { id: 'a', name: 'look', response: { found: 1 } } },
          ],
        },
      },
      event('desk', 4, [{ text: 'Both are there.' }]),
      { author: 'desk', invocationId: 'i-1', timestamp: 1772600772, actions: { stateDelta: { done: true } } },
    ],
  }

  it('has each call with its answer, asked for together, and what the model used', () => {
    const tape = imported(JSON.stringify(session))
    expect(tape.header).toMatchObject({ imported: { format: 'adk' }, startedAt: '2026-03-04T05:06:07.500Z' })
    expect(layersOf(tape)).toEqual([['look', 'seek']])
    expect(callsOf(tape)).toMatchObject([
      { name: 'seek', args: {}, result: { found: 2 } },
      { name: 'look', args: { id: 1 }, result: { found: 1 } },
    ])
    expect(modelsOf(tape)).toEqual([{ answered: 'gemini-3', usage: { inputTokens: 9, outputTokens: 2 } }, {}])
    expect(saidIn(tape)).toEqual(['user: "Look up both."', 'model: "Both are there."'])
  })

  it('is found in the result of an evaluation, whose verdict is its outcome', () => {
    const result = { eval_id: 'both', final_eval_status: 2, session_details: session }
    const tape = imported(JSON.stringify({ eval_set_id: 'desk', eval_case_results: [result] }))
    expect(callsOf(tape)).toHaveLength(2)
    expect(tape.events.at(-1)).toMatchObject({ kind: 'mark', name: 'outcome', data: { status: 2 } })
  })
})

describe('a set of evaluations', () => {
  const user = { parts: [{ text: 'Look up A-17.' }] }
  const setOf = (...cases: readonly object[]): string => JSON.stringify({ eval_set_id: 'desk', eval_cases: cases })
  const caseOf = (id: string, ...conversation: readonly object[]): object => ({ eval_id: id, conversation })

  it('is a run for each case, with the calls in the order of the list', () => {
    const uses = [
      { id: 'a', name: 'look', args: { id: 1 } },
      { id: 'b', name: 'pay', args: {} },
    ]
    const answers = [{ id: 'b', name: 'pay', response: { ok: true } }]
    const tools = { tool_uses: uses, tool_responses: answers, intermediate_responses: [] }
    const text = setOf(
      caseOf('one', { user_content: user, intermediate_data: tools }),
      caseOf('two', { user_content: user, final_response: { role: 'model', parts: [{ text: 'Paid.' }] } }),
    )
    const file = { file: 'set', bytes: Buffer.from(text), id: (name?: string) => name ?? '', agent: 'a' }
    const [one, two] = importRecordings(file).tapes
    expect([one?.header.id, two?.header.id]).toEqual(['one', 'two'])
    expect(layersOf(one!)).toEqual([['look'], ['pay']])
    expect(callsOf(one!).map(({ result }) => result)).toEqual([undefined, { ok: true }])
    expect(one!.facts.missing).toContain('tools')
    expect(saidIn(two!)).toEqual(['user: "Look up A-17."', 'model: "Paid."'])
  })

  it('with the events of each invocation is read in the words of those', () => {
    const call = { function_call: { id: 'a', name: 'look', args: { id: 1 } }, text: null }
    const answer = { function_response: { id: 'a', name: 'look', response: { found: 1 } } }
    const events = [
      { author: 'desk', content: { parts: [call], role: 'model' } },
      { author: 'desk', content: { parts: [answer], role: 'user' } },
    ]
    const tape = imported(
      setOf(caseOf('one', { user_content: user, intermediate_data: { invocation_events: events } })),
    )
    expect(callsOf(tape)).toMatchObject([{ name: 'look', args: { id: 1 }, result: { found: 1 } }])
  })

  it('that holds questions alone is refused: nothing has run', () => {
    const scenario = { eval_id: 'two', conversation_scenario: { starting_prompt: 'Hello' } }
    expect(() => imported(setOf(caseOf('one', { user_content: user }), scenario))).toThrow('HARVEST_IMPORT_EMPTY')
  })
})

describe('a trajectory in the interchange format', () => {
  const run = JSON.parse(runSamples.atif) as { steps: { tool_calls?: object[]; observation?: object }[] }
  const withStep = (calls: readonly object[], results: readonly object[]): TapeDraft => {
    const [first, second] = run.steps
    const step = { ...second, tool_calls: calls, observation: { results } }
    return imported(JSON.stringify({ ...run, steps: [first, step] }))
  }
  const call = (id: string): object => ({ tool_call_id: id, function_name: id, arguments: {} })

  it('tells the model that was asked and the one that answered, and what it used', () => {
    expect(modelsOf(imported(runSamples.atif))).toEqual([
      { asked: 'gpt-5', answered: 'gpt-5-2026', usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 1 } },
    ])
  })

  it('joins what was observed by id, or in order where there is one for each call', () => {
    const byId = withStep([call('a'), call('b')], [{ source_call_id: 'b', content: '2' }])
    expect(callsOf(byId).map(({ name, result }) => [name, result])).toEqual([
      ['a', undefined],
      ['b', '2'],
    ])
    const inOrder = withStep([call('a'), call('b')], [{ content: '1' }, { content: '2' }])
    expect(callsOf(inOrder).map(({ name, result }) => [name, result])).toEqual([
      ['a', '1'],
      ['b', '2'],
    ])
    expect(layersOf(inOrder)).toEqual([['a', 'b']])
  })

  it('what a terminal shows of several commands is no answer of one', () => {
    const tape = withStep([call('a'), call('b')], [{ content: 'both' }])
    expect(callsOf(tape).map(({ result }) => result)).toEqual([undefined, undefined])
    expect(saidIn(tape)).toContain('tool: "both"')
  })

  it('with who speaks inside of the message is read', () => {
    const steps = [
      { step_id: 1, message: { role: 'user', content: 'Look.', timestamp: '2026-03-04T05:06:07Z' } },
      {
        step_id: 2,
        message: { role: 'agent', content: 'I do.' },
        tool_calls: [{ id: 'a', name: 'look', arguments: {} }],
      },
    ]
    const tape = imported(JSON.stringify({ schema_version: '1.5', agent: { name: 'desk' }, steps }))
    expect(saidIn(tape)).toEqual(['user: "Look."', 'model: "I do."'])
    expect(callsOf(tape)).toMatchObject([{ name: 'look' }])
  })
})

describe('a session of Codex', () => {
  const line = (payload: object): object => ({ timestamp: '2026-03-04T05:06:08.000Z', type: 'response_item', payload })
  const call = (id: string, name: string): object => line({ type: 'function_call', name, arguments: '{}', call_id: id })
  const output = (id: string, text: string): object => line({ type: 'function_call_output', call_id: id, output: text })
  const used = (input: number): object => ({
    timestamp: '2026-03-04T05:06:08.000Z',
    type: 'event_msg',
    payload: { type: 'token_count', info: { last_token_usage: { input_tokens: input } } },
  })
  const head = { timestamp: '2026-03-04T05:06:07.000Z', type: 'session_meta', payload: { id: 's-1' } }
  const turn = (model: string): object => ({ type: 'turn_context', payload: { model } })

  it('has one answer of the model for what it said until somebody else spoke', () => {
    const say = (text: string): object =>
      line({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
    const tape = imported(
      lines(
        head,
        turn('gpt-5'),
        line({ type: 'reasoning', summary: [] }),
        call('a', 'look'),
        call('b', 'seek'),
        used(9),
        output('b', '2'),
        output('a', '1'),
        turn('gpt-5-mini'),
        say('Now I pay.'),
        call('c', 'pay'),
        used(20),
        output('c', 'ok'),
      ),
    )
    expect(layersOf(tape)).toEqual([['look', 'seek'], ['pay']])
    expect(callsOf(tape).map(({ result }) => result)).toEqual(['2', '1', 'ok'])
    expect(modelsOf(tape)).toEqual([
      { asked: 'gpt-5', usage: { inputTokens: 9 } },
      { asked: 'gpt-5-mini', usage: { inputTokens: 20 } },
    ])
  })

  it('has patches and shells as calls as well', () => {
    const tape = imported(
      lines(
        head,
        line({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'a' }),
        line({ type: 'custom_tool_call_output', call_id: 'a', output: 'Done!' }),
        line({
          type: 'local_shell_call',
          call_id: 'b',
          status: 'completed',
          action: { type: 'exec', command: ['ls'] },
        }),
        output('b', 'a.txt'),
      ),
    )
    expect(callsOf(tape)).toMatchObject([
      { name: 'apply_patch', args: '*** Begin', result: 'Done!' },
      { name: 'local_shell', args: { type: 'exec', command: ['ls'] }, result: 'a.txt' },
    ])
  })

  it('of an older version has its items alone on their lines', () => {
    const old = lines(
      { id: 's-1', timestamp: '2026-03-04T05:06:07.000Z', instructions: null },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
      { record_type: 'state' },
      { type: 'function_call', name: 'look', arguments: '{"id":1}', call_id: 'a' },
      { type: 'function_call_output', call_id: 'a', output: 'paid' },
    )
    const tape = imported(old)
    expect(tape.header).toMatchObject({ imported: { format: 'codex' }, startedAt: '2026-03-04T05:06:07.000Z' })
    expect(callsOf(tape)).toMatchObject([{ name: 'look', args: { id: 1 }, result: 'paid' }])
  })
})

describe('a conversation', () => {
  it('of the items of responses has one answer for the items of the model that follow each other', () => {
    const call = (id: string, name: string): object => ({ type: 'function_call', call_id: id, name, arguments: '{}' })
    const output = (id: string): object => ({ type: 'function_call_output', call_id: id, output: `of ${id}` })
    const items = [
      { role: 'user', content: 'Look up both.' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      call('a', 'look'),
      call('b', 'seek'),
      output('b'),
      output('a'),
      call('c', 'pay'),
      output('c'),
    ]
    for (const text of [JSON.stringify(items), lines(...items), JSON.stringify({ messages: items })]) {
      const tape = imported(text)
      expect(tape.header).toMatchObject({ imported: { format: 'chat' } })
      expect(layersOf(tape)).toEqual([['look', 'seek'], ['pay']])
      expect(callsOf(tape).map(({ result }) => result)).toEqual(['of b', 'of a', 'of c'])
      expect(tape.facts.modelCalls).toBe(2)
    }
  })

  it('in the words of LangChain is read, also where a message is under its data', () => {
    const ask = { type: 'ai', content: '', tool_calls: [{ id: 'a', name: 'look', args: { id: 1 }, type: 'tool_call' }] }
    const bring = { type: 'tool', content: 'paid', tool_call_id: 'a', name: 'look' }
    const flat = [{ type: 'human', content: 'Look up A-17.' }, ask, bring]
    for (const messages of [flat, flat.map((data) => ({ type: data.type, data }))]) {
      const tape = imported(JSON.stringify({ messages }))
      expect(saidIn(tape)).toEqual(['user: "Look up A-17."'])
      expect(callsOf(tape)).toMatchObject([{ name: 'look', args: { id: 1 }, result: 'paid' }])
    }
  })

  it('may stand behind notes and a line about the session', () => {
    const said = [
      { role: 'user', content: 'Look up A-17.' },
      { role: 'assistant', content: 'Paid.' },
    ]
    const head = { session_id: 's-1', model: 'gpt-5', started_at: '2026-03-04T05:06:07Z' }
    expect(saidIn(imported(`# recorded by hand\n${lines(head, ...said)}`))).toHaveLength(2)
    expect(saidIn(imported(lines({ role: 'metadata', version: '1' }, ...said)))).toHaveLength(2)
  })

  it('as gemini-cli prints it has uses and results of tools on lines of their own', () => {
    const items = [
      { type: 'message', role: 'user', content: 'Look up A-17.' },
      { type: 'tool_use', tool_name: 'look', tool_id: 'a', parameters: { id: 1 } },
      { type: 'tool_use', tool_name: 'seek', tool_id: 'b', parameters: {} },
      { type: 'tool_result', tool_id: 'b', status: 'success', output: '2' },
      { type: 'tool_result', tool_id: 'a', status: 'success', output: '1' },
    ]
    const head = { type: 'init', session_id: 's-1', model: 'gemini-3' }
    for (const text of [lines(head, ...items), JSON.stringify(items)]) {
      expect(callsOf(imported(text))).toMatchObject([
        { name: 'seek', result: '2' },
        { name: 'look', args: { id: 1 }, result: '1' },
      ])
    }
  })

  it('with the result of a tool as a map takes its id from there', () => {
    const use = (id: string): object => ({ type: 'tool_use', id, name: `tool-${id}`, input: {} })
    const bring = (id: string): object => ({
      role: 'tool',
      content: { type: 'tool_result', tool_use_id: id, content: `of ${id}` },
    })
    const tape = imported(
      JSON.stringify([{ role: 'assistant', content: [use('a'), use('b')] }, bring('b'), bring('a')]),
    )
    expect(callsOf(tape).map(({ name, result }) => [name, result])).toEqual([
      ['tool-b', 'of b'],
      ['tool-a', 'of a'],
    ])
  })
})

describe('what Claude Code prints as a stream', () => {
  const line = (type: string, content: unknown): object => ({
    type,
    message: { role: type, content, ...(type === 'assistant' ? { id: 'msg_1' } : {}) },
    session_id: 's-1',
  })

  it('is a session whose last line is the outcome', () => {
    const tape = imported(
      lines(
        { type: 'system', subtype: 'init', session_id: 's-1', tools: ['look'] },
        line('assistant', [{ type: 'tool_use', id: 'a', name: 'look', input: {} }]),
        line('user', [{ type: 'tool_result', tool_use_id: 'a', content: 'paid' }]),
        { type: 'result', subtype: 'success', is_error: false, result: 'Paid.', session_id: 's-1' },
      ),
    )
    expect(tape.header).toMatchObject({ imported: { format: 'claude-code' } })
    expect(callsOf(tape)).toMatchObject([{ name: 'look', result: 'paid' }])
    const ended = { ended: 'success', is_error: false, result: 'Paid.' }
    expect(tape.events.at(-1)).toMatchObject({ kind: 'mark', name: 'outcome', data: ended })
  })

  it('has the name of its session', () => {
    const bytes = Buffer.from(lines(line('user', 'Look.'), line('assistant', 'I do.')))
    const file = { file: 'run', bytes, id: (name?: string) => name ?? 'none', agent: 'a' }
    expect([...importRecordings(file).tapes].map(({ header }) => header.id)).toEqual(['s-1'])
  })
})

describe('a conversation of the agent SDK of OpenHands', () => {
  const text = (words: string): object => ({ type: 'text', text: words })
  const event = (kind: string, source: string, seconds: number, more: object): object => ({
    id: `e-${seconds}`,
    timestamp: `2026-03-04T05:06:0${seconds}.500000`,
    source,
    kind,
    ...more,
  })
  const action = (seconds: number, id: string, name: string, args: object): object =>
    event('ActionEvent', 'agent', seconds, {
      thought: id === 'a' ? [text('I look.')] : [],
      action: { ...args, timeout: null, kind: 'SomeAction' },
      tool_name: name,
      tool_call_id: id,
      tool_call: { id, name, arguments: JSON.stringify(args), origin: 'completion' },
      llm_response_id: id === 'c' ? 'r-2' : 'r-1',
    })
  const observation = (seconds: number, id: string, observed: object): object =>
    event('ObservationEvent', 'environment', seconds, { tool_call_id: id, action_id: 'x', observation: observed })
  const events = [
    event('ConversationStateUpdateEvent', 'environment', 0, { key: 'full_state', value: {} }),
    event('SystemPromptEvent', 'agent', 0, { system_prompt: text('Be kind.'), tools: [] }),
    event('MessageEvent', 'user', 1, { llm_message: { role: 'user', content: [text('Look up both.')] } }),
    action(2, 'a', 'look', { id: 1 }),
    action(2, 'b', 'seek', { id: 2 }),
    observation(3, 'b', { content: [text('2')], exit_code: 0, kind: 'TerminalObservation' }),
    observation(4, 'a', { content: [text('no order')], is_error: true, kind: 'TerminalObservation' }),
    action(5, 'c', 'pay', {}),
    event('AgentErrorEvent', 'agent', 6, { tool_name: 'pay', tool_call_id: 'c', error: 'no such tool' }),
    event('MessageEvent', 'agent', 7, { llm_message: { role: 'assistant', content: [text('Done.')] } }),
    event('ConversationErrorEvent', 'environment', 8, { code: 'MaxIterations', detail: 'too many' }),
  ]

  it('has the calls of one answer in one layer, each with what came of it', () => {
    for (const content of [JSON.stringify(events), lines(...events)]) {
      const tape = imported(content)
      expect(tape.header).toMatchObject({ imported: { format: 'openhands' }, startedAt: '2026-03-04T05:06:00.500Z' })
      expect(layersOf(tape)).toEqual([['look', 'seek'], ['pay']])
      expect(callsOf(tape)).toMatchObject([
        { name: 'seek', args: { id: 2 }, result: '2' },
        { name: 'look', args: { id: 1 }, error: { message: 'no order' } },
        { name: 'pay', error: { message: 'no such tool' } },
      ])
      expect(saidIn(tape)).toEqual([
        'system: "Be kind."',
        'user: "Look up both."',
        'model: "I look."',
        'model: "Done."',
      ])
      expect(callsOf(tape).map(({ args }) => args)).toEqual([{ id: 2 }, { id: 1 }, {}])
      expect(tape.facts.modelCalls).toBe(3)
      expect(tape.events.at(-1)).toMatchObject({ name: 'outcome', data: { code: 'MaxIterations', detail: 'too many' } })
    }
  })

  it('is read where an evaluation noted it, and where the call itself is not there', () => {
    const bare = event('ActionEvent', 'agent', 1, {
      tool_name: 'look',
      tool_call_id: 'a',
      action: { id: 1, kind: 'LookAction' },
    })
    const seen = observation(2, 'a', { path: '/a', found: true, kind: 'LookObservation' })
    const tape = imported(JSON.stringify([{ instance_id: 'i-1', history: [bare, seen], test_result: {} }]))
    expect(callsOf(tape)).toMatchObject([{ name: 'look', args: { id: 1 }, result: { path: '/a', found: true } }])
    const [call] = callsOf(tape)
    expect([call?.args, call?.result]).toEqual([{ id: 1 }, { path: '/a', found: true }])
  })

  it('has what a user forbade as a failed call, joined by the action where no call is named', () => {
    const no = event('UserRejectObservation', 'environment', 4, { action_id: 'e-3', rejection_reason: 'not now' })
    const asked = ['look', 'seek'].map((name, index) =>
      event('ActionEvent', 'agent', index + 2, { tool_name: name, action: {} }),
    )
    const calls = callsOf(imported(JSON.stringify([...asked, no])))
    expect(calls.find(({ name }) => name === 'seek')).toMatchObject({ error: { message: 'not now' } })
  })
})

describe('a session of gemini-cli', () => {
  const run = JSON.parse(runSamples['gemini-cli']) as { messages: { toolCalls?: object[] }[] }
  const [asked, answered] = run.messages
  const [call] = answered!.toolCalls!

  it('tells the model and what it used, and leaves out what is told to people', () => {
    const tape = imported(runSamples['gemini-cli'])
    expect(tape.header).toMatchObject({ id: 'sample', startedAt: '2026-03-04T05:06:07.000Z' })
    expect(modelsOf(tape)).toEqual([
      { answered: 'gemini-3', usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 1 } },
    ])
    expect(saidIn(tape)).toEqual(['user: "Look up A-17."'])
  })

  it('on lines has a message as it was written last, and each answer once', () => {
    const echo = {
      id: 'm-4',
      type: 'user',
      content: [{ functionResponse: { id: 'c-1', response: { output: 'paid' } } }],
    }
    const text = lines(
      { sessionId: 's-1', projectHash: 'abc', startTime: '2026-03-04T05:06:07.000Z', kind: 'main' },
      asked!,
      { ...answered, toolCalls: [{ ...call, result: undefined, status: 'executing' }] },
      answered!,
      { $set: { lastUpdated: '2026-03-04T05:06:10.000Z' } },
      echo,
    )
    const tape = imported(text)
    expect(tape.header).toMatchObject({ imported: { format: 'gemini-cli' } })
    expect(callsOf(tape)).toMatchObject([{ name: 'lookup_order', args: { order_id: 'A-17' } }])
    expect(tape.facts.modelCalls).toBe(1)
    expect(saidIn(tape)).toHaveLength(1)
  })

  it('has calls that failed, were cancelled or never came back', () => {
    const response = (more: object): object => ({ result: [{ functionResponse: { id: 'x', response: more } }] })
    const toolCalls = [
      { id: 'a', name: 'one', args: {}, status: 'error', ...response({ error: 'no such order' }) },
      { id: 'b', name: 'two', args: {}, status: 'cancelled' },
      { id: 'c', name: 'three', args: {}, status: 'executing' },
    ]
    const tape = imported(JSON.stringify({ ...run, messages: [asked, { ...answered, toolCalls }] }))
    const [one, two, three] = ['one', 'two', 'three'].map((name) => callsOf(tape).find((made) => made.name === name))
    expect(one).toMatchObject({ error: { message: 'no such order' } })
    expect(two).toHaveProperty('error')
    expect(three).not.toHaveProperty('error')
    expect(three).not.toHaveProperty('result')
    expect(layersOf(tape)).toEqual([['one', 'three', 'two']])
  })

  it('is told from other sessions by the word for its model', () => {
    const messages = [
      { type: 'user', content: 'Look up A-17.' },
      { type: 'bot', content: 'Paid.' },
    ]
    expect(() => imported(JSON.stringify({ sessionId: 's-1', messages }))).toThrow('HARVEST_IMPORT_UNKNOWN')
  })
})
