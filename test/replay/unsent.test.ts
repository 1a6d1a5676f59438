import { Agent, createServer, request, type RequestOptions } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import axios from 'axios'
import OpenAI from 'openai'
import { fetch as undiciFetch, Pool, request as undiciRequest, Agent as UndiciAgent } from 'undici'
import { describe, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((incoming, response) => {
  const answer = (): void => void response.end('{}')
  incoming.resume().on('end', () => (incoming.url === '/slow' ? setTimeout(answer, 60) : answer()))
})
const base = served(server)

let made = 0
async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('unsent')
  const id = `run-${made++}`
  await createRecorder({ dir }).run({ agent: 'desk', id }, agent)
  return readTape(join(dir, `${id}.tape.jsonl`))
}

async function seen(tape: Tape, agent: () => Promise<unknown>): Promise<readonly string[]> {
  const { problems, drift } = await replayTape(tape, agent)
  const found = [...problems.map(({ code }) => code), ...drift.map(({ class: name }) => name)]
  return found
}

/** What the agent does with its payment: it gives it up, does not, or does not ask for it. */
type How = 'given up' | 'kept' | 'not asked' | 'other'
type Ask = (path: string, signal: AbortSignal, body: string) => Promise<unknown>

function asked(url: string, options: RequestOptions, signal: AbortSignal, body: string, isBySignal = true) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', ...options, ...(isBySignal && { signal }) }, (answer) => {
      answer.resume().on('end', () => resolve('answered'))
    })
    sent.on('error', reject).end(body)
    if (!isBySignal) signal.addEventListener('abort', () => sent.destroy())
  })
}

const told = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error instanceof Error ? error.name : error),
  )

/** Clients that keep a request waiting until the one before it is answered. */
const queues: Readonly<Record<string, () => Ask>> = {
  'node:http, by its signal': () => {
    const agent = new Agent({ maxSockets: 1 })
    return (path, signal, body) => asked(base() + path, { agent }, signal, body)
  },
  'node:http, destroyed': () => {
    const agent = new Agent({ maxSockets: 1, keepAlive: true })
    return (path, signal, body) => asked(base() + path, { agent }, signal, body, false)
  },
  axios: () => {
    const httpAgent = new Agent({ maxSockets: 1 })
    return (path, signal, body) => axios.post(base() + path, body, { httpAgent, signal })
  },
  'undici.request': () => {
    const dispatcher = new UndiciAgent({ connections: 1 })
    return (path, signal, body) =>
      undiciRequest(base() + path, { method: 'POST', body, signal, dispatcher }).then(({ body: answer }) =>
        answer.text(),
      )
  },
  'fetch of undici': () => {
    const dispatcher = new UndiciAgent({ connections: 1 })
    return (path, signal, body) =>
      undiciFetch(base() + path, { method: 'POST', body, signal, dispatcher }).then((answer) => answer.text())
  },
}

/** @param reason - of the abort */
function waits(queue: () => Ask, how: How, reason?: unknown) {
  return async (): Promise<unknown> => {
    const ask = queue()
    const control = new AbortController()
    const first = told(ask('/slow', new AbortController().signal, '{"pay":0}'))
    const body = how === 'other' ? '{"pay":2}' : '{"pay":1}'
    const waiting = how === 'not asked' ? undefined : told(ask('/pay', control.signal, body))
    // What is asked meanwhile elsewhere does not wait for it.
    await fetch(`${base()}/meanwhile`, { method: 'POST', body: '1' }).then((answer) => answer.text())
    if (how !== 'kept') control.abort(reason)
    const answers = [await first, how === 'kept' ? undefined : await waiting]
    // `fetch` of undici says that it gave one up when the connection gets to it.
    await sleep(20)
    return answers
  }
}

