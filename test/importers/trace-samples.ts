import type { ImportFormat } from '../../src/importers/index.ts'

/** What every sample of a trace tells: a model is asked, asks for one tool, the tool answers, the model answers. */
export const question = 'Where is order A-17?'
export const answer = 'It is on its way.'
export const args = { order_id: 'A-17' }
export const found = { status: 'shipped' }

/** 2026-03-04T05:06:07Z. */
export const startMs = 1_772_600_767_000

const trace = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
const ids = ['00f067aa0ba902b1', '00f067aa0ba902b2', '00f067aa0ba902b3', '00f067aa0ba902b4'] as const
const call = { id: 'call_1', name: 'lookup_order' }
const openAiCall = { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(args) } }

/** A span as all backends know it, in milliseconds behind the start. */
interface Told {
  readonly id: string
  readonly name: string
  readonly from: number
  readonly to: number
  readonly attributes: object
}

/** The agent, its two model calls, and the tool between them; as exporters do, what ended first comes first. */
function spansOf(first: object, tool: object, last: object): readonly Told[] {
  return [
    { id: ids[1], name: 'chat gpt-5', from: 1, to: 101, attributes: first },
    { id: ids[2], name: 'execute_tool lookup_order', from: 110, to: 130, attributes: tool },
    { id: ids[3], name: 'chat gpt-5', from: 140, to: 240, attributes: last },
    {
      id: ids[0],
      name: 'invoke_agent desk',
      from: 0,
      to: 250,
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    },
  ]
}

const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5', 'gen_ai.provider.name': 'openai' }
const text = (content: string): object => ({ type: 'text', content })
const asked = [{ role: 'user', parts: [text(question)] }]
const requested = [
  { role: 'assistant', parts: [{ type: 'tool_call', ...call, arguments: args }], finish_reason: 'tool_call' },
]
const brought = [{ role: 'tool', parts: [{ type: 'tool_call_response', id: call.id, response: found }] }]
const said = [{ role: 'assistant', parts: [text(answer)], finish_reason: 'stop' }]

/** The current GenAI attributes: messages as JSON text or as values. */
export const current = spansOf(
  {
    ...model,
    'gen_ai.system_instructions': [text('You are a help desk.')],
    'gen_ai.input.messages': JSON.stringify(asked),
    'gen_ai.output.messages': JSON.stringify(requested),
    'gen_ai.usage.input_tokens': 12,
  },
  {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.call.arguments': args,
    'gen_ai.tool.call.result': JSON.stringify(found),
  },
  {
    ...model,
    'gen_ai.response.model': 'gpt-5-2026-01-01',
    'gen_ai.system_instructions': [text('You are a help desk.')],
    'gen_ai.input.messages': [...asked, ...requested, ...brought],
    'gen_ai.output.messages': said,
  },
)

/** The oldest: `gen_ai.prompt.N`, and tools as entities. */
export const traceloop = spansOf(
  {
    'llm.request.type': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.0.content': question,
    'gen_ai.completion.0.role': 'assistant',
    'gen_ai.completion.0.finish_reason': 'tool_calls',
    'gen_ai.completion.0.tool_calls.0.id': call.id,
    'gen_ai.completion.0.tool_calls.0.name': call.name,
    'gen_ai.completion.0.tool_calls.0.arguments': JSON.stringify(args),
  },
  {
    'traceloop.span.kind': 'tool',
    'traceloop.entity.name': call.name,
    'traceloop.entity.input': JSON.stringify({ args: [], kwargs: args }),
    'traceloop.entity.output': JSON.stringify(found),
  },
  {
    'llm.request.type': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.0.content': question,
    'gen_ai.prompt.1.role': 'assistant',
    'gen_ai.prompt.1.tool_calls.0.id': call.id,
    'gen_ai.prompt.1.tool_calls.0.name': call.name,
    'gen_ai.prompt.1.tool_calls.0.arguments': JSON.stringify(args),
    'gen_ai.prompt.2.role': 'tool',
    'gen_ai.prompt.2.tool_call_id': call.id,
    'gen_ai.prompt.2.content': JSON.stringify(found),
    'gen_ai.completion.0.role': 'assistant',
    'gen_ai.completion.0.content': answer,
  },
)

export const openInference = spansOf(
  {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'gpt-5',
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.contents.0.message_content.type': 'text',
    'llm.input_messages.0.message.contents.0.message_content.text': question,
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.tool_calls.0.tool_call.id': call.id,
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': call.name,
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': JSON.stringify(args),
  },
  {
    'openinference.span.kind': 'TOOL',
    'tool.name': call.name,
    'input.value': JSON.stringify(args),
    'output.value': JSON.stringify(found),
  },
  {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'gpt-5',
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': question,
    'output.value': JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
  },
)

