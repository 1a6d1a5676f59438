import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sameAgain } from '../../src/fork/kept-run.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type TapeEvent, wholeTape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let asked = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    // Each second request is turned down, as by a provider that is busy.
    const isBusy = asked++ % 2 === 0
    response.writeHead(isBusy ? 503 : 200, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    const message = { role: 'assistant', content: 'yes' }
    const answer = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    response.end(JSON.stringify(isBusy ? { error: { message: 'busy' } } : answer))
  })
})
beforeAll(async () => {
  await installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => void server.close())

/** As it comes where a provider is farther away: the client gives the body of an error up before it has it. */
function bodyLater(event: TapeEvent): TapeEvent {
  if (event.kind !== 'exchange' || event.response?.status !== 503) return event
  const later = ([n, at]: readonly [number, number]): [number, number] => [n, at + 0.1]
  const { chunks, end, ...response } = event.response
  return {
    ...event,
    response: {
      ...response,
      chunks: chunks.map(([n, at, bytes]) => [...later([n, at]), bytes] as const),
      ...(end && { end: later(end) }),
    },
  }
}

test('a kept run whose client tried again after an error of the provider is done again; one that asks otherwise is not', async () => {
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const agent = (content: string) => async (): Promise<unknown> => {
    const openai = new OpenAI({ apiKey: 'k', baseURL })
    const said: unknown[] = []
    for (let turn = 0; turn < 3; turn++) {
      const messages = [{ role: 'user' as const, content: `${content} ${turn}` }]
      said.push((await openai.chat.completions.create({ model: 'gpt-x', messages })).choices[0]?.message.content)
    }
    return said
  }
  const recorder = createRecorder({ dir: temporaryFolder('kept-run') })
  await recorder.run({ agent: 'desk', id: 'desk' }, agent('refund?'))
  expect(asked).toBe(6)
  const tape = readTape(recorder.lastTape!)
  const run = { tape: wholeTape({ ...tape, events: tape.events.map(bodyLater) }), hasProblems: false }
  expect(await sameAgain(run, { load: async () => Promise.resolve(agent('refund?')) })).toBeDefined()
  expect(await sameAgain(run, { load: async () => Promise.resolve(agent('pay?')) })).toBeUndefined()
  expect(asked).toBe(6)
})
