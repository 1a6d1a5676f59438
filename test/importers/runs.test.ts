import { describe, expect, it } from 'vitest'
import { type TapeDraft, importRecordings, type ImportFormat } from '../../src/importers/index.ts'
import type { CallEvent, TapeEvent } from '../../src/tape/types.ts'
import { traceOf } from '../../src/trace/index.ts'
import { lines, runSamples, talk, zip } from './run-samples.ts'
import { imported } from './samples.ts'

function callsOf({ events }: TapeDraft): readonly CallEvent[] {
  return events.filter((event): event is CallEvent => event.kind === 'tool')
}

function marksOf({ events }: TapeDraft, name: string): readonly unknown[] {
  return events.flatMap((event) => (event.kind === 'mark' && event.name === name ? [event.data] : []))
}

/** Who said what to whom. */
function saidIn(events: readonly TapeEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'message' ? [`${event.from} -> ${event.to}: ${JSON.stringify(event.body)}`] : [],
  )
}

function layersOf({ events }: TapeDraft): readonly (readonly string[])[] {
  return traceOf(events).layers.map((layer) => layer.map(({ name }) => name))
}

function tapesOf(content: string): readonly TapeDraft[] {
  return [
    ...importRecordings({ file: 'sample', bytes: Buffer.from(content), id: (name) => name ?? '', agent: 'a' }).tapes,
  ]
}

const ask = (...calls: readonly (readonly [id: string, name: string])[]): object => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name]) => ({ id, type: 'function', function: { name, arguments: '{}' } })),
})
const bring = (id: string, content: string): object => ({ role: 'tool', tool_call_id: id, content })
const chatOf = (...messages: readonly object[]): TapeDraft => imported(JSON.stringify({ messages }))

const withResult = [
  'temporal',
  'tau-bench',
  'tau2-bench',
  'agentdojo',
  'inspect-ai',
  'inspect-eval',
  'toolbench',
  'openhands',
  'atif',
  'copilot-snapshot',
  'pi-session',
  'claude-code',
  'codex',
  'gemini-cli',
  'chat',
] as const satisfies readonly ImportFormat[]

describe('a trajectory', () => {
  it.each(withResult)('of %s has its tool call once, with arguments and answer', (format) => {
    const tape = imported(runSamples[format])
    expect(tape.facts).toMatchObject({ grade: 'signature-only', tools: ['lookup_order'] })
    const [call] = callsOf(tape)
    expect(call).toMatchObject({ name: 'lookup_order', args: { order_id: 'A-17' } })
    expect(JSON.stringify(call?.result)).toContain('paid')
    expect(layersOf(tape)).toEqual([['lookup_order']])
  })

  it('whose agent acts through a shell has the commands as its calls', () => {
    expect(callsOf(imported(runSamples['swe-agent']))).toMatchObject([
      { name: 'lookup_order', args: { action: 'lookup_order A-17\n' }, result: 'paid' },
    ])
    expect(callsOf(imported(runSamples['mini-swe-agent']))).toMatchObject([
      { name: 'bash', args: { command: 'lookup_order A-17' } },
    ])
  })

  it('without the answers of its tools has its calls without', () => {
    const tape = imported(runSamples['gemini-responses'])
    const [call] = callsOf(tape)
    expect(call).not.toHaveProperty('settled')
    expect(tape.facts.missing).toContain('tools')
    expect(saidIn(tape.events)).toEqual(['model -> user: "I look."'])
  })

  it('of a team tells who said what to whom', () => {
    expect(saidIn(imported(runSamples['who-and-when']).events)).toEqual([
      'user -> all: "Is A-17 paid?"',
      'Orchestrator (thought) -> all: "Ask the clerk."',
      'Orchestrator -> Clerk: "Look up A-17."',
      'Clerk -> all: "It is paid."',
    ])
    expect(saidIn(imported(runSamples['agent-log']).events)).toEqual([
      'user -> all: "Is A-17 paid?"',
      'Orchestrator -> Clerk: "Look up A-17."',
      'Clerk -> all: "It is paid."',
    ])
    const steps = [{ index: 1, substeps: [{ role: 'Clerk', content: 'Paid.' }] }]
    const nested = imported(JSON.stringify({ trajectory_id: 't', instruction: 'Look.', steps }))
    expect(saidIn(nested.events)).toEqual(['user -> all: "Look."', 'Clerk -> all: "Paid."'])
  })

  it('keeps what the file says of its outcome as a mark, and is no judge itself', () => {
    const formats = [
      'tau-bench',
      'agentdojo',
      'swe-agent',
      'inspect-ai',
      'toolbench',
      'tapeagents',
      'who-and-when',
    ] as const
    expect(formats.map((format) => marksOf(imported(runSamples[format]), 'outcome')[0])).toEqual([
      { reward: 1 },
      { utility: true, security: false, attack: 'important_instructions' },
      { exit_status: 'submitted', submission: 'paid' },
      { scores: { match: { value: 'C' } } },
      { win: true, finish_type: 'give_answer', final_answer: 'paid' },
      { result: { solved: true } },
      { correct: false },
    ])
    for (const format of formats)
      expect(imported(runSamples[format])).toMatchObject({
        close: { outcome: { status: 'unknown' } },
        facts: { missing: expect.arrayContaining(['outcome']) as unknown },
      })
    expect(marksOf(imported(runSamples['who-and-when']), 'label')).toEqual([
      { mistake_agent: 'Clerk', mistake_step: '2', mistake_reason: 'It did not look.' },
    ])
  })

  it('a file of several runs becomes as many tapes, each with its name', () => {
    const trials = [0, 1].map((trial) => ({ task_id: 3, trial, reward: trial, info: {}, traj: talk }))
    expect(tapesOf(JSON.stringify(trials)).map(({ header }) => header.id)).toEqual(['task-3-trial-0', 'task-3-trial-1'])
    const lists = lines({ id: 'one', messages: talk }, { id: 'two', messages: talk })
    expect(tapesOf(lists).map(({ header }) => header.id)).toEqual(['one', 'two'])
    expect(() => imported(lists)).toThrow('HARVEST_IMPORT_SEVERAL')
  })

  it('with a time for every message is placed in time; a time without a zone is one of UTC', () => {
    const tape = imported(runSamples['tau2-bench'])
    expect(tape.header.startedAt).toBe('2026-03-04T05:06:07.000Z')
    expect(callsOf(tape)).toMatchObject([{ at: 1000, settled: [3, 3000] }])
  })
})

