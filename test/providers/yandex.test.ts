import { describe, expect, test } from 'vitest'
import { readModelRequest } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { lines, read, said } from './bodies.ts'

const url = 'https://llm.api.cloud.yandex.net/foundationModels/v1/completion'
const modelUri = 'gpt://b1gfolder/yandexgpt/latest'

test('a request is taken apart', () => {
  const system = { role: 'system', text: 'Be brief.' }
  const user = { role: 'user', text: 'Where is order 7?' }
  const tool = { function: { name: 'lookup', parameters: { type: 'object' } } }
  const completionOptions = { stream: false, temperature: 0.1, maxTokens: '500' }
  const body = { modelUri, completionOptions, messages: [system, user], tools: [tool] }
  expect(readModelRequest({ method: 'POST', url, body: JSON.stringify(body) })).toEqual({
    dialect: 'yandex',
    model: modelUri,
    instructions: [system],
    messages: [user],
    tools: [tool],
    params: { completionOptions },
  })
})

describe('an answer', () => {
  const call = (name: string, args: Json): Json => ({ functionCall: { name, arguments: args } })
  const calls = [call('lookup', { order: 7 }), call('weather', {})]
  const alternative = (status: string, message: object): Json => ({
    message: { role: 'assistant', ...message },
    status: `ALTERNATIVE_STATUS_${status}`,
  })
  const told = (one: Json, output: string): Json => ({
    result: {
      alternatives: [one],
      usage: {
        inputTextTokens: '10',
        completionTokens: output,
        totalTokens: '15',
        completionTokensDetails: { reasoningTokens: '2' },
      },
      modelVersion: '09.02.2025',
    },
  })
  const last = told(alternative('TOOL_CALLS', { text: 'Looking.', toolCallList: { toolCalls: calls } }), '5')
  const expected = {
    ...said,
    toolCalls: said.toolCalls.map(({ name, args }) => ({ name, args })),
    finish: 'ALTERNATIVE_STATUS_TOOL_CALLS',
    usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 2 },
  }

  test('reads the same whole and streamed, where each line says all again', () => {
    expect(read('yandex', last)).toEqual(expected)
    const partial = (text: string, more = {}): Json => told(alternative('PARTIAL', { text, ...more }), '3')
    const early = partial('Looking.', { toolCallList: { toolCalls: calls.slice(0, 1) } })
    expect(read('yandex', lines([partial('Look'), partial('Looking.'), early, last]))).toEqual(expected)
  })

  test('of a torn stream is what was there, without an end', () => {
    const torn = read('yandex', lines([told(alternative('PARTIAL', { text: 'Look' }), '3')]))
    expect(torn).toMatchObject({ text: 'Look', unknownEvents: 0 })
    expect(torn.finish).toBeUndefined()
  })

  test('says the text of the first alternative, and the calls of all', () => {
    const alternatives = [alternative('FINAL', { text: 'One.' }), alternative('FINAL', { text: 'Two.' })]
    const more = alternative('TOOL_CALLS', { toolCallList: { toolCalls: calls } })
    const read2 = read('yandex', { result: { alternatives: [...alternatives, more] } })
    expect(read2).toMatchObject({ text: 'One.', finish: 'ALTERNATIVE_STATUS_FINAL' })
    expect(read2.toolCalls.map(({ name }) => name)).toEqual(['lookup', 'weather'])
  })

  test('that was held back is a refusal', () => {
    const held = told(alternative('CONTENT_FILTER', { text: '' }), '0')
    expect(read('yandex', held).refusal).toBe('ALTERNATIVE_STATUS_CONTENT_FILTER')
  })

  test.each<[what: string, body: Json, status: number, error: string]>([
    ['a refused request', { error: { grpcCode: 16, httpCode: 401, message: 'Unauthorized' } }, 401, 'http_401'],
    ['one refused in the words of gRPC', { code: 16, message: 'Unauthorized', details: [] }, 401, 'http_401'],
    ['a failed one in a stream', lines([{ error: { grpcCode: 8, httpCode: 429, message: 'Quota' } }]), 200, 'http_429'],
  ])('tells the error of %s', (_, body, status, error) => {
    expect(read('yandex', body, { status })).toMatchObject({ text: '', error, unknownEvents: 0 })
  })

  test('counts a line of a kind nobody knows', () => {
    expect(read('yandex', lines([{ heartbeat: 1 }, last])).unknownEvents).toBe(1)
  })
})
