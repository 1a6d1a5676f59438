import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, retriever, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const message = { role: 'assistant', content: 'yes' }
const answers: Readonly<Record<string, unknown>> = {
  '/v1/chat/completions': {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4.1',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  },
  '/v1/embeddings': { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'e', usage },
  '/v1/messages': {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'yes' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers[request.url ?? ''] ?? {}))
  })
})
let base = ''
beforeAll(async () => {
  installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('at-once')
  await createRecorder({ dir }).run({ agent: 'desk', id: 'desk' }, agent)
  const [file] = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return readTape(join(dir, file!))
}
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)

const search = retriever('kb', async (words: string) => [words])
const approve = tool('approve', async (id: string) => ({ id }))
const note = tool('note', async (id: string) => ({ id }))
const ask = {
  openai: async (content: string) =>
    new OpenAI({ apiKey: 'k', baseURL: `${base}/v1` }).chat.completions.create({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content }],
    }),
  embeddings: async (input: string) =>
    new OpenAI({ apiKey: 'k', baseURL: `${base}/v1` }).embeddings.create({ model: 'e', input }),
  anthropic: async (content: string) =>
    new Anthropic({ apiKey: 'k', baseURL: base }).messages.create({
      model: 'claude',
      max_tokens: 9,
      messages: [{ role: 'user', content }],
    }),
  ai: async (prompt: string) =>
    generateText({ model: createOpenAI({ apiKey: 'k', baseURL: `${base}/v1` }).chat('gpt-4.1'), prompt }).then(
      ({ text }) => text,
    ),
  fetch: async (body: string) => {
    await null
    return (await fetch(`${base}/send`, { method: 'POST', body })).text()
  },
}
for (const [name, question] of Object.entries(ask))
  for (const [how, agent] of Object.entries({
    beside: async () => Promise.all([search('tea'), question('tea')]),
    'tool beside': async () => Promise.all([approve('tea'), question('tea')]),
    'two beside': async () => Promise.all([approve('tea'), note('tea'), question('tea')]),
    'model first': async () => Promise.all([question('tea'), approve('tea')]),
    'chain beside': async () => Promise.all([approve('tea').then(() => note('tea')), question('tea')]),
    serial: async () => [await approve('tea'), await question('tea')],
  }))
    test(`${name} ${how}`, async () => {
      const tape = await record(agent)
      const brief = tape.events.map((e) => `${e.kind}${e.n}${'settled' in e ? `-${e.settled}` : ''} ${JSON.stringify((e as any).turns)}`).join(' | ')
      ;(globalThis as any).__dbg = true
      const result = await replayTape(tape, agent)
      console.log(name, how, brief, codes(result), (globalThis as any).__d)
    })
