import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRecorder, mark, message, tool } from '../../src/record/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

/** What a generated agent does; its model decides the rest. */
export interface Script {
  /** Address of the model and the services. */
  readonly base: string
  /** Other text is another conversation. */
  readonly topic: string
  readonly turns: number
  /** Tool calls the model asks for in one turn, at most. */
  readonly width: number
  /** The agent writes clock, chance and ids into what it asks. */
  readonly draws: boolean
  /** Milliseconds between turns. */
  readonly pauseMs: number
  /** What the model asks for first in each turn, whatever it would have decided. */
  readonly first?: 'look_up' | 'service'
}

const lookUp = tool('look_up', async ({ key }: { key: string }) => {
  await sleep(Number.parseInt(key, 36) % 3)
  return { key, found: key.length }
})

/** Asks a model in a loop and does what it says, all calls of a turn at once. */
export async function agent(input: unknown): Promise<unknown> {
  const { base, topic, turns, width, draws, pauseMs, first } = input as Script
  const stamp = draws ? `${Date.now()} ${Math.random()} ${crypto.randomUUID()}` : ''
  const messages: unknown[] = [{ role: 'user', content: `${topic} ${stamp}` }]
  for (let turn = 0; turn < turns; turn++) {
    const { calls } = await ask(base, { messages, width, first })
    if (calls.length === 0) break
    const found = await Promise.all(
      calls.map(({ name, key }) => (name === 'look_up' ? lookUp({ key }) : service(base, key))),
    )
    messages.push({ role: 'assistant', calls }, { role: 'tool', found, ...(draws ? { at: Date.now() } : {}) })
    mark('turn', { turn })
    if (pauseMs > 0) await sleep(pauseMs)
  }
  message('agent', 'user', messages.length)
  return { said: messages.length, last: messages.at(-1) }
}

interface Decided {
  readonly calls: readonly { readonly name: string; readonly key: string }[]
}

async function ask(base: string, question: object): Promise<Decided> {
  const body = JSON.stringify({ model: 'm-1', ...question })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body })
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  return JSON.parse(choices[0]?.message.content ?? '{"calls":[]}') as Decided
}

async function service(base: string, key: string): Promise<unknown> {
  return (await fetch(`${base}/service/${key}`)).json()
}

/** A model that decides by what it is asked, and a service that answers alike; on a free port. */
export async function openWorld(): Promise<World> {
  let calls = 0
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      calls++
      response.setHeader('content-type', 'application/json')
      response.end(answerTo(request.url ?? '', Buffer.concat(chunks).toString('utf8')))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const dir = mkdtempSync(join(tmpdir(), 'harvest-fork-'))
  const recorder = createRecorder({ dir })
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dir,
    calls: () => calls,
    async record(work, input) {
      await recorder.run({ agent: 'generated', input }, async () => work(input))
      return readTape(recorder.lastTape ?? '')
    },
    close() {
      server.closeAllConnections()
      server.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface World {
  readonly base: string
  /** Folder of the tapes. */
  readonly dir: string
  /** Requests the server got. */
  calls(): number
  record(work: (input: unknown) => unknown, input: unknown): Promise<Tape>
  close(): void
}

function answerTo(url: string, body: string): string {
  const digest = createHash('sha256')
    .update(url + body)
    .digest()
  if (!url.startsWith('/v1')) return JSON.stringify({ service: digest.toString('hex').slice(0, 8) })
  const { width, first } = JSON.parse(body) as Pick<Script, 'width' | 'first'>
  const count = 1 + ((digest[0] ?? 0) % width)
  const calls = Array.from({ length: count }, (_, i) => ({
    name: (i === 0 && first) || ((digest[i + 1] ?? 0) % 2 === 0 ? 'look_up' : 'service'),
    key: `k${(digest[i + 1] ?? 0).toString(36)}${i}`,
  }))
  return JSON.stringify({
    id: `chatcmpl-${digest.toString('hex').slice(0, 8)}`,
    object: 'chat.completion',
    model: 'm-1',
    choices: [{ index: 0, message: { role: 'assistant', content: JSON.stringify({ calls }) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
}
