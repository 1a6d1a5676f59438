import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { converseStream, encoders, frame, invokeStream, lines, read, sse } from './bodies.ts'

/** What every dialect below says: a sentence, then two parallel calls. */
const said = {
  text: 'Looking.',
  toolCalls: [
    { id: 'c1', name: 'lookup', args: { order: 7 } },
    { id: 'c2', name: 'weather', args: {} },
  ],
  unknownEvents: 0,
}

describe('OpenAI chat', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } }
  const whole = {
    object: 'chat.completion',
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":7}' } },
            { id: 'c2', type: 'function', function: { name: 'weather', arguments: '' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  }
  const chunk = (delta: Json, finish: string | null = null): Json => ({
    object: 'chat.completion.chunk',
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const piece = (index: number, text: string, rest: { [key: string]: Json } = {}): Json => ({
    tool_calls: [
      {
        index,
        ...rest,
        function: { ...(rest['id'] ? { name: rest['id'] === 'c1' ? 'lookup' : 'weather' } : {}), arguments: text },
      },
    ],
  })
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Look' }),
    chunk({ content: 'ing.' }),
    chunk(piece(0, '', { id: 'c1', type: 'function' })),
    chunk(piece(0, '{"or')),
    chunk(piece(1, '', { id: 'c2', type: 'function' })),
    chunk(piece(0, 'der":7}')),
    chunk({}, 'tool_calls'),
    { object: 'chat.completion.chunk', model: 'm-1', choices: [], usage },
  ]
  const expected = {
    model: 'm-1',
    ...said,
    finish: 'tool_calls',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
  }

  test('reads the same whole and streamed, calls in interleaved pieces', () => {
    expect(read('openai-chat', whole)).toEqual(expected)
    expect(read('openai-chat', sse(chunks))).toEqual(expected)
    expect(read('openai-chat', sse(chunks).replaceAll('\n', '\r\n'))).toEqual(expected)
  })

  test('gives of a truncated stream what was there', () => {
    const stream = sse(chunks)
    const cut = stream.slice(0, stream.indexOf('der\\":7'))
    expect(read('openai-chat', cut)).toEqual({
      model: 'm-1',
      text: 'Looking.',
      toolCalls: [
        { id: 'c1', name: 'lookup', args: '{"or' },
        { id: 'c2', name: 'weather', args: {} },
      ],
      unknownEvents: 0,
    })
  })

  test('keeps arguments that are no JSON as text, and the input of custom tools always', () => {
    const call = (tool: Json): Json => ({ choices: [{ index: 0, message: { tool_calls: [tool] } }] })
    expect(read('openai-chat', call({ id: 'a', function: { name: 'f', arguments: '{oops' } })).toolCalls[0]?.args).toBe(
      '{oops',
    )
    const custom = call({ id: 'a', type: 'custom', custom: { name: 'f', input: '42' } })
    expect(read('openai-chat', custom).toolCalls).toEqual([{ id: 'a', name: 'f', args: '42' }])
  })

  test('tells calls apart that share the index 0 and not the id', () => {
    const delta = (id: string): Json =>
      chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: `{"of":"${id}"}` } }] })
    expect(read('openai-chat', sse([delta('a'), delta('b')])).toolCalls).toEqual([
      { id: 'a', name: 'f', args: { of: 'a' } },
      { id: 'b', name: 'f', args: { of: 'b' } },
    ])
  })

  test('reads a legacy function call', () => {
    const body = {
      choices: [{ index: 0, message: { content: null, function_call: { name: 'f', arguments: '{"a":1}' } } }],
    }
    expect(read('openai-chat', body).toolCalls).toEqual([{ name: 'f', args: { a: 1 } }])
  })

  test('reads a refusal', () => {
    const body = { choices: [{ index: 0, message: { content: null, refusal: 'I cannot.' }, finish_reason: 'stop' }] }
    expect(read('openai-chat', body)).toMatchObject({ text: '', refusal: 'I cannot.' })
  })

  test('reads the lines of Ollama', () => {
    const stream = lines([
      { model: 'o', message: { role: 'assistant', content: 'Look' }, done: false },
      {
        model: 'o',
        message: {
          role: 'assistant',
          content: 'ing.',
          tool_calls: [{ function: { name: 'lookup', arguments: { order: 7 } } }],
        },
        done: false,
      },
      {
        model: 'o',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 3,
        eval_count: 2,
      },
    ])
    expect(read('openai-chat', stream)).toEqual({
      model: 'o',
      text: 'Looking.',
      toolCalls: [{ name: 'lookup', args: { order: 7 } }],
      finish: 'stop',
      usage: { inputTokens: 3, outputTokens: 2 },
      unknownEvents: 0,
    })
  })

  test.each(Object.keys(encoders))('reads a %s body, whole and cut', (encoding) => {
    const encode = encoders[encoding] ?? Buffer.from
    const stream = encode(Buffer.from(sse(chunks)))
    expect(read('openai-chat', stream, { encoding })).toEqual(expected)
    // Compressors keep back a block: of a body that long something is readable before the end.
    const many = Array.from({ length: 20_000 }, (_, i) => chunk({ content: `word ${(i * 7919) % 10_007} ` }))
    const half = encode(Buffer.from(sse(many)))
    const text = read('openai-chat', half.subarray(0, half.length / 2), { encoding }).text
    expect(text.length).toBeGreaterThan(0)
    expect(text.startsWith('word 0 word 7919 ')).toBe(true)
  })

  test('reads a body whose encoding header is stale, or missing', () => {
    expect(read('openai-chat', whole, { encoding: 'gzip' })).toEqual(expected)
    expect(read('openai-chat', encoders['gzip']?.(Buffer.from(JSON.stringify(whole))) ?? '')).toEqual(expected)
  })
})

