import { describe, expect, test } from 'vitest'
import { readModelRequest, toolResultsIn } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { converseStream, frame, lines, read, said, sse } from './bodies.ts'

function take(url: string, body: Json): ReturnType<typeof readModelRequest> {
  return readModelRequest({ method: 'POST', url, body: JSON.stringify(body) })
}

describe('an assistant', () => {
  const calls = [
    { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":7}' } },
    { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{}' } },
  ]
  const run = {
    id: 'run_1',
    object: 'thread.run',
    model: 'm-5',
    status: 'requires_action',
    tools: [{ type: 'function', function: { name: 'never_called' } }],
    required_action: { type: 'submit_tool_outputs', submit_tool_outputs: { tool_calls: calls } },
    usage: { prompt_tokens: 10, completion_tokens: 5, prompt_token_details: { cached_tokens: 4 } },
  }
  const step = (tool_calls: Json): Json => ({
    id: 'step_1',
    object: 'thread.run.step.delta',
    delta: { step_details: { type: 'tool_calls', tool_calls } },
  })
  const words = (value: string): Json => ({
    object: 'thread.message.delta',
    delta: { content: [{ index: 0, type: 'text', text: { value } }] },
  })
  const events: Json[] = [
    { ...run, status: 'queued', required_action: null, usage: null },
    words('Look'),
    words('ing.'),
    step([{ index: 0, id: 'c1', type: 'function', function: { name: 'lookup', arguments: '' } }]),
    step([{ index: 0, type: 'function', function: { arguments: '{"order' } }]),
    step([{ index: 1, id: 'c2', type: 'function', function: { name: 'weather', arguments: '{}' } }]),
    step([{ index: 0, type: 'function', function: { arguments: '":7}' } }]),
    run,
  ]
  const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 4 }

  test('hands tools back, whole and streamed, each call once; declared tools are not calls', () => {
    const expected = { ...said, model: 'm-5', finish: 'requires_action', usage }
    expect(read('openai-assistants', run)).toEqual({ ...expected, text: '' })
    expect(read('openai-assistants', sse(events))).toEqual(expected)
    expect(read('openai-assistants', sse(events.slice(0, -1), false))).toEqual({
      ...said,
      model: 'm-5',
      finish: 'queued',
    })
  })

  test('runs tools itself, which are marked, their input in pieces', () => {
    const piece = (input: string, rest: { [key: string]: Json } = {}): Json =>
      step([{ index: 0, ...rest, type: 'code_interpreter', code_interpreter: { input } }])
    expect(read('openai-assistants', sse([piece('1 +', { id: 'c9' }), piece(' 1')])).toolCalls).toEqual([
      { id: 'c9', name: 'code_interpreter', args: '1 + 1', builtIn: true },
    ])
  })

  test('tells why a run failed', () => {
    const failed = { ...run, status: 'failed', required_action: null, last_error: { code: 'rate_limit_exceeded' } }
    expect(read('openai-assistants', failed)).toMatchObject({ finish: 'failed', error: 'rate_limit_exceeded' })
  })

  test('is asked with what a run adds to its thread, and told what tools answered', () => {
    const begun = take('https://api.openai.com/v1/threads/runs', {
      assistant_id: 'a',
      instructions: 'Be brief.',
      thread: { messages: [{ role: 'user', content: 'Hi' }], metadata: {} },
    })
    expect(begun).toEqual({
      dialect: 'openai-assistants',
      model: '',
      instructions: ['Be brief.'],
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [],
      params: { assistant_id: 'a', thread: { metadata: {} } },
    })
    const outputs = { tool_outputs: [{ tool_call_id: 'c1', output: 'found' }], stream: true }
    const told = take('https://api.openai.com/v1/threads/t/runs/r/submit_tool_outputs', outputs)
    expect(told).toMatchObject({ dialect: 'openai-assistants', params: { stream: true } })
    expect(toolResultsIn(told!)).toEqual([{ id: 'c1', result: 'found' }])
    expect(take('https://api.openai.com/v1/threads/t/messages', { role: 'user', content: 'Hi' })).toBeUndefined()
    expect(take('https://api.openai.com/v1/threads/t/runs/r/cancel', {})).toBeUndefined()
  })
})

describe('an interaction of Gemini', () => {
  const usage = {
    total_input_tokens: 8,
    total_tool_use_tokens: 2,
    total_cached_tokens: 4,
    total_output_tokens: 3,
    total_thought_tokens: 2,
  }
  const search = { type: 'google_search_call', id: 's1', arguments: { queries: ['order'] } }
  const ended = { object: 'interaction', model: 'g', status: 'requires_action', usage }
  const parts: Json[] = [
    { type: 'thought', signature: 'x', summary: [{ type: 'text', text: 'Hm.' }] },
    search,
    { type: 'google_search_result', call_id: 's1', result: [] },
    { type: 'model_output', content: [{ type: 'text', text: 'Looking.' }] },
    { type: 'function_call', id: 'c1', name: 'lookup', arguments: { order: 7 } },
    { type: 'function_call', id: 'c2', name: 'weather', arguments: {} },
  ]
  const expected = {
    ...said,
    model: 'g',
    reasoning: 'Hm.',
    toolCalls: [{ id: 's1', name: 'google_search', args: search.arguments, builtIn: true }, ...said.toolCalls],
    finish: 'requires_action',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
  }
  const event = (event_type: string, rest: { [key: string]: Json }): Json => ({ event_type, ...rest })
  const start = (index: number, step: Json): Json => event('step.start', { index, step })
  const delta = (index: number, change: Json): Json => event('step.delta', { index, delta: change })

  test('reads the same whole and streamed', () => {
    expect(read('gemini-interactions', { ...ended, steps: parts })).toEqual(expected)
    const stream = [
      event('interaction.created', { interaction: { model: 'g', status: 'in_progress' } }),
      event('interaction.status_update', { status: 'in_progress' }),
      start(0, { type: 'thought' }),
      delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } }),
      delta(0, { type: 'thought_signature', signature: 'x' }),
      event('step.stop', { index: 0 }),
      start(1, search),
      start(2, parts[2] as Json),
      start(3, { type: 'model_output' }),
      delta(3, { type: 'text', text: 'Look' }),
      delta(3, { type: 'text', text: 'ing.' }),
      delta(3, { type: 'text_annotation_delta', annotations: [] }),
      start(4, { type: 'function_call', id: 'c1', name: 'lookup', arguments: {} }),
      delta(4, { type: 'arguments_delta', arguments: '{"order"' }),
      start(5, { type: 'function_call', id: 'c2', name: 'weather', arguments: {} }),
      delta(4, { type: 'arguments_delta', arguments: ':7}' }),
      event('interaction.completed', { interaction: ended }),
    ]
    expect(read('gemini-interactions', sse(stream))).toEqual(expected)
  })

  test('reads the form it had before steps', () => {
    const outputs = [...parts.slice(0, 3), { type: 'text', text: 'Looking.' }, ...parts.slice(4)]
    expect(read('gemini-interactions', { ...ended, outputs })).toEqual(expected)
    const stream = [
      event('interaction.start', { interaction: { model: 'g', status: 'in_progress' } }),
      event('content.start', { index: 0, content: { type: 'text' } }),
      event('content.delta', { index: 0, delta: { type: 'text', text: 'Looking.' } }),
      event('content.stop', { index: 0 }),
      event('content.delta', { index: 1, delta: { type: 'function_call', ...(parts[4] as object) } }),
      event('content.delta', { index: 2, delta: { type: 'function_call', ...(parts[5] as object) } }),
      event('interaction.complete', { interaction: ended }),
    ]
    expect(read('gemini-interactions', sse(stream))).toMatchObject({ ...said, finish: 'requires_action' })
  })

  test('is asked in steps, and told what tools answered', () => {
    const result = { type: 'function_result', call_id: 'c1', name: 'lookup', result: { found: 1 } }
    const asked = take('https://generativelanguage.googleapis.com/v1beta/interactions', {
      model: 'g',
      input: [result],
      system_instruction: 'Be brief.',
      previous_interaction_id: 'i1',
    })
    expect(asked).toEqual({
      dialect: 'gemini-interactions',
      model: 'g',
      instructions: ['Be brief.'],
      messages: [result],
      tools: [],
      params: { previous_interaction_id: 'i1' },
    })
    expect(toolResultsIn(asked!)).toEqual([{ id: 'c1', name: 'lookup', result: { found: 1 } }])
  })
})

