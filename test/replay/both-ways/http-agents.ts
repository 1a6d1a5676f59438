// Over 300 lines: one list of everything that a client of `node:http` can look at.
// Agents that look at everything a request and a response of `node:http` show.
import { once } from 'node:events'
import { Agent, request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { inspect } from 'node:util'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import axios from 'axios'
import got from 'got'
import { inReplay, type Agent as Looks } from './agents.ts'

/** Requests of the agent under way, and those that went through the interceptor. */
export const counts = { made: 0, passedOn: 0 }
const counted = new WeakSet<Socket>()

interface Asked {
  readonly path: string
  readonly body?: string | Buffer
  readonly options?: RequestOptions
}

const withBody = { 'Content-Type': 'application/json', 'X-Agent': 'of a test' }

/** Makes a request and leaves it open. */
function open(base: string, agent: Agent, { path, body = '', options }: Asked): ClientRequest {
  const isChunked = options?.headers !== undefined && 'transfer-encoding' in options.headers
  const length = isChunked ? {} : { 'content-length': Buffer.byteLength(body) }
  const headers = { ...withBody, ...length, ...options?.headers }
  const made = request(`${base}/${path}`, { method: 'POST', agent, ...options, headers })
  counts.made++
  made.once('socket', watch)
  return made
}

function watch(socket: Socket): void {
  if (counted.has(socket)) return
  counted.add(socket)
  // What @mswjs/interceptors gives to the side that answers.
  socket.on('internal:write', (chunk: unknown) => {
    if (/^[A-Z]+ \//.test(String(chunk))) counts.passedOn++
  })
}

const responseTo = (made: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    made.once('response', resolve)
    made.once('error', reject)
  })

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) text += String(piece)
  return text
}

async function send(base: string, agent: Agent, asked: Asked): Promise<string> {
  const made = open(base, agent, asked)
  made.end(asked.body)
  return textOf(await responseTo(made))
}

/** Runs with an agent whose connection is open. */
async function connected<T>(base: string, work: (agent: Agent) => Promise<T>, options = {}): Promise<T> {
  const agent = new Agent({ keepAlive: true, ...options })
  try {
    agent.on('free', watch)
    await send(base, agent, { path: 'json', body: '{}' })
    await send(base, agent, { path: 'stream', body: '{}' })
    return await work(agent)
  } finally {
    agent.destroy()
  }
}

const said = (error: unknown): string => {
  const { name, message, code } = error as Error & { code?: string }
  return `${name} ${code ?? ''}: ${message}`
}
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
const held = ({ sockets, freeSockets, requests }: Agent): unknown =>
  [sockets, freeSockets, requests].map((all) => Object.values(all).map((list) => list?.length))

const requestEvents = [
  'continue',
  'information',
  'socket',
  'prefinish',
  'finish',
  'response',
  'drain',
  'timeout',
  'abort',
  'error',
  'close',
]
const responseEvents = ['data', 'end', 'aborted', 'error', 'close']

/** Everything that happens, in order, and what is to be seen at each moment. */
function listened(made: ClientRequest, agent: Agent): { readonly log: unknown[]; readonly closed: Promise<void> } {
  const log: unknown[] = []
  let response: IncomingMessage | undefined
  const note = (name: string, detail: unknown = ''): void => {
    const { aborted, destroyed, finished, reusedSocket, writableEnded, writableFinished, socket } = made
    const ofRequest = { aborted, destroyed, finished, reusedSocket, writableEnded, writableFinished }
    const ofResponse = response && {
      complete: response.complete,
      aborted: response.aborted,
      destroyed: response.destroyed,
      ended: response.readableEnded,
    }
    log.push([name, detail, ofRequest, ofResponse, socket?.destroyed, held(agent)])
  }
  for (const name of requestEvents) {
    if (name === 'response') continue
    made.on(name, (one: unknown) => note(`request ${name}`, one instanceof Error ? said(one) : ''))
  }
  made.on('response', (got) => {
    response = got
    note('response', got.statusCode)
    for (const name of responseEvents)
      got.on(name, (one: unknown) =>
        note(name, one instanceof Error ? said(one) : one === undefined ? '' : String(one)),
      )
  })
  return { log, closed: new Promise((resolve) => made.once('close', () => setImmediate(resolve))) }
}

