import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { converseStream, frame, invokeStream, lines, read, said, sse } from './bodies.ts'

describe('Anthropic', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Looking.' },
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'order' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'tool_use', id: 'c1', name: 'lookup', input: { order: 7 } },
    { type: 'tool_use', id: 'c2', name: 'weather', input: {} },
  ]
  const usage = {
    input_tokens: 6,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 1,
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 2 },
  }
  const message = { type: 'message', model: 'm-3', content, stop_reason: 'tool_use', usage }
  const expected = {
    model: 'm-3',
    text: 'Looking.',
    reasoning: 'Hm.',
    toolCalls: [{ id: 's1', name: 'web_search', args: { query: 'order' }, builtIn: true }, ...said.toolCalls],
    finish: 'tool_use',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 3, cacheWriteTokens: 1, reasoningTokens: 2 },
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
    promptTokenCount: 8,
    toolUsePromptTokenCount: 2,
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
    reasoning: 'Hm.',
    toolCalls: [{ name: 'code_execution', args: parts[2]?.executableCode, builtIn: true }, ...said.toolCalls],
    finish: 'STOP',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
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
  const usage = { inputTokens: 5, cacheReadInputTokens: 4, cacheWriteInputTokens: 1, outputTokens: 5 }
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
  const known = { ...said, reasoning: 'Hm.', finish: 'tool_use' }
  const expected = { ...known, usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 1 } }

  test('reads the same whole, from its frames, and from the frames of invoke', () => {
    expect(
      read('bedrock-converse', { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage }),
    ).toEqual(expected)
    expect(read('bedrock-converse', converseStream(events))).toEqual(expected)
    expect(read('bedrock-converse', invokeStream(events))).toEqual(expected)
  })

  test('reads what is said with citations', () => {
    const cited = { citationsContent: { content: [{ text: 'Look' }, { text: 'ing' }], citations: [{ title: 'a' }] } }
    const body = { output: { message: { role: 'assistant', content: [cited, { text: '.' }] } } }
    expect(read('bedrock-converse', body).text).toBe('Looking.')
  })

  test('gives of torn frames what was whole', () => {
    const frames = converseStream(events)
    expect(read('bedrock-converse', frames.subarray(0, frames.length - 1))).toEqual(known)
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
  test('takes arguments that are null for none', () => {
    const call = { id: 'c', type: 'function', function: { name: 'now', arguments: 'null' } }
    const body = { finish_reason: 'TOOL_CALL', message: { role: 'assistant', tool_calls: [call] } }
    expect(read('cohere', body).toolCalls).toEqual([{ id: 'c', name: 'now', args: {} }])
  })

  const expected = {
    ...said,
    reasoning: 'Hm.\n\nFirst.',
    finish: 'TOOL_CALL',
    usage: { inputTokens: 10, outputTokens: 5 },
  }
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
      read('cohere', {
        finish_reason: 'TOOL_CALL',
        message: { role: 'assistant', content, tool_plan: 'First.', tool_calls },
        usage,
      }),
    ).toEqual(expected)
    const events: Json[] = [
      { type: 'message-start', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'thinking', thinking: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { thinking: 'Hm.' } } } },
      { type: 'content-start', index: 1, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 1, delta: { message: { content: { text: 'Looking.' } } } },
      { type: 'tool-plan-delta', delta: { message: { tool_plan: 'First.' } } },
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
