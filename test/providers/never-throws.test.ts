import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  inOneSpelling,
  isModelCall,
  readMcpCall,
  readModelCall,
  readModelRequest,
  readModelResponse,
  toolResultsIn,
} from '../../src/providers/index.ts'
import type { Dialect } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { converseStream, exchange, invokeStream, sse } from './bodies.ts'

/** The compiler asks for one that is missing. */
const known: Readonly<Record<Dialect, true>> = {
  'openai-chat': true,
  'openai-responses': true,
  'openai-completions': true,
  'openai-embeddings': true,
  'openai-assistants': true,
  anthropic: true,
  gemini: true,
  'gemini-interactions': true,
  'mistral-conversations': true,
  'bedrock-converse': true,
  'bedrock-agent': true,
  cohere: true,
  oci: true,
  replicate: true,
  sourcegraph: true,
  yandex: true,
  'ai-gateway': true,
  mcp: true,
  'openai-realtime': true,
  'gemini-live': true,
}
const dialects = Object.keys(known) as readonly Dialect[]
const paths = [
  '/v1/chat/completions',
  '/v3/ai/language-model',
  '/v1/responses',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/messages',
  '/v2/chat',
  '/v1/chat',
  '/20231130/actions/chat',
  '/api/generate',
  '/v1beta/models/g:generateContent',
  '/model/m/converse',
  '/model/m/invoke',
  '/v1/threads/runs',
  '/v1/threads/t/runs/r/submit_tool_outputs',
  '/v1beta/interactions',
  '/v1/conversations/c/restart',
  '/v1beta/models/g:embedContent',
  '/agents/a/agentAliases/b/sessions/s/text',
  '/retrieveAndGenerate',
  '/v1/models/o/m/predictions',
  '/.api/completions/stream',
  '/foundationModels/v1/completion',
  '/models/a%ZZ:rawPredict',
  '/openai/deployments//x',
  '',
  '?',
  '://',
]

/** Words the readers look for, so that generated bodies reach every branch. */
const word = fc.constantFrom(
  'model',
  'messages',
  'role',
  'system',
  'tool',
  'assistant',
  'content',
  'tools',
  'tool_calls',
  'function',
  'name',
  'arguments',
  'id',
  'index',
  'input',
  'instructions',
  'type',
  'message',
  'text',
  'tool_use',
  'modelUri',
  'completionOptions',
  'result',
  'alternatives',
  'status',
  'toolCallList',
  'toolResultList',
  'functionCall',
  'functionResult',
  'inputTextTokens',
  'tool_result',
  'contents',
  'parts',
  'functionCall',
  'functionResponse',
  'args',
  'partialArgs',
  'jsonPath',
  'willContinue',
  'candidates',
  'choices',
  'delta',
  'usage',
  'output',
  'call_id',
  'function_call',
  'response',
  'content_block_start',
  'content_block_delta',
  'content_block',
  'contentBlockDelta',
  'contentBlockIndex',
  'toolUse',
  'toolResult',
  'toolConfig',
  'error',
  'response.completed',
  'response.output_item.done',
  'item',
  'output_index',
  'message_start',
  'system_instruction',
  'request',
  'prompt',
  'tool_results',
  'call',
  'outputs',
  'finish_reason',
  'custom',
  'executed_tools',
  '__proto__',
  'constructor',
  'length',
  'bytes',
  'speaker',
  'inputs',
  'instances',
  'thread',
  'tool_outputs',
  'thread.run',
  'object',
  'required_action',
  'submit_tool_outputs',
  'step_details',
  'event_type',
  'step.delta',
  'step.start',
  'steps',
  'summary',
  'thinking',
  'reasoning',
  'trace',
  'orchestrationTrace',
  'invocationInput',
  'actionGroupInvocationInput',
  'parameters',
  'returnControl',
  'invocationInputs',
  'functionInvocationInput',
  'sessionState',
  'returnControlInvocationResults',
  'functionResult',
  'token',
  'servingMode',
  'modelId',
  'endpointId',
  'chatRequest',
  'apiFormat',
  'chatHistory',
  'toolCalls',
  'toolResults',
  'chatResponse',
  'finishReason',
)
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    word,
    fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e9, '', '{"a":1}', '{', '$.a[0].b', '$[4294967296]'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(word, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

test('for every request body: reading it does not throw, and every field of it is in exactly one part', () => {
  fc.assert(
    fc.property(fc.constantFrom(...paths), value, (path, body) => {
      const [text, url] = [JSON.stringify(body), `https://any.example${path}`]
      const request = readModelRequest({ method: 'POST', url, body: text })
      // Told the same by whoever does not take it apart.
      expect(isModelCall(exchange(url, body))).toBe(request !== undefined)
      if (request === undefined) return
      toolResultsIn(request)
      // In one spelling, and as it was written.
      const written = readModelCall(exchange(url, body))?.request
      const isWhole = [
        { parts: request, whole: inOneSpelling(url, body as JsonMap) },
        { parts: written, whole: body },
      ].map(({ parts, whole }) => {
        const { model = '', instructions = [], messages = [], tools = [], params = {} } = parts ?? {}
        const kept = leaves([...instructions, ...messages, ...tools, params]).sort()
        // The model is a part of its own, unless the path named it.
        const withModel = [...kept, JSON.stringify(model)].sort()
        return [kept, withModel].some((found) => found.join('\n') === [...leaves(whole)].sort().join('\n'))
      })
      expect(isWhole).toEqual([true, true])
    }),
    { numRuns: 3000 },
  )
})

type JsonMap = { readonly [key: string]: Json }

function leaves(body: Json): string[] {
  if (Array.isArray(body)) return body.flatMap((item: Json) => leaves(item))
  if (typeof body === 'object' && body !== null) return Object.values(body).flatMap((item: Json) => leaves(item))
  return [JSON.stringify(body)]
}

test('for every response body, in whatever form: reading it does not throw', () => {
  const form = fc.constantFrom<(values: readonly Json[]) => Buffer>(
    (values) => Buffer.from(JSON.stringify(values[0] ?? null)),
    (values) => Buffer.from(JSON.stringify(values)),
    (values) => Buffer.from(sse(values.map((one) => one ?? {}))),
    (values) => Buffer.from(values.map((one) => JSON.stringify(one)).join('\n')),
    (values) => invokeStream(values),
    (values) => converseStream(values.map((one) => ({ contentBlockDelta: one }))),
  )
  const status = fc.constantFrom(200, 400, 500)
  fc.assert(
    fc.property(
      fc.constantFrom(...dialects),
      form,
      fc.array(value, { maxLength: 5 }),
      status,
      (dialect, write, values, code) => {
        const response = readModelResponse(dialect, { status: code, bytes: write(values) })
        expect(response.unknownEvents).toBeGreaterThanOrEqual(0)
      },
    ),
    { numRuns: 3000 },
  )
})

test('for every way a stream is damaged: reading it does not throw', () => {
  const events: Json[] = [
    { type: 'message_start', message: { model: 'm', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
  ]
  const bodies = [
    Buffer.from(sse(events)),
    invokeStream(events),
    converseStream([{ messageStart: {} }]),
    Buffer.from(JSON.stringify(events)),
  ]
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 })
  const encoding = fc.constantFrom(undefined, 'gzip', 'deflate', 'br', 'zstd', 'gzip, br', 'unheard-of')
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      damage,
      fc.nat(),
      fc.constantFrom(...dialects),
      encoding,
      (body, hits, cut, dialect, coding) => {
        const bytes = Buffer.from(body)
        for (const [place, byte] of hits) bytes[place % bytes.length] = byte
        readModelResponse(dialect, {
          status: 200,
          contentEncoding: coding,
          bytes: bytes.subarray(cut % 3 === 0 ? 0 : cut % bytes.length),
        })
        readModelResponse(dialect, {
          status: 200,
          contentEncoding: coding,
          bytes: bytes.subarray(0, cut % bytes.length),
        })
      },
    ),
    { numRuns: 1000 },
  )
})

