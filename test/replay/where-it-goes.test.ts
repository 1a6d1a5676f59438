import { once } from 'node:events'
import { createServer, request as send, Agent as HttpAgent, type RequestOptions } from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import axios from 'axios'
import got from 'got'
import { Agent, Client, fetch, getGlobalDispatcher, pipeline, Pool, request, setGlobalDispatcher, stream } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { sameSocket } from '../../src/match/sockets.ts'
import { socketPlace } from '../../src/seam/connection.ts'
import { readTape, socketsFlag, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dir = temporaryFolder('where')
const [one, two] = [join(dir, 'a.sock'), join(dir, 'b.sock')]
const servers = [one, two, 0].map((at) => {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.end(incoming.url))
  })
  new WebSocketServer({ server }).on('connection', (socket) => socket.send('hi'))
  return { at, server }
})
const server2 = http2.createServer((_, response) => response.end('ok'))
const one2 = join(dir, 'a2.sock')
let base = ''
beforeAll(async () => {
  await Promise.all(
    [...servers, { at: one2, server: server2 }].map(({ at, server }) => once(server.listen(at), 'listening')),
  )
  base = `http://127.0.0.1:${(servers[2]!.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  for (const { server } of servers) server.closeAllConnections()
  for (const server of [...servers.map((each) => each.server), server2]) server.close()
})

type Method = 'GET' | 'POST'
/** Asks over the socket at `path`; without one, over the network. */
type Ask = (method: Method, path?: string) => () => Promise<unknown>

const asked = (options: RequestOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const port = Number(new URL(base).port)
    send({ path: '/x', port, ...options }, (response) => response.resume().on('end', () => resolve('ok')))
      .on('error', reject)
      .end()
  })
const connected = (path: string | undefined): Agent =>
  new Agent(path === undefined ? {} : { connect: { socketPath: path } })

const clients: readonly (readonly [name: string, ask: Ask])[] = [
  ['node:http', (method, socketPath) => () => asked({ method, ...(socketPath && { socketPath }) })],
  [
    'an agent of node:http',
    (method, socketPath) => () =>
      asked({ method, ...(socketPath && { agent: new HttpAgent({ socketPath } as object) }) }),
  ],
  [
    'a connection of its own',
    (method, path) => () => asked({ method, ...(path && { createConnection: () => net.connect({ path }) }) }),
  ],
  [
    'axios',
    (method, path) => async () => (await axios({ method, url: `${base}/x`, ...(path && { socketPath: path }) })).status,
  ],
  [
    'got',
    (method, path) => async () =>
      (await got(path ? `unix:${path}:/x` : `${base}/x`, { method, enableUnixSockets: true, retry: { limit: 0 } }))
        .body,
  ],
  [
    'undici with an agent',
    (method, path) => async () => (await request(`${base}/x`, { method, dispatcher: connected(path) })).body.text(),
  ],
  [
    'fetch of undici',
    (method, path) => async () => (await fetch(`${base}/x`, { method, dispatcher: connected(path) })).text(),
  ],
  ...[Client, Pool].map((Made): readonly [string, Ask] => [
    `a ${Made.name} of undici`,
    (method, path) => async () => {
      const made = new Made(base, path === undefined ? {} : { socketPath: path })
      const { body } = await made.request({ path: '/x', method })
      const text = await body.text()
      await made.close()
      return text
    },
  ]),
  [
    'undici with an agent for all',
    (method, path) => async () => {
      const before = getGlobalDispatcher()
      setGlobalDispatcher(connected(path))
      try {
        return await (await request(`${base}/x`, { method })).body.text()
      } finally {
        setGlobalDispatcher(before)
      }
    },
  ],
]

let made = 0
async function record(run: () => Promise<unknown>): Promise<Tape> {
  const id = `run-${made++}`
  await createRecorder({ dir }).run({ agent: 'desk', id }, run)
  return readTape(join(dir, `${id}.tape.jsonl`))
}
async function judged(tape: Tape, run: () => Promise<unknown>): Promise<readonly string[]> {
  const result = await replayTape(tape, run)
  const drift = result.drift.map((each) => `${each.class}: ${each.recorded} -> ${each.live}`)
  const problems = result.problems.filter(({ code }) => code !== 'HARVEST_DRIFT').map(({ code }) => code)
  return [
    verdictOf(result).verdict,
    ...drift,
    ...problems,
    ...result.notCompared.map((each) => `${each.path}: ${each.why}`),
  ]
}

const shown = (path: string): string => `(temporary)/${path.split('/').slice(-2).join('/')}`

describe.each(clients)('the unix socket of %s', (_, ask) => {
  test('is where its request goes: another one is another place', async () => {
    const tape = await record(ask('POST', one))
    expect(await judged(tape, ask('POST', one))).toEqual(['same'])
    expect(await judged(tape, ask('POST', two))).toContain(`destination: ${shown(one)} -> ${shown(two)}`)
    expect((await judged(tape, ask('POST', two)))[0]).toBe('different')
    const read = await record(ask('GET', one))
    expect(await judged(read, ask('GET', two))).toEqual(['unproven', `endpoint: ${shown(one)} -> ${shown(two)}`])
  })

  test('makes another place of the network', async () => {
    const tape = await record(ask('POST'))
    expect(await judged(tape, ask('POST'))).toEqual(['same'])
    expect((await judged(tape, ask('POST', one)))[0]).toBe('different')
  })
})

test('the unix socket of a session of HTTP/2 is where its requests go, and one that its code connects is not compared', async () => {
  const ask2 = (options: object) => async () => {
    const session = http2.connect('http://desk', options)
    const stream = session.request({ ':path': '/x', ':method': 'POST' })
    let text = ''
    for await (const piece of stream.setEncoding('utf8').end()) text += String(piece)
    session.close()
    return text
  }
  const tape = await record(ask2({ path: one2 }))
  expect(await judged(tape, ask2({ path: one2 }))).toEqual(['same'])
  expect(await judged(tape, ask2({ path: two }))).toEqual(['different', `destination: ${shown(one2)} -> ${shown(two)}`])
  expect(await judged(tape, ask2({ createConnection: () => net.connect({ path: two }) }))).toEqual(['same', unseen])
})

test('the unix socket of a WebSocket is where it is opened', async () => {
  const hear = (path: string) => async () => {
    const socket = new WebSocket(`ws+unix:${path}:/x`)
    const [text] = (await once(socket, 'message')) as [Buffer]
    socket.terminate()
    return String(text)
  }
  const tape = await record(hear(one))
  expect(await judged(tape, hear(one))).toEqual(['same'])
  expect(await judged(tape, hear(two))).toEqual(['different', `destination: ${shown(one)} -> ${shown(two)}`])
})

test('the host that a connection of its own leads to is compared', async () => {
  const own = (host: string) => () => asked({ createConnection: () => net.connect(Number(new URL(base).port), host) })
  const tape = await record(own('127.0.0.1'))
  expect(await judged(tape, own('localhost'))).toEqual(['same'])
  expect((await judged(tape, own('192.0.2.7')))[1]).toMatch(
    /^endpoint: tcp:\/\/127\.0\.0\.1:\d+ -> tcp:\/\/192\.0\.2\.7:\d+$/,
  )
})

const unseen = 'connection: not on the tape: where the connection leads'

test('a unix socket is listed as not compared where an older recorder did not write it down', async () => {
  const [, ask] = clients[0]!
  const tape = await record(ask('POST', one))
  const events = tape.events.map((event) =>
    event.kind === 'exchange' ? { ...event, request: { ...event.request, headers: [] } } : event,
  )
  const flags = tape.header.flags.filter((flag) => flag !== socketsFlag)
  const older = { ...tape, events, header: { ...tape.header, flags } }
  expect(await judged(older, ask('POST', one))).toEqual(['same', unseen])
  expect(await judged(older, ask('POST'))).toEqual(['same'])
})

test.each(clients.filter(([name]) => name !== 'got' && name !== 'undici with an agent for all'))(
  'a connection of %s to a unix socket that was never there fails again, and is the same',
  async (_, ask) => {
    const failing = (path: string) => () =>
      ask('POST', path)().catch((error: unknown) => String((error as { code?: string }).code))
    const tape = await record(failing(join(dir, 'none.sock')))
    expect(await judged(tape, failing(join(dir, 'none.sock')))).toEqual(['same'])
  },
)

test('a unix socket is named without what the machine adds, so that another one replays it', async () => {
  const home = process.env['HOME'] ?? ''
  expect(
    [
      'run/desk.sock',
      '/var/run/docker.sock',
      '/run/user/1000/podman.sock',
      `${home}/.docker/d.sock`,
      '/tmp/d.sock',
    ].map(socketPlace),
  ).toEqual(['run/desk.sock', '/run/docker.sock', '(runtime)/podman.sock', '~/.docker/d.sock', '(temporary)/d.sock'])
  expect(sameSocket('(temporary)/desk-aB3dE6/a.sock', '(temporary)/desk-xY1zW2/a.sock')).toBe(true)
  expect(sameSocket('(temporary)/desk-aB3dE6/a.sock', '(temporary)/desk-aB3dE6/b.sock')).toBe(false)
  expect(sameSocket('(temporary)/desk-100001/a.sock', '(temporary)/desk-100002/a.sock')).toBe(false)
  expect(sameSocket('/srv/desk-aB3dE6/a.sock', '/srv/desk-xY1zW2/a.sock')).toBe(false)
})

const queries: readonly (readonly [name: string, ask: (query: Record<string, unknown>) => () => Promise<unknown>])[] = [
  ['request', (query) => async () => (await request(`${base}/x`, { query })).body.text()],
  [
    'stream',
    (query) => async () => {
      let text = ''
      await stream(
        `${base}/x`,
        { method: 'POST', body: 'b', query },
        () => new Writable({ write: (piece, _, done) => ((text += String(piece)), done()) }),
      )
      return text
    },
  ],
  [
    'pipeline',
    (query) => async () => {
      let text = ''
      const through = pipeline(`${base}/x`, { method: 'POST', query }, ({ body }) => body)
      for await (const piece of through.end('b')) text += String(piece)
      return text
    },
  ],
  [
    'dispatch',
    (query) => () =>
      new Promise((resolve, reject) => {
        let text = ''
        getGlobalDispatcher().dispatch(
          { origin: base, path: '/x', method: 'GET', query },
          {
            onRequestStart: () => undefined,
            onResponseStart: () => undefined,
            onResponseData: (_, piece) => void (text += String(piece)),
            onResponseEnd: () => resolve(text),
            onResponseError: (_, error) => reject(error),
          },
        )
      }),
  ],
  [
    'a Client',
    (query) => async () => {
      const client = new Client(base)
      const text = await (await client.request({ path: '/x', method: 'GET', query })).body.text()
      await client.close()
      return text
    },
  ],
]

test.each(queries)('the query option of %s of undici is part of the address', async (_, ask) => {
  const tape = await record(ask({ a: '1', b: [2, 'ü'] }))
  expect(await judged(tape, ask({ a: '1', b: [2, 'ü'] }))).toEqual(['same'])
  expect(await judged(tape, ask({ a: '2', b: [2, 'ü'] }))).toContain('HARVEST_DIVERGENCE')
  expect(await judged(tape, ask({}))).toContain('HARVEST_DIVERGENCE')
})