async function shown(response: IncomingMessage): Promise<unknown> {
  const { headers, headersDistinct, rawHeaders, statusCode, statusMessage, httpVersion, socket } = response
  const connection = (name: string): boolean => /^(connection|keep-alive)$/i.test(name)
  const raw = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && !connection(name) ? [[name, rawHeaders[i + 1]] as const] : [],
  )
  const text = await textOf(response)
  return {
    ...{ statusCode, statusMessage, httpVersion, text, raw },
    headers: Object.entries(headers).filter(([name]) => !connection(name)),
    distinct: Object.entries(headersDistinct).filter(([name]) => !connection(name)),
    trailers: [response.trailers, response.rawTrailers],
    ended: [response.complete, response.readableEnded, response.aborted, response.method, response.url],
    socket: [socket.constructor.name, socket.remoteFamily, socket.readable, socket.writable, socket.connecting],
    kind: [response.constructor.name, Object.prototype.toString.call(response)],
    request: inspect((response as { req?: ClientRequest }).req?.method),
  }
}

/** Pieces as they come, and how it ended. */
function heard(response: IncomingMessage): Promise<readonly string[]> {
  const got: string[] = []
  return new Promise((resolve) => {
    response.on('data', (piece: Buffer) => got.push(`${piece.constructor.name} ${piece.toString()}`))
    response.on('error', (error) => got.push(said(error)))
    response.on('close', () => resolve([...got, `complete: ${response.complete}`]))
  })
}