describe('OpenAI Responses', () => {
  const items: Json[] = [
    { type: 'reasoning', id: 'r1', summary: [] },
    { type: 'web_search_call', id: 'w1', status: 'completed', action: { type: 'search', query: 'order' } },
    { type: 'message', id: 'm1', content: [{ type: 'output_text', text: 'Looking.' }] },
    { type: 'function_call', id: 'f1', call_id: 'c1', name: 'lookup', arguments: '{"order":7}' },
    { type: 'custom_tool_call', id: 'f2', call_id: 'c2', name: 'weather', input: 'in Rome' },
  ]
  const response = {
    object: 'response',
    model: 'm-2',
    status: 'completed',
    output: items,
    tools: [{ type: 'function', name: 'never_called' }],
    usage: { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } },
  }
  const toolCalls = [
    { id: 'w1', name: 'web_search', args: { type: 'search', query: 'order' }, builtIn: true },
    { id: 'c1', name: 'lookup', args: { order: 7 } },
    { id: 'c2', name: 'weather', args: 'in Rome' },
  ]
  const expected = {
    model: 'm-2',
    text: 'Looking.',
    toolCalls,
    finish: 'completed',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
    unknownEvents: 0,
  }
  const events: Json[] = [
    { type: 'response.created', response: { ...response, output: [], status: 'in_progress' } },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'web_search_call', id: 'w1', status: 'in_progress' },
    },
    { type: 'response.web_search_call.searching', output_index: 1 },
    { type: 'response.output_item.done', output_index: 1, item: items[1] as Json },
    { type: 'response.output_text.delta', output_index: 2, delta: 'Look' },
    { type: 'response.output_text.delta', output_index: 2, delta: 'ing.' },
    { type: 'response.output_item.done', output_index: 2, item: items[2] as Json },
    { type: 'response.output_item.added', output_index: 3, item: { ...(items[3] as object), arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 3, delta: '{"order"' },
    { type: 'response.output_item.added', output_index: 4, item: { ...(items[4] as object), input: '' } },
    { type: 'response.custom_tool_call_input.delta', output_index: 4, delta: 'in Rome' },
    { type: 'response.function_call_arguments.delta', output_index: 3, delta: ':7}' },
    { type: 'response.output_item.done', output_index: 3, item: items[3] as Json },
  ]

  test('reads the same whole and streamed; declared tools are not calls', () => {
    expect(read('openai-responses', response)).toEqual(expected)
    expect(read('openai-responses', sse([...events, { type: 'response.completed', response }], false))).toEqual(
      expected,
    )
  })

  test('reads of a stream without its last event what was there', () => {
    expect(read('openai-responses', sse(events, false))).toEqual({
      model: 'm-2',
      text: 'Looking.',
      toolCalls,
      unknownEvents: 0,
    })
  })

  test('tells calls the agent runs from those the provider ran by their call_id', () => {
    const output = [
      { type: 'local_shell_call', id: 'l', call_id: 'c', action: { command: ['ls'] } },
      { type: 'mcp_call', id: 'x', name: 'read', arguments: '{"path":"a"}', output: 'text' },
    ]
    expect(read('openai-responses', { object: 'response', output }).toolCalls).toEqual([
      { id: 'c', name: 'local_shell', args: { command: ['ls'] } },
      { id: 'x', name: 'read', args: { path: 'a' }, builtIn: true },
    ])
  })

  test('tells why a response is incomplete, and the class of a failure', () => {
    const incomplete = {
      object: 'response',
      output: [],
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }
    expect(read('openai-responses', incomplete).finish).toBe('max_output_tokens')
    const failed = { ...response, output: [], status: 'failed', error: { code: 'server_error', message: 'Oh.' } }
    expect(read('openai-responses', sse([{ type: 'response.failed', response: failed }], false))).toMatchObject({
      error: 'server_error',
    })
  })
})

