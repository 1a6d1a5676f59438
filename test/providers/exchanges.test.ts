import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  decodeBody,
  modelIds,
  promptHash,
  readMcpCall,
  readModelCall,
  readModelRequest,
  toolResultsIn,
  toolsHash,
} from '../../src/providers/index.ts'
import type { ToolResult } from '../../src/providers/index.ts'
import type { ExchangeEvent, Json, TapeEvent } from '../../src/tape/types.ts'
import { exchange } from './bodies.ts'

const chatUrl = 'https://api.openai.com/v1/chat/completions'
const answer = { model: 'm-2026', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] }

describe('an exchange on a tape', () => {
  test('is read as a model call, chunk by chunk and encoded as it came', () => {
    const bytes = gzipSync(JSON.stringify(answer))
    const event = exchange(chatUrl, { model: 'm', messages: [] }, 'replaced')
    const half = bytes.length >> 1
    const chunks = [bytes.subarray(0, half), bytes.subarray(half)].map(
      (part, i) => [2 + i, 2, { base64: part.toString('base64') }] as const,
    )
    const gzipped: ExchangeEvent = {
      ...event,
      response: { moment: [1, 1], status: 200, headers: [['content-encoding', 'gzip']], chunks, end: [4, 4] },
    }
    expect(readModelCall(gzipped)).toMatchObject({
      n: 1,
      request: { model: 'm' },
      response: { model: 'm-2026', text: 'Hi.' },
    })
  })

  test('is read as it stands when only its header says that it is compressed', () => {
    for (const text of ['[1,2]', 'Hello', '{}'])
      for (const encoding of ['br', 'deflate'])
        expect(Buffer.from(decodeBody(Buffer.from(text), encoding)).toString()).toBe(text)
  })

  test('tells the class of an error that stands in a header', () => {
    const url = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse'
    const event = exchange(url, { messages: [] }, { message: 'Slow down.' })
    const headers = [['x-amzn-errortype', 'ThrottlingException:http://internal.amazon.com/']] as const
    const refused: ExchangeEvent = { ...event, response: { ...event.response!, status: 429, headers } }
    expect(readModelCall(refused)?.response?.error).toBe('ThrottlingException')
  })

  test('has the tokens that stand in headers, where the body tells none', () => {
    const url = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/invoke'
    const headers = [
      ['X-Amzn-Bedrock-Input-Token-Count', '12'],
      ['X-Amzn-Bedrock-Output-Token-Count', '3'],
    ] as const
    const usage = (answer: Json): unknown => {
      const event = exchange(url, { prompt: 'Once', max_gen_len: 9 }, answer)
      return readModelCall({ ...event, response: { ...event.response!, headers } })?.response?.usage
    }
    expect(usage({ outputs: [{ text: 'upon' }] })).toEqual({ inputTokens: 12, outputTokens: 3 })
    expect(usage({ generation: 'upon', prompt_token_count: 5, generation_token_count: 1 })).toEqual({
      inputTokens: 5,
      outputTokens: 1,
    })
  })

  test('has no response when none came', () => {
    const call = readModelCall(exchange(chatUrl, { model: 'm', messages: [] }))
    expect(call).toBeDefined()
    expect(call).not.toHaveProperty('response')
  })

  test('is no model call when it is anything else', () => {
    expect(readModelCall(exchange('https://shop.example/orders', { id: 7 }, { ok: true }))).toBeUndefined()
  })
})

describe('an MCP tool call', () => {
  const call = { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'read', arguments: { path: 'a' } } }

  test('is read from streamable HTTP, from stdio, and from a batch', () => {
    const expected = { name: 'read', args: { path: 'a' }, id: 4 }
    expect(readMcpCall(exchange('https://mcp.example/mcp', call))).toEqual(expected)
    expect(readMcpCall({ ...exchange('stdio:server', call), via: 'stdio', method: '' })).toEqual(expected)
    expect(
      readMcpCall(exchange('https://mcp.example/mcp', [{ jsonrpc: '2.0', method: 'notifications/x' }, call])),
    ).toEqual(expected)
  })

  test('without arguments has none', () => {
    expect(readMcpCall(exchange('https://mcp.example/mcp', { ...call, params: { name: 'read' } }))?.args).toEqual({})
  })

  test.for<[string, Json]>([
    ['another method', { ...call, method: 'tools/list' }],
    [
      'a prompt that speaks of tools/call',
      { model: 'm', messages: [{ role: 'user', content: 'what is tools/call?' }] },
    ],
    ['a call without a name', { ...call, params: {} }],
  ])('is not %s', ([, body]) => {
    expect(readMcpCall(exchange('https://mcp.example/mcp', body))).toBeUndefined()
  })
})

