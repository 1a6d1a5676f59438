import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket as Ws, WebSocketServer } from 'ws'
import { geminiLive, openaiRealtime } from '../../fixtures/realtime/models.ts'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'

let base = ''
let connections = 0
const dir = mkdtempSync(join(tmpdir(), 'harvest-realtime-'))
const http = createServer((_request, response) => response.writeHead(404).end('nothing here'))
const sockets = new WebSocketServer({ server: http, perMessageDeflate: { threshold: 64 } })

interface Said {
  readonly type?: string
  readonly [key: string]: unknown
}

const json = (value: unknown): string => JSON.stringify(value)

function plain(socket: Ws): void {
  socket.ping('are you there')
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) socket.send(Buffer.from(data).reverse())
    else if (data.toString() === 'bye') socket.close(4001, 'good bye')
    else if (data.toString() === 'drop') socket.terminate()
    else socket.send(`echo ${data.toString()}`)
  })
}

beforeAll(async () => {
  sockets.on('connection', (socket, request) => {
    connections++
    const path = String(request.url)
    if (path.includes('realtime')) openaiRealtime(socket)
    else if (path.includes('Bidi')) geminiLive(socket)
    else plain(socket)
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  base = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
})
afterAll(() => {
  sockets.close()
  http.close()
  http.closeAllConnections()
  rmSync(dir, { recursive: true, force: true })
})

type Client = 'ws' | 'global'

/** One socket, whichever client opened it, as the agents below use it. */
async function connect(client: Client, url: string) {
  const socket = (client === 'ws' ? new Ws(url) : new WebSocket(url)) as unknown as WebSocket
  socket.binaryType = 'arraybuffer'
  const waiting: string[] = []
  let wake = (): void => undefined
  const take = (text: string): void => {
    waiting.push(text)
    wake()
  }
  const text = (data: unknown): string =>
    typeof data === 'string' ? data : `bytes ${Buffer.from(data as ArrayBuffer).toString()}`
  socket.addEventListener('message', ({ data }) => take(text(data)))
  socket.addEventListener('close', ({ code, reason }) => take(`closed ${code} ${reason}`))
  // A refused connection has a close after it.
  socket.addEventListener('error', () => take('error'))
  await new Promise<void>((resolve) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', () => resolve())
  })
  return {
    socket,
    async next(): Promise<string> {
      while (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return waiting.shift()!
    },
  }
}

interface Session {
  readonly client: Client
  readonly instructions: string
  readonly answers: boolean
}

/** Node inflates messages beside the socket: one that ends meanwhile is an error on a busy machine, recorded or not. */
const lostClose = 'the close of the peer was lost'

const usual: Session = { client: 'global', instructions: 'Be short.', answers: true }

/** A voice agent: it answers a tool call, listens to a few words, and breaks the model off. */
async function voice({ client, instructions, answers }: Session): Promise<unknown> {
  const { socket, next } = await connect(client, `${base}/v1/realtime?model=gpt-realtime`)
  const say = (value: unknown): void => socket.send(json(value))
  const heard: string[] = []
  let words = 0
  say({ type: 'session.update', session: { instructions, tools: [{ type: 'function', name: 'weather' }] } })
  say({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Oslo?' }] },
  })
  say({ type: 'response.create' })
  for (;;) {
    const text = await next()
    heard.push(text)
    if (text === 'error') throw new Error(lostClose)
    if (text.startsWith('closed')) return heard
    const said = JSON.parse(text) as Said
    const item = said['item'] as { call_id?: string } | undefined
    if (said.type === 'response.output_item.done' && answers) {
      say({
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id: item?.call_id, output: '7 °C' },
      })
      say({ type: 'response.create' })
    }
    if (said.type === 'response.output_item.done' && !answers) socket.close(1000, 'done')
    if (said.type === 'response.output_text.delta' && ++words === 3) say({ type: 'response.cancel' })
    if (said.type === 'response.done' && words >= 3) socket.close(1000, 'done')
  }
}

async function live({ client, instructions, answers }: Session): Promise<unknown> {
  const { socket, next } = await connect(
    client,
    `${base}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`,
  )
  const say = (value: unknown): void => socket.send(json(value))
  const heard: string[] = []
  say({ setup: { model: 'models/gemini-live', systemInstruction: { parts: [{ text: instructions }] } } })
  heard.push(await next())
  say({ clientContent: { turns: [{ role: 'user', parts: [{ text: 'Oslo?' }] }], turnComplete: true } })
  heard.push(await next())
  if (answers) {
    say({ toolResponse: { functionResponses: [{ id: 'f1', name: 'weather', response: { degrees: 7 } }] } })
    heard.push(await next())
  }
  socket.close()
  return heard
}

async function recorded(id: string, agent: () => Promise<unknown>, attempt = 1): Promise<Tape> {
  const recorder = createRecorder({ dir })
  try {
    await recorder.run({ agent: 'voice', id: `${id}-${attempt}` }, agent)
    return readTape(recorder.lastTape!)
  } catch (error) {
    if ((error as Error).message !== lostClose || attempt === 50) throw error
    return recorded(id, agent, attempt + 1)
  }
}

const agents = { 'OpenAI Realtime': voice, 'Gemini Live': live }

describe.each(Object.entries(agents))('a session of %s', (name, agent) => {
  test.each(['global', 'ws'] as const)(
    'through %s replays frame for frame without its server, its tool calls in the trace',
    async (client) => {
      const session = { ...usual, client }
      const tape = await recorded(`${name}-${client}`.replaceAll(' ', '-'), () => agent(session))
      await installReplay()
      const before = connections
      const run = await replayTape(tape, () => agent(session))
      expect(run.problems.map(({ message }) => message)).toEqual([])
      expect([run.comparison.outcomeEqual, run.escapes, run.drift]).toEqual([true, [], []])
      expect(connections).toBe(before)
      for (const events of [tape.events, run.events]) expect(renderBaseline(traceOf(events))).toEqual(['weather(city)'])
    },
  )

  test('is unproven with other instructions, and different without the reply of a tool', async () => {
    const tape = await recorded(`${name}-changed`.replaceAll(' ', '-'), () => agent(usual))
    await installReplay()
    const reworded = verdictOf(await replayTape(tape, () => agent({ ...usual, instructions: 'Be long.' })))
    expect(reworded.differences.map(({ message }) => message)).toEqual([])
    expect([reworded.verdict, reworded.unproven.map(({ part }) => part)]).toEqual(['unproven', ['system prompt']])
    const dropped = verdictOf(await replayTape(tape, () => agent({ ...usual, answers: false })))
    expect(dropped.verdict).toBe('different')
  })
})

test('a session is not gone on with live: its agent hears of it, and its server hears nothing', async () => {
  const [agent] = Object.values(agents)
  const tape = await recorded('not-live', () => agent!(usual))
  await installReplay()
  const before = connections
  const fork = await forkTape(tape, () => agent!({ ...usual, instructions: 'Be long.' }), {
    keep: 0,
    tail: { from: 'live', tools: 'live', budget: openBudget({}) },
  })
  expect(fork.outcome.status).toBe('threw')
  expect(connections).toBe(before)
})

test('pings of a server are delivered, and the answers of a client are no steps', async () => {
  const chat = async (): Promise<unknown> => {
    const pinged: string[] = []
    const socket = new Ws(`${base}/chat`)
    socket.on('ping', (data) => pinged.push(data.toString()))
    await once(socket, 'open')
    socket.send('hello')
    await once(socket, 'message')
    socket.send('bye')
    await once(socket, 'close')
    return pinged
  }
  const tape = await recorded('pinged', chat)
  expect(tape.close?.outcome).toMatchObject({ value: ['are you there'] })
  expect(JSON.stringify(tape.events)).not.toMatch(/pong/i)
  await installReplay()
  expect((await replayTape(tape, chat)).comparison.outcomeEqual).toBe(true)
})

describe.each(['global', 'ws'] as const)('any WebSocket through %s', (client) => {
  const chat = (last: string) => async (): Promise<unknown> => {
    const { socket, next } = await connect(client, `${base}/chat`)
    const heard: string[] = []
    const both = [await connect(client, `${base}/chat`), { socket, next }] as const
    for (const [at, one] of both.entries()) {
      one.socket.send(`hello ${at} ${'and on '.repeat(40)}`)
      heard.push(await one.next())
      one.socket.send(Buffer.from([at, 2, 3]))
      heard.push(await one.next())
    }
    for (const one of both) {
      one.socket.send(last)
      const said = await one.next()
      heard.push(said === 'error' ? await one.next() : said)
    }
    return heard
  }

  test.each([
    ['is closed by its server, with code and reason', 'bye', /^closed 4001 good bye$/],
    ['is dropped without a word', 'drop', /^closed 1006 $/],
  ])('that %s replays so, two of one address each by itself', async (_name, last, end) => {
    const tape = await recorded(`${client}-${last}`, chat(last))
    const outcome = tape.close?.outcome
    const heard = outcome?.status === 'returned' ? (outcome.value as readonly string[]) : []
    expect(heard.at(-1)).toMatch(end)
    await installReplay()
    const run = await replayTape(tape, chat(last))
    expect(run.problems.map(({ message }) => message)).toEqual([])
    expect(run.comparison.outcomeEqual).toBe(true)
  })

  test('is different when its messages change places', async () => {
    const saying =
      (...said: (string | Buffer)[]) =>
      async (): Promise<unknown> => {
        const { socket, next } = await connect(client, `${base}/chat`)
        for (const one of said) socket.send(one as string)
        socket.send('bye')
        const heard: string[] = []
        while (heard.at(-1)?.startsWith('closed') !== true) heard.push(await next())
        return heard.length
      }
    const [text, bytes] = ['a', Buffer.from([1])]
    const tape = await recorded(`${client}-places`, saying(text, bytes, 'b'))
    await installReplay()
    expect((await replayTape(tape, saying(text, bytes, 'b'))).problems).toEqual([])
    for (const others of [[bytes, text, 'b'] as const, [text, 'b', bytes] as const]) {
      const { problems } = await replayTape(tape, saying(...others))
      expect(problems.map(({ code }) => code)).toEqual(['HARVEST_ORDER'])
    }
  })

  test('is the same through another client, under another name of this machine or without a wait, and different where it is no longer closed', async () => {
    const saying =
      (host: string, { closes = true, waits = true, through = client as Client } = {}) =>
      async (): Promise<unknown> => {
        const { socket, next } = await connect(through, `${base.replace('127.0.0.1', host)}/chat`)
        socket.send('hello')
        if (waits) await next()
        if (closes) {
          socket.close(1000, 'done')
          await next()
        }
        // Behind the answer of its server.
        await new Promise((resolve) => setTimeout(resolve, 1000))
        return 'done'
      }
    const tape = await recorded(`${client}-names`, saying('127.0.0.1'))
    await installReplay()
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const run = await replayTape(tape, saying(host))
      expect([host, run.problems.map((problem) => problem.message)]).toEqual([host, []])
    }
    const through = client === 'ws' ? 'global' : 'ws'
    expect(verdictOf(await replayTape(tape, saying('127.0.0.1', { through }))).verdict).toBe('same')
    expect((await replayTape(tape, saying('127.0.0.1', { waits: false }))).problems).toEqual([])
    const { problems } = await replayTape(tape, saying('127.0.0.1', { closes: false }))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
    expect(problems[0]?.message).toContain('CLOSE 127.0.0.1')
  })

  test('speaks the protocol that its server chose, and is different where it no longer offers it', async () => {
    const offering =
      (...protocols: string[]) =>
      async (): Promise<unknown> => {
        const url = `${base}/chat`
        const socket = (client === 'ws'
          ? new Ws(url, protocols)
          : new WebSocket(url, protocols)) as unknown as WebSocket
        await new Promise<void>((resolve, reject) => {
          socket.addEventListener('open', () => resolve())
          socket.addEventListener('error', () => reject(new Error('refused')))
        })
        socket.close(1000, 'done')
        return socket.protocol
      }
    const tape = await recorded(`${client}-protocol`, offering('chat.v2', 'key.sk-5e9f1c7a42d84b1e9c3f'))
    expect(tape.close?.outcome).toMatchObject({ value: 'chat.v2' })
    expect(JSON.stringify(tape.events)).not.toContain('5e9f1c7a')
    await installReplay()
    expect((await replayTape(tape, offering('chat.v2', 'key.sk-77aa1c7a42d84b1e9c3f'))).problems).toEqual([])
    for (const [others, now] of [
      [['chat.v1'], '(others offered)'],
      [[], '(none offered)'],
    ] as const) {
      const run = await replayTape(tape, offering(...others))
      expect(verdictOf(run).verdict).toBe('different')
      // The time limit of ws for a close that its server does not answer is listed too.
      expect(run.drift.filter(({ class: name }) => name !== 'timers')).toMatchObject([
        { class: 'guards', part: 'WebSocket subprotocol' },
      ])
      const [first, , , , , changed] = run.problems[0]?.message.split('\n').filter((line) => line !== '') ?? []
      expect(first).toBe('The agent offers another WebSocket subprotocol than when this run was recorded')
      expect(changed ?? '').toContain(`[-chat.v2-] {+${now}+}`)
    }
    const key = 'key.sk-77aa1c7a42d84b1e9c3f'
    for (const others of [['chat.v2'], ['chat.v2', key, 'chat.v1'], ['chat.v2', 'chat.v1'], [key, 'chat.v2']]) {
      const run = await replayTape(tape, offering(...others))
      expect([verdictOf(run).verdict, run.drift]).toMatchObject([
        'different',
        [{ class: 'credentials', path: 'sec-websocket-protocol', recorded: 'chat.v2, [key-1]' }],
      ])
    }
    // A name may be a key: it is not kept, and which one it was is unknown.
    const named = await recorded(`${client}-named`, offering('chat.v2', 'acme-orders'))
    expect(JSON.stringify(named.events)).not.toContain('acme')
    const run = await replayTape(named, offering('chat.v2', 'acme-refunds'))
    expect([verdictOf(run).verdict, run.notCompared]).toMatchObject([
      'same',
      [{ path: 'headers.sec-websocket-protocol', why: expect.stringContaining('a subprotocol without a version') }],
    ])
    expect(JSON.stringify(run.notCompared)).not.toContain('acme')
    expect((await replayTape(tape, offering('chat.v2', 'key.sk-77aa1c7a42d84b1e9c3f'))).notCompared).toEqual([])
  })

  test('that says something else, or is not on the tape, is red and reaches nobody', async () => {
    const tape = await recorded(`${client}-other`, chat('bye'))
    await installReplay()
    const before = connections
    const other = await replayTape(tape, chat('fare well'))
    expect(verdictOf(other).verdict).toBe('different')
    expect(other.problems[0]?.message).toMatch(/SEND 127\.0\.0\.1/)
    const elsewhere = await replayTape(tape, async () => (await connect(client, `${base}/elsewhere`)).next())
    expect(elsewhere.problems[0]?.message).toMatch(/OPEN 127\.0\.0\.1:\d+\/elsewhere/)
    expect(connections).toBe(before)
  })
})