describe('Anthropic', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Looking.' },
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'order' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'tool_use', id: 'c1', name: 'lookup', input: { order: 7 } },
    { type: 'tool_use', id: 'c2', name: 'weather', input: {} },
  ]
  const usage = { input_tokens: 6, cache_read_input_tokens: 3, cache_creation_input_tokens: 1, output_tokens: 5 }
  const message = { type: 'message', model: 'm-3', content, stop_reason: 'tool_use', usage }
  const expected = {
    model: 'm-3',
    text: 'Looking.',
    toolCalls: [{ id: 's1', name: 'web_search', args: { query: 'order' }, builtIn: true }, ...said.toolCalls],
    finish: 'tool_use',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 3 },
    unknownEvents: 0,
  }
  const start = (index: number, block: Json): Json => ({ type: 'content_block_start', index, content_block: block })
  const delta = (index: number, change: Json): Json => ({ type: 'content_block_delta', index, delta: change })
  const json = (index: number, partial: string): Json =>
    delta(index, { type: 'input_json_delta', partial_json: partial })
  const events: Json[] = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    start(0, { type: 'thinking', thinking: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 's' }),
    start(1, { type: 'text', text: '' }),
    { type: 'ping' },
    delta(1, { type: 'text_delta', text: 'Look' }),
    delta(1, { type: 'text_delta', text: 'ing.' }),
    start(2, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
    json(2, '{"query":"order"}'),
    start(3, content[3] as Json),
    start(4, { type: 'tool_use', id: 'c1', name: 'lookup', input: {} }),
    json(4, ''),
    json(4, '{"order'),
    start(5, { type: 'tool_use', id: 'c2', name: 'weather', input: {} }),
    json(4, '":7}'),
    { type: 'content_block_stop', index: 5 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]

  test('reads the same whole, streamed, and from the frames of Bedrock', () => {
    expect(read('anthropic', message)).toEqual(expected)
    expect(read('anthropic', sse(events, false))).toEqual(expected)
    expect(read('anthropic', invokeStream(events))).toEqual(expected)
  })

  test('gives of a truncated stream what was there', () => {
    const stream = sse(events, false)
    const read1 = read('anthropic', stream.slice(0, stream.indexOf('":7}')))
    expect(read1.text).toBe('Looking.')
    expect(read1.toolCalls.at(1)).toEqual({ id: 'c1', name: 'lookup', args: '{"order' })
    const frames = invokeStream(events)
    expect(read('anthropic', frames.subarray(0, frames.length - 20)).finish).toBe('tool_use')
  })

  test('tells a refusal, and an error in the middle of a stream', () => {
    expect(read('anthropic', { ...message, stop_reason: 'refusal', stop_details: { category: 'cyber' } }).refusal).toBe(
      'cyber',
    )
    const broken = [...events.slice(0, 8), { type: 'error', error: { type: 'overloaded_error', message: 'Later.' } }]
    expect(read('anthropic', sse(broken, false))).toMatchObject({ text: 'Looking.', error: 'overloaded_error' })
  })
})

