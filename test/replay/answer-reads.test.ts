import { once } from 'node:events'
import { Agent, createServer, IncomingMessage, request, type RequestOptions } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import { join } from 'node:path'
import { PassThrough, pipeline as pump, type Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { deflateSync, gzipSync } from 'node:zlib'
import axios from 'axios'
import got from 'got'
import {
  Agent as Dispatcher,
  fetch as fetchOfUndici,
  interceptors,
  Pool,
  request as ask,
  RetryAgent,
  setGlobalDispatcher,
  stream,
} from 'undici'
import { beforeAll, expect, test, vi } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { inexactParts, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The rest of each answer, which the server sends once it may. */
const held: (() => void)[] = []
function sendRest(): void {
  for (const send of held.splice(0)) send()
}

const server = createServer((incoming, response) => {
  if (incoming.url === '/empty') return void response.writeHead(204).end()
  if (incoming.url === '/deflated')
    return void response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('1.1'))
  if (incoming.url === '/packed')
    return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('1.1'))
  if (incoming.url === '/all-at-once') {
    response.write('{"usd":1.1}')
    return void held.push(() => response.end())
  }
  response.write('{"usd":')
  held.push(() => response.end('1.1}'))
})
const base = served(server)

const h2 = createHttp2Server((incoming, response) => {
  if (incoming.url === '/empty') return void response.writeHead(204).end()
  response.write('{"usd":')
  held.push(() => response.end('1.1}'))
})
const base2 = served(Object.assign(h2, { closeAllConnections: () => undefined }) as unknown as typeof server)

interface Answer {
  readonly read: () => Promise<unknown>
  /** Takes the first piece, and no other one. */
  readonly readPiece?: () => Promise<unknown>
  readonly drop?: () => unknown
}
const agents = new Agent({ keepAlive: true })

const ofWeb = (response: Pick<Response, 'text' | 'body'>): Answer => ({
  read: () => response.text(),
  readPiece: () => response.body!.getReader().read(),
})
const ofNode = (body: Readable): Answer => ({
  read: () => text(body),
  readPiece: () => body[Symbol.asyncIterator]().next(),
  drop: () => body.resume(),
})
async function answerOf(path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const [response] = (await once(request(base() + path, options).end(), 'response')) as [IncomingMessage]
  return response
}

/** The dispatcher of Node's own `fetch`: a package puts its own there, as an application does that has a proxy. */
const place = Symbol.for('undici.globalDispatcher.1')
const places = globalThis as unknown as Record<symbol, object>

