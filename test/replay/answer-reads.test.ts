import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { inexactParts, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((incoming, response) => {
  if (incoming.url === '/empty') return void response.writeHead(204).end()
  if (incoming.url === '/packed')
    return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('1.1'))
  response.write('{"usd":')
  setTimeout(() => response.end('1.1}'), 5)
})
const base = served(server)

type Answer = { readonly read: () => Promise<unknown>; readonly drop?: () => unknown }
const agents = new Agent({ keepAlive: true })

const clients: Readonly<Record<string, (path: string) => Promise<Answer>>> = {
  fetch: async (path) => {
    const response = await fetch(base() + path)
    return { read: () => response.text() }
  },
  'fetch, by a reader of its stream': async (path) => {
    const { body } = await fetch(base() + path)
    return { read: async () => (await body!.getReader().read()).done }
  },
  'fetch, of a copy': async (path) => {
    const response = await fetch(base() + path)
    return { read: () => response.clone().text() }
  },
  'a request that fetch is given': async (path) => {
    const response = await fetch(new Request(base() + path))
    return { read: () => response.json() }
  },
  'fetch, unpacked': async () => {
    const response = await fetch(`${base()}/packed`)
    return { read: () => response.text() }
  },
  'undici with a pool': async (path) => {
    const { body } = await new Pool(base()).request({ path, method: 'GET' })
    return { read: () => body.text(), drop: () => body.dump() }
  },
  'undici with a pool, in pieces': async (path) => {
    const { body } = await new Pool(base()).request({ path, method: 'GET' })
    return { read: () => text(body) }
  },
  'node:http': async (path) => {
    const [response] = (await once(request(base() + path, { agent: agents }).end(), 'response')) as [IncomingMessage]
    return { read: () => text(response), drop: () => response.resume() }
  },
  'node:http, by events': async (path) => {
    const [response] = (await once(request(base() + path).end(), 'response')) as [IncomingMessage]
    return {
      read: () =>
        once(
          response.on('data', () => undefined),
          'end',
        ),
      drop: () => response.resume(),
    }
  },
}
type How = 'reads' | 'leaves' | 'drops' | 'reads late'

const agent =
  (name: string, how: How, path = '/rates') =>
  async (): Promise<string> => {
    const answer = await clients[name]!(path)
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
  for (const how of ['reads', 'leaves', 'drops', 'reads late'] as const) {
    const tape = await record(agent(name, how))
    const run = await replayTape(tape, agent(name, how))
    expect([how, run.drift, run.problems, inexactParts(run)]).toEqual([how, [], [], []])
  }
  const { drift } = await replayTape(await record(agent(name, 'reads')), agent(name, 'reads late'))
  expect(drift).toEqual([])
})

test.for(['undici with a pool', 'node:http', 'node:http, by events'])(
  '%s: an answer that is dropped is not read',
  async (name) => {
    const { drift } = await replayTape(await record(agent(name, 'reads')), agent(name, 'drops'))
    expect(drift).toMatchObject([{ stepNumber: 1, recorded: 'read', live: 'left unread' }])
    expect((await replayTape(await record(agent(name, 'leaves')), agent(name, 'drops'))).drift).toEqual([])
  },
)

test('of an answer of which no recorder saw whether it is read, nothing is listed', async () => {
  const rates = (reads: boolean) => agent('fetch', reads ? 'reads' : 'leaves')
  const { close, ...tape } = await record(rates(true))
  const { unread, ...older } = close!
  const [first, second] = tape.events.flatMap(({ kind, n }) => (kind === 'exchange' ? [n] : []))
  // The second one has no body.
  expect([unread, close!.unseen]).toEqual([[second], undefined])
  const drift = async (noted: object) =>
    (await replayTape({ ...tape, close: { ...older, ...noted } }, rates(false))).drift
  expect(await drift({ unread })).toHaveLength(1)
  expect(await drift({ unread, unseen: [first] })).toEqual([])
  expect(await drift({})).toEqual([])
})

test('of a run that is judged when it is over, it is noted as well', async () => {
  const notes = async (how: How) => {
    const { close, events } = await record(agent('fetch', how), true)
    return [close?.kept?.length, close?.unread?.map((n) => events.findIndex((event) => event.n === n))]
  }
  expect(await notes('reads')).toEqual([1, [1]])
  expect(await notes('leaves')).toEqual([1, [0, 1]])
})
