import { expect, test } from 'vitest'
import type { Dialect } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { read, sse } from './bodies.ts'

test.for<[string, Json, number, string]>([
  ['its type', { error: { type: 'rate_limit_error', message: 'Slow.' } }, 429, 'rate_limit_error'],
  ['its status', { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 429, 'RESOURCE_EXHAUSTED'],
  ['its code', { error: { code: 'content_filter', message: 'No.' } }, 400, 'content_filter'],
  ['the status line', '<html>Bad gateway</html>', 502, 'http_502'],
  ['the status line of an empty body', '', 503, 'http_503'],
])('the class of an error is %s', ([, body, status, error]) => {
  expect(read('openai-chat', body, { status })).toEqual({ text: '', toolCalls: [], error, unknownEvents: 0 })
})

test.for<[Dialect, Json, string]>([
  ['openai-chat', { choices: [{ index: 0, message: {}, finish_reason: 'content_filter' }] }, 'content_filter'],
  ['gemini', { candidates: [{ finishReason: 'PROHIBITED_CONTENT' }] }, 'PROHIBITED_CONTENT'],
  ['bedrock-converse', { output: { message: {} }, stopReason: 'guardrail_intervened' }, 'guardrail_intervened'],
  [
    'openai-responses',
    { object: 'response', status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] },
    'content_filter',
  ],
])('an answer of %s that a filter held back is a refusal', ([dialect, body, refusal]) => {
  expect(read(dialect, body)).toMatchObject({ finish: refusal, refusal })
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

test.for<[string, string]>([
  ['in several lines', '{"message":{"content":"Once "}}\n{"message":\n{"content":"upon"},\n"done_reason":"stop"}\n'],
  ['in one line', '{"message":{"content":"Once "}}{"message":{"content":"upon"},"done_reason":"stop"}'],
])('values that stand %s are read one by one', ([, text]) => {
  expect(read('openai-chat', text)).toEqual({ text: 'Once upon', toolCalls: [], finish: 'stop', unknownEvents: 0 })
})

test('a torn line costs nothing but itself', () => {
  const text = '{"message":{"content":"Once "}}\n{"message":{"content":"up\n{"message":{"content":"on"}}\n'
  expect(read('openai-chat', text)).toMatchObject({ text: 'Once on' })
})

test('a completion that is answered as a chat is read as one, whole and streamed', () => {
  const choice = (rest: object): Json => ({ choices: [{ index: 0, ...rest }] })
  const expected = { text: 'a * b', toolCalls: [], finish: 'stop', unknownEvents: 0 }
  const whole = choice({ message: { role: 'assistant', content: 'a * b' }, finish_reason: 'stop' })
  expect(read('openai-completions', whole)).toEqual(expected)
  const stream = [
    choice({ delta: { content: 'a *' }, finish_reason: null }),
    choice({ delta: { content: ' b' }, finish_reason: 'stop' }),
  ]
  expect(read('openai-completions', sse(stream))).toEqual(expected)
})

test('an event of an unknown type is counted, not lost quietly', () => {
  expect(read('anthropic', sse([{ type: 'brand_new' }], false)).unknownEvents).toBe(1)
  expect(read('openai-responses', sse([{ type: 'response.brand_new' }], false)).unknownEvents).toBe(1)
  expect(read('gemini', '<html>Hello</html>').unknownEvents).toBe(1)
  expect(read('openai-chat', { output: {}, usage: { inputTokens: 6 } }).unknownEvents).toBe(1)
})
