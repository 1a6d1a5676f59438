import { describe, expect, test } from 'vitest'
import { type ModelRequest, readModelRequest } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'

function take(url: string, body: unknown, method = 'POST'): ModelRequest | undefined {
  return readModelRequest({ method, url, body: JSON.stringify(body) })
}

const user = { role: 'user', content: 'Where is order 7?' }
const tool = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }

describe('a chat completion', () => {
  const body = {
    model: 'model-a',
    messages: [{ role: 'system', content: 'Be brief.' }, user, { role: 'developer', content: 'No jokes.' }],
    tools: [tool],
    temperature: 0,
    new_field: { of: 'tomorrow' },
  }

  test('is taken apart with nothing dropped', () => {
    expect(take('https://api.openai.com/v1/chat/completions', body)).toEqual({
      dialect: 'openai-chat',
      model: 'model-a',
      // OpenAI reads `developer` and `system` alike.
      instructions: [body.messages[0], { role: 'system', content: 'No jokes.' }],
      messages: [user],
      tools: [tool],
      params: { temperature: 0, new_field: { of: 'tomorrow' } },
    })
  })

  test.for([
    'https://openrouter.ai/api/v1/chat/completions',
    'https://api.groq.com/openai/v1/chat/completions?x=1',
    'http://127.0.0.1:8000/v1/chat/completions/',
    'http://127.0.0.1:11434/api/chat',
    'http://127.0.0.1:4000/any/other/gateway',
  ])('is known at %s', (url) => {
    expect(take(url, body)).toMatchObject({ dialect: 'openai-chat', model: 'model-a' })
  })

  test('gets its model from an Azure deployment when the body names none', () => {
    const azure = { ...body, model: undefined }
    const url = 'https://x.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21'
    expect(take(url, azure)?.model).toBe('my gpt')
  })

  test('keeps a body model that is not the one in the path', () => {
    const url = 'https://x.openai.azure.com/openai/deployments/mine/chat/completions'
    expect(take(url, body)).toMatchObject({ model: 'mine', params: { model: 'model-a' } })
  })

  test('keeps an empty list of tools apart from no tools', () => {
    expect(take('/chat/completions', { ...body, tools: [] })).toMatchObject({ tools: [], params: { tools: [] } })
  })

  test('puts legacy functions among the tools', () => {
    const functions = [{ name: 'lookup' }]
    expect(take('/v1/chat/completions', { model: 'm', messages: [user], functions })?.tools).toEqual(functions)
  })
})

test('a Responses request has its instructions and its system input together', () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'lookup', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'found' }
  const body = {
    model: 'model-a',
    instructions: 'Be brief.',
    input: [{ role: 'developer', content: 'No jokes.' }, user, call, output],
    tools: [{ type: 'function', name: 'lookup' }, { type: 'web_search' }],
    store: false,
  }
  expect(take('https://api.openai.com/v1/responses', body)).toEqual({
    dialect: 'openai-responses',
    model: 'model-a',
    instructions: ['Be brief.', { role: 'developer', content: 'No jokes.' }],
    messages: [user, call, output],
    tools: body.tools,
    params: { store: false },
  })
})

test('a Responses request with a text as input has one message', () => {
  const request = take('https://api.openai.com/v1/responses', { model: 'm', input: 'Hi', previous_response_id: 'r1' })
  expect(request).toMatchObject({ messages: [{ role: 'user', content: 'Hi' }], params: { previous_response_id: 'r1' } })
})

test('an Anthropic request has its system prompt as instructions', () => {
  const body = {
    model: 'model-b',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [user],
    tools: [{ name: 'lookup', input_schema: {} }],
  }
  // One block of text is the text.
  const parts = { instructions: ['Be brief.'], messages: [user], tools: body.tools }
  expect(take('https://api.anthropic.com/v1/messages', body)).toEqual({
    dialect: 'anthropic',
    model: 'model-b',
    ...parts,
    params: { max_tokens: 100 },
  })
  const nameless = { ...body, model: undefined, anthropic_version: 'v' }
  const params = { max_tokens: 100, anthropic_version: 'v' }
  const vertex =
    'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/model-b@1:streamRawPredict'
  expect(take(vertex, nameless)).toEqual({ dialect: 'anthropic', model: 'model-b@1', ...parts, params })
  const bedrock = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.model-b%3A0/invoke-with-response-stream'
  expect(take(bedrock, nameless)).toEqual({ dialect: 'anthropic', model: 'eu.model-b:0', ...parts, params })
})

