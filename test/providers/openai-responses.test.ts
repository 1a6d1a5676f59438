import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { encoders, lines, read, said, sse } from './bodies.ts'

describe('OpenAI chat', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  }
  const whole = {
    object: 'chat.completion',
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Looking.',
          reasoning_content: 'Hm, seven.',
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
    chunk({ reasoning_content: 'Hm, ' }),
    chunk({ reasoning_content: 'seven.' }),
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
    reasoning: 'Hm, seven.',
    finish: 'tool_calls',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 },
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
      reasoning: 'Hm, seven.',
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

  test.for<[string, Json]>([
    ['Groq and OpenRouter', { content: 'Yes.', reasoning: 'Hm.' }],
    ['Ollama', { content: 'Yes.', thinking: 'Hm.' }],
    ['Snowflake', { content: 'Yes.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] }],
    [
      'Mistral',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'Yes.' },
        ],
      },
    ],
  ])('tells the reasoning from the text where %s keeps it', ([, message]) => {
    expect(read('openai-chat', { choices: [{ index: 0, message }] })).toMatchObject({ text: 'Yes.', reasoning: 'Hm.' })
  })

  test('adds reasoning to what was written only where the total says that it stands beside it', () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } }
    const written = (total_tokens: number): number | undefined =>
      read('openai-chat', { choices: [], usage: { ...counts, total_tokens } }).usage?.outputTokens
    expect([written(15), written(17), written(16)]).toEqual([5, 7, 5])
  })

  test.for<[string, { [key: string]: Json }]>([
    ['Groq', { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 2 } } }],
    ['Bedrock', { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 3, outputTokenCount: 2 } }],
  ])('finds the usage in a chunk where %s has it', ([, more]) => {
    const last = { ...(chunk({}, 'stop') as object), ...more }
    expect(read('openai-chat', sse([chunk({ content: 'Hi' }), last])).usage).toEqual({
      inputTokens: 3,
      outputTokens: 2,
    })
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

  test('takes each line of Ollama with whole arguments for another call, with an id, an index, or neither', () => {
    const line = (call: { [key: string]: Json }, rest: { [key: string]: Json } = {}): Json => ({
      message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', ...call }, ...rest }] },
    })
    const args = (...stream: Json[]): Json[] => read('openai-chat', lines(stream)).toolCalls.map((call) => call.args)
    const [one, two] = [{ arguments: { of: 1 } }, { arguments: { of: 2 } }]
    expect(args(line(one), line(two))).toEqual([{ of: 1 }, { of: 2 }])
    expect(args(line({ ...one, index: 0 }), line({ ...two, index: 1 }))).toEqual([{ of: 1 }, { of: 2 }])
    expect(args(line(one, { id: 'a' }), line(two, { id: 'b' }))).toEqual([{ of: 1 }, { of: 2 }])
  })

  test('reads the text and the calls of Workers AI, whole and in pieces', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const calls = [
      { name: 'lookup', arguments: { order: 7 } },
      { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ]
    const result = { response: 'Looking.', tool_calls: calls, usage }
    const expected = {
      text: 'Looking.',
      toolCalls: [
        { name: 'lookup', args: { order: 7 } },
        { id: 'c2', name: 'weather', args: {} },
      ],
      usage: { inputTokens: 3, outputTokens: 2 },
      unknownEvents: 0,
    }
    const envelope = (inner: Json): Json => ({ result: inner, success: true, errors: [], messages: [] })
    expect(read('openai-chat', envelope(result))).toEqual(expected)
    expect(read('openai-chat', envelope({ ...result, response: null }))).toEqual({ ...expected, text: '' })
    const pieces = [{ response: 'Look' }, { response: 'ing.' }, { response: '', tool_calls: calls, usage }]
    expect(read('openai-chat', sse(pieces))).toEqual(expected)
    expect(read('openai-chat', envelope({ response: { order: 7 }, usage })).text).toBe('{"order":7}')
  })

  test('reads what llama.cpp counts where it tells no usage, and nothing where it leaves the cache out', () => {
    const end = (timings: Json): Json => ({ object: 'chat.completion.chunk', choices: [], timings })
    expect(read('openai-chat', sse([end({ cache_n: 4, prompt_n: 3, predicted_n: 2 })])).usage).toEqual({
      inputTokens: 7,
      cachedTokens: 4,
      outputTokens: 2,
    })
    expect(read('openai-chat', sse([end({ prompt_n: 3, predicted_n: 2 })])).usage).toBeUndefined()
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
    {
      type: 'reasoning',
      id: 'r1',
      summary: [
        { type: 'summary_text', text: 'Hm.' },
        { type: 'summary_text', text: 'So.' },
      ],
    },
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
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
  }
  const toolCalls = [
    { id: 'w1', name: 'web_search', args: { type: 'search', query: 'order' }, builtIn: true },
    { id: 'c1', name: 'lookup', args: { order: 7 } },
    { id: 'c2', name: 'weather', args: 'in Rome' },
  ]
  const expected = {
    model: 'm-2',
    text: 'Looking.',
    reasoning: 'Hm.\n\nSo.',
    toolCalls,
    finish: 'completed',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 },
    unknownEvents: 0,
  }
  const events: Json[] = [
    { type: 'response.created', response: { ...response, output: [], status: 'in_progress' } },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'H' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'm.' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'So' },
    { type: 'response.output_item.done', output_index: 0, item: items[0] as Json },
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
      reasoning: 'Hm.\n\nSo.',
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