describe.for(Object.entries(queues))('%s: a request given up while it waits for a connection', ([, queue]) => {
  test('is the same where it is given up, twenty times', async () => {
    const tape = await record(waits(queue, 'given up'))
    expect(tape.events).toContainEqual(expect.objectContaining({ url: `${base()}/pay`, aborted: expect.anything() }))
    for (let i = 0; i < 20; i++) expect(await seen(tape, waits(queue, 'given up'))).toEqual([])
  })

  test.for(['too late', new RangeError('mine')])(
    'is the same with %o for a reason, and is given up',
    async (reason) => {
      const tape = await record(waits(queue, 'given up', reason))
      expect(await seen(tape, waits(queue, 'given up', reason))).toEqual([])
      expect(await seen(tape, waits(queue, 'kept'))).toContain('HARVEST_TAPE_EXHAUSTED')
    },
  )

  test('is different where it goes on, is another one, or is not asked', async () => {
    const tape = await record(waits(queue, 'given up'))
    expect(await seen(tape, waits(queue, 'kept'))).toContain('HARVEST_TAPE_EXHAUSTED')
    expect(await seen(tape, waits(queue, 'other'))).toContain('HARVEST_DIVERGENCE')
    expect(await seen(tape, waits(queue, 'not asked'))).toContain('HARVEST_UNUSED')
  })

  test('is different where the recorded run did not ask it', async () => {
    const tape = await record(waits(queue, 'not asked'))
    expect(await seen(tape, waits(queue, 'given up'))).toContain('HARVEST_DIVERGENCE')
  })
})

test('a request that waits for a connection when its run ends is a request of the run', async () => {
  const agent = (isAsked: boolean) => async () => {
    const ask = queues['node:http, by its signal']!()
    void told(ask('/slow', new AbortController().signal, '1'))
    if (isAsked) void told(ask('/pay', new AbortController().signal, '2'))
    await sleep(5)
    return 'done'
  }
  const tape = await record(agent(true))
  expect(await seen(tape, agent(true))).toEqual([])
  expect(await seen(tape, agent(false))).toEqual(['HARVEST_UNUSED'])
})

/** Clients of which a request is given up in the turn in which it is made. */
const atOnce: Readonly<Record<string, Ask>> = {
  'node:http': (path, signal, body) => asked(base() + path, {}, signal, body),
  'node:http, destroyed': (path, signal, body) => asked(base() + path, {}, signal, body, false),
  fetch: (path, signal, body) => fetch(base() + path, { method: 'POST', signal, body }),
  'undici.request': (path, signal, body) => new Pool(base()).request({ path, method: 'POST', signal, body }),
  axios: (path, signal, body) => axios.post(base() + path, body, { signal }),
  OpenAI: (path, signal) =>
    new OpenAI({ apiKey: 'none', baseURL: base() + path }).responses.create({ model: 'gpt-5', input: '1' }, { signal }),
}

describe.for(Object.entries(atOnce))('%s: a request given up in its own turn', ([, ask]) => {
  const agent = (how: How, isBefore: boolean) => async () => {
    const control = new AbortController()
    if (isBefore) control.abort()
    const answer = how === 'not asked' ? undefined : told(ask('/pay', control.signal, '1'))
    if (how === 'given up') control.abort()
    await fetch(`${base()}/then`, { method: 'PUT', body: '1' })
    return how === 'kept' ? 'AbortError' : answer
  }

  test.for([false, true])('is the same, twenty times, aborted before: %s', async (isBefore) => {
    const tape = await record(agent('given up', isBefore))
    for (let i = 0; i < 20; i++) expect(await seen(tape, agent('given up', isBefore))).toEqual([])
  })

  test('is different where it goes on, and where it is not asked', async () => {
    const tape = await record(agent('given up', false))
    expect(await seen(tape, agent('kept', false))).not.toEqual([])
    // An SDK that looks at its signal first asks nothing.
    const isMade = tape.events.some((event) => event.kind === 'exchange' && event.url.includes('/pay'))
    expect(await seen(tape, agent('not asked', false))).toEqual(isMade ? ['HARVEST_UNUSED'] : [])
  })
})