/** The Vercel AI SDK, whose `ai.generateText` is around all of it. */
export const vercel: readonly Told[] = [
  ...spansOf(
    {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.model.id': 'gpt-5',
      'ai.prompt.messages': JSON.stringify([{ role: 'user', content: [{ type: 'text', text: question }] }]),
      'ai.response.toolCalls': JSON.stringify([
        { toolCallId: call.id, toolName: call.name, input: JSON.stringify(args) },
      ]),
    },
    {
      'ai.operationId': 'ai.toolCall',
      'ai.toolCall.name': call.name,
      'ai.toolCall.id': call.id,
      'ai.toolCall.args': JSON.stringify(args),
      'ai.toolCall.result': JSON.stringify(found),
    },
    {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.model.id': 'gpt-5',
      'ai.prompt.messages': JSON.stringify([
        { role: 'user', content: [{ type: 'text', text: question }] },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: args }],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: call.id, toolName: call.name, output: { type: 'json', value: found } },
          ],
        },
      ]),
      'ai.response.text': answer,
    },
  ).slice(0, 3),
  {
    id: ids[0],
    name: 'ai.generateText',
    from: 0,
    to: 250,
    attributes: {
      'ai.operationId': 'ai.generateText',
      'ai.prompt': JSON.stringify({ prompt: question }),
      'ai.response.text': answer,
    },
  },
]

type Value = { readonly [kind: string]: unknown }

/** A value as OTLP has it. */
export function otlpValue(value: unknown): Value {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } }
  return { kvlistValue: { values: otlpAttributes(value as object) } }
}

export function otlpAttributes(attributes: object): readonly { readonly key: string; readonly value: Value }[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }))
}

const nanos = (ms: number): string => `${BigInt(startMs + ms) * 1_000_000n}`

/** Spans as OTLP has them; all below the first id but that one. */
export function otlpSpans(spans: readonly Told[], traceId = trace): readonly object[] {
  return spans.map(({ id, name, from, to, attributes }) => ({
    traceId,
    spanId: id,
    ...(id === ids[0] ? {} : { parentSpanId: ids[0] }),
    name,
    kind: 1,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(to),
    attributes: otlpAttributes(attributes),
    status: {},
  }))
}

/** A document of OTLP/JSON. */
export function otlp(spans: readonly object[]): string {
  return JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'desk' }, spans }] }] })
}

const iso = (ms: number): string => new Date(startMs + ms).toISOString()

/** The same trace in every format that holds spans. */
export const traceSamples: Readonly<
  Record<
    Extract<
      ImportFormat,
      'otlp' | 'otel-spans' | 'jaeger' | 'langsmith' | 'langfuse' | 'braintrust' | 'deepeval' | 'anthropic-agent'
    >,
    string
  >
