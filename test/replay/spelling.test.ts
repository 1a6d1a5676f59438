import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { generateText } from 'ai'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { Json, Tape } from '../../src/tape/index.ts'
import { tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const apiKey = 'test-key'
/** One question, asked through a client at the vendor's own address. */
type Ask = (fetch?: typeof globalThis.fetch) => PromiseLike<unknown>
type Pair = readonly [name: string, one: Ask, other: Ask, answer: Json]

const system = 'Be brief.'
const prompt = 'Where is order 7?'
const chat =
  (change: object): Ask =>
  (fetch) =>
    new OpenAI({ apiKey, fetch }).chat.completions.create({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: prompt }],
      ...change,
    })
const respond =
  (change: object): Ask =>
  (fetch) =>
    new OpenAI({ apiKey, fetch }).responses.create({ model: 'gpt-4.1', instructions: system, input: prompt, ...change })
const claude =
  (change: object): Ask =>
  (fetch) =>
    new Anthropic({ apiKey, fetch }).messages.create({
      model: 'claude-1',
      max_tokens: 100,
      system,
      messages: [{ role: 'user', content: prompt }],
      ...change,
    })
const gemini =
  (contents: object[], instruction: string | object): Ask =>
  () =>
    new GoogleGenAI({ apiKey }).models.generateContent({
      model: 'gemini-1',
      contents,
      config: { systemInstruction: instruction as string },
    })

const message = { role: 'assistant', content: 'In Bonn.' }
const chatAnswer = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
}
const responseAnswer = {
  id: 'r',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'm1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'In Bonn.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}
const claudeAnswer = {
  id: 'x',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'In Bonn.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}
const result = { type: 'tool_result', tool_use_id: 'c1', content: 'x' }
const turns = (end: object): object => ({
  messages: [
    { role: 'user', content: prompt },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'find', input: { is_error: false } }] },
    { role: 'user', content: [end] },
  ],
})

const pairs: readonly Pair[] = [
  [
    'a text and a list of its part',
    chat({}),
    chat({ messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] }),
    chatAnswer,
  ],
  ['defaults written out', chat({}), chat({ temperature: 1, n: 1, stream: false, presence_penalty: 0 }), chatAnswer],
  [
    'developer and system',
    chat({ messages: [{ role: 'developer', content: system }] }),
    chat({ messages: [{ role: 'system', content: system }] }),
    chatAnswer,
  ],
  [
    "OpenAI's client and the AI SDK, a chat",
    chat({
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: prompt },
      ],
    }),
    (fetch) =>
      generateText({
        model: createOpenAI({ apiKey, ...(fetch && { fetch }) }).chat('gpt-4.1'),
        instructions: system,
        prompt,
        maxRetries: 0,
      }),
    chatAnswer,
  ],
  [
    'an input as text and as a message',
    respond({}),
    respond({ input: [{ type: 'message', role: 'user', content: prompt }] }),
    responseAnswer,
  ],
  [
    "OpenAI's client and the AI SDK, a response",
    respond({
      instructions: undefined,
      input: [
        { role: 'system', content: system },
        { role: 'user', content: prompt },
      ],
    }),
    (fetch) =>
      generateText({
        model: createOpenAI({ apiKey, ...(fetch && { fetch }) }).responses('gpt-4.1'),
        instructions: system,
        prompt,
        maxRetries: 0,
      }),
    responseAnswer,
  ],
  [
    'a result that is no error',
    claude(turns(result)),
    claude(turns({ ...result, is_error: false, content: [{ type: 'text', text: 'x' }] })),
    claudeAnswer,
  ],
  [
    'marks of a cache',
    claude({}),
    claude({ system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
    claudeAnswer,
  ],
  [
    "Anthropic's client and the AI SDK",
    claude({}),
    (fetch) =>
      generateText({
        model: createAnthropic({ apiKey, ...(fetch && { fetch }) })('claude-1'),
        instructions: system,
        prompt,
        maxOutputTokens: 100,
        maxRetries: 0,
      }),
    claudeAnswer,
  ],
  [
    'an instruction of Gemini as text and as content',
    gemini([{ role: 'user', parts: [{ text: prompt }] }], system),
    gemini([{ parts: [{ text: prompt }] }], { parts: [{ text: system }] }),
    { candidates: [{ content: { role: 'model', parts: [{ text: 'In Bonn.' }] }, finishReason: 'STOP' }] },
  ],
]

/** What a client sends, on a tape with an answer. */
async function recorded(ask: Ask, answer: Json): Promise<Tape> {
  const real = globalThis.fetch
  const sent: { url: string; body: string }[] = []
  const stand: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    sent.push({ url: request.url, body: await request.text() })
    return Response.json(answer)
  }
  globalThis.fetch = stand
  try {
    await ask(stand)
  } finally {
    globalThis.fetch = real
  }
  return tapeOf(sent.map((one) => ({ ...one, answer: JSON.stringify(answer) })))
}

describe('a run recorded with one spelling replays with the other', () => {
  test.for(pairs)('%s', async ([, one, other, answer]) => {
    for (const [before, now] of [
      [one, other],
      [other, one],
    ] as const) {
      const tape = await recorded(before, answer)
      const { problems, outcome, drift, unused } = await replayTape(tape, () => now())
      expect(problems).toEqual([])
      expect(outcome.status).toBe('returned')
      expect(unused).toEqual([])
      expect(drift.filter((found) => found.class !== 'encoding')).toEqual([])
    }
  })
})
