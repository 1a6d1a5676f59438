import Anthropic from '@anthropic-ai/sdk'
import { createGateway, generateText, jsonSchema, streamText } from 'ai'
import fc from 'fast-check'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { readModelCall } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { answer, pieces } from './answers.ts'
import { exchange, read, sse } from './bodies.ts'
import { often } from '../support/often.ts'

function stream(body: string): typeof fetch {
  return () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
}

test("for every stream: OpenAI's own client reads the same text and calls", async () => {
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts: lengths, calls }) => {
      const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
        id: 'x',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      })
      const body = sse([
        chunk({ role: 'assistant', content: '' }),
        ...pieces(text, lengths).map((content) => chunk({ content })),
        ...calls.flatMap((one, index) => [
          chunk({
            tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: one.name, arguments: '' } }],
          }),
          ...pieces(JSON.stringify(one.args), one.cuts).map((part) =>
            chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
          ),
        ]),
        chunk({}, 'stop'),
      ])
      const client = new OpenAI({ apiKey: 'none', fetch: stream(body) })
      const completion = await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
      const message = completion.choices[0]?.message
      const ours = read('openai-chat', body)
      expect(ours.text).toBe(message?.content ?? '')
      expect(ours.toolCalls.map(({ id, name, args: found }) => [id, name, found])).toEqual(
        (message?.tool_calls ?? []).map((one) => {
          const made = one.type === 'function' ? one.function : { name: '', arguments: 'null' }
          return [one.id, made.name, JSON.parse(made.arguments)]
        }),
      )
    }),
    { numRuns: often(30) },
  )
})

test("for every stream: Anthropic's own client reads the same text and calls", async () => {
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts: lengths, calls }) => {
      const usage = { input_tokens: 3, output_tokens: 1 }
      const body = sse(
        [
          {
            type: 'message_start',
            message: { id: 'x', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
          },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          ...pieces(text, lengths).map((part) => ({
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'text_delta', text: part },
          })),
          { type: 'content_block_stop', index: 0 },
          ...calls.flatMap((one, i): Json[] => [
            {
              type: 'content_block_start',
              index: i + 1,
              content_block: { type: 'tool_use', id: `c${i}`, name: one.name, input: {} },
            },
            ...pieces(JSON.stringify(one.args), one.cuts).map(
              (part): Json => ({
                type: 'content_block_delta',
                index: i + 1,
                delta: { type: 'input_json_delta', partial_json: part },
              }),
            ),
            { type: 'content_block_stop', index: i + 1 },
          ]),
          { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
          { type: 'message_stop' },
        ],
        false,
      )
      const client = new Anthropic({ apiKey: 'none', fetch: stream(body) })
      const message = await client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
      const ours = read('anthropic', body)
      expect(ours.text).toBe(message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
      expect(ours.toolCalls.map(({ id, name, args: found }) => [id, name, found])).toEqual(
        message.content.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.name, block.input]] : [])),
      )
      expect(ours).toMatchObject({ finish: message.stop_reason, usage: { outputTokens: message.usage.output_tokens } })
    }),
    { numRuns: often(30) },
  )
})

test("for every stream: the AI SDK's own gateway client reads the same text and calls", async () => {
  await fc.assert(
    fc.asyncProperty(answer, fc.boolean(), async ({ text, cuts: lengths, calls }, isWhole) => {
      const ended = {
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage: { inputTokens: { total: 9, cacheRead: 4 }, outputTokens: { total: 2 } },
      }
      const made = calls.map((one, i) => ({
        type: 'tool-call',
        toolCallId: `c${i}`,
        toolName: one.name,
        input: JSON.stringify(one.args),
      }))
      const whole: Json = { content: [{ type: 'text', text }, ...made], ...ended, warnings: [] }
      const body = isWhole
        ? JSON.stringify(whole)
        : sse([
            { type: 'stream-start', warnings: [] },
            { type: 'response-metadata', modelId: 'm' },
            { type: 'text-start', id: 't' },
            ...pieces(text, lengths).map((delta) => ({ type: 'text-delta', id: 't', delta })),
            { type: 'text-end', id: 't' },
            ...made.flatMap((one, i): Json[] => [
              { type: 'tool-input-start', id: one.toolCallId, toolName: one.toolName },
              ...pieces(one.input, calls[i]?.cuts ?? [1]).map(
                (delta): Json => ({ type: 'tool-input-delta', id: one.toolCallId, delta }),
              ),
              { type: 'tool-input-end', id: one.toolCallId },
              one,
            ]),
            { type: 'finish', ...ended },
          ])
      let sent = ''
      const client: typeof fetch = (_, init) => {
        sent = String(init?.body)
        return Promise.resolve(
          new Response(body, { headers: { 'content-type': isWhole ? 'application/json' : 'text/event-stream' } }),
        )
      }
      const inputSchema = jsonSchema<unknown>({ type: 'object' })
      const tools = { lookup: { inputSchema }, weather: { inputSchema }, refund: { inputSchema } }
      const call = {
        model: createGateway({ apiKey: 'none', fetch: client })('maker/m'),
        instructions: 'Be brief.',
        prompt: 'Hi',
        tools,
      }
      const result = isWhole ? await generateText(call) : streamText(call)
      const theirs = { text: await result.text, calls: await result.toolCalls }
      const ours = read('ai-gateway', body)
      expect(ours.text).toBe(theirs.text)
      expect(ours.toolCalls.map(({ id, name, args: found }) => [id, name, found])).toEqual(
        theirs.calls.map((one) => [one.toolCallId, one.toolName, one.input]),
      )
      expect(ours).toMatchObject({ finish: 'tool-calls', usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 4 } })
      const event = exchange('https://ai-gateway.vercel.sh/v3/ai/language-model', JSON.parse(sent) as Json)
      const headers = [['ai-language-model-id', 'maker/m']] as const
      const asked = readModelCall({ ...event, request: { ...event.request, headers } })?.request
      expect(asked).toMatchObject({
        dialect: 'ai-gateway',
        model: 'maker/m',
        instructions: [{ role: 'system', content: 'Be brief.' }],
        messages: [{ role: 'user' }],
      })
      expect(asked?.tools).toHaveLength(3)
    }),
    { numRuns: 60 },
  )
})