> = {
  otlp: otlp(otlpSpans(current)),
  'otel-spans': JSON.stringify(
    current.map(({ id, name, from, to, attributes }) => ({
      name,
      context: { trace_id: `0x${trace}`, span_id: `0x${id}`, trace_state: '[]' },
      kind: 'SpanKind.INTERNAL',
      parent_id: id === ids[0] ? null : `0x${ids[0]}`,
      start_time: iso(from),
      end_time: iso(to),
      status: { status_code: 'UNSET' },
      attributes,
      events: [],
    })),
  ),
  jaeger: JSON.stringify({
    data: [
      {
        traceID: trace,
        spans: traceloop.map(({ id, name, from, to, attributes }) => ({
          traceID: trace,
          spanID: id,
          operationName: name,
          references: id === ids[0] ? [] : [{ refType: 'CHILD_OF', traceID: trace, spanID: ids[0] }],
          startTime: (startMs + from) * 1000,
          duration: (to - from) * 1000,
          tags: Object.entries(attributes).map(([key, value]) => ({ key, type: 'string', value: value as unknown })),
          logs: [],
          processID: 'p1',
        })),
        processes: { p1: { serviceName: 'desk' } },
      },
    ],
  }),
  langsmith: JSON.stringify(
    [
      { id: 'r0', name: 'desk', run_type: 'chain', inputs: { input: question }, outputs: { output: answer } },
      {
        id: 'r1',
        name: 'ChatOpenAI',
        run_type: 'llm',
        parent_run_id: 'r0',
        extra: { invocation_params: { model: 'gpt-5' }, metadata: { ls_provider: 'openai' } },
        inputs: {
          messages: [
            [
              {
                lc: 1,
                type: 'constructor',
                id: ['langchain_core', 'messages', 'HumanMessage'],
                kwargs: { content: question },
              },
            ],
          ],
        },
        outputs: {
          generations: [
            [
              {
                text: '',
                message: {
                  lc: 1,
                  type: 'constructor',
                  id: ['AIMessage'],
                  kwargs: { content: '', tool_calls: [{ ...call, args, type: 'tool_call' }] },
                },
              },
            ],
          ],
        },
      },
      {
        id: 'r2',
        name: call.name,
        run_type: 'tool',
        parent_run_id: 'r0',
        inputs: { input: JSON.stringify(args) },
        outputs: {
          output: {
            lc: 1,
            id: ['ToolMessage'],
            kwargs: { content: JSON.stringify(found), tool_call_id: call.id, name: call.name },
          },
        },
      },
      {
        id: 'r3',
        name: 'ChatOpenAI',
        run_type: 'llm',
        parent_run_id: 'r0',
        inputs: {
          model: 'gpt-5',
          messages: [
            { role: 'user', content: question },
            { role: 'assistant', content: null, tool_calls: [openAiCall] },
            { role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) },
          ],
        },
        outputs: { choices: [{ message: { role: 'assistant', content: answer }, finish_reason: 'stop' }] },
      },
    ].map((run, index) => ({
      ...run,
      trace_id: 't1',
      start_time: iso([0, 1, 110, 140][index]!).replace('Z', ''),
      end_time: startMs + [250, 101, 130, 240][index]!,
    })),
  ),
  langfuse: JSON.stringify({
    trace: { id: 't1', name: 'desk', timestamp: iso(0) },
    observations: [
      { id: 'o1', type: 'GENERATION', name: 'ChatOpenAI', model: 'gpt-5', startTime: iso(1), endTime: iso(101) },
      { id: 'o2', type: 'SPAN', name: call.name, startTime: iso(110), endTime: iso(130) },
      { id: 'o3', type: 'GENERATION', name: 'ChatOpenAI', model: 'gpt-5', startTime: iso(140), endTime: iso(240) },
      { id: 'o0', type: 'SPAN', name: 'desk', startTime: iso(0), endTime: iso(250) },
    ].map((row, index) => ({
      ...row,
      traceId: 't1',
      parentObservationId: index === 3 ? null : 'o0',
      level: 'DEFAULT',
      metadata: '{}',
      input: [
        JSON.stringify([{ role: 'user', content: question }]),
        JSON.stringify(args),
        JSON.stringify([
          { role: 'user', content: question },
          { role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) },
        ]),
        null,
      ][index],
      output: [
        JSON.stringify({ role: 'assistant', content: '', tool_calls: [openAiCall] }),
        JSON.stringify({ lc: 1, kwargs: { content: JSON.stringify(found), tool_call_id: call.id, name: call.name } }),
        JSON.stringify({ role: 'assistant', content: answer }),
        null,
      ][index],
    })),
  }),
  braintrust: [
    {
      span_id: 's1',
      span_attributes: { name: 'Chat Completion', type: 'llm' },
      metrics: { start: startMs / 1000 + 0.001 },
    },
    {
      span_id: 's1',
      _is_merge: true,
      input: [{ role: 'user', content: question }],
      output: [
        { message: { role: 'assistant', content: null, tool_calls: [openAiCall] }, finish_reason: 'tool_calls' },
      ],
      metadata: { model: 'gpt-5' },
      metrics: { end: startMs / 1000 + 0.101 },
    },
    {
      span_id: 's2',
      span_attributes: { name: call.name, type: 'tool' },
      input: args,
      output: found,
      metrics: { start: startMs / 1000 + 0.11, end: startMs / 1000 + 0.13 },
    },
    {
      span_id: 's3',
      span_attributes: { name: 'Chat Completion', type: 'llm' },
      input: [
        { role: 'user', content: question },
        { role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) },
      ],
      output: [{ message: { role: 'assistant', content: answer } }],
      metadata: { model: 'gpt-5' },
      metrics: { start: startMs / 1000 + 0.14, end: startMs / 1000 + 0.24 },
    },
  ]
    .map((row) => JSON.stringify({ id: `row-${row.span_id}`, root_span_id: 's0', span_parents: ['s0'], ...row }))
    .join('\n'),
  deepeval: JSON.stringify({
    uuid: trace,
    baseSpans: [],
    agentSpans: [{ uuid: 'd0', name: 'desk', type: 'agent', startTime: iso(0), endTime: iso(250), input: question }],
    retrieverSpans: [],
    llmSpans: [
      {
        uuid: 'd1',
        type: 'llm',
        input: [{ role: 'human', content: question }],
        output: { role: 'AI', content: '', tool_calls: [{ ...call, args }] },
        startTime: iso(1),
        endTime: iso(101),
      },
      { uuid: 'd3', type: 'llm', input: question, output: answer, startTime: iso(140), endTime: iso(240) },
    ].map((span) => ({ ...span, name: 'ChatOpenAI', parentUuid: 'd0', model: 'gpt-5', status: 'SUCCESS' })),
    toolSpans: [
      {
        uuid: 'd2',
        name: call.name,
        type: 'tool',
        parentUuid: 'd0',
        input: `{'order_id': 'A-17'}`,
        output: found,
        startTime: iso(110),
        endTime: iso(130),
      },
    ],
  }),
  'anthropic-agent': [
    ['client.beta.sessions.create', { agent: { name: 'desk' } }],
    [
      'client.beta.sessions.events.stream',
      { id: 'e1', type: 'user.message', content: [{ type: 'text', text: question }], processed_at: iso(0) },
    ],
    ['client.beta.sessions.events.stream', { id: 'e2', type: 'span.model_request_start', processed_at: iso(1) }],
    [
      'client.beta.sessions.events.stream',
      { id: 'e3', type: 'agent.custom_tool_use', name: call.name, input: args, processed_at: iso(101) },
    ],
    [
      'client.beta.sessions.events.stream',
      {
        id: 'e4',
        type: 'span.model_request_end',
        model_request_start_id: 'e2',
        model_usage: { input_tokens: 2 },
        processed_at: iso(101),
      },
    ],
    [
      'client.beta.sessions.events.stream',
      {
        id: 'e5',
        type: 'user.custom_tool_result',
        custom_tool_use_id: 'e3',
        content: [{ type: 'text', text: JSON.stringify(found) }],
        processed_at: iso(130),
      },
    ],
    ['client.beta.sessions.events.stream', { id: 'e6', type: 'span.model_request_start', processed_at: iso(140) }],
    [
      'client.beta.sessions.events.stream',
      { id: 'e7', type: 'agent.message', content: [{ type: 'text', text: answer }], processed_at: iso(239) },
    ],
    [
      'client.beta.sessions.events.stream',
      {
        id: 'e8',
        type: 'span.model_request_end',
        model_request_start_id: 'e6',
        model_usage: {},
        processed_at: iso(240),
      },
    ],
  ]
    .map((line) => JSON.stringify(line))
    .join('\n'),
}