describe('the calls of a conversation', () => {
  it('that one message asks for are concurrent, and those of two are not', () => {
    const together = chatOf(ask(['a', 'one'], ['b', 'two']), bring('a', '1'), bring('b', '2'))
    expect(layersOf(together)).toEqual([['one', 'two']])
    const apart = chatOf(ask(['a', 'one']), bring('a', '1'), ask(['b', 'two']), bring('b', '2'))
    expect(layersOf(apart)).toEqual([['one'], ['two']])
  })

  it('get their answers by id, also when those come in another order', () => {
    const tape = chatOf(ask(['a', 'look'], ['b', 'look']), bring('b', 'second'), bring('a', 'first'))
    // The order of the answers is that in which they came.
    expect(callsOf(tape).map(({ result }) => result)).toEqual(['second', 'first'])
  })

  it('whose ids are those of other messages as well are joined in order', () => {
    const tape = chatOf(ask(['0', 'one']), bring('0', '1'), ask(['0', 'two']), bring('0', '2'), ask(['0', 'three']))
    expect(callsOf(tape).map(({ name, result }) => [name, result])).toEqual([
      ['one', '1'],
      ['two', '2'],
      ['three', undefined],
    ])
  })

  it('that nobody answered stand there without an answer', () => {
    const tape = chatOf(ask(['a', 'one'], ['b', 'two']), bring('a', '1'))
    expect(callsOf(tape).map(({ name, result }) => [name, result])).toEqual(
      expect.arrayContaining([
        ['one', '1'],
        ['two', undefined],
      ]),
    )
    expect(tape.facts.tools.length).toBe(2)
  })

  it('that failed have an error in place of a result', () => {
    const failed = { ...(bring('a', '') as { role: string }), error: 'no such order' }
    expect(callsOf(chatOf(ask(['a', 'one']), failed))).toMatchObject([{ error: { message: 'no such order' } }])
    const text = runSamples['claude-code'].replace('"content":"paid"', '"content":"denied","is_error":true')
    const [call] = callsOf(imported(text))
    expect(call).toMatchObject({ error: { message: 'denied' } })
    expect(call).not.toHaveProperty('result')
  })

  it('of a session that is one document with its loglines are those of its lines, tokens of the cache included', () => {
    const cached = '"usage":{"input_tokens":9,"cache_creation_input_tokens":40,"cache_read_input_tokens":500,'
    const text = runSamples['claude-code'].replace('"usage":{"input_tokens":9,', cached)
    const loglines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    const exported = imported(JSON.stringify({ loglines }))
    const { facts, events } = imported(text)
    expect(exported.facts).toEqual(facts)
    expect(exported.events).toEqual(events)
    expect(marksOf(exported, 'model')).toMatchObject([{ usage: { inputTokens: 549, cachedTokens: 500 } }])
  })

  it('of several such documents, in lines or in a list, are those of several runs', () => {
    const loglines = (id: string) =>
      runSamples['claude-code']
        .trim()
        .split('\n')
        .map((line) => ({ ...(JSON.parse(line) as object), sessionId: id }))
    const two = ['one', 'two'].map((id) => ({ title: id, loglines: loglines(id) }))
    for (const text of [JSON.stringify(two), lines(...two), `\uFEFF${JSON.stringify(two, null, 2)}`]) {
      const { count, tapes } = importRecordings({ file: 'sample', bytes: Buffer.from(text), id: 'x', agent: 'a' })
      expect([count, [...tapes].map(({ facts }) => facts.tools)]).toEqual([2, [['lookup_order'], ['lookup_order']]])
    }
    expect(() => imported('{"loglines":[]}')).toThrow('HARVEST_IMPORT_EMPTY')
  })

  it('that one answer of a model asks for in several lines are asked for together', () => {
    const line = (uuid: string, role: string, content: object, id?: string): object => ({
      type: role,
      uuid,
      timestamp: `2026-03-04T05:06:0${uuid}.000Z`,
      message: { role, content: [content], ...(id === undefined ? {} : { id }) },
    })
    const tape = imported(
      lines(
        line('1', 'assistant', { type: 'text', text: 'I look.' }, 'msg_1'),
        line('2', 'assistant', { type: 'tool_use', id: 'a', name: 'one', input: {} }, 'msg_1'),
        line('3', 'user', { type: 'tool_result', tool_use_id: 'a', content: '1' }),
        line('4', 'assistant', { type: 'tool_use', id: 'b', name: 'two', input: {} }, 'msg_1'),
        line('5', 'user', { type: 'tool_result', tool_use_id: 'b', content: '2' }),
      ),
    )
    expect(tape.facts).toMatchObject({ format: 'claude-code', modelCalls: 1, tools: ['one', 'two'] })
    expect(layersOf(tape)).toEqual([['one', 'two']])
  })

  it('an answer nobody asked for is a message of a tool', () => {
    expect(saidIn(chatOf(ask(['a', 'one']), bring('a', '1'), bring('z', 'stray')).events)).toEqual([
      'tool -> model: "stray"',
    ])
  })

  it('the same words said twice are two messages', () => {
    const again = { role: 'assistant', content: 'Please wait.' }
    expect(saidIn(chatOf({ role: 'user', content: 'Hello' }, again, again).events)).toHaveLength(3)
  })
})

