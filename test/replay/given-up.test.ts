import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Answers at once, or never; `/begun` says a piece and no more. */
const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    if (incoming.url?.startsWith('/begun') === true) response.write('one')
    else if (incoming.url?.startsWith('/never') !== true) response.end('{}')
  })
})
const base = served(server)

let made = 0
async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('given-up')
  const id = `run-${made++}`
  await createRecorder({ dir })
    .run({ agent: 'desk', id }, agent)
    .catch(() => undefined)
  return readTape(join(dir, `${id}.tape.jsonl`))
}

async function seen(tape: Tape, agent: () => Promise<unknown>): Promise<readonly string[]> {
  const { problems, drift } = await replayTape(tape, agent)
  const listed = drift.map(({ class: name, part, recorded, live }) => `${name} ${part}: ${recorded} -> ${live}`)
  return [...problems.map(({ code }) => code), ...listed].map((line) => line.replaceAll(new URL(base()).host, ''))
}

type Ask = (path: string, method: string, signal: AbortSignal | undefined) => Promise<unknown>

const clients: Readonly<Record<string, Ask>> = {
  fetch: async (path, method, signal) => (await fetch(base() + path, { method, ...(signal && { signal }) })).text(),
  'node:http': (path, method, signal) =>
    new Promise((resolve, reject) => {
      const sent = request(base() + path, { method, ...(signal && { signal }) }, (answer) => {
        answer.on('error', reject).resume().on('end', resolve)
      })
      sent.on('error', reject).end()
    }),
}

type Lost = 'nothing' | 'signal' | 'abort'

/** The first answer wins, and the loser is cancelled. */
function race(ask: Ask, way: 'race' | 'any', lost: Lost, path = '/never', method = 'POST', reason?: unknown) {
  return async (): Promise<string> => {
    const control = new AbortController()
    const loser = ask(path, method, lost === 'signal' ? undefined : control.signal)
    await Promise[way]([ask('/quick', 'GET', undefined), loser])
    loser.catch(() => undefined)
    if (path === '/begun') await sleep(50)
    if (lost !== 'abort') control.abort(reason)
    // `node:http` says a turn later that it gave up an answer.
    if (path === '/begun') await sleep(50)
    return 'done'
  }
}

describe.for(Object.entries(clients))('%s: a request that lost a race', ([, ask]) => {
  test.for(['race', 'any'] as const)('of Promise.%s is given up, and nothing differs', async (way) => {
    for (const method of ['GET', 'POST']) {
      const agent = race(ask, way, 'nothing', '/never', method)
      expect(await seen(await record(agent), agent)).toEqual([])
    }
  })

  test.for(['signal', 'abort'] as const)('is an action that goes on without its %s: different', async (lost) => {
    const tape = await record(race(ask, 'race', 'nothing'))
    expect(await seen(tape, race(ask, 'race', lost))).toEqual(['HARVEST_TAPE_EXHAUSTED'])
  })

  test.for(['signal', 'abort'] as const)('is a read that goes on without its %s: listed', async (lost) => {
    const tape = await record(race(ask, 'any', 'nothing', '/never', 'GET'))
    expect(await seen(tape, race(ask, 'any', lost, '/never', 'GET'))).toEqual([
      'awaits step 1, GET /never: given up -> not given up',
    ])
  })

  test.for(['too late', new Error('too late'), { late: true }])('is the same with %o for a reason', async (reason) => {
    const agent = (lost: Lost) => async () => {
      await race(ask, 'race', lost, '/never', 'POST', reason)()
      // What comes after it keeps the run going.
      await sleep(5)
      return ask('/quick', 'PUT', undefined)
    }
    const tape = await record(agent('nothing'))
    expect(await seen(tape, agent('nothing'))).toEqual([])
    expect(await seen(tape, agent('signal'))).toEqual(['HARVEST_TAPE_EXHAUSTED'])
  })

  test('is listed where its answer had begun, for its service had taken it', async () => {
    const tape = await record(race(ask, 'race', 'nothing', '/begun'))
    expect(await seen(tape, race(ask, 'race', 'nothing', '/begun'))).toEqual([])
    expect(await seen(tape, race(ask, 'race', 'abort', '/begun'))).toEqual([
      'awaits step 1, POST /begun: given up after 1 piece -> not given up',
    ])
  })
})

test('a model call that goes on is listed: it acts on nothing', async () => {
  const client = (): OpenAI => new OpenAI({ apiKey: 'none', baseURL: `${base()}/never`, maxRetries: 0 })
  const agent = (isGiven: boolean) => async (): Promise<string> => {
    const control = new AbortController()
    const asked = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'How much?' }] }
    void client()
      .chat.completions.create(asked, isGiven ? { signal: control.signal } : {})
      .catch(() => undefined)
    await clients['fetch']!('/quick', 'GET', undefined)
    control.abort()
    return 'done'
  }
  const tape = await record(agent(true))
  expect(await seen(tape, agent(true))).toEqual([])
  expect(await seen(tape, agent(false))).toEqual([
    'awaits step 2, POST /never/chat/completions: given up -> not given up',
  ])
})

test('an action that goes on is different where each turn of the event loop takes long: its limit does not run out', async () => {
  let isSlow = false
  const agent = (isGiven: boolean) => async (): Promise<string> => {
    const [control, limit] = [new AbortController(), new AbortController()]
    setTimeout(() => limit.abort(), 600_000)
    const signal = isGiven ? AbortSignal.any([control.signal, limit.signal]) : limit.signal
    clients['fetch']!('/never', 'POST', signal).catch(() => undefined)
    await clients['fetch']!('/quick', 'GET', undefined)
    control.abort()
    isSlow = true
    return 'done'
  }
  const tape = await record(agent(true))
  isSlow = false
  const turn = (): void => {
    if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    other = setImmediate(turn)
  }
  let other = setImmediate(turn)
  try {
    expect(await seen(tape, agent(false))).toEqual(['HARVEST_TAPE_EXHAUSTED'])
  } finally {
    clearImmediate(other)
  }
})