test('for every exchange: reading it does not throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...paths), value, value, (path, request, response) => {
      const event = exchange(`https://any.example${path}`, request, response ?? 'null')
      readModelCall(event)
      readMcpCall(event)
    }),
    { numRuns: 500 },
  )
})

test('for every stream and every way it was cut into chunks: it reads the same', () => {
  const events: Json[] = [
    { type: 'message_start', message: { model: 'm', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Où est-il ? 🔎' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"à":1}' } },
  ]
  const event = exchange('https://any.example/v1/messages', { model: 'm', messages: [] }, 'replaced')
  const cutAt = (body: Buffer, places: readonly number[]): Json => {
    const ends = [...new Set([...places.map((place) => place % body.length), body.length])].sort((a, b) => a - b)
    const chunks = ends.map(
      (end, i) => [2 + i, 2, { base64: body.subarray(ends[i - 1] ?? 0, end).toString('base64') }] as const,
    )
    const call = readModelCall({ ...event, response: { ...event.response!, chunks } })
    return call?.response as unknown as Json
  }
  const bodies = [Buffer.from(sse(events)), invokeStream(events)]
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.array(fc.nat(), { maxLength: 6 }), (body, places) => {
      const read = cutAt(body, places)
      expect(read).toEqual(cutAt(body, []))
      expect(read).toMatchObject({ text: 'Où est-il ? 🔎', toolCalls: [{ name: 'f', args: { à: 1 } }] })
    }),
    { numRuns: 200 },
  )
})

test.each<[Dialect, string, string]>([
  ['openai-chat', '{"success":true,"result":', '}'],
  ['openai-chat', '{"response":', '}'],
  ['gemini', '{"response":', '}'],
])('an answer of %s that is wrapped a hundred thousand times in %s is read', (dialect, open, close) => {
  const bytes = Buffer.from(`${open.repeat(100_000)}{}${close.repeat(100_000)}`)
  expect(readModelResponse(dialect, { status: 200, bytes }).text).toBe('')
})

test('a body nested a hundred thousand deep is read', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const body = `{"model":"m","messages":[{"role":"user","content":${deep}}]}`
  expect(readModelRequest({ method: 'POST', url: '/v1/chat/completions', body })?.model).toBe('m')
})