describe('a conversation Mistral keeps', () => {
  const code = { name: 'code_interpreter', id: 'x1', arguments: '{"code":"6+1"}' }
  const entries: Json[] = [
    { type: 'tool.execution', model: 'm', ...code, info: { code_output: '7' } },
    {
      type: 'message.output',
      model: 'm',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_reference', tool: 'web_search' },
      ],
    },
    { type: 'function.call', id: 'f1', tool_call_id: 'c1', name: 'lookup', arguments: { order: 7 } },
    { type: 'function.call', id: 'f2', tool_call_id: 'c2', name: 'weather', arguments: '{}' },
  ]
  const usage = { prompt_tokens: 6, completion_tokens: 5, connector_tokens: 4, total_tokens: 15 }
  const expected = {
    ...said,
    model: 'm',
    reasoning: 'Hm.',
    toolCalls: [{ id: 'x1', name: 'code_interpreter', args: { code: '6+1' }, builtIn: true }, ...said.toolCalls],
    usage: { inputTokens: 10, outputTokens: 5 },
  }

  test('answers the same whole and streamed', () => {
    const whole = { object: 'conversation.response', conversation_id: 'k1', outputs: entries, usage }
    expect(read('mistral-conversations', whole)).toEqual(expected)
    const delta = (type: string, output_index: number, rest: object): Json => ({ type, output_index, ...rest })
    const say = (content: Json): Json => delta('message.output.delta', 1, { model: 'm', content })
    const ask = (id: string, name: string, args: string): Json =>
      delta('function.call.delta', 2, { id: `f ${id}`, tool_call_id: id, name, arguments: args })
    const stream: Json[] = [
      { type: 'conversation.response.started', conversation_id: 'k1' },
      delta('tool.execution.started', 0, { ...code, arguments: '' }),
      delta('tool.execution.delta', 0, { ...code, arguments: '{"code":' }),
      delta('tool.execution.delta', 0, { ...code, arguments: '"6+1"}' }),
      delta('tool.execution.done', 0, { name: code.name, id: code.id, info: { code_output: '7' } }),
      say({ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }),
      say('Look'),
      say({ type: 'text', text: 'ing.' }),
      ask('c1', 'lookup', '{"order"'),
      ask('c2', 'weather', '{}'),
      ask('c1', 'lookup', ':7}'),
      { type: 'conversation.response.done', usage },
    ]
    expect(read('mistral-conversations', sse(stream, false))).toEqual(expected)
    const failed = [...stream.slice(0, 1), { type: 'conversation.response.error', code: 503, message: 'Busy.' }]
    expect(read('mistral-conversations', sse(failed, false))).toMatchObject({ error: 'http_503', unknownEvents: 0 })
  })

  test('is asked in inputs, and told what tools answered', () => {
    const result = { type: 'function.result', tool_call_id: 'c1', result: '1' }
    const asked = take('https://api.mistral.ai/v1/conversations/k1#stream', { inputs: [result], stream: true })
    expect(asked).toEqual({
      dialect: 'mistral-conversations',
      model: '',
      instructions: [],
      messages: [result],
      tools: [],
      params: { stream: true },
    })
    expect(toolResultsIn(asked!)).toEqual([{ id: 'c1', result: '1' }])
    const begun = { inputs: 'Hi', agent_id: 'a1', instructions: 'Be brief.', tools: [{ type: 'web_search' }] }
    expect(take('https://api.mistral.ai/v1/conversations', begun)).toMatchObject({
      model: 'a1',
      instructions: ['Be brief.'],
      messages: ['Hi'],
      tools: begun.tools,
    })
    expect(take('https://api.openai.com/v1/conversations', { items: [] })).toBeUndefined()
  })
})

