import { once } from 'node:events'
import { Agent as HttpAgent, type ClientRequest, createServer, request as send, type RequestOptions } from 'node:http'
import http2 from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import got from 'got'
import { Client, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headerDrift } from '../../src/match/header-drift.ts'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { sentToOf } from '../../src/seam/shape.ts'
import { hostsFlag, readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((incoming, response) => {
  if (incoming.url === '/trailing') {
    response.write('ok')
    response.addTrailers({ 'x-sum': '1' })
  }
  incoming.resume().on('end', () => response.end('ok'))
})
const server2 = http2.createServer((_, response) => response.end('ok'))
let base = ''
let base2 = ''
beforeAll(async () => {
  await Promise.all([server, server2].map((one) => once(one.listen(0, '127.0.0.1'), 'listening')))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  base2 = `http://127.0.0.1:${(server2.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  server2.close()
})

type Method = 'GET' | 'POST'
type Agent = (method: Method, host?: string) => () => Promise<string>

const stated = (host: string | undefined) => (host === undefined ? {} : { host })

const clients: readonly (readonly [name: string, agent: Agent])[] = [
  ['undici', (method, host) => async () => (await request(`${base}/a`, { method, headers: stated(host) })).body.text()],
  [
    'a client of undici',
    (method, host) => async () => {
      const client = new Client(base)
      const { body } = await client.request({ path: '/a', method, headers: stated(host) })
      const text = await body.text()
      await client.close()
      return text
    },
  ],
  ['node:http', (method, host) => () => got(`${base}/a`, { method, headers: stated(host) }).text()],
  [
    'node:http2',
    (method, host) => async () => {
      const session = http2.connect(base2)
      const stream = session.request({ ':path': '/a', ':method': method, ...stated(host) })
      let text = ''
      for await (const piece of stream.setEncoding('utf8').end()) text += String(piece)
      session.close()
      return text
    },
  ],
]

const dir = temporaryFolder('host')
let made = 0
async function record(run: () => Promise<string>): Promise<Tape> {
  const id = `run-${made++}`
  await createRecorder({ dir }).run({ agent: 'desk', id }, run)
  return readTape(join(dir, `${id}.tape.jsonl`))
}
async function judged(tape: Tape, run: () => Promise<string>): Promise<readonly string[]> {
  const result = await replayTape(tape, run)
  const drift = result.drift.map((one) => `${one.class}: ${one.recorded} -> ${one.live}`)
  return [verdictOf(result).verdict, ...drift, ...result.notCompared.map((one) => `${one.path}: ${one.why}`)]
}

describe.each(clients)('the Host header of %s', (name, agent) => {
  test('names the host that is asked: another one is another host', async () => {
    const tape = await record(agent('POST', 'shop.example'))
    expect(await judged(tape, agent('POST', 'shop.example'))).toEqual(['same'])
    const changed = 'destination: http://shop.example -> http://bank.example'
    expect(await judged(tape, agent('POST', 'bank.example'))).toEqual(['different', changed])
    expect((await judged(tape, agent('POST')))[0]).toBe('different')
    const read = await record(agent('GET'))
    const [verdict, drift] = await judged(read, agent('GET', 'shop.example'))
    expect([verdict, drift]).toEqual(['unproven', expect.stringMatching(/^endpoint: .*:\d+ -> http:\/\/shop.example$/)])
  })

  test('is a spelling where it names the host of the address', async () => {
    const { host } = new URL(name === 'node:http2' ? base2 : base)
    expect(await judged(await record(agent('POST')), agent('POST', host))).toEqual(['same'])
    expect(await judged(await record(agent('POST', host)), agent('POST'))).toEqual(['same'])
  })
})

test.each(clients.filter(([name]) => name !== 'node:http2'))(
  'the Host header of %s says nothing of where the connection leads: another machine is another host',
  async (_, agent) => {
    const tape = await record(agent('POST', 'shop.example'))
    const own = base
    // Nobody answers there, and nobody has to. `localhost` is the same machine.
    const at = async (host: string): Promise<readonly string[]> => {
      base = own.replace('127.0.0.1', host)
      try {
        return await judged(tape, agent('POST', 'shop.example'))
      } finally {
        base = own
      }
    }
    expect(await at('localhost')).toEqual(['same'])
    const [verdict, drift] = await at('192.0.2.7')
    const moved = /^destination: http:\/\/127\.0\.0\.1.* -> http:\/\/192\.0\.2\.7/
    expect([verdict, drift]).toEqual(['different', expect.stringMatching(moved)])
  },
)

test.each([
  ...clients.filter(([name]) => name !== 'node:http2'),
  [
    'fetch',
    (method: Method, host?: string) => async () => (await fetch(`${base}/a`, { method, headers: stated(host) })).text(),
  ] as const,
])('the Host header of %s may name this machine otherwise than the connection does', async (name, agent) => {
  const own = base
  const { host } = new URL(own)
  const other = () => {
    base = own.replace('127.0.0.1', 'localhost')
    return agent('POST', host)().finally(() => (base = own))
  }
  const plain = agent('POST')
  expect(await judged(await record(plain), other)).toEqual(['same'])
  expect(await judged(await record(other), plain)).toEqual(['same'])
  // Another machine under the same header is no name of this one.
  const away = () => {
    base = own.replace('127.0.0.1', '192.0.2.7')
    return agent('POST', host)().finally(() => (base = own))
  }
  if (name !== 'fetch') expect((await judged(await record(plain), away))[0]).toBe('different')
})

/** A request of `node:http`, which may be changed until it is sent. */
const sending =
  (options: RequestOptions = {}, change: (request: ClientRequest) => void = () => {}, to = base) =>
  () =>
    new Promise<string>((resolve, reject) => {
      const request = send(`${to}/a`, { method: 'POST', ...options }, (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (text += piece))
          .on('end', () => resolve(text))
      })
      change(request)
      request.on('error', reject).end('{"pay":100}')
    })
const elsewhere = (): string => base.replace('127.0.0.1', '127.0.0.2')
const hostLater = (host: string) => (request: ClientRequest) => void request.setHeader('Host', host)
const flat = (host: string): RequestOptions => ({ headers: ['content-type', 'text/plain', 'host', host] })
const ownHost = (): string => new URL(base).host

test.each<[how: string, plain: () => () => Promise<string>, changed: () => () => Promise<string>]>([
  [
    'a Host header that is set later',
    () => sending({}, hostLater(ownHost())),
    () => sending({}, hostLater(ownHost()), elsewhere()),
  ],
  [
    'a Host header in a flat list',
    () => sending(flat(ownHost())),
    () => sending(flat(ownHost()), undefined, elsewhere()),
  ],
  ['a tenant that is set later', () => sending({}, hostLater('a.example')), () => sending({}, hostLater('b.example'))],
  ['a tenant in a flat list', () => sending(flat('a.example')), () => sending(flat('b.example'))],
  ['the host of its agent', () => sending(), () => sending({ agent: new HttpAgent({ host: '127.0.0.2' } as object) })],
  ['the port of its agent', () => sending(), () => sending({ agent: new HttpAgent({ port: 9 } as object) })],
  [
    'another way to connect on its agent',
    () => sending(),
    () => {
      const agent = new HttpAgent()
      agent.createConnection = () => connect(Number(new URL(base).port), '127.0.0.2')
      return sending({ agent })
    },
  ],
  ['a whole address as its target', () => sending(), () => sending({ path: 'http://other.example/a' })],
])('node:http sent elsewhere by %s is another destination, and the same is the same', async (_, plain, changed) => {
  const tape = await record(plain())
  expect(await judged(tape, plain())).toEqual(['same'])
  expect((await judged(tape, changed()))[0]).toBe('different')
})

test('connections to two addresses of IPv6 lead to two hosts, and one to this machine to any of its names', () => {
  const drift = (was: string, is: string) =>
    headerDrift([[':sent-to', was]], [[':sent-to', is]], { isWhole: true, otherHost: () => 'destination' }).length
  expect(drift('http://2001:db8::1', 'http://2001:db8::2')).toBe(1)
  expect(drift('http://2001:db8::1', 'http://[2001:db8::1]')).toBe(0)
  expect(drift('http://::1', 'http://localhost')).toBe(0)
})

test('a connection that leads elsewhere than its Host header says is seen among others that do not', () => {
  const beside = (host: string) => sentToOf({ protocol: 'http:', host, path: '/a' }, 'shop.example:8080')
  const elsewhere = [[':sent-to', 'http://192.0.2.7']]
  const hosts = ['shop.example', '192.0.2.7', 'shop.example', '192.0.2.7', '192.0.2.7']
  expect(hosts.map(beside)).toEqual([[], elsewhere, [], elsewhere, elsewhere])
})

test('a Host header unlike the address is listed as not compared where an older recorder did not write it down', async () => {
  const [, agent] = clients[0]!
  const tape = await record(agent('POST'))
  const flags = tape.header.flags.filter((flag) => flag !== hostsFlag)
  const older = { ...tape, header: { ...tape.header, flags } }
  expect(await judged(older, agent('POST'))).toEqual(['same'])
  expect(await judged(older, agent('POST', 'shop.example'))).toEqual([
    'same',
    'headers.host: not on the tape: a Host header unlike the address',
  ])
})

test('names of trailers are compared, and what they say is listed as not compared', async () => {
  const trailing = (sum?: string) => () =>
    new Promise<string>((resolve, reject) => {
      const asked = send(`${base}/a`, { method: 'POST', headers: { trailer: 'x-sum' } }, (response) =>
        response.resume().on('end', () => resolve('ok')),
      ).on('error', reject)
      asked.write('a')
      if (sum !== undefined) asked.addTrailers({ 'x-sum': sum })
      asked.end('b')
    })
  const tape = await record(trailing('1'))
  expect(await judged(tape, trailing())).toEqual(['different', 'guards: x-sum -> (absent)'])
  const bare = await record(trailing())
  expect(await judged(bare, trailing())).toEqual(['same'])
  expect((await judged(bare, trailing('1'))).slice(0, 2)).toEqual(['different', 'guards: (absent) -> x-sum'])
  expect(await judged(tape, trailing('2'))).toEqual(['same', 'trailers: not on the tape: the trailers of a request'])
  const trailing2 = (sum: string) => async () => {
    const session = http2.connect(base2)
    const stream = session.request({ ':path': '/a', ':method': 'POST' }, { waitForTrailers: true, endStream: false })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': sum }))
    let text = ''
    for await (const piece of stream.setEncoding('utf8').end('a')) text += String(piece)
    session.close()
    return text
  }
  expect(await judged(await record(trailing2('1')), trailing2('2'))).toEqual([
    'same',
    'trailers: not on the tape: the trailers of a request',
  ])
})

test('a recording says of which answers it keeps no trailers', async () => {
  const byNode = () =>
    new Promise<string>((resolve, reject) => {
      const done = send(`${base}/trailing`, (response) =>
        response.resume().on('end', () => resolve(JSON.stringify(response.trailers))),
      )
      done.on('error', reject).end()
    })
  const byUndici = async () => {
    const { body, trailers } = await request(`${base}/trailing`)
    await body.dump()
    return JSON.stringify(trailers)
  }
  const none = async () => (await request(`${base}/a`)).body.text()
  const lost = `trailers of the answer to GET ${base}/trailing`
  expect((await record(byNode)).close?.unrecorded).toEqual([lost])
  expect((await record(byUndici)).close?.unrecorded).toEqual([lost])
  expect((await record(none)).close?.unrecorded).toBeUndefined()
})
