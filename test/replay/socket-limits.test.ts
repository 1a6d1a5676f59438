import { Agent, type ClientRequest, createServer, get, request, type RequestOptions } from 'node:http'
import { join } from 'node:path'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import axios from 'axios'
import got from 'got'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Answers after as many ms as its path says, or in four pieces that far apart. */
const server = createServer((incoming, response) => {
  const [, kind, ms] = (incoming.url ?? '').split('/')
  const pieces = kind === 'pieces' ? 4 : 1
  let sent = 0
  const send = (): void => {
    response.write(`${sent}`)
    if (++sent === pieces) response.end()
    else setTimeout(send, Number(ms))
  }
  setTimeout(send, Number(ms))
})
const dir = temporaryFolder('harvest-socket-limits-')
const base = served(server)
beforeAll(() => installReplay())

/** What an agent is told of a request that it sets a time-out for. */
type Ask = (url: string, limit: number) => Promise<unknown>

function asked(url: string, options: RequestOptions, limit: (made: ClientRequest) => void): Promise<string> {
  return new Promise((resolve) => {
    const made = get(url, options, (response) => {
      let text = ''
      response.on('data', (piece: Buffer) => (text += piece.toString()))
      response.on('close', () => resolve(`${text} ${response.complete}`))
      response.on('error', () => undefined)
    })
    made.on('error', ({ message }) => resolve(message))
    limit(made)
  })
}
const giveUp = (made: ClientRequest) => () => void made.destroy(new RangeError('mine'))
const said = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: Error) => `${error.name}: ${error.message.replaceAll(/\d+ ?ms/g, 'ms')}`)

const asks: Readonly<Record<string, Ask>> = {
  'setTimeout of a request': (url, limit) => asked(url, {}, (made) => made.setTimeout(limit, giveUp(made))),
  'the option of a request': (url, timeout) => asked(url, { timeout }, (made) => made.on('timeout', giveUp(made))),
  'the option of an agent': async (url, timeout) => {
    const agent = new Agent({ timeout, keepAlive: true })
    const answer = await asked(url, { agent }, (made) =>
      made.on('socket', (socket) => socket.once('timeout', giveUp(made))),
    )
    agent.destroy()
    return answer
  },
  'setTimeout of a socket': (url, limit) =>
    asked(url, {}, (made) => made.on('socket', (socket) => socket.setTimeout(limit, giveUp(made)))),
  'setTimeout of a socket that is connected': (url, limit) =>
    asked(url, { agent: false }, (made) =>
      made.on('socket', (socket) => socket.once('connect', () => socket.setTimeout(limit, giveUp(made)))),
    ),
  axios: (url, timeout) => said(axios.get(url, { timeout }).then(({ data }) => String(data))),
  'got, for its socket': (url, socket) => said(got(url, { retry: { limit: 0 }, timeout: { socket } }).text()),
  'the AWS handler, for its socket': (url, socketTimeout) => {
    const { hostname, port, pathname: path } = new URL(url)
    const handler = new NodeHttpHandler({ socketTimeout })
    const request = { method: 'GET', protocol: 'http:', hostname, port: Number(port), path, query: {}, headers: {} }
    const sent = handler.handle(request as unknown as Parameters<NodeHttpHandler['handle']>[0])
    return said(sent.then(({ response }) => response.statusCode)).finally(() => handler.destroy())
  },
}

async function recorded(agent: () => Promise<unknown>): Promise<{ readonly tape: Tape; readonly result: unknown }> {
  const recorder = createRecorder({ dir: join(dir, String(Math.random()).slice(2)) })
  const result = await recorder.run({ agent: 'a' }, agent)
  return { tape: readTape(recorder.lastTape!), result }
}

async function replayed(tape: Tape, agent: () => Promise<unknown>): Promise<readonly unknown[]> {
  const { outcome, problems, drift } = await replayTape(tape, agent)
  const result = outcome.status === 'returned' ? outcome.value : String(outcome.error)
  return [
    result,
    problems.map(({ message }) => message.split('\n')[0]),
    drift.map(({ recorded: was, live }) => [was, live]),
  ]
}