/** Attributes with maps in place of dotted names. */
function nested(attributes: object): object {
  const root: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(attributes)) {
    const steps = key.split('.')
    const last = steps.pop()!
    let at = root
    for (const step of steps) at = (at[step] ??= {}) as typeof at
    at[last] = value as unknown
  }
  return root
}

/** Messages as a list, as Phoenix's clients once wrote them. */
function listedMessages({ 'openinference.span.kind': _, ...attributes }: { [key: string]: unknown }): object {
  const kept = Object.entries(attributes).filter(([key]) => !/_messages\./.test(key))
  const lists = ['llm.input_messages', 'llm.output_messages'].flatMap((name) => {
    const prefix = `${name}.0.`
    const one = Object.entries(attributes).filter(([key]) => key.startsWith(prefix) && !key.includes('tool_calls.'))
    const calls = Object.entries(attributes).filter(([key]) => key.startsWith(`${prefix}message.tool_calls.0.`))
    if (one.length + calls.length === 0) return []
    const message = Object.fromEntries(one.map(([key, value]) => [key.slice(prefix.length), value]))
    const made = Object.fromEntries(
      calls.map(([key, value]) => [key.slice(`${prefix}message.tool_calls.0.`.length), value]),
    )
    return [[name, [calls.length === 0 ? message : { ...message, 'message.tool_calls': [made] }]] as const]
  })
  return Object.fromEntries([...kept, ...lists])
}

type Span = { readonly [key: string]: unknown }

const phoenixSpans = openInference.map(({ id, name, from, to, attributes }): Span => {
  const { 'openinference.span.kind': kind = 'AGENT', ...rest } = attributes as Span
  return {
    id: `row-${id}`,
    name: kind === 'TOOL' ? call.name : name,
    context: { trace_id: trace, span_id: id },
    span_kind: kind,
    parent_id: id === ids[0] ? null : ids[0],
    start_time: iso(from),
    end_time: iso(to),
    status_code: 'OK',
    status_message: '',
    attributes: rest,
    events: [],
  }
})