describe('an agent of Bedrock', () => {
  const chunk = (text: string): Buffer =>
    frame({ ':event-type': 'chunk', ':message-type': 'event' }, { bytes: Buffer.from(text).toString('base64') })
  const trace = (part: { [key: string]: Json }): { [type: string]: Json } => ({
    trace: { agentId: 'A', trace: { orchestrationTrace: part } },
  })
  // The payload of a trace frame holds its own name, as Bedrock writes it.
  const traces = (...parts: { [key: string]: Json }[]): Buffer =>
    converseStream(parts.map((part) => ({ trace: trace(part)['trace'] as Json })))
  const parameters = [{ name: 'order', type: 'number', value: '7' }]
  const used = (inputTokens: number, outputTokens: number): { [key: string]: Json } => ({
    modelInvocationOutput: { metadata: { usage: { inputTokens, outputTokens } } },
  })

  test('is read with what it ran itself, what it thought, and the tokens of all its models', () => {
    const body = Buffer.concat([
      traces(
        { modelInvocationInput: { foundationModel: 'm-6', text: 'Be brief.' } },
        used(6, 2),
        { rationale: { text: 'Hm.' } },
        {
          invocationInput: {
            actionGroupInvocationInput: { actionGroupName: 'orders', function: 'lookup', parameters },
          },
        },
        { observation: { actionGroupInvocationOutput: { text: 'found' } } },
        { invocationInput: { knowledgeBaseLookupInput: { knowledgeBaseId: 'K', text: 'order' } } },
        used(4, 3),
      ),
      chunk('{"text":'),
      chunk('"Looking."}'),
    ])
    expect(read('bedrock-agent', body)).toEqual({
      model: 'm-6',
      text: '{"text":"Looking."}',
      reasoning: 'Hm.',
      toolCalls: [
        { name: 'lookup', args: { order: '7' }, builtIn: true },
        { name: 'knowledge_base', args: { knowledgeBaseId: 'K', text: 'order' }, builtIn: true },
      ],
      usage: { inputTokens: 10, outputTokens: 5 },
      unknownEvents: 0,
    })
  })

  test('hands tools back, functions and APIs, and is told what they answered', () => {
    const body = Buffer.concat([
      traces({
        invocationInput: {
          actionGroupInvocationInput: { function: 'lookup', executionType: 'RETURN_CONTROL', parameters },
        },
      }),
      converseStream([
        {
          returnControl: {
            invocationId: 'i1',
            invocationInputs: [
              { functionInvocationInput: { actionGroup: 'orders', function: 'lookup', parameters } },
              {
                apiInvocationInput: {
                  actionGroup: 'orders',
                  httpMethod: 'POST',
                  apiPath: '/refunds',
                  requestBody: { content: { 'application/json': { properties: parameters } } },
                },
              },
            ],
          },
        },
      ]),
    ])
    expect(read('bedrock-agent', body).toolCalls).toEqual([
      { name: 'lookup', args: { order: '7' } },
      { name: 'POST /refunds', args: { order: '7' } },
    ])
    const results = [
      { functionResult: { actionGroup: 'orders', function: 'lookup', responseBody: { TEXT: { body: 'found' } } } },
      { apiResult: { actionGroup: 'orders', httpMethod: 'POST', apiPath: '/refunds', httpStatusCode: 200 } },
    ]
    const url = 'https://bedrock-agent-runtime.eu-west-1.amazonaws.com/agents/A1/agentAliases/B2/sessions/s/text'
    const asked = take(url, {
      inputText: 'Go on.',
      sessionState: { invocationId: 'i1', returnControlInvocationResults: results },
    })
    expect(asked).toEqual({
      dialect: 'bedrock-agent',
      model: 'A1/agentAliases/B2',
      instructions: [],
      messages: ['Go on.', ...results],
      tools: [],
      params: { sessionState: { invocationId: 'i1' } },
    })
    expect(toolResultsIn(asked!)).toEqual([
      { name: 'lookup', result: { TEXT: { body: 'found' } } },
      { name: 'POST /refunds', result: null },
    ])
  })

  test('generates over a knowledge base, whole and streamed', () => {
    const whole = { output: { text: 'Looking.' }, citations: [], sessionId: 's' }
    expect(read('bedrock-agent', whole)).toEqual({ text: 'Looking.', toolCalls: [], unknownEvents: 0 })
    const stream = converseStream([{ output: { text: 'Look' } }, { output: { text: 'ing.' } }, { citation: {} }])
    expect(read('bedrock-agent', stream)).toEqual(read('bedrock-agent', whole))
    expect(read('bedrock-agent', { ...whole, guardrailAction: 'INTERVENED' }).refusal).toBe('guardrail')
    const asked = take('https://bedrock-agent-runtime.eu-west-1.amazonaws.com/retrieveAndGenerate', {
      input: { text: 'Where is it?' },
      retrieveAndGenerateConfiguration: { knowledgeBaseConfiguration: { modelArn: 'm-7' } },
    })
    expect(asked).toMatchObject({ dialect: 'bedrock-agent', model: 'm-7', messages: [{ text: 'Where is it?' }] })
  })
})