const clients: Readonly<Record<string, (path: string) => Promise<Answer>>> = {
  fetch: async (path) => ofWeb(await fetch(base() + path)),
  'fetch of a text, which a replay answers without undici': async (path) =>
    ofWeb(await fetch(base() + path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'usd' })),
  'fetch, by a reader of its stream': async (path) => {
    const { body } = await fetch(base() + path)
    const read = async (): Promise<void> => {
      for await (const _ of body!);
    }
    return { read }
  },
  'fetch, of a copy': async (path) => {
    const response = await fetch(base() + path)
    return { read: () => response.clone().text() }
  },
  'a request that fetch is given': async (path) => ofWeb(await fetch(new Request(base() + path))),
  'fetch, unpacked': async () => {
    const response = await fetch(`${base()}/packed`)
    return { read: () => response.text() }
  },
  'fetch, inflated': async () => {
    const response = await fetch(`${base()}/deflated`)
    return { read: () => response.text() }
  },
  'fetch beside undici, which has its requests': async (path) => {
    const before = places[place]!
    setGlobalDispatcher(new Dispatcher())
    const response = await fetch(base() + path).finally(() => (places[place] = before))
    return ofWeb(response)
  },
  'fetch of undici': async (path) => ofWeb((await fetchOfUndici(base() + path)) as unknown as Response),
  'fetch of undici, unpacked': async () => {
    const response = await fetchOfUndici(`${base()}/packed`)
    return { read: () => response.text() }
  },
  undici: async (path) => {
    const { body } = await ask(base() + path)
    return { ...ofNode(body), read: () => body.text(), drop: () => body.dump() }
  },
  'undici with a pool': async (path) => {
    const { body } = await new Pool(base()).request({ path, method: 'GET' })
    return { ...ofNode(body), read: () => body.json().catch(() => undefined), drop: () => body.dump() }
  },
  'undici with a pool, in pieces': async (path) =>
    ofNode((await new Pool(base()).request({ path, method: 'GET' })).body),
  'undici that asks again': async (path) => {
    const { body } = await ask(base() + path, { dispatcher: new RetryAgent(new Dispatcher()) })
    return { ...ofNode(body), read: () => body.text() }
  },
  'undici that unpacks': async () => {
    const dispatcher = new Dispatcher().compose(interceptors.decompress())
    const { body } = await ask(`${base()}/packed`, { dispatcher })
    return { read: () => body.text() }
  },
  'undici with a callback': (path) =>
    new Promise((resolve, reject) => {
      new Pool(base()).request({ path, method: 'GET' }, (error, answer) => {
        if (error) reject(error)
        else resolve({ ...ofNode(answer.body), read: () => answer.body.arrayBuffer() })
      })
    }),
  'node:http': async (path) => ofNode(await answerOf(path, { agent: agents })),
  'node:http, by events': async (path) => {
    const response = await answerOf(path)
    return {
      read: () =>
        once(
          response.on('data', () => undefined),
          'end',
        ),
      readPiece: () => once(response, 'data'),
      drop: () => response.resume(),
    }
  },
  'node:http, by an event that is put before others': async (path) => {
    const response = await answerOf(path)
    const read = (): Promise<unknown> => once(response.prependListener('data', () => undefined).resume(), 'end')
    return { read, drop: () => response.resume() }
  },
  'node:http, by calls': async (path) => {
    const response = await answerOf(path)
    const read = (): Promise<unknown> => {
      response.on('readable', () => {
        while (response.read() !== null);
      })
      return once(response, 'end')
    }
    return { read }
  },
  'node:http, into another stream': async (path) => {
    const response = await answerOf(path)
    return { read: () => pipeline(response, new Writable({ write: (_bytes, _encoding, done) => done() })) }
  },
  'node:http, into a stream that transforms it and hands nothing on': async (path) => {
    const response = await answerOf(path)
    return {
      read: () => once(response.pipe(new Transform({ transform: (_bytes, _encoding, done) => done() })), 'finish'),
    }
  },
  // As node-fetch does, before anything asks.
  'node:http, through another stream': async (path) => {
    const through = new PassThrough()
    pump(await answerOf(path), through, () => undefined)
    return ofNode(through)
  },
  'node:http2': async (path) => {
    const session = connect(base2())
    const sent = session.request({ ':path': path })
    sent.end()
    await once(sent, 'response')
    sent.once('close', () => session.close())
    return ofNode(sent)
  },
  'axios, as a stream': async (path) =>
    ofNode((await axios.get<Readable>(base() + path, { responseType: 'stream' })).data),
  'axios, as a stream, unpacked': async () => {
    const { data } = await axios.get<Readable>(`${base()}/packed`, { responseType: 'stream' })
    return { read: () => text(data) }
  },
  'got, as a stream': async (path) => {
    const body = got.stream(base() + path)
    await once(body, 'response')
    return ofNode(body)
  },
}
type How = 'reads' | 'leaves' | 'drops' | 'reads a piece' | 'reads late'

const agent =
  (name: string, how: How, path = '/rates') =>
  async (): Promise<string> => {
    const answer = await clients[name]!(path)
    if (how === 'reads a piece') await answer.readPiece?.()
    sendRest()
    if (how === 'drops') await answer.drop?.()
    if (how === 'reads') await answer.read()
    await sleep(30)
    await clients[name]!('/empty')
    if (how === 'reads late') await answer.read()
    return 'done'
  }

