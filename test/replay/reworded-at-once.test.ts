import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape, unprovenError, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Answers with the last word of what it was asked, as a stream where it is asked for one: that goes on for ever.
const server = createServer((request, response) => void answer(request, response))
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += String(piece)
  const { messages, stream } = JSON.parse(text) as { messages: readonly { content: string }[]; stream?: boolean }
  const content = messages.at(-1)?.content.split(' ').at(-1) ?? ''
  if (stream !== true) {
    response.setHeader('content-type', 'application/json')
    return void response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }))
  }
  response.setHeader('content-type', 'text/event-stream')
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)
}
let client: OpenAI
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const dir = temporaryFolder('at-once')
let made = 0
async function record(run: () => Promise<unknown>): Promise<Tape> {
  const id = `run-${made++}`
  await createRecorder({ dir }).run({ agent: 'desk', id }, run)
  return readTape(join(dir, `${id}.tape.jsonl`))
}

const asking = (system: string, content: string) => ({
  model: 'm-1',
  messages: [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content },
  ],
})
async function ask(system: string, words: string): Promise<string | null | undefined> {
  const { choices } = await client.chat.completions.create(asking(system, words))
  return choices[0]?.message.content
}
/** Reads the beginning of a stream. */
async function peek(system: string, words: string): Promise<string | null | undefined> {
  const stream = await client.chat.completions.create({ ...asking(system, words), stream: true })
  for await (const { choices } of stream) return choices[0]?.delta.content
  return undefined
}

interface Words {
  readonly system: string
  readonly of: (city: string) => string
}
const recorded: Words = { system: 'You guide tourists.', of: (city) => `What to see in ${city}` }
const cities = ['Lisbon', 'Oslo', 'Graz']
const agents: Readonly<Record<string, (words: Words, named?: readonly string[]) => () => Promise<unknown>>> = {
  'calls that are made at once':
    ({ system, of }, named = cities) =>
    () =>
      Promise.all(named.map((city) => ask(system, of(city)))),
  'a call behind a stream that was given up':
    ({ system, of }, named = cities) =>
    async () => [await peek(system, of(named[0]!)), await ask(system, of(named[1]!)), await ask(system, of(named[2]!))],
}

test.for(Object.keys(agents))(
  'reworded, %s are unproven, each with its own answer, and green once accepted',
  async (name) => {
    const agent = agents[name]!
    const tape = await record(agent(recorded))
    const edits: readonly Words[] = [
      { ...recorded, of: (city) => `Name the sights of ${city}` },
      { ...recorded, system: 'You guide families with children.' },
      { system: 'You guide families with children.', of: (city) => `Sights: ${city}` },
      // One of them alone.
      { ...recorded, of: (city) => (city === 'Oslo' ? 'What to see in winter, in Oslo' : recorded.of(city)) },
    ]
    for (const edit of edits) {
      const run = await replayTape(tape, agent(edit))
      expect([run.problems, run.outcome]).toEqual([[], { status: 'returned', value: cities }])
      const { verdict, unproven } = verdictOf(run)
      expect(verdict).toBe('unproven')
      expect(verdictOf(run, new Map(unproven.map(({ key }) => [key, 'all']))).verdict).toBe('same')
    }
  },
)

test('a reader is told that the order alone says which recorded question a reworded one is compared with', async () => {
  const agent = agents['calls that are made at once']!
  const run = await replayTape(await record(agent(recorded)), agent({ ...recorded, of: (city) => `Sights: ${city}` }))
  const { unproven } = verdictOf(run)
  expect(unproven.map(({ part, steps }) => [part, steps.length])).toEqual([
    ['user message of a call matched by order', 3],
  ])
  expect(unprovenError(unproven, { tape: 'run' }).message).toContain('matched by order')
})

test('calls that are made at once in another order, reworded, are never green', async () => {
  const agent = agents['calls that are made at once']!
  const tape = await record(agent(recorded))
  const accepted = new Map<string, 'all'>()
  for (const edit of [recorded, { ...recorded, of: (city: string) => `Sights: ${city}` }]) {
    const run = await replayTape(tape, agent(edit, ['Oslo', 'Lisbon', 'Graz']))
    const { verdict, unproven } = verdictOf(run, accepted)
    expect(verdict).not.toBe('same')
    for (const { key } of unproven) accepted.set(key, 'all')
  }
  // What was accepted in one order says nothing of another one.
  const { verdict } = verdictOf(
    await replayTape(tape, agent({ ...recorded, of: (city) => `Sights: ${city}` })),
    accepted,
  )
  expect(verdict).toBe('unproven')
})
