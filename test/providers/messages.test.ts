import { describe, expect, it } from 'vitest'
import { callsOf, readMessage, resultsOf, textOf } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/index.ts'

const args = '{"id":"A-17"}'

/** One conversation as each dialect has it: a question, the call of a tool, its result. */
const dialects: readonly (readonly [dialect: string, messages: readonly Json[]])[] = [
  [
    'chat completions',
    [
      { role: 'user', content: 'Look up A-17.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ],
  ],
  [
    'chat completions with a custom tool',
    [
      { role: 'user', content: [{ type: 'text', text: 'Look up A-17.' }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'lookup', input: args } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ],
  ],
  [
    'responses',
    [
      { role: 'user', content: [{ type: 'input_text', text: 'Look up A-17.' }] },
      { type: 'function_call', call_id: 'c1', id: 'fc_9', name: 'lookup', arguments: args },
      { type: 'function_call_output', call_id: 'c1', output: 'found' },
    ],
  ],
  [
    'responses with a custom tool',
    [
      { role: 'user', content: 'Look up A-17.' },
      { type: 'custom_tool_call', call_id: 'c1', id: 'ctc_9', name: 'lookup', input: args },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'found' },
    ],
  ],
  [
    'Anthropic',
    [
      { role: 'user', content: 'Look up A-17.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'lookup', input: { id: 'A-17' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'found' }] },
    ],
  ],
  [
    'Gemini',
    [
      { role: 'user', parts: [{ text: 'Look up A-17.' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'lookup', args: { id: 'A-17' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'lookup', response: 'found' } }] },
    ],
  ],
  [
    'Gemini in its other spelling',
    [
      { role: 'user', parts: [{ text: 'Look up A-17.' }] },
      { role: 'model', parts: [{ function_call: { id: 'c1', name: 'lookup', args: { id: 'A-17' } } }] },
      { role: 'user', parts: [{ function_response: { id: 'c1', name: 'lookup', response: 'found' } }] },
    ],
  ],
  [
    'Converse',
    [
      { role: 'user', content: [{ text: 'Look up A-17.' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'lookup', input: { id: 'A-17' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: 'found' } }] },
    ],
  ],
  [
    'OCI',
    [
      { role: 'USER', content: [{ type: 'TEXT', text: 'Look up A-17.' }] },
      { role: 'ASSISTANT', toolCalls: [{ id: 'c1', type: 'FUNCTION', name: 'lookup', arguments: args }] },
      { role: 'TOOL', toolCallId: 'c1', content: 'found' },
    ],
  ],
  [
    "OCI in the second version of Cohere's format",
    [
      { role: 'USER', content: [{ type: 'TEXT', text: 'Look up A-17.' }] },
      {
        role: 'ASSISTANT',
        toolPlan: 'First.',
        toolCalls: [{ id: 'c1', type: 'FUNCTION', function: { name: 'lookup', arguments: args } }],
      },
      { role: 'TOOL', toolCallId: 'c1', content: 'found' },
    ],
  ],
  [
    'the AI SDK',
    [
      { role: 'user', content: [{ type: 'text', text: 'Look up A-17.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: { id: 'A-17' } }],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'lookup', output: 'found' }] },
    ],
  ],
]

/** The text of arguments is read, so that one table says what all dialects ask for. */
const asValue = (given: Json): Json => (typeof given === 'string' ? (JSON.parse(given) as Json) : given)

describe('a message', () => {
  it.each(dialects)('of %s is a question, a call and a result', (_, messages) => {
    const [question, asked, answered] = messages.map(readMessage)
    expect(question).toMatchObject({ speaker: 'user', parts: [{ kind: 'text', text: 'Look up A-17.' }] })
    // What people are shown of it.
    expect(textOf(messages[0])).toBe('Look up A-17.')
    expect(asked?.speaker).toBe('assistant')
    expect(callsOf(asked!).map((call) => ({ ...call, args: asValue(call.args) }))).toEqual([
      { kind: 'tool_call', id: 'c1', name: 'lookup', args: { id: 'A-17' } },
    ])
    expect(resultsOf(answered!)).toMatchObject([{ id: 'c1', result: 'found' }])
    expect(resultsOf(asked!)).toEqual([])
    expect(callsOf(answered!)).toEqual([])
  })

  it.each<[who: string, message: Json, expected: object]>([
    [
      'Cohere, without ids',
      { call: { name: 'lookup', parameters: {} }, outputs: ['found'] },
      { name: 'lookup', result: ['found'] },
    ],
    [
      "OCI in Cohere's format, without ids",
      { role: 'TOOL', toolResults: [{ call: { name: 'lookup', parameters: {} }, outputs: ['found'] }] },
      { name: 'lookup', result: ['found'] },
    ],
    ['an assistant, as an output', { tool_call_id: 'c1', output: 'found' }, { id: 'c1', result: 'found' }],
    [
      'a Bedrock agent',
      { functionResult: { function: 'lookup', responseBody: 'found' } },
      { name: 'lookup', result: 'found' },
    ],
    [
      'Yandex, without ids',
      { role: 'user', toolResultList: { toolResults: [{ functionResult: { name: 'lookup', content: 'found' } }] } },
      { name: 'lookup', result: 'found' },
    ],
    ['Mistral', { type: 'function.result', tool_call_id: 'c1', result: 'found' }, { id: 'c1', result: 'found' }],
    ['the first chat completions', { role: 'function', name: 'lookup', content: 'found' }, { name: 'lookup' }],
  ])('of %s brings a result', (_, message, expected) => {
    expect(resultsOf(readMessage(message))).toMatchObject([expected])
  })

  it('of Yandex asks for calls without ids', () => {
    const toolCalls = [{ functionCall: { name: 'lookup', arguments: { id: 'A-17' } } }]
    const message = readMessage({ role: 'assistant', toolCallList: { toolCalls } })
    expect(callsOf(message)).toEqual([{ kind: 'tool_call', name: 'lookup', args: { id: 'A-17' } }])
    expect(readMessage({ role: 'user', text: 'Look up A-17.' }).parts).toEqual([
      { kind: 'text', text: 'Look up A-17.' },
    ])
  })

  it.each<[who: string, message: Json, shown: string]>([
    ['Cohere', { role: 'CHATBOT', message: 'It is paid.' }, 'It is paid.'],
    ['Yandex', { role: 'user', text: 'Look up A-17.' }, 'Look up A-17.'],
    ['a call alone', { role: 'model', parts: [{ functionCall: { name: 'lookup', args: {} } }] }, ''],
    ['what was thought alone', { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] }, ''],
    ['a picture', { type: 'input_image', image_url: 'x' }, '(input_image)'],
  ])('of %s shows the words that are parts of it', (_, message, shown) => {
    expect(textOf(message)).toBe(shown)
  })

  it('thinks apart from what it says', () => {
    const thought = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Yes.' },
      ],
    }
    expect(readMessage(thought).parts).toEqual([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Yes.' },
    ])
    expect(readMessage({ role: 'ASSISTANT', reasoningContent: 'hm' }).parts).toEqual([
      { kind: 'reasoning', text: 'hm' },
    ])
    expect(readMessage({ role: 'model', parts: [{ text: 'hm', thought: true }] }).parts[0]?.kind).toBe('reasoning')
  })

  it('keeps parts that no dialect has as they are', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://example.test/a.png' } }
    expect(readMessage({ role: 'user', content: [picture] }).parts).toEqual([{ kind: 'other', value: picture }])
  })
})