async function record(run: () => Promise<unknown>, isHeld = false): Promise<Tape> {
  const dir = temporaryFolder('answer-reads')
  const recorder = createRecorder({ dir, ...(isHeld && { sample: 0, keep: { timeoutMs: 1 } }) })
  await recorder.run({ agent: 'desk', id: 'run' }, run)
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

const names = Object.keys(clients)

// The first such request of a process goes through undici, to see what that sends.
beforeAll(async () => {
  const post = agent('fetch of a text, which a replay answers without undici', 'leaves', '/empty')
  await replayTape(await record(post), post)
})

test.for(names)(
  '%s: an answer that was read when recorded and is left unread is listed, and not bit-exact',
  async (name) => {
    const tape = await record(agent(name, 'reads'))
    const run = await replayTape(tape, agent(name, 'leaves'))
    expect(verdictOf(run).verdict).toBe('same')
    expect(run.drift).toMatchObject([
      {
        class: 'awaits',
        policy: 'report',
        stepNumber: 1,
        path: 'body of the answer',
        recorded: 'read',
        live: 'left unread',
      },
    ])
    expect(inexactParts(run)).toEqual(['awaits drift at step 1, body of the answer'])
  },
)

test.for(names)('%s: so is one that was left unread and is read', async (name) => {
  const { drift } = await replayTape(await record(agent(name, 'leaves')), agent(name, 'reads'))
  expect(drift).toMatchObject([{ stepNumber: 1, recorded: 'left unread', live: 'read' }])
})

test.for(names)('%s: the same agent reads the same answers, whenever it does', async (name) => {
  const always: readonly How[] = ['reads', 'leaves', 'drops', 'reads a piece']
  // Node destroys a stream of HTTP/2 that has ended and that nothing reads.
  const late: readonly How[] = name === 'node:http2' ? [] : ['reads late']
  for (const how of [...always, ...late]) {
    const tape = await record(agent(name, how))
    const run = await replayTape(tape, agent(name, how))
    expect([how, run.drift, run.problems, inexactParts(run)]).toEqual([how, [], [], []])
  }
  for (const how of late) {
    const { drift } = await replayTape(await record(agent(name, 'reads')), agent(name, how))
    expect(drift).toEqual([])
  }
})

const dropped = names.filter((name) => /^(undici|node)/.test(name) && !/unpacks|calls|another/.test(name))
test.for(dropped)('%s: an answer that is dropped is not read', async (name) => {
  const { drift } = await replayTape(await record(agent(name, 'reads')), agent(name, 'drops'))
  expect(drift).toMatchObject([{ stepNumber: 1, recorded: 'read', live: 'left unread' }])
  expect((await replayTape(await record(agent(name, 'leaves')), agent(name, 'drops'))).drift).toEqual([])
})

test.for(names.filter((name) => !/unpack|inflated|hands nothing|copy|stream$|before|calls/.test(name)))(
  '%s: an answer that was read to its end is listed when one piece of it is read, and the other way round',
  async (name) => {
    const [whole, piece] = [agent(name, 'reads'), agent(name, 'reads a piece')]
    const now = await replayTape(await record(whole), piece)
    expect(now.drift).toMatchObject([{ stepNumber: 1, recorded: 'read', live: 'read in part' }])
    const then = await replayTape(await record(piece), whole)
    expect(then.drift).toMatchObject([{ stepNumber: 1, recorded: 'read in part', live: 'read' }])
    const left = await replayTape(await record(piece), agent(name, 'leaves'))
    expect(left.drift).toMatchObject([{ stepNumber: 1, recorded: 'read in part', live: 'left unread' }])
  },
)

test('an answer of which the recorder did not see whether it is read is listed as not compared, and nothing where none looked', async () => {
  const rates = (reads: boolean) => agent('fetch', reads ? 'reads' : 'leaves')
  const { close, ...tape } = await record(rates(true))
  const { unread, ...older } = close!
  const [first, second] = tape.events.flatMap(({ kind, n }) => (kind === 'exchange' ? [n] : []))
  // The second one has no body.
  expect([unread, close!.unseen]).toEqual([[second], undefined])
  const replayed = (noted: object) => replayTape({ ...tape, close: { ...older, ...noted } }, rates(false))
  expect((await replayed({ unread })).drift).toHaveLength(1)
  expect((await replayed({})).drift).toEqual([])
  const run = await replayed({ unread, unseen: [first] })
  expect([run.drift, inexactParts(run)]).toEqual([[], ['not compared: hidden part at step 1, body of the answer']])
  expect(run.notCompared).toMatchObject([{ placeholder: 'whether it is read', stepNumber: 1 }])
})

test('of a run that is judged when it is over, it is noted as well', async () => {
  const notes = async (how: How) => {
    const { close, events } = await record(agent('fetch', how), true)
    return [close?.kept?.length, close?.unread?.map((n) => events.findIndex((event) => event.n === n))]
  }
  expect(await notes('reads')).toEqual([1, [1]])
  expect(await notes('leaves')).toEqual([1, [0, 1]])
})

test.for(['fetch', 'fetch of a text, which a replay answers without undici', 'undici', 'node:http'])(
  '%s: a reader that has all bytes, or waits for more, has read the answer; one that leaves some has in part',
  async (name) => {
    type Left = 'reads' | 'reads a piece' | 'waits for more'
    const leaver = (path: string, how: Left, isLate: boolean) => async (): Promise<void> => {
      const { read, readPiece } = await clients[name]!(path)
      if (how === 'reads a piece') await readPiece!()
      sendRest()
      if (how === 'reads') await read()
      if (how === 'waits for more') void read().catch(() => undefined)
      if (isLate) await sleep(30)
    }
    const bodies = async (path: string, how: Left, isLate: boolean): Promise<readonly string[]> => {
      const { drift } = await replayTape(await record(leaver(path, 'reads', true)), leaver(path, how, isLate))
      return drift.filter((found) => found.path === 'body of the answer').map(({ live }) => live)
    }
    for (const isLate of [true, false]) {
      expect(await bodies('/all-at-once', 'reads a piece', isLate)).toEqual([])
      expect(await bodies('/rates', 'reads a piece', isLate)).toEqual(['read in part'])
      expect(await bodies('/rates', 'waits for more', isLate)).toEqual([])
    }
  },
)

test('an answer that undici writes into a stream of the agent is read', async () => {
  const intoOwn = async (): Promise<void> => {
    const own = new Writable({ write: (_bytes, _encoding, done) => done() })
    await stream(`${base()}/packed`, { method: 'GET' }, () => own)
  }
  const tape = await record(intoOwn)
  const run = await replayTape(tape, intoOwn)
  expect([run.drift, run.problems, inexactParts(run)]).toEqual([[], [], []])
  const { drift } = await replayTape(tape, async () => void (await ask(`${base()}/packed`)))
  expect(drift).toMatchObject([{ stepNumber: 1, recorded: 'read', live: 'left unread' }])
})

test('an older tape notes only who subscribed to a body: what a client pipes on was read, and a part is all', async () => {
  const { close, ...tape } = await record(agent('node:http, through another stream', 'leaves'))
  const { inPart: _, ...older } = close!
  expect(
    (
      await replayTape(
        { ...tape, close: { ...older, unread: [] } },
        agent('node:http, through another stream', 'leaves'),
      )
    ).drift,
  ).toEqual([])
  const piece = await record(agent('undici', 'reads a piece'))
  const { inPart, ...before } = piece.close!
  expect(inPart).toHaveLength(1)
  expect((await replayTape({ ...piece, close: before }, agent('undici', 'reads a piece'))).drift).toEqual([])
  const packed = await record(agent('fetch, unpacked', 'leaves'))
  const { inPart: ___, ...left } = packed.close!
  expect((await replayTape({ ...packed, close: left }, agent('fetch, unpacked', 'leaves'))).drift).toEqual([])
  const h2 = await record(agent('node:http2', 'leaves'))
  const { inPart: __, ...noted } = h2.close!
  expect((await replayTape({ ...h2, close: { ...noted, unread: [] } }, agent('node:http2', 'leaves'))).drift).toEqual(
    [],
  )
})

test('an agent that replaces methods of the class of an answer while it is replayed is heard, and its methods are called', async () => {
  const patching = (reads: boolean) => async (): Promise<unknown> => {
    const [first, second] = [await fetch(`${base()}/rates`), await answerOf('/rates')]
    sendRest()
    const patched = [vi.spyOn(Response.prototype, 'text'), vi.spyOn(IncomingMessage.prototype, 'on')]
    const all = reads ? await Promise.all([first.text(), text(second.on('data', () => undefined))]) : []
    await sleep(30)
    await clients['fetch']!('/empty')
    const calls = patched.map(({ mock }) => mock.calls.some(([name = 'data']) => name === 'data'))
    for (const one of patched) one.mockRestore()
    return [all, calls]
  }
  const tape = await record(patching(true))
  const same = await replayTape(tape, patching(true))
  expect([same.drift, same.problems, inexactParts(same)]).toEqual([[], [], []])
  expect(same.outcome).toMatchObject({
    value: [
      ['{"usd":1.1}', '{"usd":1.1}'],
      [true, true],
    ],
  })
  const { drift } = await replayTape(tape, patching(false))
  expect(drift).toMatchObject([1, 2].map((stepNumber) => ({ stepNumber, recorded: 'read', live: 'left unread' })))
})
