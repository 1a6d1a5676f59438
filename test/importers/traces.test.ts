import { describe, expect, it } from 'vitest'
import { importRecordings } from '../../src/importers/index.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { imported } from './samples.ts'
import {
  answer,
  args,
  current,
  found,
  openInference,
  otlp,
  otlpAttributes,
  otherShapes,
  otlpSpans,
  question,
  startMs,
  traceloop,
  traceSamples,
  vercel,
} from './trace-samples.ts'

type Tape = ReturnType<typeof imported>

/** Names of the calls of a run in their causal order; those of one layer in one list. */
function layersOf({ events }: Tape): readonly (readonly string[])[] {
  return traceOf(events).layers.map((layer) => layer.map(({ name }) => name))
}

function said({ events }: Tape): readonly (readonly unknown[])[] {
  return events.flatMap((event) => (event.kind === 'message' ? [[event.from, event.to, event.body]] : []))
}

/** Each sample tells the same run. */
function expectTheRun(tape: Tape): void {
  expect(tape.facts).toMatchObject({ grade: 'signature-only', modelCalls: 2, tools: ['lookup_order'] })
  const calls = tape.events.filter(({ kind }) => kind === 'tool')
  expect(calls).toMatchObject([{ name: 'lookup_order', args, settled: [expect.any(Number), expect.any(Number)] }])
  const [{ result }] = calls as unknown as [{ result: unknown }]
  expect(typeof result === 'string' ? JSON.parse(result) : result).toEqual(found)
  expect(said(tape).filter(([from]) => from !== 'system')).toEqual([
    ['user', 'model', question],
    ['model', 'user', answer],
  ])
}

/** An OTLP document of spans with given times and attributes; `inside` names the span around one. */
function traceWith(
  spans: readonly {
    readonly id: string
    readonly from: number
    readonly to: number
    readonly inside?: string
    readonly is: object
  }[],
): Tape {
  const idOf = (id: string): string => Buffer.from(id.padEnd(8, '.')).toString('hex')
  const nanos = (ms: number): string => `${BigInt(startMs) * 1_000_000n + BigInt(Math.round(ms * 1e6))}`
  return imported(
    otlp(
      spans.map(({ id, from, to, inside, is }) => ({
        traceId: 'ab'.repeat(16),
        spanId: idOf(id),
        ...(inside === undefined ? {} : { parentSpanId: idOf(inside) }),
        name: id,
        startTimeUnixNano: nanos(from),
        endTimeUnixNano: nanos(to),
        attributes: otlpAttributes(is),
      })),
    ),
  )
}

const tool = (name: string, more: object = {}): object => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  ...more,
})
const asks = (...names: readonly string[]): object => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-5',
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: names.map((name) => ({ type: 'tool_call', name, arguments: {} })) },
  ]),
})