test('counting tokens is read as the call it counts for', () => {
  expect(take('https://api.anthropic.com/v1/messages/count_tokens', { model: 'm', messages: [user] })?.dialect).toBe(
    'anthropic',
  )
})

test.each(['client/v4/accounts/a1/ai/run', 'v1/a1/gateway/workers-ai'])(
  'Workers AI has its model in the path: %s',
  (path) => {
    const url = `https://api.cloudflare.com/${path}/@cf/meta/llama-3-8b`
    expect(take(url, { messages: [user] })).toMatchObject({ dialect: 'openai-chat', model: '@cf/meta/llama-3-8b' })
  },
)

test('a Gemini request has its model in the path', () => {
  const body = {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'lookup' }] }],
    generationConfig: { temperature: 0 },
  }
  const parts = {
    dialect: 'gemini',
    instructions: [body.systemInstruction],
    messages: body.contents,
    tools: body.tools,
    params: { generationConfig: { temperature: 0 } },
  }
  const google = 'https://generativelanguage.googleapis.com/v1beta/models/gem-1:streamGenerateContent?alt=sse'
  expect(take(google, body)).toEqual({ ...parts, model: 'gem-1' })
  const vertex =
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/gem-2:generateContent'
  expect(take(vertex, body)).toEqual({ ...parts, model: 'gem-2' })
  const wrapped = take('https://cloudcode-pa.googleapis.com/v1internal:generateContent', {
    model: 'gem-3',
    project: 'p',
    request: body,
  })
  expect(wrapped).toEqual({ ...parts, model: 'gem-3', params: { project: 'p', request: parts.params } })
})