test("Sourcegraph's completions read the same in pieces and as the text so far", () => {
  const expected = { text: 'Looking.', toolCalls: [], finish: 'stop_sequence', unknownEvents: 0 }
  const pieces = ['Look', 'ing.'].map((deltaText) => ({ type: 'completion', deltaText }))
  const done = { type: 'done' }
  expect(
    read('sourcegraph', sse([...pieces, { type: 'completion', stopReason: 'stop_sequence' }, done], false)),
  ).toEqual(expected)
  const soFar = ['Look', 'Looking.'].map((completion) => ({
    type: 'completion',
    completion,
    stopReason: 'stop_sequence',
  }))
  expect(read('sourcegraph', sse([...soFar, done], false))).toEqual(expected)
  const messages = [
    { speaker: 'system', text: 'Be brief.' },
    { speaker: 'human', text: 'Hi' },
  ]
  expect(take('https://code.example/.api/completions/stream?api-version=8', { model: 'a::b', messages })).toEqual({
    dialect: 'sourcegraph',
    model: 'a::b',
    instructions: [messages[0]],
    messages: [messages[1]],
    tools: [],
    params: {},
  })
})

test('a prediction of Replicate is read where it is text; links to files are not', () => {
  const body = {
    model: 'o/llm',
    status: 'succeeded',
    output: ['Look', 'ing.'],
    metrics: { input_token_count: 3, output_token_count: 2 },
  }
  expect(read('replicate', body)).toEqual({
    model: 'o/llm',
    text: 'Looking.',
    toolCalls: [],
    finish: 'succeeded',
    usage: { inputTokens: 3, outputTokens: 2 },
    unknownEvents: 0,
  })
  expect(read('replicate', { ...body, output: ['https://files.example/1.png'] }).text).toBe('')
  const asked = take('https://api.replicate.com/v1/models/o/llm/predictions', {
    input: { prompt: 'Hi', system_prompt: 'Be brief.', temperature: 0 },
  })
  expect(asked).toEqual({
    dialect: 'replicate',
    model: 'o/llm',
    instructions: ['Be brief.'],
    messages: ['Hi'],
    tools: [],
    params: { input: { temperature: 0 } },
  })
  expect(take('https://api.replicate.com/v1/predictions', { version: 'v', input: { image: 'x' } })).toBeUndefined()
})

