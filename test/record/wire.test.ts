import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import axios from 'axios'
import got from 'got'
import { request as undiciRequest } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRecorder, type RecorderOptions } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { type ExchangeEvent, readTape, requestBytes, responseBytes, type Tape } from '../../src/tape/index.ts'

const secret = 'AKIAQ7WZ3MNB5XKD2LRT'
let server: http.Server
let raw: Server
let base = ''
let h2base = ''
let h2: http2.Http2Server

/** Answers what a test needs: statuses without a body, redirects, odd pieces, a secret under gzip, an echo. */
function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  const body: Buffer[] = []
  request.on('data', (chunk: Buffer) => body.push(chunk))
  request.on('end', () => {
    const path = (request.url ?? '').split('?')[0]
    if (path === '/204' || path === '/304') return void response.writeHead(Number(path.slice(1))).end()
    if (path === '/from') return void response.writeHead(307, { location: '/to' }).end('moved')
    if (path === '/head')
      return void response.writeHead(200, { 'content-length': 5 }).end(request.method === 'HEAD' ? '' : 'hello')
    if (path === '/split') {
      const bytes = Buffer.from('data: füß 🦊\n\n')
      for (const byte of bytes) response.write(Buffer.from([byte]))
      return void response.end()
    }
    if (path === '/events') {
      for (let i = 0; i < 500; i++) response.write(`data: ${i}\n\n`)
      return void response.end()
    }
    if (path === '/twice')
      return void response.setHeader('link', ['<a>; rel=next', '<b>; rel=prev']).setHeader('vary', ['a', 'b']).end()
    if (path === '/gzip') {
      return void response
        .writeHead(200, { 'content-encoding': 'gzip', 'set-cookie': 'session=hidden' })
        .end(gzipSync(`key ${secret}`))
    }
    response.setHeader('content-type', 'application/octet-stream')
    response.end(Buffer.concat(body))
  })
}

