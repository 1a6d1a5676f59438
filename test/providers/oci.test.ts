import { describe, expect, test } from 'vitest'
import { readModelRequest } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { read, said, sse } from './bodies.ts'

const url = 'https://inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com/20231130/actions/chat'
const take = (body: Json) => readModelRequest({ method: 'POST', url, body: JSON.stringify(body) })
const content = (text: string): Json => [{ type: 'TEXT', text }]
const servingMode = { servingType: 'ON_DEMAND', modelId: 'm' }

describe('a request', () => {
  const system = { role: 'SYSTEM', content: content('Be brief.') }
  const user = { role: 'USER', content: content('Where is order 7?') }
  const tool = { type: 'FUNCTION', name: 'lookup', parameters: { type: 'object' } }

  test('is taken apart, who serves it and what is asked', () => {
    const chatRequest = { apiFormat: 'GENERIC', messages: [system, user], tools: [tool], isStream: true, topK: 1 }
    expect(take({ compartmentId: 'c', servingMode, chatRequest })).toEqual({
      dialect: 'oci',
      model: 'm',
      instructions: [system],
      messages: [user],
      tools: [tool],
      params: {
        compartmentId: 'c',
        servingMode: { servingType: 'ON_DEMAND' },
        chatRequest: { apiFormat: 'GENERIC', isStream: true, topK: 1 },
      },
    })
  })

  test("is taken apart in Cohere's format: what was said, what is asked, what tools answered", () => {
    const chatHistory = [{ role: 'USER', message: 'Hello' }]
    const toolResults = [{ call: { name: 'lookup', parameters: {} }, outputs: [{ is: 'here' }] }]
    const asked = { preambleOverride: 'p', chatHistory, message: 'Hi', toolResults, tools: [{ name: 'lookup' }] }
    expect(take({ servingMode, chatRequest: { apiFormat: 'COHERE', ...asked } })).toMatchObject({
      instructions: ['p'],
      messages: [...chatHistory, 'Hi', ...toolResults],
      tools: [{ name: 'lookup' }],
      params: { chatRequest: { apiFormat: 'COHERE' } },
    })
  })

  test('of a model of one’s own names the endpoint that serves it', () => {
    const own = { servingType: 'DEDICATED', endpointId: 'ocid1.generativeaiendpoint.oc1..x' }
    expect(take({ servingMode: own, chatRequest: { apiFormat: 'GENERIC', messages: [user] } })).toMatchObject({
      model: own.endpointId,
      params: { servingMode: { servingType: 'DEDICATED' } },
    })
  })

  test('of another action is no chat', () => {
    expect(take({ servingMode, action: 'RESTART' })).toBeUndefined()
  })
})