export const httpAgents: Readonly<Record<string, Looks>> = {
  'node:http: a response shows the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'json?a=b', body: '{}' })
      made.end('{}')
      return shown(await responseTo(made))
    }),
  'node:http: a refused and an empty answer show the same': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      for (const path of ['429', 'empty', 'none', 'nothing', 'sized']) {
        const made = open(base, agent, { path })
        made.end()
        all.push(await shown(await responseTo(made)))
      }
      return all
    }),
  'node:http: all events come in the same order': (base) =>
    connected(base, async (agent) => {
      const logs: unknown[] = []
      for (const path of ['json', 'stream', 'sized', 'none', 'nothing']) {
        const made = open(base, agent, { path, body: '{"a":1}' })
        const { log, closed } = listened(made, agent)
        made.end('{"a":1}')
        await closed
        logs.push(log)
      }
      return logs
    }),
  'node:http: a stream comes in the same pieces': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'stream', body: '{}' })
      made.end('{}')
      return heard(await responseTo(made))
    }),
  'node:http: a stream that is paused and read late is the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'stream', body: '{}' })
      made.end('{}')
      const response = await responseTo(made)
      response.pause()
      await send(base, agent, { path: 'slow', body: '{}' })
      return textOf(response)
    }),
  'node:http: a request writes its body in every manner': (base) =>
    connected(base, async (agent) => {
      const body = '{"é":"\u2028"}'
      const all: unknown[] = []
      const finish: readonly ((made: ClientRequest) => unknown)[] = [
        (made) => made.end(body),
        (made) => made.end(Buffer.from(body)),
        (made) => (made.write(body), made.end()),
        (made) => (made.write(Buffer.from(body).subarray(0, 4)), made.end(Buffer.from(body).subarray(4))),
        async (made) => (made.write(body.slice(0, 3)), await turns(2), made.end(body.slice(3))),
        (made) => pipeline(Readable.from([Buffer.from(body)]), made),
        (made) => (made.flushHeaders(), made.end(body)),
      ]
      for (const write of finish) {
        const made = open(base, agent, { path: 'echo', body })
        await write(made)
        all.push(JSON.parse(await textOf(await responseTo(made))))
      }
      return all
    }),
  'node:http: what goes out says the same': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      const options: readonly RequestOptions[] = [
        { method: 'GET', headers: { 'content-length': 0, accept: ['a/b', 'c/d'] } },
        { method: 'PUT', headers: { 'x-a': ' 1 ', 'x-b': '' } },
        { method: 'DELETE', headers: { 'content-length': 0 } },
        { headers: { 'transfer-encoding': 'chunked' } },
        { headers: { expect: '100-continue' } },
      ]
      for (const option of [...options, ...options]) {
        const body = option.method === 'GET' || option.method === 'DELETE' ? '' : '{}'
        all.push(JSON.parse(await send(base, agent, { path: 'echo?q=%20', body, options: option })))
      }
      return all
    }),
  'node:http: bytes that are no text go out the same': (base) =>
    connected(base, async (agent) => {
      const body = Buffer.from([0xff, 0, 0x80])
      return [await send(base, agent, { path: 'json', body }), await send(base, agent, { path: 'json', body })]
    }),
  'node:http: an agent keeps its connections in the same way': (base) =>
    connected(
      base,
      async (agent) => {
        const log: unknown[] = [held(agent)]
        const all = ['sized', 'slow', 'empty', 'json'].map(async (path) => {
          const made = open(base, agent, { path, body: '{}' })
          made.end('{}')
          const response = await responseTo(made)
          log.push([path, made.reusedSocket, held(agent)])
          return textOf(response)
        })
        log.push(held(agent), await Promise.all(all))
        await turns(2)
        return [...log, held(agent)]
      },
      { maxSockets: 1 },
    ),
  'node:http: time-outs that do not run out change nothing': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'json', body: '{}', options: { timeout: 60_000 } })
      const log: string[] = []
      made.setTimeout(50_000, () => log.push('timeout'))
      made.end('{}')
      const response = await responseTo(made)
      log.push(String(response.socket.timeout), await textOf(response))
      return log
    }),
  // Recorded whole, and given up in the replay.
  'node:http: what is given up before its answer ends the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'slow', body: '{}' })
      const { log, closed } = listened(made, agent)
      made.on('error', () => undefined)
      made.on('response', (response) => response.resume())
      made.end('{}')
      await send(base, agent, { path: 'json', body: '{}' })
      if (inReplay.is) made.destroy()
      await closed
      return log
    }),
  'node:http: what is given up at once ends the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'slow', body: '{}' })
      const { log, closed } = listened(made, agent)
      made.on('response', (response) => response.resume())
      made.end('{}')
      if (inReplay.is) made.destroy(new RangeError('mine'))
      // It never came as far as a socket.
      if (inReplay.is) counts.made--
      await closed
      return log
    }),
  'node:http: a stream that is given up in the middle ends the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'stream', body: '{}' })
      const { log, closed } = listened(made, agent)
      let count = 0
      made.on('response', (response) => {
        response.on('error', () => undefined)
        response.on('data', () => {
          if (inReplay.is && ++count === 2) response.destroy()
        })
      })
      made.end('{}')
      await closed
      return log
    }),
  'node:http: a signal that aborts in the middle ends the same': (base) =>
    connected(base, async (agent) => {
      const control = new AbortController()
      const made = open(base, agent, { path: 'stream', body: '{}', options: { signal: control.signal } })
      const { log, closed } = listened(made, agent)
      made.on('response', (response) => {
        response.on('data', () => {
          if (inReplay.is) control.abort()
        })
      })
      made.end('{}')
      await closed
      return log
    }),
  'node:http: a broken answer breaks the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'reset', body: '{}' })
      made.end('{}')
      return heard(await responseTo(made))
    }),
  'node:http: a connection that is reset in the middle of an answer fails the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'torn', body: '{}' })
      const { log, closed } = listened(made, agent)
      made.end('{}')
      // On a connection of its own, which is not counted.
      const axiosSaid = byAxios(`${base}/torn`, agent).catch(said)
      await closed
      return [log.map((one) => (one as unknown[]).slice(0, 2)), await axiosSaid]
    }),
  'node:http: a server that wants the body says so': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'json', body: '{}', options: { headers: { expect: '100-continue' } } })
      made.flushHeaders()
      const said: unknown[] = []
      made.on('information', ({ statusCode, statusMessage, headers }) =>
        said.push([statusCode, statusMessage, headers]),
      )
      await once(made, 'information')
      made.end('{}')
      return [said, await textOf(await responseTo(made))]
    }),
  'node:http: axios, got and the AWS handler get the same': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      const paths = ['sized', 'stream', 'none', 'echo', 'sized', 'stream', 'none', 'echo']
      for (const ask of [byAxios, byGot, bySmithy]) {
        for (const path of paths) {
          counts.made++
          all.push(await ask(`${base}/${path}`, agent))
        }
      }
      return all
    }),
  'node:http: an answer that is destroyed unread gives its head': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      for (const path of ['sized', 'stream', 'moved', 'none', 'nothing', 'sized']) {
        for (const method of ['GET', 'HEAD']) {
          const made = open(base, agent, { path, options: { method } })
          const { closed } = listened(made, agent)
          // Later its body would be there.
          made.once('response', (response) => {
            response.destroy()
            all.push([path, method, response.statusCode, response.headers['content-type'], response.destroyed])
          })
          made.end()
          await closed
        }
      }
      return all
    }),
  'node:http: the own error of a time-out reaches the agent on a connection in use': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'never', body: '{}', options: { timeout: 40 } })
      const { log, closed } = listened(made, agent)
      made.on('timeout', () => made.destroy(new RangeError('mine')))
      made.end('{}')
      await closed
      return log
    }),
  'node:http: axios follows a redirect': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      for (let i = 0; i < 3; i++) {
        counts.made++
        all.push(await byAxios(`${base}/moved`, agent))
      }
      return all
    }),
  'node:http: what is asked with the head of an answer comes before its body': (base) =>
    connected(base, async (agent) => {
      const all: unknown[] = []
      for (let i = 0; i < 2; i++) {
        const made = open(base, agent, { path: 'held', body: '{}' })
        made.end('{}')
        const response = await responseTo(made)
        all.push(await send(base, agent, { path: 'release', body: '{}' }), await textOf(response))
      }
      return all
    }),
  'node:http: pieces of one burst come one by one': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'parts', body: '{}' })
      made.end('{}')
      return heard(await responseTo(made))
    }),
  'node:http: pieces of one burst come one by one to who listens late': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'parts', body: '{}' })
      made.end('{}')
      const response = await responseTo(made)
      await Promise.resolve()
      return heard(response)
    }),
  'node:http: what is given up in the middle of one burst ends the same': (base) =>
    connected(base, async (agent) => {
      const made = open(base, agent, { path: 'parts', body: '{}' })
      made.end('{}')
      const response = await responseTo(made)
      response.on('data', () => void (inReplay.is && response.destroy()))
      return heard(response)
    }),
  'node:http: a piece comes before what is asked by fetch when it is there': (base) =>
    inTheMiddle(base, 'stream', async () => (await fetch(`${base}/sized`, { method: 'POST', body: '{}' })).text()),
  'node:http: a piece comes before what is asked when it is there': (base) =>
    inTheMiddle(base, 'stream', (agent) => send(base, agent, { path: 'sized', body: '{}' })),
  'node:http: a piece of a known length comes before what is asked when it is there': (base) =>
    inTheMiddle(base, 'parts', (agent) => send(base, agent, { path: 'sized', body: '{}' })),
  'node:http: answers that come in one turn reach the agent in the recorded order': (base) =>
    inOneTurn(base, [0, 1, 2]),
  'node:http: answers that come in one turn come in that order with undici asked last': (base) =>
    inOneTurn(base, [0, 2, 1]),
  'node:http: answers that come in one turn come in that order with undici asked first': (base) =>
    inOneTurn(base, [1, 2, 0]),
  'node:http: answers that come in one turn come in that order with node:http asked first': (base) =>
    inOneTurn(base, [2, 0, 1]),
  'answers of fetch that come in one turn come in the recorded order, two of them through undici': (base) =>
    inOneTurn(base, [0, 1, 1]),
  'answers of fetch that come in one turn come in the recorded order, one of them through undici': (base) =>
    inOneTurn(base, [0, 0, 1]),
}

