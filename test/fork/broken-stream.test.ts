import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { type ExchangeEvent, readTape, type Tape } from '../../src/tape/index.ts'

const start = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null, usage: {} }
const events = [
  { type: 'message_start', message: start },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
]
const firstEvents = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

let server: http.Server
let dir: string
let baseURL: string
beforeAll(async () => {
  await installReplay()
  dir = mkdtempSync(join(tmpdir(), 'harvest-broken-'))
  server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(firstEvents, () => response.socket?.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true })
})

const ask = { model: 'x', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] } as const

/** What an agent hears of a stream that breaks, and how it is told. */
const agents = {
  anthropic: async () => {
    const heard: string[] = []
    const client = new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 })
    try {
      for await (const { type } of await client.messages.create({ ...ask, messages: [...ask.messages], stream: true }))
        heard.push(type)
    } catch (error) {
      heard.push(String(error))
    }
    return heard
  },
  fetch: async () => {
    const response = await fetch(baseURL, { method: 'POST', body: 'hi' })
    return response.text().catch((error: Error) => [String(error), String(error.cause)])
  },
}

/** The tape as if everything of an answer had come at one moment. */
function inOneBurst(tape: Tape): Tape {
  const burst = ({ response, error, ...event }: ExchangeEvent): ExchangeEvent => ({
    ...event,
    response: { ...response!, chunks: response!.chunks.map(([n, , bytes]) => [n, response!.moment[1], bytes]) },
    error: { ...error!, moment: [error!.moment[0], response!.moment[1]] },
  })
  return { ...tape, events: tape.events.map((event) => (event.kind === 'exchange' ? burst(event) : event)) }
}

describe.each(Object.entries(agents))(
  'a stream that breaks right behind its first bytes, read with %s,',
  (name, agent) => {
    test('breaks in replays and forks as it did live, in one burst too', async () => {
      const recorder = createRecorder({ dir })
      const live = await recorder.run({ agent: name, input: {} }, agent)
      expect(JSON.stringify(live)).toContain('terminated')
      const tape = readTape(recorder.lastTape ?? '')
      for (const each of [tape, inOneBurst(tape)]) {
        const same = { status: 'returned', value: live }
        const replay = await replayTape(each, agent)
        expect(replay.problems).toEqual([])
        expect(replay.outcome).toEqual(same)
        const change = { step: 1, rewrite: (event: object) => ({ ...event }) as ExchangeEvent }
        for (const changes of [[], [change]]) {
          const fork = await forkTape(each, agent, { keep: 0, changes, tail: { from: 'tape' } }, { hangMs: 1_000 })
          expect(fork.outcome).toEqual(same)
        }
      }
    })
  },
)