test('a Converse request has its model in the path and its tools in the tool configuration', () => {
  const body = {
    system: [{ text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    toolConfig: { tools: [{ toolSpec: { name: 'lookup' } }], toolChoice: { any: {} } },
    inferenceConfig: { maxTokens: 10 },
  }
  const expected = {
    dialect: 'bedrock-converse',
    model: 'amazon.nova-1:0',
    instructions: body.system,
    messages: body.messages,
    tools: body.toolConfig.tools,
    params: { inferenceConfig: { maxTokens: 10 }, toolConfig: { toolChoice: { any: {} } } },
  }
  expect(take('https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-1%3A0/converse-stream', body)).toEqual(
    expected,
  )
  expect(take('https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-1%3A0/invoke', body)).toEqual(expected)
})

describe('fields of Gemini are read alike in both spellings', () => {
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-1:generateContent'
  const data = { user_id: 1, mime_type: 'x', nested: { top_p: 1 } }
  const schema = (anyOf: string, max: string): Json => ({
    type: 'object',
    properties: { max_items: { [anyOf]: [{ type: 'array', [max]: '2', example: data }] } },
    required: ['max_items'],
  })

  test('and what is data keeps its names', () => {
    const camel = take(url, {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'f', args: data }, thoughtSignature: 't' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: data } }] },
        { role: 'user', parts: [{ inlineData: { mimeType: 'text/plain', data: 'aGk=' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', parameters: schema('anyOf', 'maxItems') }] }],
      generationConfig: { topP: 1, responseJsonSchema: schema('any_of', 'max_items') },
      labels: data,
    })
    const snake = take(url, {
      system_instruction: { parts: [{ text: 's' }] },
      contents: [
        { role: 'model', parts: [{ function_call: { name: 'f', args: data }, thought_signature: 't' }] },
        { role: 'user', parts: [{ function_response: { name: 'f', response: data } }] },
        { role: 'user', parts: [{ inline_data: { mime_type: 'text/plain', data: 'aGk' } }] },
      ],
      tools: [{ function_declarations: [{ name: 'f', parameters: schema('any_of', 'max_items') }] }],
      generation_config: { top_p: 1, response_json_schema: schema('any_of', 'max_items') },
      labels: data,
    })
    expect(snake).toEqual(camel)
    const parts = { args: data, response: data }
    expect(camel?.messages).toMatchObject([
      { parts: [{ functionCall: { args: parts.args } }] },
      { parts: [{ functionResponse: { response: parts.response } }] },
      { parts: [{ inlineData: { data: 'aGk=' } }] },
    ])
    expect(camel?.params).toMatchObject({
      labels: data,
      generationConfig: { responseJsonSchema: schema('any_of', 'max_items') },
    })
  })

  test('and a map that has a field in both keeps both', () => {
    const body = { contents: [], generation_config: { a: 1 }, generationConfig: { b: 2 } }
    expect(take(url, body)?.params).toEqual(body)
  })

  test('and at no other address', () => {
    const body = { contents: [{ parts: [{ inline_data: {} }] }] }
    expect(take('https://a.example/generate?x=:generateContent', body)?.messages).toEqual(body.contents)
  })

  test('and only as deep as a stack is', () => {
    const deep = '{"properties":'.repeat(20_000) + '{}' + '}'.repeat(20_000)
    const body = `{"contents":[{"any_of":${deep}}]}`
    expect(readModelRequest({ method: 'POST', url, body })?.dialect).toBe('gemini')
  })
})

test('Nova is told by its parts, where nothing else tells it', () => {
  const url = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-1%3A0/invoke'
  const messages = (part: Json): Json => [{ role: 'user', content: [part] }]
  const system = [{ text: 's' }]
  expect(take(url, { messages: messages({ text: 'Hi' }) })).toMatchObject({ dialect: 'bedrock-converse' })
  expect(take(url, { messages: messages({ text: 'Hi' }), system })).toMatchObject({ instructions: system })
  expect(take(url, { messages: messages({ type: 'text', text: 'Hi' }) })?.dialect).toBe('openai-chat')
  expect(take(url, { messages: [user] })?.dialect).toBe('openai-chat')
})

test('Cohere speaks its own dialect, in both versions', () => {
  expect(
    take('https://api.cohere.com/v2/chat', { model: 'c', messages: [{ role: 'system', content: 's' }, user], k: 1 }),
  ).toEqual({
    dialect: 'cohere',
    model: 'c',
    instructions: [{ role: 'system', content: 's' }],
    messages: [user],
    tools: [],
    params: { k: 1 },
  })
  const history = [{ role: 'USER', message: 'Hello' }]
  expect(
    take('https://api.cohere.com/v1/chat', { model: 'c', preamble: 'p', chat_history: history, message: 'Hi' }),
  ).toEqual({
    dialect: 'cohere',
    model: 'c',
    instructions: ['p'],
    messages: [...history, 'Hi'],
    tools: [],
    params: {},
  })
})

test('completions and embeddings are told from the path', () => {
  expect(take('https://api.openai.com/v1/completions', { model: 'm', prompt: 'Once', max_tokens: 3 })).toEqual({
    dialect: 'openai-completions',
    model: 'm',
    instructions: [],
    messages: ['Once'],
    tools: [],
    params: { max_tokens: 3 },
  })
  expect(take('http://127.0.0.1:11434/api/generate', { model: 'm', system: 's', prompt: 'Once' })).toMatchObject({
    dialect: 'openai-completions',
    instructions: ['s'],
    messages: ['Once'],
  })
  expect(take('https://api.openai.com/v1/embeddings', { model: 'm', input: ['a', 'b'] })).toEqual({
    dialect: 'openai-embeddings',
    model: 'm',
    instructions: [],
    messages: ['a', 'b'],
    tools: [],
    params: {},
  })
})

test.for<[string, string, Json, string?]>([
  ['an MCP message', 'https://mcp.example/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }],
  [
    'a JSON-RPC message that looks like a chat',
    'https://a.example/chat/completions',
    { jsonrpc: '2.0', model: 'm', messages: [user] },
  ],
  ['an image', 'https://api.openai.com/v1/images/generations', { model: 'm', prompt: 'a cat', n: 1 }],
  ['a moderation', 'https://api.openai.com/v1/moderations', { model: 'm', input: 'text' }],
  ['a thread', 'https://api.openai.com/v1/threads', { messages: [user] }],
  ['a mail', 'https://mail.example/send', { messages: [{ to: 'ann@example.com', text: 'hi' }] }],
  ['a search', 'https://search.example/q', { query: 'x' }],
  ['a list', 'https://api.openai.com/v1/chat/completions', [1, 2]],
  ['a read', 'https://api.openai.com/v1/chat/completions', { model: 'm', messages: [user] }, 'GET'],
])('%s is no model call', ([, url, body, method]) => {
  expect(take(url, body, method)).toBeUndefined()
})

test('a body that is no JSON is no model call', () => {
  expect(
    readModelRequest({ method: 'POST', url: 'https://api.openai.com/v1/chat/completions', body: '{"model":' }),
  ).toBeUndefined()
})