describe('Gemini', () => {
  const parts = [
    { text: 'Hm.', thought: true },
    { text: 'Looking.' },
    { executableCode: { language: 'PYTHON', code: '1' } },
    { functionCall: { id: 'c1', name: 'lookup', args: { order: 7 } } },
    { functionCall: { id: 'c2', name: 'weather', args: {} } },
  ]
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 4,
  }
  const part = (content: Json[], rest: { [key: string]: Json } = {}): Json => ({
    candidates: [{ content: { role: 'model', parts: content }, ...rest }],
    modelVersion: 'm-4',
  })
  const whole = { ...(part(parts, { finishReason: 'STOP' }) as object), usageMetadata }
  const stream = [
    part(parts.slice(0, 1)),
    part([{ text: 'Look' }]),
    part([{ text: 'ing.' }]),
    part(parts.slice(2)),
    { ...whole, candidates: [{ finishReason: 'STOP' }] },
  ]
  const expected = {
    model: 'm-4',
    text: 'Looking.',
    toolCalls: [{ name: 'code_execution', args: parts[2]?.executableCode, builtIn: true }, ...said.toolCalls],
    finish: 'STOP',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
    unknownEvents: 0,
  }

  test('reads the same whole, as server-sent events, and as a streamed JSON array', () => {
    expect(read('gemini', whole)).toEqual(expected)
    expect(read('gemini', sse(stream, false))).toEqual(expected)
    expect(read('gemini', JSON.stringify(stream, null, 2))).toEqual(expected)
    expect(
      read(
        'gemini',
        sse(
          stream.map((response) => ({ response })),
          false,
        ),
      ),
    ).toEqual(expected)
  })

  test('reads the whole elements of an array that is cut', () => {
    const text = JSON.stringify(stream, null, 2)
    for (const end of [text.length - 1, text.length - 40]) {
      const cut = read('gemini', text.slice(0, end))
      expect(cut).toMatchObject({ text: 'Looking.', unknownEvents: 0 })
      expect(cut.toolCalls).toEqual(expected.toolCalls)
    }
  })

  test('puts streamed arguments together by their paths', () => {
    const call = (functionCall: Json): Json => part([{ functionCall }])
    const pieces = [
      call({ name: 'lookup', willContinue: true }),
      call({ partialArgs: [{ jsonPath: '$.order.id', numberValue: 7, willContinue: false }], willContinue: true }),
      call({ partialArgs: [{ jsonPath: '$.note', stringValue: 'be ', willContinue: true }], willContinue: true }),
      call({
        partialArgs: [
          { jsonPath: '$.note', stringValue: 'quick' },
          { jsonPath: '$.tags[0]', stringValue: 'x' },
        ],
        willContinue: true,
      }),
      call({}),
      call({ name: 'weather', args: {} }),
    ]
    expect(read('gemini', sse(pieces, false)).toolCalls).toEqual([
      { name: 'lookup', args: { order: { id: 7 }, note: 'be quick', tags: ['x'] } },
      { name: 'weather', args: {} },
    ])
  })

  test('tells a blocked prompt', () => {
    expect(read('gemini', { promptFeedback: { blockReason: 'SAFETY' } }).refusal).toBe('SAFETY')
  })
})