describe('text generation', () => {
  test("reads Hugging Face's form whole, and its tokens without saying the text twice", () => {
    expect(read('openai-completions', [{ generated_text: 'Looking.' }]).text).toBe('Looking.')
    const tokens: Json[] = [
      { token: { text: 'Look', special: false }, generated_text: null },
      { token: { text: 'ing.', special: false }, generated_text: null },
      {
        token: { text: '</s>', special: true },
        generated_text: 'Looking.',
        details: { finish_reason: 'eos_token', generated_tokens: 3 },
      },
    ]
    expect(read('openai-completions', sse(tokens, false))).toEqual({
      text: 'Looking.',
      toolCalls: [],
      finish: 'eos_token',
      usage: { outputTokens: 3 },
      unknownEvents: 0,
    })
    const asked = take('https://api-inference.huggingface.co/models/o/m', { inputs: 'Once', parameters: { n: 1 } })
    expect(asked).toMatchObject({ dialect: 'openai-completions', messages: ['Once'], params: { parameters: { n: 1 } } })
  })

  test.for<[string, Json, Json]>([
    [
      'watsonx',
      {
        model_id: 'g',
        results: [{ generated_text: 'Once', generated_token_count: 2, input_token_count: 3, stop_reason: 'eos_token' }],
      },
      { finish: 'eos_token', usage: { inputTokens: 3, outputTokens: 2 } },
    ],
    [
      'Titan',
      { inputTextTokenCount: 3, results: [{ outputText: 'Once', tokenCount: 2, completionReason: 'FINISH' }] },
      { finish: 'FINISH', usage: { inputTokens: 3, outputTokens: 2 } },
    ],
    ['Jurassic', { completions: [{ data: { text: 'Once' }, finishReason: { reason: 'endoftext' } }] }, {}],
    [
      'any model that Bedrock streams',
      lines([
        { outputs: [{ text: 'Once', stop_reason: null }] },
        {
          outputs: [{ text: '', stop_reason: 'stop' }],
          'amazon-bedrock-invocationMetrics': { inputTokenCount: 3, outputTokenCount: 2 },
        },
      ]),
      { finish: 'stop', usage: { inputTokens: 3, outputTokens: 2 } },
    ],
    ['old Claude', lines([{ type: 'ping' }, { type: 'completion', completion: 'Once' }]), {}],
  ])('reads %s', ([, body, more]) => {
    expect(read('openai-completions', body)).toMatchObject({ text: 'Once', unknownEvents: 0, ...(more as object) })
  })
})

test.for<[string, string, Json, Json, number]>([
  ['one', '/v1beta/models/e:embedContent', { content: { parts: [] } }, { embedding: { values: [1] } }, 0],
  ['many', '/v1beta/models/e:batchEmbedContents', { requests: [{ content: {} }] }, { embeddings: [] }, 0],
  [
    'those of Vertex',
    '/v1/publishers/google/models/gemini-embedding-001:predict',
    { instances: [{ content: 'a' }, { content: 'b' }] },
    { predictions: [3, 4].map((token_count) => ({ embeddings: { values: [1], statistics: { token_count } } })) },
    7,
  ],
])("Google's embeddings, %s, are read as embeddings", ([, path, body, answer, tokens]) => {
  const asked = take(`https://g.example${path}`, body)
  expect(asked).toMatchObject({ dialect: 'openai-embeddings', params: {} })
  const { usage, unknownEvents } = read('openai-embeddings', answer)
  expect([usage?.inputTokens ?? 0, unknownEvents]).toEqual([tokens, 0])
})