describe('tool results', () => {
  const inside = (url: string, body: Json): readonly ToolResult[] => {
    const request = readModelRequest({ method: 'POST', url, body: JSON.stringify(body) })
    return request === undefined ? [] : toolResultsIn(request)
  }

  test('of a chat have the name of the call they answer', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'lookup', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
      { role: 'tool', tool_call_id: 'c9', content: 'lost' },
      { role: 'function', name: 'old', content: 'legacy' },
    ]
    expect(inside(chatUrl, { model: 'm', messages })).toEqual([
      { id: 'c1', name: 'lookup', result: 'found' },
      { id: 'c9', result: 'lost' },
      { name: 'old', result: 'legacy' },
    ])
  })

  test('of a Responses request', () => {
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'lookup', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'found' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'x' }] },
    ]
    expect(inside('https://api.openai.com/v1/responses', { model: 'm', input })).toEqual([
      { id: 'c1', name: 'lookup', result: 'found' },
      // A result of one text is the text.
      { id: 'c2', result: 'x' },
    ])
  })

  test('of an Anthropic conversation', () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'lookup', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'found' },
          { type: 'text', text: 'go on' },
        ],
      },
    ]
    expect(inside('https://api.anthropic.com/v1/messages', { model: 'm', max_tokens: 1, messages })).toEqual([
      { id: 'c1', name: 'lookup', result: 'found' },
    ])
  })

  test('of a Gemini conversation', () => {
    const contents = [
      { role: 'model', parts: [{ functionCall: { name: 'lookup', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'lookup', response: { output: 'found' } } }] },
    ]
    expect(inside('https://g.example/v1beta/models/g:generateContent', { contents })).toEqual([
      { name: 'lookup', result: { output: 'found' } },
    ])
  })

  test('of a Converse conversation', () => {
    const messages = [
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'lookup', input: {} } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'found' }] } }] },
    ]
    expect(inside('https://b.example/model/m/converse', { messages })).toEqual([
      { id: 'c1', name: 'lookup', result: [{ text: 'found' }] },
    ])
  })

  test('of a conversation through a gateway of the AI SDK', () => {
    const prompt = [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'lookup', output: { type: 'text', value: 'found' } },
        ],
      },
    ]
    expect(inside('https://gateway.example/v3/ai/language-model', { prompt })).toEqual([
      { id: 'c1', name: 'lookup', result: { type: 'text', value: 'found' } },
    ])
  })

  test('of a Cohere conversation, in both versions', () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'lookup' } }] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'document' }] },
    ]
    expect(inside('https://c.example/v2/chat', { model: 'm', messages })).toEqual([
      { id: 'c1', name: 'lookup', result: [{ type: 'document' }] },
    ])
    const results = [{ call: { name: 'lookup', parameters: {} }, outputs: [{ found: true }] }]
    expect(inside('https://c.example/v1/chat', { message: 'Hi', tool_results: results })).toEqual([
      { name: 'lookup', result: [{ found: true }] },
    ])
  })
})

describe('pins of a run', () => {
  const run = (...prompts: string[]): TapeEvent[] =>
    prompts.map((content, i) => {
      const tools = [{ function: { name: 'b' } }, { function: { name: 'a' } }]
      return exchange(
        chatUrl,
        { model: `m${i % 2}`, messages: [{ role: 'system', content }], tools },
        answer,
        1 + 10 * i,
      )
    })

  test('are the models asked and answering, each once, sorted', () => {
    expect(modelIds(run('x', 'y', 'z'))).toEqual(['m-2026', 'm0', 'm1'])
  })

  test('hash each distinct prompt once, in whatever order the calls came', () => {
    expect(promptHash(run('x', 'y'))).toBe(promptHash(run('y', 'x', 'y')))
    expect(promptHash(run('x', 'y'))).not.toBe(promptHash(run('x', 'z')))
    const canonical = '[{"content":"x","role":"system"},{"content":"y","role":"system"}]'
    expect(promptHash(run('x', 'y'))).toBe(`sha256-${createHash('sha256').update(canonical).digest('base64url')}`)
    expect(toolsHash(run('x'))).toBe(toolsHash(run('y', 'z')))
  })

  test('are absent when no call had a prompt or tools', () => {
    const bare = [exchange(chatUrl, { model: 'm', messages: [] })]
    expect(promptHash(bare)).toBeUndefined()
    expect(toolsHash(bare)).toBeUndefined()
    expect(modelIds([])).toEqual([])
  })
})