describe('a trace of each backend', () => {
  it.each(Object.entries(traceSamples))('%s tells the tools, the models and what was said, each once', (_, sample) => {
    expectTheRun(imported(sample))
  })

  it.each([
    ['gen_ai.input.messages', current],
    ['gen_ai.prompt.N', traceloop],
    ['OpenInference', openInference],
    ['the Vercel AI SDK, its outer span left out', vercel],
  ])('OTLP with %s is read', (_, spans) => {
    expectTheRun(imported(otlp(otlpSpans(spans))))
  })

  it.each(Object.entries(otherShapes))('%s is read', (_, text) => {
    expectTheRun(imported(text))
  })

  it('a failed span has its error wherever a backend puts the status', () => {
    const tools = JSON.parse(otherShapes['what Phoenix lists']!) as { data: { span_kind: string }[] }
    const failed = tools.data.map((span) =>
      span.span_kind === 'TOOL' ? { ...span, status_code: 'ERROR', status_message: 'no such order' } : span,
    )
    const [call] = imported(JSON.stringify({ data: failed })).events.filter(({ kind }) => kind === 'tool')
    expect(call).toMatchObject({ error: { message: 'no such order' } })
  })

  it('what Langfuse knows of a span beside its own fields is read, as a map or name by name', () => {
    const row = { id: 'o1', traceId: 't1', type: 'GENERATION', startTime: '2026-03-04T05:06:07Z', input: question }
    const told = { 'gen_ai.request.model': 'gpt-5', 'gen_ai.usage.input_tokens': 9 }
    const flat = Object.fromEntries(Object.entries(told).map(([name, value]) => [`attributes.${name}`, value]))
    for (const metadata of [{ attributes: told }, flat])
      expect(imported(JSON.stringify([{ ...row, metadata }])).events.at(-1)).toMatchObject({
        name: 'model',
        data: { asked: 'gpt-5', usage: { inputTokens: 9 } },
      })
  })

  it('a document of a sequence that is broken is named by its line', () => {
    const [first] = JSON.parse(traceSamples['otel-spans']) as object[]
    const text = `${JSON.stringify(first, null, 2)}\n{\n  "name": }`
    const line = text.split('\n').length
    expect(() => imported(text)).toThrow(
      new RegExp(`HARVEST_IMPORT_SYNTAX[\\s\\S]*:${line}\\b|:${line}\\b[\\s\\S]*HARVEST_IMPORT_SYNTAX`),
    )
  })

  it('content in events of the span, in log records, or in the attribute that Logfire has, is read', () => {
    const spans = otlpSpans(
      current.map((span) => ({
        ...span,
        attributes: Object.fromEntries(
          Object.entries(span.attributes).filter(([key]) => !/messages|system_instructions/.test(key)),
        ),
      })),
    ) as readonly { traceId: string; spanId: string; attributes: object[]; events?: object[] }[]
    const [first, , last] = spans
    const choice = {
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', function: { name: 'lookup_order', arguments: '{}' } }],
      },
    }
    first!.events = [
      { name: 'gen_ai.user.message', attributes: otlpAttributes({ content: question }) },
      { name: 'gen_ai.choice', attributes: otlpAttributes({ message: JSON.stringify(choice.message) }) },
    ]
    const listed = [{ 'event.name': 'gen_ai.user.message', content: question, role: 'user' }]
    last!.attributes.push(...otlpAttributes({ events: JSON.stringify(listed) }))
    const record = {
      traceId: last!.traceId,
      spanId: last!.spanId,
      eventName: 'gen_ai.choice',
      body: otlpAttributes({ body: { index: 0, message: { role: 'assistant', content: answer } } })[0]!.value,
    }
    const logs = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] })
    expectTheRun(imported(`${logs}\n${otlp(spans)}`))
  })

  it('what is known of a model call is a mark, with times', () => {
    const tape = imported(traceSamples.otlp)
    expect(tape.header).toMatchObject({ startedAt: '2026-03-04T05:06:07.001Z', imported: { format: 'otlp' } })
    expect(tape.events.filter(({ kind }) => kind === 'mark')).toEqual([
      {
        kind: 'mark',
        n: 2,
        at: 0,
        name: 'model',
        data: { asked: 'gpt-5', provider: 'openai', finish: 'tool_call', usage: { inputTokens: 12 }, took: 100 },
      },
      {
        kind: 'mark',
        n: 5,
        at: 139,
        name: 'model',
        data: { asked: 'gpt-5', answered: 'gpt-5-2026-01-01', provider: 'openai', finish: 'stop', took: 100 },
      },
    ])
    expect(tape.facts.missing).toEqual(['clock', 'ids', 'input', 'outcome', 'order', 'requests', 'answers'])
  })

  it('a system prompt is told once', () => {
    const [first] = said(imported(traceSamples.otlp))
    expect(first).toEqual(['system', 'model', 'You are a help desk.'])
  })

  it('ids in base64 and `batches`, as Tempo has them, are the same ids', () => {
    const base64 = traceSamples.otlp
      .replace('resourceSpans', 'batches')
      .replace(
        /"((?:trace|span|parentSpan)Id)":"([0-9a-f]+)"/g,
        (_, key: string, id: string) => `"${key}":"${Buffer.from(id, 'hex').toString('base64')}"`,
      )
    expect(base64).not.toContain('00f067aa0ba902b1')
    expect(imported(base64).events).toEqual(imported(traceSamples.otlp).events)
    const bytes = Buffer.from(base64)
    const { tapes } = importRecordings({ file: 'sample', bytes, agent: 'desk', id: (name) => name ?? '' })
    expect([...tapes][0]!.header.id).toBe('a1b2c3d4e5f60718293a4b5c6d7e8f90')
  })

  it('a trace without content has names and times, and says what is missing', () => {
    const tape = traceWith([
      { id: 'chat', from: 0, to: 10, is: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5' } },
      { id: 'tool', from: 11, to: 12, is: tool('lookup_order') },
    ])
    expect(tape.facts).toMatchObject({ grade: 'signature-only', tools: ['lookup_order'] })
    expect(tape.facts.missing).toContain('tools')
    const models = traceWith([
      { id: 'chat', from: 0, to: 10, is: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5' } },
    ])
    expect(models.facts.grade).toBe('timeline-only')
  })

  it('a tool that failed has its error', () => {
    const spans = otlpSpans(current).map((span) => ({ ...span, status: { code: 2, message: 'no such order' } }))
    expect(imported(otlp(spans)).events.find(({ kind }) => kind === 'tool')).toMatchObject({
      error: { $type: 'error', message: 'no such order' },
    })
  })

  it('secrets in a trace do not reach the tape', () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL'
    const tape = imported(traceSamples.otlp.replaceAll('A-17', secret))
    expect(JSON.stringify(tape.events)).not.toContain(secret)
    expect(JSON.stringify(tape.events)).toContain('redacted')
  })
})

