import { describe, expect, it } from 'vitest'
import { inputMessages, instructionParts, outputMessages } from '../../src/exporters/otlp/messages.ts'
import type { Json } from '../../src/tape/index.ts'

const asked = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'lookup', arguments: { id: 'A-17' } }] }
const answered = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'found' }] }
const said = { role: 'user', parts: [{ type: 'text', content: 'Look up A-17.' }] }
const args = '{"id":"A-17"}'

const dialects: readonly (readonly [string, readonly Json[], readonly object[]])[] = [
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
    [said, asked, answered],
  ],
  [
    'responses',
    [
      { role: 'user', content: [{ type: 'input_text', text: 'Look up A-17.' }] },
      { type: 'reasoning', text: 'hm' },
      { type: 'function_call', call_id: 'c1', id: 'fc_9', name: 'lookup', arguments: args },
      { type: 'function_call_output', call_id: 'c1', output: 'found' },
    ],
    [said, { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }] }, asked, answered],
  ],
  [
    'Anthropic',
    [
      { role: 'user', content: 'Look up A-17.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'tool_use', id: 'c1', name: 'lookup', input: { id: 'A-17' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'found' }] },
    ],
    [said, { ...asked, parts: [{ type: 'reasoning', content: 'hm' }, ...asked.parts] }, answered],
  ],
  [
    'Gemini',
    [
      { role: 'user', parts: [{ text: 'Look up A-17.' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'lookup', args: { id: 'A-17' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'lookup', response: 'found' } }] },
    ],
    [said, asked, answered],
  ],
  [
    'Converse',
    [
      { role: 'user', content: [{ text: 'Look up A-17.' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'lookup', input: { id: 'A-17' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: 'found' } }] },
    ],
    [said, asked, answered],
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
    [said, asked, answered],
  ],
  [
    'Cohere',
    [
      { role: 'USER', message: 'Look up A-17.' },
      { role: 'CHATBOT', message: '', tool_calls: [{ name: 'lookup', parameters: { id: 'A-17' } }] },
      { call: { name: 'lookup', parameters: {} }, outputs: 'found' },
    ],
    [
      said,
      { ...asked, parts: [{ type: 'tool_call', name: 'lookup', arguments: { id: 'A-17' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', response: 'found' }] },
    ],
  ],
  ['bare text', ['Look up A-17.'], [said]],
]

describe('messages in the words of the GenAI conventions', () => {
  it.each(dialects)('of %s', (_, messages, expected) => {
    expect(inputMessages(messages)).toEqual(expected)
  })

  it('a part they have no word for stays as it is', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://example.test/a.png' } }
    expect(inputMessages([{ role: 'user', content: [picture, { inlineData: { data: 'AA==' } }] }, 7])).toEqual([
      { role: 'user', parts: [picture, { inlineData: { data: 'AA==' }, type: 'value' }] },
      { role: 'user', parts: [{ type: 'value', value: 7 }] },
    ])
  })

  it('arguments that are no JSON stay text', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"id":' } }
    expect(inputMessages([{ role: 'assistant', tool_calls: [call] }])[0]?.parts[0]).toMatchObject({
      arguments: '{"id":',
    })
  })

  it('system prompts are parts', () => {
    expect(instructionParts(['Be kind.', { type: 'text', text: 'Be brief.' }])).toEqual([
      { type: 'text', content: 'Be kind.' },
      { type: 'text', content: 'Be brief.' },
    ])
  })

  it('what a model answered is one message; tools its provider runs are marked', () => {
    const toolCalls = [
      { id: 'c1', name: 'lookup', args: { id: 'A-17' } },
      { name: 'web_search', args: {}, builtIn: true as const },
    ]
    expect(outputMessages({ text: 'One moment.', toolCalls, finish: 'stop', refusal: 'no', unknownEvents: 0 })).toEqual(
      [
        {
          role: 'assistant',
          parts: [
            { type: 'text', content: 'One moment.' },
            { type: 'refusal', content: 'no' },
            { type: 'tool_call', id: 'c1', name: 'lookup', arguments: { id: 'A-17' } },
            { type: 'server_tool_call', name: 'web_search', server_tool_call: { type: 'web_search', arguments: {} } },
          ],
          finish_reason: 'stop',
        },
      ],
    )
  })
})