describe('what cannot be read as a run', () => {
  it('is refused with the file, the line and the place', () => {
    const broken = JSON.stringify(
      [{ task_id: 3, trial: 0, reward: 1, traj: [talk[0], { content: 'x' }] }],
      undefined,
      1,
    )
    expect(() => imported(broken)).toThrow(/sample:1[0-9][\s\S]*\[0\]\.traj\[1\]\.role[\s\S]*it is missing/)
    const session = runSamples['pi-session'].replace('"role":"toolResult",', '')
    expect(() => imported(session)).toThrow(/sample:4[\s\S]*message\.role/)
  })

  it('has a place also where text stands in place of a map', () => {
    const tape = JSON.parse(runSamples.tapeagents) as { steps: unknown[] }
    expect(() => imported(JSON.stringify({ ...tape, steps: [tape.steps[0], 'x'] }))).toThrow(/steps\[1\]\.kind/)
  })

  it('without calls and messages is no run, whatever is noted of it', () => {
    expect(() => imported(JSON.stringify([{ task_id: 3, reward: 1, traj: [] }]))).toThrow('HARVEST_IMPORT_EMPTY')
  })

  it('as an archive is refused when it is cut or packed in a way that is not known', () => {
    const whole = runSamples['inspect-eval']
    expect(() => imported(whole.slice(0, -30))).toThrow('HARVEST_IMPORT_SYNTAX')
    expect(() => imported(zip('samples/1.json', '{"id": '))).toThrow(/sample › samples\/1\.json/)
    const packed = Buffer.from(whole)
    packed.writeUInt16LE(8, packed.indexOf('PK\u0001\u0002') + 10)
    expect(() => imported(packed)).toThrow('HARVEST_IMPORT_SYNTAX')
    packed.writeUInt16LE(99, packed.indexOf('PK\u0001\u0002') + 10)
    expect(() => imported(packed)).toThrow(/compression 99/)
  })
})
