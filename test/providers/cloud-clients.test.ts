import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { answer, pieces } from './answers.ts'
import { converseStream, read, sse } from './bodies.ts'

/** What the server answers to whatever it is asked. */
let answered: { readonly type: string; readonly body: Buffer } = { type: '', body: Buffer.alloc(0) }
let base = ''
const server = http.createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', answered.type).end(answered.body))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const events = 'text/event-stream'
const runs = { numRuns: 60 }

test("for every stream: Bedrock's own client reads the same text and calls", async () => {
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'not-a-secret' },
    endpoint: base,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  })
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts, calls }) => {
      const delta = (contentBlockIndex: number, change: Json): { [key: string]: Json } => ({
        contentBlockDelta: { contentBlockIndex, delta: change },
      })
      const body = converseStream([
        { messageStart: { role: 'assistant' } },
        ...pieces(text, cuts).map((part) => delta(0, { text: part })),
        ...calls.flatMap((one, i) => [
          {
            contentBlockStart: { contentBlockIndex: i + 1, start: { toolUse: { toolUseId: `c${i}`, name: one.name } } },
          },
          ...pieces(JSON.stringify(one.args), one.cuts).map((input) => delta(i + 1, { toolUse: { input } })),
        ]),
        { messageStop: { stopReason: 'tool_use' } },
      ])
      answered = { type: 'application/vnd.amazon.eventstream', body }
      const { stream } = await client.send(new ConverseStreamCommand({ modelId: 'm', messages: [] }))
      const theirs = { text: '', calls: [] as { id: string; name: string; args: string }[] }
      for await (const { contentBlockStart, contentBlockDelta } of stream ?? []) {
        const use = contentBlockStart?.start?.toolUse
        if (use) theirs.calls.push({ id: use.toolUseId ?? '', name: use.name ?? '', args: '' })
        theirs.text += contentBlockDelta?.delta?.text ?? ''
        const last = theirs.calls.at(-1)
        if (last) last.args += contentBlockDelta?.delta?.toolUse?.input ?? ''
      }
      const ours = read('bedrock-converse', body)
      expect(ours.text).toBe(theirs.text)
      expect(ours.toolCalls).toEqual(theirs.calls.map((call) => ({ ...call, args: JSON.parse(call.args) as Json })))
    }),
    runs,
  )
  client.destroy()
})

test("for every stream: Gemini's own client reads the same text and calls", async () => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } })
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts, calls }) => {
      const part = (content: Json): Json => ({ candidates: [{ content: { role: 'model', parts: [content] } }] })
      const body = sse(
        [
          part({ text: 'Hm.', thought: true }),
          ...pieces(text, cuts).map((piece) => part({ text: piece })),
          ...calls.map(({ name, args }, i) => part({ functionCall: { id: `c${i}`, name, args: args as Json } })),
        ],
        false,
      )
      answered = { type: events, body: Buffer.from(body) }
      const theirs = { text: '', calls: [] as unknown[] }
      for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'Hi' })) {
        const said = chunk.candidates?.[0]?.content?.parts?.map((one) => (one.thought ? '' : (one.text ?? '')))
        theirs.text += said?.join('') ?? ''
        theirs.calls.push(...(chunk.functionCalls ?? []))
      }
      const ours = read('gemini', body)
      expect(ours).toMatchObject({ text: theirs.text, reasoning: 'Hm.' })
      expect(ours.toolCalls).toEqual(theirs.calls)
    }),
    runs,
  )
})

test("for every stream: Gemini's own client hears the same interaction", async () => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } })
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts, calls }) => {
      const start = (index: number, step: Json): Json => ({ event_type: 'step.start', index, step })
      const delta = (index: number, change: Json): Json => ({ event_type: 'step.delta', index, delta: change })
      const body = sse([
        { event_type: 'interaction.created', interaction: { id: 'i', model: 'g', status: 'in_progress' } },
        start(0, { type: 'model_output' }),
        ...pieces(text, cuts).map((piece) => delta(0, { type: 'text', text: piece })),
        ...calls.flatMap(({ name, args, cuts: lengths }, i) => [
          start(i + 1, { type: 'function_call', id: `c${i}`, name, arguments: {} }),
          ...pieces(JSON.stringify(args), lengths).map((piece) =>
            delta(i + 1, { type: 'arguments_delta', arguments: piece }),
          ),
        ]),
        { event_type: 'interaction.completed', interaction: { id: 'i', model: 'g', status: 'requires_action' } },
      ])
      answered = { type: events, body: Buffer.from(body) }
      const heard = { text: '', calls: new Map<number, { id: string; name: string; args: string }>() }
      const stream = await client.interactions.create({ model: 'g', input: 'Hi', stream: true })
      for await (const event of stream) {
        if (event.event_type === 'step.start' && event.step.type === 'function_call') {
          heard.calls.set(event.index, { id: event.step.id, name: event.step.name, args: '' })
        } else if (event.event_type === 'step.delta') {
          const change = event.delta
          if (change.type === 'text') heard.text += change.text
          const call = heard.calls.get(event.index)
          if (call && change.type === 'arguments_delta') call.args += change.arguments ?? ''
        }
      }
      const ours = read('gemini-interactions', body)
      expect(ours).toMatchObject({ model: 'g', text: heard.text, finish: 'requires_action', unknownEvents: 0 })
      expect(ours.toolCalls).toEqual(
        [...heard.calls.values()].map((call) => ({ ...call, args: JSON.parse(call.args) as Json })),
      )
    }),
    runs,
  )
})

test("for every stream: OpenAI's own client reads the same response", async () => {
  const client = new OpenAI({ apiKey: 'none', baseURL: base })
  await fc.assert(
    fc.asyncProperty(answer, async ({ text, cuts, calls }) => {
      const message = { id: 'm', type: 'message', role: 'assistant', status: 'completed' }
      const said: Json = { ...message, content: [{ type: 'output_text', text, annotations: [] }] }
      const asked = calls.map(
        ({ name, args }, i): Json => ({
          id: `f${i}`,
          type: 'function_call',
          call_id: `c${i}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        }),
      )
      const response = { id: 'r', object: 'response', model: 'm', status: 'completed', output: [said, ...asked] }
      const body = sse(
        [
          { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
          { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
          {
            type: 'response.content_part.added',
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          ...pieces(text, cuts).map((delta) => ({
            type: 'response.output_text.delta',
            output_index: 0,
            content_index: 0,
            delta,
          })),
          ...asked.map((item, i) => ({ type: 'response.output_item.done', output_index: i + 1, item })),
          { type: 'response.completed', response },
        ].map((event, sequence_number) => ({ ...event, sequence_number })),
        false,
      )
      answered = { type: events, body: Buffer.from(body) }
      const theirs = { text: '', calls: [] as unknown[] }
      for await (const event of await client.responses.create({ model: 'm', input: 'Hi', stream: true })) {
        if (event.type === 'response.output_text.delta') theirs.text += event.delta
        if (event.type === 'response.output_item.done' && event.item.type === 'function_call') {
          const { call_id: id, name, arguments: written } = event.item
          theirs.calls.push({ id, name, args: JSON.parse(written) as Json })
        }
      }
      const ours = read('openai-responses', body)
      expect(ours).toMatchObject({ text: theirs.text, finish: 'completed', unknownEvents: 0 })
      expect(ours.toolCalls).toEqual(theirs.calls)
    }),
    runs,
  )
})
