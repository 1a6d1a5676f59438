import diagnostics from 'node:diagnostics_channel'
import { Agent, createServer, request } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

test('who listens for requests of node:http hears those of the agent alone, on connections of their own', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-sample-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const server = createServer((_, response) => response.end('hello'))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const agent = async (): Promise<readonly string[]> => [await ask(url), await ask(url), await ask(url)]
  await createRecorder({ dir }).run({ agent: 'x', id: 'x' }, agent)
  server.close()

  const heard: string[] = []
  const hear = (message: unknown): void =>
    void heard.push((message as { readonly request: { readonly path: string } }).request.path)
  const replayed: unknown[] = []
  for (const isHeard of [true, false, true]) {
    if (isHeard) diagnostics.subscribe('http.client.request.created', hear)
    const { outcome, problems, drift } = await replayTape(readTape(join(dir, 'x.tape.jsonl')), agent)
    replayed.push([outcome.status === 'returned' && outcome.value, problems, drift])
    diagnostics.unsubscribe('http.client.request.created', hear)
  }
  expect(replayed).toEqual(Array.from({ length: 3 }, () => [['hello', 'hello', 'hello'], [], []]))
  expect(heard).toEqual(['/', '/', '/', '/', '/', '/'])
})

/** On a connection of its own. */
function ask(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const made = request(url, { method: 'POST', agent: new Agent() }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (piece: string) => (text += piece))
    response.on('end', () => resolve(text))
  })
  made.on('error', reject)
  made.end('{}')
  return promise
}