test('an upgrade to a protocol that nobody knows is an escape, with its name', async () => {
  const tape = await recorded('other-protocol', async () => Promise.resolve(1))
  await installReplay()
  const upgrade = { headers: { connection: 'Upgrade', upgrade: 'h2c' } }
  const run = await replayTape(tape, async () => {
    const [error] = (await once(request(base.replace('ws', 'http'), upgrade).end(), 'error', {}).catch(
      (thrown: unknown) => [thrown],
    )) as [Error]
    return error.message
  })
  expect(run.escapes).toMatchObject([{ kind: 'upgrade to h2c', allowed: false }])
  expect(run.problems[0]?.message).toMatch(/upgrade to h2c/)
})

describe('an action after a frame came back', () => {
  const refund = tool('refund', async (_: { readonly order: string }) => ({ ok: true }))
  const pay = (): unknown => refund({ order: 'A-17' })
  const allow = (socket: WebSocket): void => socket.send('may I?')
  const run =
    (client: Client, act: (socket: WebSocket, next: () => Promise<string>) => unknown) => async (): Promise<void> => {
      const { socket, next } = await connect(client, base)
      await act(socket, next)
      socket.close()
    }
  const codes = async (tape: Tape, agent: () => Promise<unknown>): Promise<readonly string[]> =>
    (await replayTape(tape, agent)).problems.map(({ code }) => code)
  const waits = async (socket: WebSocket, next: () => Promise<string>): Promise<void> => {
    allow(socket)
    await next()
    await pay()
  }
  const goesOn = async (socket: WebSocket, next: () => Promise<string>): Promise<void> => {
    allow(socket)
    await pay()
    await next()
  }

  test.for(['ws', 'global'] as const)('must still wait for it: %s', async (client) => {
    const tape = await recorded(`waited-${client}`, run(client, waits))
    expect(await codes(tape, run(client, waits))).toEqual([])
    expect(await codes(tape, run(client, goesOn))).toEqual(['HARVEST_ORDER'])
    const never = run(client, async (socket) => {
      allow(socket)
      await pay()
    })
    expect(await codes(tape, never)).toEqual(['HARVEST_ORDER'])
  })

  test('need not wait for one that came while it waited for something else', async () => {
    const paused = async (socket: WebSocket): Promise<void> => {
      allow(socket)
      // Between two timers Node hears what came, no matter how late it is: the server its question, and the agent the answer.
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setTimeout(resolve, 5))
      await pay()
    }
    const tape = await recorded('paused', run('ws', paused))
    expect(tape.events.some(({ kind }) => kind === 'push')).toBe(true)
    expect(await codes(tape, run('ws', paused))).toEqual([])
    expect(await codes(tape, run('ws', goesOn))).toEqual([])
  })
})
