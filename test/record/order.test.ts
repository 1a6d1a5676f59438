import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, expect, test } from 'vitest'
import { createRecorder, message, tool } from '../../src/record/index.ts'
import { type ExchangeEvent, readTape, type Tape } from '../../src/tape/index.ts'

/** Sends the head of its answer at once, and the body when asked to. */
async function slowServer() {
  const release = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    response.writeHead(200).flushHeaders()
    request.resume()
    void release.promise.then(() => response.end('{"to":"last@example.com"}'))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, release: () => release.resolve() }
}

async function recorded(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-order-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'slow' }, agent)
  return readTape(recorder.lastTape ?? '')
}

const exchangesOf = ({ events }: Tape): readonly ExchangeEvent[] => events.filter((event) => event.kind === 'exchange')

test('placeholders are numbered as things happened, though a request is redacted when its answer is whole', async () => {
  const { port, release } = await slowServer()
  const look = tool('look', async (_: { who: string }) => 'seen')
  const tape = await recorded(async () => {
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{"from":"first@example.com"}' })
    await look({ who: 'second@example.com' })
    message('a', 'b', 'third@example.com')
    release()
    return response.text()
  })
  const [exchange] = exchangesOf(tape)
  expect(exchange?.request.body).toBe('{"from":"redacted-1@email.invalid"}')
  expect(exchange?.response?.chunks.map(([, , text]) => text)).toEqual(['{"to":"redacted-4@email.invalid"}'])
  const others = tape.events.flatMap((event) => ('args' in event ? [event.args] : 'body' in event ? [event.body] : []))
  expect(others).toEqual([{ who: 'redacted-2@email.invalid' }, 'redacted-3@email.invalid'])
})

test('a request that goes on after its answer began is redacted as far as it had come, and whole in the end', async () => {
  const { port, release } = await slowServer()
  const tape = await recorded(
    () =>
      new Promise((resolve, reject) => {
        const asked = httpRequest({ host: '127.0.0.1', port, method: 'POST' }, (response) => {
          asked.end('munity second@example.com')
          release()
          response.resume().on('end', resolve)
        })
        asked.on('error', reject)
        asked.write('first@example.com')
      }),
  )
  // The first was the address that seemed to be there when the answer began.
  expect(exchangesOf(tape)[0]?.request.body).toBe('redacted-2@email.invalid redacted-3@email.invalid')
})