/** Asks for something else when the second piece of an answer is there. */
function inTheMiddle(base: string, path: string, ask: (agent: Agent) => Promise<string>): Promise<unknown> {
  return connected(base, async (agent) => {
    const made = open(base, agent, { path, body: '{}' })
    made.end('{}')
    const response = await responseTo(made)
    const log: string[] = []
    const { promise, resolve } = Promise.withResolvers<number>()
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      if (log.push(piece) === 2) void ask(agent).then((text) => resolve(log.push(text)))
    })
    await Promise.all([promise, once(response, 'end')])
    return log
  })
}

/**
 * Lets answers come in every order.
 *
 * @param asked - how each is asked: 0 by `fetch` above undici, 1 by `fetch` through it, 2 by `node:http`
 */
function inOneTurn(base: string, asked: readonly number[]): Promise<unknown> {
  return connected(base, async (agent) => {
    const logs: string[] = []
    const byFetch = (path: string, more?: RequestInit): Promise<unknown> =>
      fetch(`${base}/${path}`, { method: 'POST', headers: withBody, body: '{}', ...more })
    const ways: readonly ((path: string, note: () => void) => Promise<unknown>)[] = [
      (path, note) => byFetch(path).then(noted(note)),
      // A stated redirect goes through undici always.
      (path, note) => byFetch(path, { redirect: 'follow' }).then(noted(note)),
      (path, note) => {
        const made = open(base, agent, { path, body: '{}' })
        made.once('response', note)
        made.end('{}')
        return responseTo(made)
      },
    ]
    await Promise.all([byFetch('sized'), byFetch('sized', { redirect: 'follow' })])
    for (const places of ['012', '021', '102', '120', '201', '210']) {
      const order: number[] = []
      const all = asked.map(async (way, at) => {
        const response = await ways[way]!(`together?${places[at]}`, () => order.push(at))
        await (response instanceof Response ? response.text() : textOf(response as IncomingMessage))
      })
      await Promise.all(all)
      logs.push(order.join(''))
    }
    return logs
  })
}

const noted =
  <T>(note: () => void) =>
  (response: T): T => {
    note()
    return response
  }

type Ask = (url: string, agent: Agent) => Promise<unknown>

const byAxios: Ask = async (url, agent) => {
  const { status, statusText, headers, data } = await axios.post<string>(url, { a: 'é' }, { httpAgent: agent })
  return [status, statusText, headers['content-type'], data]
}

const byGot: Ask = async (url, agent) => {
  const { statusCode, headers, body, complete } = await got.post(url, {
    json: { a: 'é' },
    agent: { http: agent },
    retry: { limit: 0 },
  })
  return [statusCode, headers['content-type'], body, complete]
}

const bySmithy: Ask = async (url, agent) => {
  const { hostname, port, pathname: path } = new URL(url)
  const headers = { 'content-type': 'application/json', 'content-length': '2' }
  const asked = {
    method: 'POST',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path,
    headers,
    body: '{}',
    query: {},
  }
  const handler = new NodeHttpHandler({ httpAgent: agent })
  const { response } = await handler.handle(asked as unknown as Parameters<typeof handler.handle>[0])
  return [
    response.statusCode,
    response.reason,
    response.headers['content-type'],
    await textOf(response.body as IncomingMessage),
  ]
}