const hrTime = (ms: number): readonly number[] => [Math.floor((startMs + ms) / 1000), ((startMs + ms) % 1000) * 1e6]
const asLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** The same trace in other shapes of the same formats. */
export const otherShapes: Readonly<Record<string, string>> = {
  'what Phoenix lists': JSON.stringify({ data: phoenixSpans, next_cursor: null }),
  'messages of Phoenix as a list': asLines(
    phoenixSpans.map((span) => ({ ...span, attributes: listedMessages(span['attributes'] as Span) })),
  ),
  'attributes as maps in maps': JSON.stringify(
    phoenixSpans.map((span) => ({ ...span, attributes: nested(span['attributes'] as object) })),
  ),
  'a file of a console exporter, one document behind the other': (
    JSON.parse(traceSamples['otel-spans']) as readonly object[]
  )
    .map((span) => `${JSON.stringify(span, null, 4)}\n`)
    .join('\n'),
  'spans of JavaScript with their ids beside the name': asLines(
    vercel.map(({ id, name, from, to, attributes }) => ({
      name,
      traceId: trace,
      spanId: id,
      ...(id === ids[0] ? {} : { parentSpanId: ids[0] }),
      startTime: hrTime(from),
      endTime: hrTime(to),
      attributes,
      status: { code: 0 },
    })),
  ),
  'spans of the AI SDK as a map of lists by name': JSON.stringify({
    'ai.embed': [],
    ...Object.groupBy(
      vercel.map(({ id, name, from, to, attributes }) => ({
        name,
        spanContext: { traceId: trace, spanId: id },
        ...(id === ids[0] ? {} : { parentSpanContext: { traceId: trace, spanId: ids[0] } }),
        startTime: hrTime(from),
        endTime: hrTime(to),
        attributes,
        status: { code: 0 },
      })),
      ({ name }) => name,
    ),
  }),
  'spans of the AI SDK without ids and times, as its tests print them': JSON.stringify(
    vercel.slice(0, -1).map(({ name, attributes }) => ({ name, attributes, events: [] })),
  ),
  "spans of JavaScript's console exporter": JSON.stringify(
    vercel.map(({ id, name, from, to, attributes }) => ({
      resource: { attributes: {} },
      traceId: trace,
      parentSpanContext: id === ids[0] ? undefined : { traceId: trace, spanId: ids[0] },
      name,
      id,
      kind: 0,
      timestamp: (startMs + from) * 1000,
      duration: (to - from) * 1000,
      attributes,
      status: { code: 0 },
      events: [],
    })),
  ),
  'spans of MLflow, under data': JSON.stringify({
    info: { trace_id: 'tr-1' },
    data: {
      spans: current.map(({ id, name, from, to, attributes }) => ({
        trace_id: trace,
        span_id: id,
        parent_span_id: id === ids[0] ? '' : ids[0],
        name,
        start_time_unix_nano: Number(nanos(from)),
        end_time_unix_nano: Number(nanos(to)),
        events: [],
        status: { code: 'STATUS_CODE_OK', message: '' },
        attributes,
      })),
    },
  }),
  'rows of the tables in ClickHouse': asLines(
    traceloop.map(({ id, name, from, to, attributes }) => ({
      Timestamp: new Date(startMs + from).toISOString().replace('T', ' ').replace('Z', '000000'),
      TraceId: trace,
      SpanId: id,
      ParentSpanId: id === ids[0] ? '' : ids[0],
      SpanName: name,
      SpanKind: 'Internal',
      SpanAttributes: attributes,
      Duration: (to - from) * 1e6,
      StatusCode: 'Unset',
      StatusMessage: '',
      'Events.Timestamp': [],
      'Events.Name': [],
      'Events.Attributes': [],
    })),
  ),
  'OTLP as a list of documents': JSON.stringify(current.map((span) => JSON.parse(otlp(otlpSpans([span]))) as object)),
  "OTLP inside the answer of Jaeger's third API": `{"result":${otlp(otlpSpans(current))}}`,
  'OTLP with attributes as a map': otlp(
    otlpSpans(current).map((span, index) => ({ ...span, attributes: current[index]!.attributes })),
  ),
  'one trace of Jaeger alone': JSON.stringify((JSON.parse(traceSamples.jaeger) as { data: object[] }).data[0]),
  'a list of traces of Jaeger': JSON.stringify((JSON.parse(traceSamples.jaeger) as { data: object[] }).data),
  'observations without the trace they stand in': JSON.stringify({
    id: 't1',
    observations: (JSON.parse(traceSamples.langfuse) as { observations: Span[] }).observations.map(
      ({ traceId: _, ...row }) => row,
    ),
  }),
}