describe('Bedrock Converse', () => {
  const content = [
    { reasoningContent: { reasoningText: { text: 'Hm.' } } },
    { text: 'Looking.' },
    { toolUse: { toolUseId: 'c1', name: 'lookup', input: { order: 7 } } },
    { toolUse: { toolUseId: 'c2', name: 'weather', input: {} } },
  ]
  const usage = { inputTokens: 6, cacheReadInputTokens: 4, outputTokens: 5 }
  const start = (contentBlockIndex: number, toolUse: Json): { [key: string]: Json } => ({
    contentBlockStart: { contentBlockIndex, start: { toolUse } },
  })
  const delta = (contentBlockIndex: number, change: Json): { [key: string]: Json } => ({
    contentBlockDelta: { contentBlockIndex, delta: change },
  })
  const events = [
    { messageStart: { role: 'assistant' } },
    delta(0, { reasoningContent: { text: 'Hm.' } }),
    delta(1, { text: 'Look' }),
    delta(1, { text: 'ing.' }),
    { contentBlockStop: { contentBlockIndex: 1 } },
    start(2, { toolUseId: 'c1', name: 'lookup' }),
    delta(2, { toolUse: { input: '{"order' } }),
    start(3, { toolUseId: 'c2', name: 'weather' }),
    delta(2, { toolUse: { input: '":7}' } }),
    { messageStop: { stopReason: 'tool_use' } },
    { metadata: { usage, metrics: { latencyMs: 1 } } },
  ]
  const expected = { ...said, finish: 'tool_use', usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4 } }

  test('reads the same whole, from its frames, and from the frames of invoke', () => {
    expect(
      read('bedrock-converse', { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage }),
    ).toEqual(expected)
    expect(read('bedrock-converse', converseStream(events))).toEqual(expected)
    expect(read('bedrock-converse', invokeStream(events))).toEqual(expected)
  })

  test('gives of torn frames what was whole', () => {
    const frames = converseStream(events)
    expect(read('bedrock-converse', frames.subarray(0, frames.length - 1))).toEqual({ ...said, finish: 'tool_use' })
    expect(read('bedrock-converse', frames.subarray(0, 10))).toMatchObject({ text: '', toolCalls: [] })
  })

  test('tells the class of an exception frame, and of an error body', () => {
    const exception = frame(
      { ':exception-type': 'throttlingException', ':message-type': 'exception' },
      { message: 'Slow down.' },
    )
    expect(read('bedrock-converse', exception).error).toBe('throttlingException')
    expect(
      read('bedrock-converse', { __type: 'com.amazon#ValidationException', message: 'No.' }, { status: 400 }).error,
    ).toBe('ValidationException')
    expect(read('bedrock-converse', { message: 'No.' }, { status: 403 })).toMatchObject({
      error: 'http_403',
      unknownEvents: 0,
    })
  })
})

