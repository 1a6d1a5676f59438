import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inOtherForm, readForm, readModelResponse, transcode, type FormedRequest } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { answer } from './answers.ts'
import { converseStream, lines, sse } from './bodies.ts'

type JsonMap = { readonly [key: string]: Json }
type Calls = readonly { readonly name: string; readonly args: Json }[]

/** A dialect: how its requests ask for each form, and a whole answer that says something. */
interface Wire {
  readonly whole: readonly [url: string, body: JsonMap]
  readonly stream: readonly [url: string, body: JsonMap]
  readonly answer: (text: string, calls: Calls) => JsonMap
}

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const bedrock = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/m'
const google = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-1'
const inBody = (url: string, body: JsonMap): Pick<Wire, 'whole' | 'stream'> => ({
  whole: [url, body],
  stream: [url, { ...body, stream: true }],
})

const claude = (text: string, calls: Calls): JsonMap => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-1',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'eA==' },
    { type: 'text', text, citations: [{ type: 'char_location', cited_text: 'x' }] },
    ...calls.map(({ name, args }, i) => ({ type: 'tool_use', id: `c${i}`, name, input: args })),
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 3 },
})
const gemini = (text: string, calls: Calls): JsonMap => ({
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text, thoughtSignature: 'c2ln' },
          ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
  modelVersion: 'gemini-1',
  responseId: 'r1',
})