describe('which calls came before which', () => {
  it('calls that overlapped are concurrent, those one after the other are not', () => {
    const together = traceWith([
      { id: 'a', from: 0, to: 10, is: tool('a') },
      { id: 'b', from: 5, to: 15, is: tool('b') },
      { id: 'c', from: 15, to: 20, is: tool('c') },
      { id: 'd', from: 20, to: 21, is: tool('d') },
    ])
    expect(layersOf(together)).toEqual([['a', 'b'], ['c'], ['d']])
  })

  it('calls of one answer are concurrent, in whatever order they ran', () => {
    const tape = traceWith([
      { id: 'chat', from: 0, to: 10, is: asks('a', 'b') },
      { id: 'b', from: 11, to: 12, is: tool('b') },
      { id: 'a', from: 13, to: 14, is: tool('a') },
    ])
    expect(layersOf(tape)).toEqual([['b', 'a']])
  })

  it('calls that only a model tells of are there once, before those of its next answer', () => {
    const tape = traceWith([
      { id: 'chat-1', from: 0, to: 10, is: asks('a', 'b') },
      { id: 'chat-2', from: 20, to: 30, is: asks('c') },
    ])
    expect(layersOf(tape)).toEqual([['a', 'b'], ['c']])
    expect(tape.events.filter(({ kind }) => kind === 'tool').map((event) => 'settled' in event)).toEqual([
      false,
      false,
      false,
    ])
  })

  it('an answer that a later message brings is the answer of its call', () => {
    const without = current.filter(({ name }) => !name.startsWith('execute_tool'))
    expectTheRun(imported(otlp(otlpSpans(without))))
    // With the next request it is sent again, and told no more.
    const last = { ...without[1]!, id: '00f067aa0ba902b9', from: 300, to: 310 }
    const again = imported(otlp(otlpSpans([...without, last])))
    expect(said(again)).toEqual(said(imported(traceSamples.otlp)))
  })

  describe('a clock of whole milliseconds', () => {
    const parts = [{ type: 'tool_call', id: 'call_a', name: 'a', arguments: {} }]
    const ask = { ...asks(), 'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]) }
    const brings = (id: string): object => {
      const response = [{ type: 'tool_call_response', id, response: 'found' }]
      return { ...asks(), 'gen_ai.input.messages': JSON.stringify([{ role: 'tool', parts: response }]) }
    }
    const beginnings = (ended: number, second: object): readonly number[] => {
      const tape = traceWith([
        { id: 'chat-1', from: 0, to: ended, is: ask },
        { id: 'chat-2', from: 50, to: 70, is: second },
      ])
      return tape.events.filter(({ kind }) => kind === 'mark').map(({ at }) => at)
    }

    it('puts no question before the answer it goes on from', () => {
      expect(beginnings(50.9, brings('call_a'))).toEqual([0, 50.9])
      expect(beginnings(51, brings('call_a'))).toEqual([0, 51])
      // No clock is that coarse, and no question that brings nothing had to wait.
      expect(beginnings(51.1, brings('call_a'))).toEqual([0, 50])
      expect(beginnings(50.9, brings('call_b'))).toEqual([0, 50])
      const tape = traceWith([
        { id: 'chat-1', from: 0, to: 50.9, is: ask },
        { id: 'chat-2', from: 50, to: 70, is: brings('call_a') },
      ])
      expect(tape.events).toContainEqual(expect.objectContaining({ name: 'a', result: 'found' }))
    })

    it('puts no tool before the answer that asked for it, nor what is inside of it', () => {
      const tape = traceWith([
        { id: 'chat', from: 0, to: 10.5, is: ask },
        { id: 'a', from: 10, to: 14, is: tool('a', { 'gen_ai.tool.call.id': 'call_a' }) },
        { id: 'b', from: 10, to: 12, inside: 'a', is: tool('b') },
      ])
      const [a, b] = tape.events.filter(({ kind }) => kind === 'tool')
      expect(a).toMatchObject({ name: 'a', at: 10.5, asked: 0 })
      expect(b).toMatchObject({ name: 'b', at: 10.5, in: a!.n })
    })
  })

  it('a text that was written as JSON is the text', () => {
    const answerOf = (result: string): unknown => {
      const is = { ...tool('a'), 'gen_ai.tool.call.result': result }
      return (traceWith([{ id: 'a', from: 0, to: 1, is }]).events[0] as { result?: unknown }).result
    }
    expect(answerOf('"it rains"')).toBe('it rains')
    expect(answerOf('"it" rains "much"')).toBe('"it" rains "much"')
    expect(answerOf('it rains')).toBe('it rains')
  })

  it('spans out of order, and one told twice, change nothing', () => {
    const spans = otlpSpans(current)
    const again = otlp([...spans.toReversed(), spans[1]!])
    expect(imported(again).events).toEqual(imported(traceSamples.otlp).events)
  })

  it('a call inside a tool belongs to it; one call told by two instruments is one', () => {
    const tape = traceWith([
      { id: 'inner', from: 3, to: 4, inside: 'agent', is: tool('search') },
      { id: 'agent', from: 2, to: 8, inside: 'outer', is: { 'gen_ai.operation.name': 'invoke_agent' } },
      { id: 'outer', from: 0, to: 10, is: tool('research') },
      { id: 'same', from: 1, to: 9, inside: 'outer', is: tool('research') },
      { id: 'third', from: 1, to: 9, inside: 'same', is: tool('research', { 'gen_ai.tool.call.result': 'done' }) },
    ])
    expect(layersOf(tape)).toEqual([['research']])
    expect(tape.events).toMatchObject([
      { name: 'research', n: 0, result: 'done' },
      { name: 'search', in: 0 },
    ])
  })

  it('a tool whose clock runs ahead of the one around it is still inside of it', () => {
    const tape = traceWith([
      { id: 'inner', from: 0, to: 4, inside: 'outer', is: tool('search') },
      { id: 'outer', from: 1, to: 3, is: tool('research') },
    ])
    expect(tape.events).toMatchObject([
      { name: 'research', n: 0 },
      { name: 'search', in: 0 },
    ])
    expect(layersOf(tape)).toEqual([['research']])
  })

  it('parents in a circle, and one that is missing, end there', () => {
    const tape = traceWith([
      { id: 'a', from: 0, to: 1, inside: 'b', is: tool('a') },
      { id: 'b', from: 2, to: 3, inside: 'a', is: tool('b') },
      { id: 'c', from: 4, to: 5, inside: 'nobody', is: tool('c') },
      { id: 'd', from: 6, to: 7, inside: 'd', is: tool('d') },
    ])
    expect(tape.facts.tools.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('a file of several traces', () => {
  const two = otlp([...otlpSpans(current), ...otlpSpans(traceloop, 'ff'.repeat(16))])

  it('holds a run for each', () => {
    const { count, tapes } = importRecordings({
      file: 'sample',
      bytes: Buffer.from(two),
      agent: 'desk',
      id: (name) => name ?? '',
    })
    const made = [...tapes]
    expect(count).toBe(2)
    expect(made.map(({ header }) => header.id)).toEqual(['a1b2c3d4e5f60718293a4b5c6d7e8f90', 'ff'.repeat(16)])
    for (const tape of made) expectTheRun(tape)
  })

  it('one run asked of it is refused', () => {
    expect(() => imported(two)).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Cannot import the recording

        file     sample
        problem  it holds 2 runs, and one was asked for

      An id and an input belong to one run.
      → leave --as and --input out: each run becomes a tape named after the file and its trace
      (HARVEST_IMPORT_SEVERAL)]
    `)
  })

  it('lines of JSON are read one by one, also when traces are mixed among them', () => {
    const lines = otlpSpans(current).flatMap((span, index) => [
      otlp([span]),
      otlp([otlpSpans(traceloop, 'ff'.repeat(16))[index]!]),
    ])
    const { tapes } = importRecordings({
      file: 'sample',
      bytes: Buffer.from(`${lines.join('\n')}\n`),
      agent: 'desk',
      id: 'x',
    })
    const made = [...tapes]
    expect(made).toHaveLength(2)
    for (const tape of made) expectTheRun(tape)
  })

  it('a line that is no JSON is named', () => {
    expect(() => imported(`${traceSamples.otlp}\n\n{"resourceSpans": [}\n`)).toThrow(
      /sample:3[\s\S]*HARVEST_IMPORT_SYNTAX/,
    )
  })
})

describe('what a trace may hold', () => {
  it.each([
    [
      'a span that is none',
      '{"resourceSpans":[{"scopeSpans":[{"spans":\n[7]}]}]}',
      /sample:2[\s\S]*spans\[0\][\s\S]*it is not a map/,
    ],
    ['spans that are no list', '{"resourceSpans":[{"scopeSpans":[{"spans":{}}]}]}', /it is not a list/],
    ['no call of a model or a tool', otlp(otlpSpans(current).slice(3)), /HARVEST_IMPORT_EMPTY/],
  ])('%s is refused, with the place', (_, text, problem) => {
    expect(() => imported(text)).toThrow(problem)
  })

  it('prototype keys, huge numbers, odd times and values of no kind stay data', () => {
    const sample = traceSamples.otlp
      .replace(
        '"gen_ai.usage.input_tokens","value":{"intValue":"12"}',
        '"gen_ai.usage.input_tokens","value":{"intValue":"99999999999999999999"}',
      )
      .replace('"key":"order_id"', '"key":"__proto__"')
      .replace(/"startTimeUnixNano":"\d+"/, '"startTimeUnixNano":"99999999999999999999999"')
      .replace('"gen_ai.request.model","value":{"stringValue"', '"gen_ai.request.model","value":{"oddValue"')
    const tape = imported(sample)
    const read = parseTape(serializeTape(tape.header, tape.events, tape.close), 'sample')
    expect(read.events).toEqual(tape.events)
    expect(({} as { order?: unknown }).order).toBeUndefined()
    expect(tape.facts.tools).toEqual(['lookup_order'])
  })

  it('arguments in the words of Python are values, and a text that only looks like them is text', () => {
    const call = (text: string): unknown => {
      const { events } = traceWith([{ id: 'a', from: 0, to: 1, is: tool('a', { 'gen_ai.tool.call.arguments': text }) }])
      return events.find(({ kind }) => kind === 'tool')
    }
    expect(call(`{'city': "O'Hare", 'days': None, 'far': (1, -2.5), 'ok': [True], 'x': 'a\\'\\u00e9'}`)).toMatchObject({
      args: { city: "O'Hare", days: null, far: [1, -2.5], ok: [true], x: "a'é" },
    })
    for (const text of [`{'a': <Order>}`, `{'a'`, `['a' 'b']`, `{1: 2}`, `['a'] x`, `(${'['.repeat(70)}`])
      expect(call(text)).toMatchObject({ args: text })
  })
})
