import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { request as ask } from 'undici'
import { expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Whether the server says more than the agent asks for. */
let hasSecond = true

/** Events, and no end. */
function events(stream: { writeHead?: unknown } & Writable): void {
  if ('respond' in stream) (stream as ServerHttp2Stream).respond({ 'content-type': 'text/event-stream' })
  else (stream as unknown as ServerResponse).writeHead(200, { 'content-type': 'text/event-stream' })
  stream.write('data: 1\n\n')
  if (hasSecond) setTimeout(() => stream.write('data: 2\n\n'), 10)
}

/** More than any client takes in that nobody reads from. */
const size = 3_000_000
const server = createServer((incoming, response) => {
  if (incoming.url === '/events') return events(response)
  if (incoming.url === '/note') return void response.end('ok')
  response.write('begin')
  setTimeout(() => response.end('x'.repeat(size)), 5)
})
const base = served(server)

const clients: Readonly<Record<string, (reads: boolean) => Promise<unknown>>> = {
  fetch: async (reads) => {
    const response = await fetch(`${base()}/large`)
    return reads ? (await response.text()).length : response.status
  },
  undici: async (reads) => {
    const { body, statusCode } = await ask(`${base()}/large`)
    return reads ? (await body.text()).length : statusCode
  },
  'node:http': (reads) =>
    new Promise((resolve, reject) => {
      const sent = request(`${base()}/large`, (response) => {
        if (!reads) return resolve(response.statusCode)
        let length = 0
        response.on('data', (piece: Buffer) => (length += piece.length)).on('end', () => resolve(length))
      })
      sent.on('error', reject).end()
    }),
}

const agent =
  (name: string, reads: boolean, isStuck = false) =>
  async (): Promise<unknown> => {
    const [read] = await Promise.all([clients[name]!(reads), sleep(50)])
    if (isStuck) await new Promise(() => undefined)
    await (await fetch(`${base()}/note`, { method: 'POST', body: 'done' })).text()
    return read
  }

async function record(run: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('left-unread')
  await createRecorder({ dir }).run({ agent: 'desk', id: 'run' }, run)
  return readTape(join(dir, 'run.tape.jsonl'))
}

test.for(Object.keys(clients))(
  '%s: an answer left unread when recorded is left so again, and nothing differs',
  async (name) => {
    const { problems, drift, outcome } = await replayTape(await record(agent(name, false)), agent(name, false))
    expect([problems, drift, outcome]).toEqual([[], [], { status: 'returned', value: 200 }])
  },
)

test.for(Object.keys(clients))(
  '%s: one that is read now is red with what the tape has of it, before the limit',
  async (name) => {
    const tape = await record(agent(name, false))
    const { problems } = await replayTape(tape, agent(name, true), { hangMs: 600_000 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_TAPE_EXHAUSTED'])
    const { answer, bytes } = problems[0]?.facts.where ?? {}
    expect(answer).toMatch(/^step 1, GET 127\.0\.0\.1:\d+\/large$/)
    expect(Number(/^the first (\d+)$/.exec(bytes ?? '')?.[1])).toBeLessThan(size)
    expect(problems[0]?.message).toContain('The recorded agent stopped reading here')
  },
)

test.for(Object.keys(clients))(
  '%s: an agent that hangs beside one it leaves unread hangs for another reason',
  async (name) => {
    const tape = await record(agent(name, false))
    const { problems } = await replayTape(tape, agent(name, false, true), { hangMs: 300 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  },
)

const h2 = createHttp2Server()
h2.on('stream', (stream) => events(stream))
const base2 = served(Object.assign(h2, { closeAllConnections: () => undefined }) as unknown as typeof server)

/** The recorded agent reads the first event; this one reads on, and no end comes. */
const readers: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  fetch: async () => {
    const { body } = await fetch(`${base()}/events`, { method: 'POST', body: 'x' })
    const reader = body!.getReader()
    return () => reader.read()
  },
  undici: async () => {
    const { body } = await ask(`${base()}/events`, { method: 'POST', body: 'x' })
    const pieces = body[Symbol.asyncIterator]()
    return () => pieces.next()
  },
  'node:http': async () => {
    const sent = request(`${base()}/events`, { method: 'POST' }).end('x')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const pieces = response[Symbol.asyncIterator]()
    return () => pieces.next()
  },
  'node:http2': async () => {
    const session = connect(base2())
    const stream = session.request({ ':path': '/events', ':method': 'POST' })
    stream.end('x')
    const pieces = stream[Symbol.asyncIterator]()
    return () => pieces.next()
  },
}

const ofEvents =
  (name: string, count: number, isStuck = false) =>
  async (): Promise<unknown> => {
    const next = await readers[name]!()
    const [first] = await Promise.all([next(), sleep(50)])
    for (let read = 1; read < count; read++) await next()
    if (isStuck) await new Promise(() => undefined)
    await (await fetch(`${base()}/note`, { method: 'POST', body: 'done' })).text()
    return first === undefined
  }

test.for(Object.keys(readers))('%s: events that are read on are red before the limit', async (name) => {
  const tape = await record(ofEvents(name, 1))
  const same = await replayTape(tape, ofEvents(name, 1))
  expect([same.problems, same.drift]).toEqual([[], []])
  const { problems } = await replayTape(tape, ofEvents(name, 9), { hangMs: 600_000 } as object)
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_TAPE_EXHAUSTED'])
  expect(problems[0]?.facts.where?.['answer']).toMatch(/^step 1, POST 127\.0\.0\.1:\d+\/events$/)
  expect(problems[0]?.facts.where?.['bytes']).toMatch(/^the first \d+$/)
})

test.for(Object.keys(readers))(
  '%s: an agent that hangs beside events it leaves unread hangs for another reason',
  async (name) => {
    const tape = await record(ofEvents(name, 1))
    const { problems } = await replayTape(tape, ofEvents(name, 1, true), { hangMs: 300 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  },
)

test.for(Object.keys(readers))(
  '%s: an agent that hangs beside events of which it has all that came hangs for another reason',
  async (name) => {
    hasSecond = false
    const tape = await record(ofEvents(name, 1))
    hasSecond = true
    const { problems } = await replayTape(tape, ofEvents(name, 1, true), { hangMs: 300 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  },
)

test('an agent that hangs beside a stream of events that its server sends unasked hangs for another reason', async () => {
  const agent = (isStuck: boolean) => async () => {
    const { body } = await fetch(`${base()}/events`)
    void (async () => {
      for await (const _ of body!);
    })().catch(() => undefined)
    await sleep(50)
    if (isStuck) await new Promise(() => undefined)
  }
  const { problems } = await replayTape(await record(agent(false)), agent(true), { hangMs: 300 } as object)
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
})