describe('Cohere', () => {
  const expected = { ...said, finish: 'TOOL_CALL', usage: { inputTokens: 10, outputTokens: 5 } }
  const call = (id: string, name: string, args: string): Json => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })
  const usage = { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 10, output_tokens: 5 } }

  test('reads version 2 the same whole and streamed', () => {
    const tool_calls = [call('c1', 'lookup', '{"order":7}'), call('c2', 'weather', '{}')]
    const content = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Looking.' },
    ]
    expect(
      read('cohere', { finish_reason: 'TOOL_CALL', message: { role: 'assistant', content, tool_calls }, usage }),
    ).toEqual(expected)
    const events: Json[] = [
      { type: 'message-start', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Looking.' } } } },
      { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: call('c1', 'lookup', '') } } },
      {
        type: 'tool-call-delta',
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: '{"order":7}' } } } },
      },
      { type: 'tool-call-end', index: 0 },
      { type: 'tool-call-start', index: 1, delta: { message: { tool_calls: call('c2', 'weather', '{}') } } },
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage } },
    ]
    expect(read('cohere', sse(events))).toEqual(expected)
  })

  test('reads version 1 the same whole and streamed', () => {
    const response = {
      text: 'Looking.',
      tool_calls: [{ name: 'lookup', parameters: { order: 7 } }],
      finish_reason: 'COMPLETE',
      meta: { tokens: { input_tokens: 10, output_tokens: 5 } },
    }
    const whole = read('cohere', response)
    expect(whole).toMatchObject({
      text: 'Looking.',
      toolCalls: [{ name: 'lookup', args: { order: 7 } }],
      finish: 'COMPLETE',
    })
    const events = [
      { event_type: 'text-generation', text: 'Looking.' },
      { event_type: 'stream-end', response },
    ]
    expect(read('cohere', lines(events))).toEqual(whole)
  })
})

test('a completion reads the same whole and streamed', () => {
  const expected = { model: 'm', text: 'Once upon', toolCalls: [], finish: 'stop', unknownEvents: 0 }
  expect(
    read('openai-completions', { model: 'm', choices: [{ index: 0, text: 'Once upon', finish_reason: 'stop' }] }),
  ).toEqual(expected)
  const chunks = [
    { model: 'm', choices: [{ index: 0, text: 'Once ' }] },
    { model: 'm', choices: [{ index: 0, text: 'upon', finish_reason: 'stop' }] },
  ]
  expect(read('openai-completions', sse(chunks))).toEqual(expected)
})

test('embeddings have no text', () => {
  const body = { object: 'list', model: 'm', data: [{ embedding: [0.1] }], usage: { prompt_tokens: 2 } }
  expect(read('openai-embeddings', body)).toEqual({
    model: 'm',
    text: '',
    toolCalls: [],
    usage: { inputTokens: 2 },
    unknownEvents: 0,
  })
})

test.for<[string, Json, number, string]>([
  ['its type', { error: { type: 'rate_limit_error', message: 'Slow.' } }, 429, 'rate_limit_error'],
  ['its status', { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 429, 'RESOURCE_EXHAUSTED'],
  ['its code', { error: { code: 'content_filter', message: 'No.' } }, 400, 'content_filter'],
  ['the status line', '<html>Bad gateway</html>', 502, 'http_502'],
  ['the status line of an empty body', '', 503, 'http_503'],
])('the class of an error is %s', ([, body, status, error]) => {
  expect(read('openai-chat', body, { status })).toEqual({ text: '', toolCalls: [], error, unknownEvents: 0 })
})

test.each(['\n', '\r\n', '\r'])(
  'the name of an event stands for its type, and its data may have lines, ended by %j',
  (end) => {
    const text = ['event: message_delta', 'data: {"delta":', 'data: {"stop_reason":"end_turn"}}', '', ''].join(end)
    expect(read('anthropic', text)).toEqual({ text: '', toolCalls: [], finish: 'end_turn', unknownEvents: 0 })
  },
)

test('events on neighbouring lines, without the blank line between them, are read one by one', () => {
  const chunks = ['Once ', 'upon'].map(
    (text) => `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, text }] })}\n`,
  )
  expect(read('openai-completions', chunks.join(''))).toMatchObject({ text: 'Once upon', unknownEvents: 0 })
})

test('an event of an unknown type is counted, not lost quietly', () => {
  expect(read('anthropic', sse([{ type: 'brand_new' }], false)).unknownEvents).toBe(1)
  expect(read('openai-responses', sse([{ type: 'response.brand_new' }], false)).unknownEvents).toBe(1)
  expect(read('gemini', '<html>Hello</html>').unknownEvents).toBe(1)
})