describe('a time-out of a socket', () => {
  test.for(Object.entries(asks))('that ran out when recorded runs out without waiting: %s', async ([, ask]) => {
    const agent = (limit: number) => async () => [
      await ask(`${base()}/whole/1500`, limit),
      await ask(`${base()}/whole/1`, 4_444),
    ]
    const { tape, result } = await recorded(agent(60))
    expect(await replayed(tape, agent(60))).toEqual([result, [], []])
    // On a real clock this is given up after 10 seconds.
    const [now, problems] = await replayed(tape, agent(3_600_000))
    expect([now, problems]).toEqual([result, []])
  })

  test.for(Object.entries(asks))('that did not run out when recorded does not in a replay: %s', async ([, ask]) => {
    const agent = (limit: number) => async () => [
      await ask(`${base()}/whole/150`, limit),
      await ask(`${base()}/pieces/100`, limit),
    ]
    const { tape, result } = await recorded(agent(4_444))
    expect(await replayed(tape, agent(4_444))).toEqual([result, [], []])
    // The same run, a thousand times as slow: it may be silent as long as it is allowed to be.
    const hours = await replayed(slowed(tape, 1_000), agent(4_444))
    expect(hours).toEqual([result, [], []])
    const [now, problems] = await replayed(tape, agent(30))
    expect(now).not.toEqual(result)
    // got lets go of its request in a timer of its own.
    expect(problems).toContainEqual(
      expect.stringMatching(/^The client's time-out of (?:30|1) ms fired; it did not when this run/),
    )
  })

  test('says nothing against a replay of a recording that knows nothing of them', async () => {
    const ask = asks['setTimeout of a request']!
    const ran = await recorded(() => ask(`${base()}/whole/1500`, 60))
    const not = await recorded(() => ask(`${base()}/whole/150`, 4_444))
    expect(await replayed(unheard(ran.tape), () => ask(`${base()}/whole/1500`, 60))).toEqual(['mine', [], []])
    expect(await replayed(unheard(not.tape), () => ask(`${base()}/whole/150`, 100))).toEqual(['0 true', [], []])
  })
})

/** The tape of a run in which everything took longer. */
function slowed(tape: Tape, times: number): Tape {
  const later = ([n, at, ...rest]: readonly unknown[]): never => [n, (at as number) * times, ...rest] as never
  const events = tape.events.map((event) => {
    if (event.kind !== 'exchange' || !event.response?.end) return event
    const { moment, chunks, end } = event.response
    return {
      ...event,
      at: event.at * times,
      response: { ...event.response, moment: later(moment), chunks: chunks.map(later), end: later(end) },
    }
  })
  return { ...tape, events, ...(tape.close && { close: { ...tape.close, at: tape.close.at * times } }) }
}

function unheard(tape: Tape): Tape {
  const { timers = [], ...close } = tape.close!
  return { ...tape, close: { ...close, timers: timers.filter(([caller]) => caller !== 'node:http') } }
}

describe.for(['', 'undici'])('a connection of `node:http`, with VITEST_HARVEST_FETCH=%s,', (how) => {
  test.for<readonly [string, () => Promise<unknown>]>([
    ['its events', connects],
    [
      'the phases that got measures',
      async () => {
        const agent = { http: new Agent({ keepAlive: true }) }
        const asked = [
          await got(`${base()}/whole/1`),
          await got.post(`${base()}/whole/1`, { json: {} }),
          await got(`${base()}/whole/1`, { agent }),
          await got(`${base()}/whole/1`, { agent }),
        ]
        agent.http.destroy()
        return asked.map(({ timings }) =>
          Object.entries(timings?.phases ?? {}).map(([name, ms]) => `${name} ${typeof ms}`),
        )
      },
    ],
  ])('is there before what is written to it, as live: %s', async ([, agent]) => {
    const { tape, result } = await recorded(agent)
    vi.stubEnv('VITEST_HARVEST_FETCH', how)
    try {
      const { outcome, problems } = await replayTape(tape, agent)
      expect([outcome, problems]).toEqual([{ status: 'returned', value: result }, []])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('that its client closes before it is there tells what was to be written', async () => {
    const agent = async (): Promise<unknown> => {
      const made = request(`${base()}/whole/1`, { method: 'POST' })
      const failed = new Promise((resolve) => made.on('error', ({ message }) => resolve(message)))
      const written = new Promise((resolve) => made.end('{}', () => resolve(made.writableFinished)))
      made.on('socket', () => made.destroy(new RangeError('mine')))
      return [await failed, await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 50, 'never'))])]
    }
    const { tape, result } = await recorded(agent)
    const { outcome } = await replayTape(tape, agent)
    expect(outcome).toEqual({ status: 'returned', value: result })
  })
})

/** What happens to a request and its connection, in order. */
async function connects(): Promise<readonly string[]> {
  const made = request(`${base()}/whole/1`, { method: 'POST' })
  const log: string[] = []
  for (const name of ['socket', 'finish', 'response'] as const) made.on(name, () => log.push(name))
  made.on('socket', (socket) => {
    for (const name of ['connect', 'ready']) socket.on(name, () => log.push(`${name} of the socket`))
  })
  made.end('{}', () => log.push('written'))
  await new Promise((resolve) => made.on('response', (response) => response.resume().on('end', resolve)))
  return log
}