describe('an answer', () => {
  const usage = {
    promptTokens: 10,
    completionTokens: 5,
    totalTokens: 15,
    promptTokensDetails: { cachedTokens: 4 },
    completionTokensDetails: { reasoningTokens: 2 },
  }
  const call = (id: string, name: string, args: string): Json => ({ id, type: 'FUNCTION', name, arguments: args })
  const expected = {
    ...said,
    reasoning: 'Hm.',
    finish: 'tool_calls',
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
  }

  test('reads the same whole and streamed', () => {
    const message = {
      role: 'ASSISTANT',
      reasoningContent: 'Hm.',
      content: content('Looking.'),
      toolCalls: [call('c1', 'lookup', '{"order":7}'), call('c2', 'weather', '{}')],
    }
    const choices = [{ index: 0, message, finishReason: 'tool_calls' }]
    const chatResponse = { apiFormat: 'GENERIC', timeCreated: '2026-01-01T00:00:00Z', choices, usage }
    expect(read('oci', { modelId: 'm', modelVersion: '1', chatResponse })).toEqual({ model: 'm', ...expected })
    const piece = (part: { readonly [key: string]: Json }, rest = {}): Json => ({
      index: 0,
      message: { role: 'ASSISTANT', ...part },
      ...rest,
      pad: 'aa',
    })
    const more = (args: string): Json => piece({ toolCalls: [{ type: 'FUNCTION', arguments: args }] })
    const events = [
      piece({ reasoningContent: 'Hm' }),
      piece({ reasoningContent: '.' }),
      piece({ content: content('Look') }),
      piece({ content: content('ing.') }),
      piece({ toolCalls: [call('c1', 'lookup', '')] }),
      more('{"order"'),
      more(':7}'),
      piece({ toolCalls: [call('c2', 'weather', '')] }),
      more('{}'),
      piece({}, { finishReason: 'tool_calls' }),
      { usage },
    ]
    expect(read('oci', sse(events, false))).toEqual(expected)
  })

  test("reads the same whole and streamed in Cohere's format, whose last event says all again", () => {
    const told = {
      apiFormat: 'COHERE',
      text: 'Looking.',
      toolCalls: [
        { name: 'lookup', parameters: { order: 7 } },
        { name: 'weather', parameters: {} },
      ],
      finishReason: 'COMPLETE',
      usage,
    }
    const whole = read('oci', { modelId: 'm', modelVersion: '1', chatResponse: told })
    expect(whole).toMatchObject({
      text: 'Looking.',
      toolCalls: said.toolCalls.map(({ name, args }) => ({ name, args })),
      finish: 'COMPLETE',
    })
    const texts = ['Look', 'ing.'].map((text) => ({ apiFormat: 'COHERE', text, pad: 'a' }))
    const early = { apiFormat: 'COHERE', toolCalls: told.toolCalls }
    expect({ model: 'm', ...read('oci', sse([...texts, early, told], false)) }).toEqual(whole)
    // A stream that is torn before it.
    expect(read('oci', sse(texts, false))).toMatchObject({ text: 'Looking.', unknownEvents: 0 })
  })

  test("reads the message of the second version of Cohere's format", () => {
    const message = {
      role: 'ASSISTANT',
      toolPlan: 'First.',
      content: [
        { type: 'THINKING', thinking: 'Hm.' },
        { type: 'TEXT', text: 'Looking.' },
      ],
      toolCalls: [
        { id: 'c1', type: 'FUNCTION', function: { name: 'lookup', arguments: '{"order":7}' } },
        { id: 'c2', type: 'FUNCTION', function: { name: 'weather', arguments: '{}' } },
      ],
    }
    const chatResponse = { apiFormat: 'COHEREV2', id: 'x', message, finishReason: 'TOOL_CALL' }
    expect(read('oci', { modelId: 'm', modelVersion: '1', chatResponse })).toEqual({
      ...said,
      model: 'm',
      reasoning: 'First.\n\nHm.',
      finish: 'TOOL_CALL',
    })
  })

  test('says the text of the first choice, and the calls of all', () => {
    const choice = (index: number, text: string): Json => ({ index, message: { content: content(text) } })
    const chatResponse = { apiFormat: 'GENERIC', choices: [choice(0, 'One.'), choice(1, 'Two.')] }
    expect(read('oci', { modelId: 'm', chatResponse }).text).toBe('One.')
  })

  test.each<[what: string, body: Json, status: number, error: string]>([
    [
      'a refused request',
      { code: '404', message: 'Authorization failed or requested resource not found.' },
      404,
      'http_404',
    ],
    ['a throttled one', { code: 'TooManyRequests', message: 'Tenant is throttled.' }, 429, 'TooManyRequests'],
    ['a failed one in a stream', 'data: {"code":"500","message":"Internal error."}\n\n', 200, 'http_500'],
    [
      "one the model failed at, in Cohere's format",
      { chatResponse: { apiFormat: 'COHERE', text: '', finishReason: 'ERROR', errorMessage: 'Too long.' } },
      200,
      'ERROR',
    ],
  ])('tells the error of %s', (_, body, status, error) => {
    expect(read('oci', body, { status })).toMatchObject({ text: '', error, unknownEvents: 0 })
  })

  test('counts an event of a kind nobody knows', () => {
    expect(read('oci', sse([{ pad: 'aa' }, { heartbeat: 1 }], false)).unknownEvents).toBe(2)
  })
})
