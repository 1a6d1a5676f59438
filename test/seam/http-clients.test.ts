import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ownFolder } from '../../src/own-files.ts'
import { createRecorder } from '../../src/record/index.ts'
import { isOfUndici } from '../../src/seam/http-clients.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

const agents = {
  http2: `import http2 from 'node:http2'
export async function agent(port) {
  const session = http2.connect('http://127.0.0.1:' + port)
  await new Promise((done) => session.request({ ':path': '/' }).resume().once('close', done))
  session.close()
}`,
  socket: `import net from 'node:net'
export async function agent(port) {
  const socket = net.connect(port, '127.0.0.1')
  await new Promise((done) => socket.resume().once('close', done).end())
}`,
}

/** Records an agent whose module lies in a folder of this name. */
async function recordIn(folder: string, name: keyof typeof agents, port: number): Promise<Tape> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-folder-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, folder))
  const file = join(dir, folder, 'agent.mjs')
  writeFileSync(file, agents[name])
  const { agent } = (await import(file)) as { agent: (port: number) => Promise<void> }
  await createRecorder({ dir }).run({ agent: 'x', id: 'x' }, () => agent(port))
  return readTape(join(dir, 'x.tape.jsonl'))
}

async function listening(server: net.Server): Promise<number> {
  onTestFinished(() => void server.close())
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return (server.address() as AddressInfo).port
}

test.each(['app', 'undici', 'http2'])('a request over HTTP/2 is recorded in a project called %s', async (folder) => {
  const port = await listening(http2.createServer((_, response) => response.end('hello')))
  const { events } = await recordIn(folder, 'http2', port)
  expect(events.map(({ kind }) => kind)).toContain('exchange')
})

test.each(['app', 'undici', 'http2', 'interceptors'])(
  'a socket of its own is unrecorded in a project called %s',
  async (folder) => {
    const port = await listening(net.createServer((socket) => socket.end()))
    const { close } = await recordIn(folder, 'socket', port)
    expect(close?.unrecorded).toEqual([expect.stringContaining(`127.0.0.1:${port}`)])
  },
)

test('undici is known in Node and in packages, and no file of ours is taken for it', () => {
  const stack = (frame: string): { stack: string } => ({ stack: `Error\n    at request (${frame}:1:1)` })
  expect(isOfUndici(stack('node:internal/deps/undici/undici'))).toBe(true)
  expect(isOfUndici(stack('/app/node_modules/undici/lib/core/connect.js'))).toBe(true)
  expect(isOfUndici(stack(String.raw`C:\app\node_modules\.pnpm\undici@8.0.0\node_modules\undici\index.js`))).toBe(true)
  expect(isOfUndici(stack('/app/node_modules/next/dist/compiled/undici/index.js'))).toBe(true)
  expect(isOfUndici(stack('/app/node_modules/undici7/lib/core/connect.js'))).toBe(true)
  expect(isOfUndici(stack('/app/node_modules/undicious/index.js'))).toBe(false)
  expect(isOfUndici(stack('/home/ada/undici/agent.js'))).toBe(false)
  expect(isOfUndici(stack(`${ownFolder.href}node_modules/undici-DomrTLun.js`))).toBe(false)
})
