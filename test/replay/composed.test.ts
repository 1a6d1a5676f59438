import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Agent,
  type Dispatcher,
  fetch as undiciFetch,
  getGlobalDispatcher,
  interceptors,
  request,
  RetryAgent,
  setGlobalDispatcher,
} from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, type ReplayResult } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// A global dispatcher of the package `undici` that changes requests: Node's own `fetch` asks it too.
const heard: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
const server = createServer((incoming, response) => {
  let body = ''
  incoming.setEncoding('utf8').on('data', (piece: string) => (body += piece))
  incoming.on('end', () => {
    heard.push({ path: incoming.url ?? '', headers: incoming.headers, body })
    response.statusCode = incoming.url === '/flaky' && heard.length === 1 ? 503 : 200
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ tenant: incoming.headers['x-tenant-id'] ?? 'none', path: incoming.url, body }))
  })
})
let base = ''
const before = getGlobalDispatcher()
beforeAll(async () => {
  await installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  heard.length = 0
  setGlobalDispatcher(before)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
async function recorded(agent: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir: temporaryFolder('harvest-composed-') })
  await recorder.run({ agent: 'a' }, agent)
  return readTape(recorder.lastTape!)
}

const composed = (change: (options: Dispatcher.DispatchOptions) => Partial<Dispatcher.DispatchOptions>): Dispatcher =>
  new Agent().compose((dispatch) => (options, handler) => dispatch({ ...options, ...change(options) }, handler))
const withHeader = (tenant: string): Dispatcher =>
  composed(({ headers }) => ({
    headers: [...flat(headers), 'x-tenant-id', tenant],
  }))
function flat(headers: Dispatcher.DispatchOptions['headers']): string[] {
  if (Array.isArray(headers)) return headers as string[]
  return Object.entries((headers ?? {}) as Record<string, string>).flat()
}

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"A-17"}' }
const asks: { readonly [name: string]: () => Promise<unknown> } = {
  'fetch of Node': async () => (await fetch(`${base}/orders`)).json(),
  'fetch of Node with a body': async () => (await fetch(`${base}/orders`, post)).json(),
  'fetch of undici': async () => (await undiciFetch(`${base}/orders`, post)).json(),
  'request of undici': async () => (await request(`${base}/orders`, { method: 'POST', body: post.body })).body.json(),
}

describe.for(Object.entries(asks))('%s', ([, ask]) => {
  test('through a global dispatcher that adds a header is replayed through it', async () => {
    setGlobalDispatcher(withHeader('acme'))
    const tape = await recorded(ask)
    expect(heard).toMatchObject([{ headers: { 'x-tenant-id': 'acme' } }])
    const same = await replayTape(tape, ask)
    expect([codes(same), same.drift, same.outcome]).toEqual([
      [],
      [],
      { status: 'returned', value: expect.objectContaining({ tenant: 'acme' }) },
    ])
    expect(heard).toHaveLength(1)
  })

  test('through one that changed is another request', async () => {
    setGlobalDispatcher(withHeader('acme'))
    const tape = await recorded(ask)
    for (const dispatcher of [withHeader('globex'), new Agent(), composed(() => ({ path: '/refunds' }))]) {
      setGlobalDispatcher(dispatcher)
      expect(codes(await replayTape(tape, ask))).not.toEqual([])
    }
    expect(heard).toHaveLength(1)
  })
})

test.for([
  ['the interceptor of undici', () => new Agent().compose(interceptors.retry({ minTimeout: 1 }))],
  ['a RetryAgent', () => new RetryAgent(new Agent(), { minTimeout: 1 })],
] as const)('a request that %s repeats is repeated in a replay', async ([, made]) => {
  const ask = async (): Promise<unknown> => {
    setGlobalDispatcher(made())
    return (await fetch(`${base}/flaky`)).status
  }
  const tape = await recorded(ask)
  expect([heard.length, tape.close]).toMatchObject([2, { outcome: { value: 200 } }])
  const result = await replayTape(tape, ask)
  expect([codes(result), result.outcome]).toEqual([[], { status: 'returned', value: 200 }])
  expect(heard).toHaveLength(2)
})

test('one that stays from the recording on repeats what it repeated then, on no connection of then', async () => {
  setGlobalDispatcher(new Agent().compose(interceptors.retry({ minTimeout: 1 })))
  const ask = async (): Promise<unknown> => (await fetch(`${base}/flaky`)).status
  const tape = await recorded(ask)
  const result = await replayTape(tape, ask)
  expect([codes(result), result.outcome, heard.length]).toEqual([[], { status: 'returned', value: 200 }, 2])
})

test('an interceptor sees the body of a request in a replay too', async () => {
  setGlobalDispatcher(
    composed(({ body, headers }) => ({
      headers: [...flat(headers), 'x-tenant-id', body === null || body === undefined ? 'without' : 'with'],
    })),
  )
  const ask = async (): Promise<unknown> => (await fetch(`${base}/orders`, post)).json()
  const tape = await recorded(ask)
  expect(tape.close).toMatchObject({ outcome: { value: { tenant: 'with', body: post.body } } })
  const result = await replayTape(tape, ask)
  expect([codes(result), result.drift]).toEqual([[], []])
})