const wires: Readonly<Record<string, Wire>> = {
  'OpenAI chat': {
    ...inBody('https://api.openai.com/v1/chat/completions', { model: 'm', messages }),
    answer: (text, calls) => ({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm-1',
      system_fingerprint: 'fp',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text === '' ? null : text,
            refusal: null,
            reasoning_content: 'Hm.',
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map(({ name, args }, i) => ({
                    id: `c${i}`,
                    type: 'function',
                    function: { name, arguments: JSON.stringify(args) },
                  })),
                }),
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    }),
  },
  'OpenAI Responses': {
    ...inBody('https://api.openai.com/v1/responses', { model: 'm', input: 'Hi' }),
    answer: (text, calls) => ({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'm-1',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [{ type: 'url_citation', url: 'u' }] }],
        },
        ...calls.map(({ name, args }, i) => ({
          type: 'function_call',
          id: `fc_${i}`,
          call_id: `c${i}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        })),
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      ],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
    }),
  },
  Anthropic: {
    ...inBody('https://api.anthropic.com/v1/messages', { model: 'claude-1', max_tokens: 9, messages }),
    answer: claude,
  },
  'Anthropic on Bedrock': {
    whole: [`${bedrock}/invoke`, { anthropic_version: 'v', messages }],
    stream: [`${bedrock}/invoke-with-response-stream`, { anthropic_version: 'v', messages }],
    answer: claude,
  },
  'Gemini, as events': {
    whole: [`${google}:generateContent`, { contents }],
    stream: [`${google}:streamGenerateContent?alt=sse`, { contents }],
    answer: gemini,
  },
  'Gemini, as a list': {
    whole: [`${google}:generateContent`, { contents }],
    stream: [`${google}:streamGenerateContent`, { contents }],
    answer: gemini,
  },
  'Bedrock Converse': {
    whole: [`${bedrock}/converse`, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    stream: [`${bedrock}/converse-stream`, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    answer: (text, calls) => ({
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: 'eA==' } },
            { text },
            ...calls.map(({ name, args }, i) => ({ toolUse: { toolUseId: `c${i}`, name, input: args } })),
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 },
      metrics: { latencyMs: 7 },
    }),
  },
  Cohere: {
    ...inBody('https://api.cohere.com/v2/chat', { model: 'c', messages }),
    answer: (text, calls) => ({
      id: 'x',
      message: {
        role: 'assistant',
        tool_plan: 'Look.',
        content: [{ type: 'text', text }],
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ name, args }, i) => ({
                id: `c${i}`,
                type: 'function',
                function: { name, arguments: JSON.stringify(args) },
              })),
            }),
        citations: [{ start: 0, end: 1, text: 'x' }],
      },
      finish_reason: 'TOOL_CALL',
      usage: { tokens: { input_tokens: 9, output_tokens: 3 } },
    }),
  },
  Ollama: {
    whole: ['http://127.0.0.1:11434/api/chat', { model: 'q', messages, stream: false }],
    stream: ['http://127.0.0.1:11434/api/chat', { model: 'q', messages }],
    answer: (text, calls) => ({
      model: 'q',
      created_at: 't',
      message: {
        role: 'assistant',
        content: text,
        thinking: 'Hm.',
        ...(calls.length === 0
          ? {}
          : { tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })) }),
      },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 9,
      eval_count: 3,
    }),
  },
}

function formed([url, body]: readonly [string, JsonMap]): FormedRequest {
  const read = readForm(url, JSON.stringify(body))
  if (read === undefined) throw new Error(`${url} has no form`)
  return read
}

const bytesOf = (value: Json): Buffer => Buffer.from(JSON.stringify(value))

describe.each(Object.entries(wires))('%s', (_, wire) => {
  test('says its form, and how the other one is asked for', () => {
    expect([formed(wire.whole).form, formed(wire.stream).form]).toEqual(['whole', 'stream'])
    const other = (from: readonly [string, JsonMap]) =>
      inOtherForm(formed(from)).map(({ url, text }) => `${url} ${JSON.stringify(JSON.parse(text))}`)
    const spelled = ([url, body]: readonly [string, JsonMap], stream: boolean): string => {
      const isInBody = 'stream' in wire.stream[1] || 'stream' in wire.whole[1]
      return `${url} ${JSON.stringify(isInBody ? { ...body, stream } : body)}`
    }
    expect(other(wire.whole)).toContain(spelled(wire.stream, true))
    expect(other(wire.stream)).toContain(spelled(wire.whole, false))
  })

  test('for every answer: a stream of it says the same, and is the same when it is put together', () => {
    fc.assert(
      fc.property(answer, ({ text, calls }) => {
        const whole = wire.answer(
          text,
          calls.map(({ name, args }) => ({ name, args: args as Json })),
        )
        const asked = { ...wire.stream[1], stream_options: { include_usage: true } }
        const streamed = transcode(formed([wire.stream[0], asked]), bytesOf(whole))
        if (streamed === undefined) throw new Error('no stream')
        const { dialect } = formed(wire.whole)
        const [one, other] = [bytesOf(whole), streamed.bytes].map((bytes) =>
          readModelResponse(dialect, { status: 200, bytes }),
        )
        expect(other).toEqual(one)
        expect(one).toMatchObject({ text, reasoning: expect.stringContaining('.') as string, unknownEvents: 0 })
        const again = transcode(formed(wire.whole), streamed.bytes)
        expect(again?.contentType).toMatch(/^application\/json/)
        expect(JSON.parse(Buffer.from(again?.bytes ?? []).toString())).toEqual(whole)
      }),
      { numRuns: 60 },
    )
  })

  test('a stream that broke off cannot be told whole', () => {
    const streamed = transcode(formed(wire.stream), bytesOf(wire.answer('Looking.', [])))?.bytes ?? Buffer.alloc(0)
    for (const share of [0.3, 0.6, 0.9]) {
      const torn = streamed.subarray(0, Math.floor(streamed.length * share))
      expect(transcode(formed(wire.whole), torn), String(share)).toBeUndefined()
    }
  })

  test('an error is no answer', () => {
    const error = bytesOf({ error: { type: 'overloaded_error', message: 'later' } })
    expect(transcode(formed(wire.stream), error)).toBeUndefined()
    expect(transcode(formed(wire.whole), error)).toBeUndefined()
  })
})

test('calls that a whole answer of Gemini wants together come in one piece of its stream', () => {
  const { stream, answer: made } = wires['Gemini, as events']!
  const whole = made('Both.', [
    { name: 'lookup', args: { id: 1 } },
    { name: 'policy', args: { country: 'FR' } },
  ])
  const text = Buffer.from(transcode(formed(stream), bytesOf(whole))?.bytes ?? []).toString()
  const pieces = text.split('\n\n').filter((piece) => piece.includes('functionCall'))
  expect(pieces).toHaveLength(1)
  expect(pieces[0]).toMatch(/lookup.*policy.*STOP/)
})

const chatChunk = (delta: Json, finish_reason: Json = null): Json => ({ choices: [{ index: 0, delta, finish_reason }] })

test.for<readonly [string, keyof typeof wires, Buffer]>([
  [
    'an event of an unknown type',
    'Anthropic',
    Buffer.from(
      sse(
        [
          { type: 'message_start', message: { type: 'message', content: [] } },
          { type: 'message_tomorrow' },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ],
        false,
      ),
    ),
  ],
  [
    'a piece of an unknown type',
    'Anthropic',
    Buffer.from(
      sse(
        [
          { type: 'message_start', message: { type: 'message', content: [] } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: 'x' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ],
        false,
      ),
    ),
  ],
  [
    'an error in its middle',
    'Anthropic',
    Buffer.from(sse([{ type: 'error', error: { type: 'overloaded_error' } }], false)),
  ],
  ['a choice without an end', 'OpenAI chat', Buffer.from(sse([chatChunk({ role: 'assistant', content: 'x' })]))],
  [
    'a response that is still under way',
    'OpenAI Responses',
    Buffer.from(sse([{ type: 'response.created', response: { status: 'in_progress' } }])),
  ],
  [
    'arguments in pieces',
    'Gemini, as events',
    Buffer.from(
      sse([
        {
          candidates: [
            { content: { parts: [{ functionCall: { name: 'f', willContinue: true } }] }, finishReason: 'STOP' },
          ],
        },
      ]),
    ),
  ],
  [
    'input that is no JSON',
    'Bedrock Converse',
    converseStream([
      { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'c', name: 'f' } } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"a":' } } } },
      { messageStop: { stopReason: 'max_tokens' } },
    ]),
  ],
  [
    'a block of an unknown kind',
    'Bedrock Converse',
    converseStream([
      { contentBlockDelta: { contentBlockIndex: 0, delta: { hologram: {} } } },
      { messageStop: { stopReason: 'end_turn' } },
    ]),
  ],
  [
    'lines without the last one',
    'Ollama',
    Buffer.from(lines([{ message: { role: 'assistant', content: 'x' }, done: false }])),
  ],
])('a stream with %s cannot be told whole: %s', ([, name, bytes]) => {
  expect(transcode(formed(wires[name]!.whole), bytes)).toBeUndefined()
})

test('several choices come each with its own end, and usage only where it was asked for', () => {
  const choice = (index: number): Json => ({
    index,
    message: { role: 'assistant', content: `${index}`, refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  })
  const whole = { id: 'x', object: 'chat.completion', choices: [choice(0), choice(1)], usage: { total_tokens: 3 } }
  const { stream, whole: asWhole } = wires['OpenAI chat']!
  const bytes = transcode(formed(stream), bytesOf(whole))?.bytes ?? Buffer.alloc(0)
  const { usage: _usage, ...rest } = whole
  expect(JSON.parse(Buffer.from(transcode(formed(asWhole), bytes)?.bytes ?? []).toString())).toEqual(rest)
})

test.for([
  ['a count of tokens', 'https://api.anthropic.com/v1/messages/count_tokens', { messages }],
  ['a count of tokens of Gemini', `${google}:countTokens`, { contents }],
  ['an embedding', 'https://api.openai.com/v1/embeddings', { input: 'x' }],
  ['a service', 'https://shop.test/orders', { order: 7 }],
] as const)('%s has one form', ([, url, body]) => {
  expect(readForm(url, JSON.stringify(body))).toBeUndefined()
})