beforeAll(async () => {
  await installReplay()
  // A busy test may think for longer than a server usually keeps an idle connection.
  server = http.createServer({ keepAliveTimeout: 120_000 }, answer)
  h2 = http2.createServer((request, response) => answer(request as never, response as never))
  raw = createServer((socket) => socket.end('bye'))
  for (const one of [server, h2, raw]) await new Promise<void>((ready) => one.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  h2base = `http://127.0.0.1:${(h2.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await Promise.all([server, h2, raw].map((one) => new Promise((done) => one.close(done))))
})

async function record<T>(
  agent: () => T | Promise<T>,
  options: RecorderOptions = {},
): Promise<{ tape: Tape; text: string; answer: T }> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-wire-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, ...options })
  const given = await recorder.run({ agent: 'wire' }, agent)
  const path = recorder.lastTape ?? ''
  return { tape: readTape(path), text: readFileSync(path, 'utf8'), answer: given as T }
}

const exchanges = ({ events }: Tape): readonly ExchangeEvent[] => events.filter((event) => event.kind === 'exchange')

/** Records an agent, replays it twice, and expects the same three times. */
async function expectSameThrice<T>(agent: () => Promise<T>): Promise<Tape> {
  const { tape, answer: first } = await record(agent)
  for (const _ of [1, 2]) {
    const { problems, outcome, comparison } = await replayTape(tape, agent)
    expect(problems.map(({ message }) => message)).toEqual([])
    expect(outcome).toEqual({ status: 'returned', value: first })
    expect(comparison.identical).toBe(comparison.recorded)
  }
  return tape
}

describe('request bodies of every kind are recorded whole, and replayed byte-equal twice', () => {
  const big = 'x'.repeat(5 * 1024 * 1024)
  const kinds: Readonly<Record<string, () => NonNullable<RequestInit['body']>>> = {
    text: () => 'füß 🦊',
    bytes: () => Buffer.from([0, 255, 1, 254]),
    'an array buffer': () => new Uint8Array([1, 2, 3]).buffer,
    'search parameters': () => new URLSearchParams({ q: 'tea & cake' }),
    'a blob': () => new Blob(['blob'], { type: 'text/plain' }),
    'a stream': () => ReadableStream.from([Buffer.from('one '), Buffer.from('two')]),
    'five megabytes': () => big,
  }
  test.for(Object.keys(kinds))('%s', async (kind) => {
    const post = async () => {
      const response = await fetch(`${base}/echo`, {
        method: 'POST',
        body: kinds[kind]!(),
        duplex: 'half',
      } as RequestInit)
      return Buffer.from(await response.arrayBuffer()).toString('base64')
    }
    const tape = await expectSameThrice(post)
    const [exchange] = exchanges(tape)
    expect(requestBytes(exchange!).toString('base64')).toBe(await post())
    expect(responseBytes(exchange!)).toEqual(requestBytes(exchange!))
  })

  const byHttp = (method: string, headers: http.OutgoingHttpHeaders) => (body: string) =>
    new Promise<string>((resolve, reject) => {
      const asked = http.request(`${base}/echo`, { method, headers }, (answer) => {
        answer.setEncoding('utf8')
        let text = ''
        answer.on('data', (piece: string) => (text += piece)).on('end', () => resolve(text))
      })
      asked.on('error', reject)
      asked.end(body)
    })
  const withAxios = (method: string) => async (body: string) =>
    (await axios.request<string>({ url: `${base}/echo`, method, data: body, responseType: 'text' })).data
  test.each(
    ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'].flatMap((method) => [
      [method, 'node:http, with its length', byHttp(method, { 'content-length': 2 })] as const,
      [method, 'node:http, in chunks', byHttp(method, { 'transfer-encoding': 'chunked' })] as const,
      [method, 'axios', withAxios(method)] as const,
    ]),
  )('the body of a %s of %s is replayed and compared', async (method, _, send) => {
    const tape = await expectSameThrice(() => send('ab'))
    expect(requestBytes(exchanges(tape)[0]!).toString()).toBe('ab')
    const { problems } = await replayTape(tape, () => send('ac'))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
    expect(exchanges(tape)[0]!.method).toBe(method)
  })

  test('a content-encoding that the body does not have is compared, and any other one is not', async () => {
    const post = (body: string | Buffer, coding?: string) => async () => {
      const headers = { 'content-type': 'text/plain', ...(coding !== undefined && { 'content-encoding': coding }) }
      return (await fetch(`${base}/204`, { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) })).status
    }
    const [plain, packed] = ['some text', gzipSync('some text')]
    const drift = async (tape: Tape, agent: () => Promise<number>) => {
      const run = await replayTape(tape, agent)
      expect(run.problems).toEqual([])
      return run.drift.map(({ class: name, path, recorded, live }) => [name, path, recorded, live])
    }
    const [ofPlain, ofPacked, ofFalse] = [
      await expectSameThrice(post(plain)),
      await expectSameThrice(post(packed, 'gzip')),
      await expectSameThrice(post(plain, 'gzip')),
    ]
    const isNew = [['headers', 'content-encoding', '(none)', 'gzip']]
    expect(await drift(ofPlain, post(plain, 'gzip'))).toEqual(isNew)
    expect(await drift(ofPacked, post(plain, 'gzip'))).toEqual(isNew)
    expect(await drift(ofFalse, post(plain))).toEqual([['headers', 'content-encoding', 'gzip', '(none)']])
    expect(await drift(ofFalse, post(plain, 'br'))).toEqual([['headers', 'content-encoding', 'gzip', 'br']])
    expect(await drift(ofPacked, post(plain))).toEqual([])
    expect(await drift(ofPlain, post(packed, 'gzip'))).toEqual([])
    expect(await drift(ofPlain, post(plain, 'identity'))).toEqual([])
  })

  test('a form with a boundary of one letter is compared without it, and with all its other letters', async () => {
    const post = (boundary: string, text: string) => async () => {
      const body = `--${boundary}\r\ncontent-disposition: form-data; name=b\r\n\r\n${text}\r\n--${boundary}--\r\n`
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
      return (await fetch(`${base}/204`, { method: 'POST', headers, body })).status
    }
    const tape = await expectSameThrice(post('b', 'bob'))
    expect((await replayTape(tape, post('c', 'bob'))).problems).toEqual([])
    expect((await replayTape(tape, post('c', 'bob'))).drift).toEqual([])
    expect((await replayTape(tape, post('c', 'coc'))).problems.length).toBe(1)
  })

  test('a form with a file, its boundary drawn anew each time', async () => {
    const tape = await expectSameThrice(async () => {
      const form = new FormData()
      form.set('name', 'Greta')
      form.set('file', new Blob(['content of the file']), 'file.txt')
      return (await fetch(`${base}/204`, { method: 'POST', body: form })).status
    })
    expect(requestBytes(exchanges(tape)[0]!).toString()).toContain('content of the file')
  })
})

describe('answers of every kind', () => {
  test('answers without a body, and HEAD', async () => {
    await expectSameThrice(async () => {
      const seen: unknown[] = []
      for (const path of ['/204', '/304']) seen.push((await fetch(base + path)).status)
      const head = await fetch(`${base}/head`, { method: 'HEAD' })
      seen.push(head.headers.get('content-length'), await head.text())
      const { headers, body } = await undiciRequest(`${base}/head`, { method: 'HEAD' })
      seen.push(headers['content-length'], await body.text())
      const viaHttp = await new Promise<http.IncomingMessage>((resolve) =>
        http.request(`${base}/head`, { method: 'HEAD' }, resolve).end(),
      )
      viaHttp.resume()
      return [...seen, viaHttp.headers['content-length']]
    })
  })

  test('a header that is sent twice is there twice', async () => {
    await expectSameThrice(async () => {
      const { headers } = await fetch(`${base}/twice`)
      const raw = await new Promise<readonly string[]>((done) =>
        http.get(`${base}/twice`, (answer) => void answer.resume().on('end', () => done(answer.rawHeaders))),
      )
      return [headers.get('link'), headers.get('vary'), raw.filter((text) => /rel=|^[ab]$/.test(text))]
    })
  })

  test('a redirect is two exchanges', async () => {
    const tape = await expectSameThrice(async () => {
      const response = await fetch(`${base}/from`, { method: 'POST', body: 'kept' })
      return [response.redirected, new URL(response.url).pathname, await response.text()]
    })
    expect(exchanges(tape).map(({ url, response }) => [new URL(url).pathname, response?.status])).toEqual([
      ['/from', 307],
      ['/to', 200],
    ])
  })

  test('characters split over pieces', async () => {
    await expectSameThrice(async () => (await fetch(`${base}/split`)).text())
  })

  test('five hundred events', async () => {
    await expectSameThrice(async () => (await (await fetch(`${base}/events`)).text()).split('\n\n').length)
  })

  test('an answer nobody reads is still thrown away by Node, not kept open by the recorder', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    await record(async () => {
      for (let i = 0; i < 3; i++) {
        // No 'response' listener: Node itself empties the answer, or the second request would wait for ever.
        const request = http.request(`${base}/events`, { agent }).end()
        expect(request.listenerCount('response')).toBe(0)
        await new Promise((resolve) => request.on('close', resolve))
      }
    })
    agent.destroy()
  })
})

describe('secrets', () => {
  test('no key reaches the disk: not from headers, cookies, the address, nor from under gzip', async () => {
    const hidden = [
      'cookie-value-77',
      'sk-proj-Zq3vT8mN1cX5rLw9KdYb2HfJ7sPgEa4u',
      'url-key-4711-abcdef',
      'session=hidden',
      secret,
    ]
    const { text, tape } = await record(async () => {
      const headers = { cookie: `id=${hidden[0]}`, authorization: `Bearer ${hidden[1]}`, 'x-api-key': hidden[1]! }
      await (await fetch(`${base}/gzip?api_key=${hidden[2]}`, { headers })).text()
      await new Promise((resolve) =>
        http.get(`${base}/gzip`, { headers, auth: 'greta:hunter2' }, (response) =>
          response.resume().on('end', resolve),
        ),
      )
    })
    for (const value of [...hidden, 'hunter2']) expect(text).not.toContain(value)
    expect(exchanges(tape)).toHaveLength(2)
    const bytes = responseBytes(exchanges(tape)[0]!)
    expect(
      Buffer.from(
        await new Response(
          new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream('gzip')),
        ).arrayBuffer(),
      ).toString(),
    ).not.toContain(secret)
  })
})

describe('what the seam cannot record is listed', () => {
  const unrecorded = async (agent: () => unknown): Promise<readonly string[]> => {
    const { tape } = await record(async () => void (await agent()))
    expect(tape.close?.incomplete).toBeUndefined()
    return tape.close?.unrecorded ?? []
  }

  test('a raw socket', async () => {
    const { port } = raw.address() as AddressInfo
    const agent = () => new Promise((resolve) => connect(port, '127.0.0.1').on('close', resolve).resume())
    expect(await unrecorded(agent)).toEqual([`socket 127.0.0.1:${port}`])
  })

  test('a worker thread', async () => {
    expect(
      await unrecorded(() => new Promise((resolve) => new Worker('0', { eval: true }).on('exit', resolve))),
    ).toEqual(['worker thread'])
  })

  test('a child that says no JSON, as one that makes requests of its own', async () => {
    const agent = () => new Promise((resolve) => spawn(process.execPath, ['-e', '0']).on('exit', resolve))
    expect(await unrecorded(agent)).toEqual([`child process ${process.execPath} -e 0`])
  })

  test('an upgrade to another protocol than WebSocket', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'h2c' }
    const agent = () => new Promise((resolve) => http.get(`${base}/socket`, { headers }).on('close', resolve))
    expect(await unrecorded(agent)).toEqual([`h2c ${base}/socket`])
  })

  test('without the secrets in its command line and its address', async () => {
    const key = ['gh', 'p_16C7e42F292c6912E7710c838347Ae178B4a'].join('')
    const child = () =>
      new Promise((resolve) => spawn(process.execPath, ['-e', '0', key], { stdio: 'ignore' }).on('exit', resolve))
    expect(await unrecorded(child)).toEqual([`child process ${process.execPath} -e 0 redacted-github-token-1`])
    const headers = { connection: 'Upgrade', upgrade: 'h2c' }
    const upgrade = () => new Promise((resolve) => http.get(`${base}/?key=${key}`, { headers }).on('close', resolve))
    expect(await unrecorded(upgrade)).toEqual([`h2c ${base}/?key=redacted-github-token-1`])
  })

  test('and ordinary HTTP clients never are', async () => {
    const clients = [
      async () => (await fetch(`${base}/echo`)).text(),
      async () => (await undiciRequest(`${base}/echo`)).body.text(),
      () => axios.get(`${base}/echo`),
      () => got(`${base}/echo`),
      () =>
        new Promise((resolve) =>
          http.get(`${base}/echo`, { agent: new http.Agent() }, (response) => response.resume().on('end', resolve)),
        ),
      async () => {
        const session = http2.connect(h2base)
        const stream = session.request({ ':path': '/echo' })
        await new Promise((resolve) => stream.resume().on('end', resolve).end())
        session.close()
      },
    ]
    for (const client of clients) expect(await unrecorded(client), String(client)).toEqual([])
  })
})
