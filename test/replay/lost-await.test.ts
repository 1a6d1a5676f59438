import { stat } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import axios from 'axios'
import got from 'got'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createRecorder, tool, tools } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import type { ReplayOptions } from '../../src/match/types.ts'
import { outsideRuns } from '../../src/seam/source.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let hasEnded = false
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  if (request.url === '/never') return
  if (request.url === '/late') {
    response.write('[')
    response.on('close', () => (hasEnded = true))
    setTimeout(() => response.end(']'), 5)
    return
  }
  const message = { role: 'assistant', content: 'noted' }
  request.resume().on('end', () => response.end(JSON.stringify({ id: 'c-1', choices: [{ index: 0, message }] })))
})
const base = served(server)

const desk = tools({
  look: async ({ id }: { id: string }) => ({ id, total: 25 }),
  note: async ({ id }: { id: string }) => ({ id }),
  wait: async ({ id }: { id: string }) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return { id }
  },
  longer: async ({ id }: { id: string }) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return { id }
  },
  never: () => new Promise(() => undefined),
  file: async ({ id }: { id: string }) => {
    await stat('.')
    return { id }
  },
  fail: async ({ id }: { id: string }) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    throw new Error(`no ${id}`)
  },
  post: async ({ id }: { id: string }) => (await fetch(`${base()}/orders`, { method: 'POST', body: id })).json(),
})

/** The last action of an agent. */
const actions = {
  'a request with fetch': async () => (await fetch(`${base()}/orders/1`)).text(),
  'a request with a body': async () => (await fetch(`${base()}/orders`, { method: 'POST', body: '{"id":1}' })).json(),
  'a call of a model': () =>
    new OpenAI({ apiKey: 'none', baseURL: base(), maxRetries: 0 }).chat.completions
      .create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Note it.' }] })
      .then(({ choices }) => choices.length),
  'a tool that waits for a timer': () => desk.wait({ id: 'A-17' }),
  'a tool that makes a request': () => desk.post({ id: 'A-17' }),
  'a tool that answers at once': () => desk.note({ id: 'A-17' }),
} as const
type Action = keyof typeof actions

const certain = Object.keys(actions).slice(0, -1) as readonly Action[]
const atOnce = 'a tool that answers at once'

const waiting = (action: Action) => async () => {
  await desk.look({ id: 'A-17' })
  await actions[action]()
  return { done: true }
}
/** What agents did not wait for. */
const left: Promise<unknown>[] = []
const lost = (action: Action) => async () => {
  await desk.look({ id: 'A-17' })
  left.push(actions[action]())
  return { done: true }
}

async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('await')
  const recorder = createRecorder({ dir })
  left.length = 0
  await recorder.run({ agent: 'desk', id: 'run' }, agent).catch(() => undefined)
  // What it does after it returned is noted when it does it, however late that is on a busy machine.
  await Promise.all(left)
  await sleep(100)
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

describe('an agent that throws without waiting for its last action', () => {
  const failing = (run: () => Promise<unknown>) => async (): Promise<never> => {
    await run()
    throw new Error('no refund')
  }

  test.for(certain)('%s: is red when the recorded agent had the answer and threw', async (action) => {
    const tape = await record(failing(waiting(action)))
    const same = await replayTape(tape, failing(waiting(action)))
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems } = await replayTape(tape, failing(lost(action)))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
    expect(problems[0]?.message).toContain('The agent threw without waiting for an action')
  })

  test.for([atOnce, 'a tool that waits for a timer'] as const)(
    '%s: is not red when it did not wait before either',
    async (action) => {
      const agent = failing(lost(action))
      const { problems } = await replayTape(await record(agent), agent)
      expect(problems).toEqual([])
    },
  )

  test(`${atOnce}: is said to have thrown where the config makes it red`, async () => {
    const tape = await record(failing(waiting(atOnce)))
    const strict = await replayTape(tape, failing(lost(atOnce)), { drift: { awaits: 'fail' } })
    expect(strict.problems.map(({ message }) => message.split('\n')[0])).toEqual([
      'The agent threw without waiting for step 2, tool note',
    ])
  })

  test('is neither when one of several failed, and it waited for no other before either', async () => {
    const agent = () =>
      Promise.all([desk.fail({ id: '1' }), desk.longer({ id: '2' }), actions['a request with fetch']()])
    const { problems, drift } = await replayTape(await record(agent), agent)
    expect([problems, drift]).toEqual([[], []])
  })

  test('is told as one that throws where it returned when recorded', async () => {
    const run = await replayTape(await record(waiting(certain[0]!)), failing(lost(certain[0]!)))
    expect(verdictOf(run).differences.map(({ code }) => code)).toEqual(['HARVEST_OUTCOME_KIND'])
  })
})

describe('an agent that returns without waiting for its last action', () => {
  test.for(certain)('%s: is red when the recorded agent had the answer', async (action) => {
    const tape = await record(waiting(action))
    const same = await replayTape(tape, waiting(action))
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems } = await replayTape(tape, lost(action))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
    expect(problems[0]?.message).toContain('step 2')
  })

  test('is red when all of a conversation is left behind, though each of its answers comes', async () => {
    const work = async (): Promise<void> => {
      await actions['a call of a model']()
      await desk.wait({ id: 'A-17' })
      await actions['a request with a body']()
    }
    const agent = (isLost: boolean) => async (): Promise<unknown> => {
      await desk.look({ id: 'A-17' })
      const done = work()
      if (!isLost) await done
      return { done: true }
    }
    const tape = await record(agent(false))
    expect((await replayTape(tape, agent(false))).problems).toEqual([])
    const { problems } = await replayTape(tape, agent(true))
    expect(problems[0]?.message).toMatch(/^The agent returned without waiting for an action\n[^]*\baction +step 2, /)
  })

  test(`${atOnce}: is listed, and red where the config says so`, async () => {
    const tape = await record(waiting(atOnce))
    expect(await replayTape(tape, waiting(atOnce))).toMatchObject({ problems: [], drift: [] })
    const { problems, drift } = await replayTape(tape, lost(atOnce))
    expect(problems).toEqual([])
    expect(drift).toMatchObject([{ class: 'awaits', policy: 'report', part: 'step 2, tool note' }])
    const strict = await replayTape(tape, lost(atOnce), { drift: { awaits: 'fail' } })
    expect(strict.problems.map(({ message }) => message.split('\n')[0])).toEqual([
      'The agent returned without waiting for step 2, tool note',
    ])
  })

  // Of a request with a body that was left at the end, the recorder has no body.
  test.for([...certain.filter((action) => action !== 'a request with a body'), atOnce] as const)(
    '%s: is green when it did not wait before either',
    async (action) => {
      const { problems, drift } = await replayTape(await record(lost(action)), lost(action))
      // Its client takes some turns before it asks: by then the agent has returned.
      const isLate = action === 'a call of a model'
      const row = expect.objectContaining({ class: 'awaits' })
      expect([problems, drift]).toEqual([[], action === atOnce || isLate ? [row] : []])
    },
  )

  test('is green when it works on by itself while the answer comes, as it did when recorded', async () => {
    const agent = async (): Promise<unknown> => {
      const noted = actions['a request with fetch']()
      await sleep(20)
      void noted
      return { done: true }
    }
    expect((await replayTape(await record(agent), agent)).problems).toEqual([])
  })

  test('is green when it did what no tape sees before it returned, however long that took', async () => {
    const agent = (isRecorded: boolean) => async (): Promise<unknown> => {
      let isNoted = false
      void actions['a request with fetch']().then(() => (isNoted = true))
      do await stat('.')
      while (isRecorded && !isNoted)
      return { done: true }
    }
    expect((await replayTape(await record(agent(true)), agent(false))).problems).toEqual([])
  })

  const pair = () => [desk.wait({ id: '1' }), desk.longer({ id: '2' })] as const
  const posted = actions['a request with a body']
  const recordedAndNow: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
    [
      'the first of two tools, of which it took both',
      () => Promise.all(pair()).then(() => true),
      () => Promise.race(pair()).then(() => true),
    ],
    [
      'any of two tools, of which it took both',
      () => Promise.all(pair()).then(() => true),
      () => Promise.any(pair()).then(() => true),
    ],
    [
      'the failure of one, where it took that of one and the answer of the other',
      () => Promise.allSettled([desk.fail({ id: '1' }), desk.longer({ id: '2' })]).then(() => true),
      () =>
        Promise.all([desk.fail({ id: '1' }), desk.longer({ id: '2' })]).then(
          () => true,
          () => true,
        ),
    ],
    [
      'a tool made after a request that it began, of which it had the answer',
      async () => {
        const begun = posted()
        await desk.note({ id: '1' })
        await begun
        return true
      },
      async () => {
        void posted()
        await desk.note({ id: '1' })
        return true
      },
    ],
  ]
  test.for(recordedAndNow)('is red when it takes %s', async ([, recorded, now]) => {
    const tape = await record(recorded)
    const same = await replayTape(tape, recorded)
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems } = await replayTape(tape, now)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
  })

  test.for([
    ['a turn of the event loop', () => new Promise((resolve) => setImmediate(resolve))],
    ['a timer', () => sleep(0)],
    ['a look at a file', () => stat('.')],
  ] as const)('is listed when it waits for %s instead', async ([, instead]) => {
    const tape = await record(async () => {
      await desk.look({ id: 'A-17' })
      await desk.longer({ id: 'A-17' })
      return { done: true }
    })
    const { problems, drift } = await replayTape(tape, async () => {
      await desk.look({ id: 'A-17' })
      void desk.longer({ id: 'A-17' })
      await instead()
      return { done: true }
    })
    expect(problems).toEqual([])
    expect(drift).toContainEqual(
      expect.objectContaining({ class: 'awaits', policy: 'report', recorded: 'answered', live: 'not awaited' }),
    )
  })

  test.for([
    ['a turn of the event loop', 'file', () => new Promise((resolve) => setImmediate(resolve))],
    ['a look at a file', 'file', () => stat('.')],
    ['a look at a file', 'note', () => stat('.')],
  ] as const)(
    'is listed when it waits for %s behind the tool %s, which waits for nothing that a tape sees',
    async ([, name, behind]) => {
      const agent = (isLost: boolean) => async (): Promise<unknown> => {
        await desk.look({ id: 'A-17' })
        const begun = desk[name]({ id: 'A-17' })
        if (!isLost) await begun
        await behind()
        return { done: true }
      }
      const tape = await record(agent(false))
      expect(await replayTape(tape, agent(false))).toMatchObject({ problems: [], drift: [] })
      const { problems, drift } = await replayTape(tape, agent(true))
      expect(problems).toEqual([])
      expect(drift).toMatchObject([
        { class: 'awaits', policy: 'report', part: `step 2, tool ${name}`, live: 'not awaited' },
      ])
    },
  )

  test('is neither when it took the first of two tools that wait for nothing that a tape sees', async () => {
    const agent = (): Promise<unknown> => Promise.race([desk.file({ id: '1' }), desk.file({ id: '2' })])
    const { problems, drift } = await replayTape(await record(agent), agent)
    expect([problems, drift]).toEqual([[], []])
  })

  test('is neither when what it did not wait for was answered meanwhile in both', async () => {
    const agent = async (): Promise<unknown> => {
      void posted()
      await desk.longer({ id: '1' })
      void desk.wait({ id: '2' })
      await actions['a call of a model']()
      await sleep(30)
      return Promise.race(pair())
    }
    const { problems, drift } = await replayTape(await record(agent), agent)
    expect([problems, drift]).toEqual([[], []])
  })

  test('is neither when one thing answered two tools, and it waited for one of them', async () => {
    const agent = async (): Promise<unknown> => {
      const loaded = sleep(5)
      const load = tools({
        first: async ({ id }: { id: string }) => loaded.then(() => id),
        second: async ({ id }: { id: string }) => loaded.then(() => id).then((found) => found),
      })
      const first = load.first({ id: '1' })
      void load.second({ id: '2' })
      return first
    }
    const tape = await record(agent)
    const [first, second] = tape.events
    if (first?.kind !== 'tool' || second?.kind !== 'tool' || !second.settled) throw new Error('no answers')
    const [n, at] = second.settled
    const apart: Tape = { ...tape, events: [first, { ...second, settled: [n, at + 1] }] }
    const { problems, drift } = await replayTape(apart, agent)
    expect([problems, drift]).toEqual([[], []])
  })

  test('is neither when it reads nothing of an answer but its status', async () => {
    const agent = (isRecorded: boolean) => async (): Promise<unknown> => {
      const { status } = await fetch(`${base()}/late`)
      do await stat('.')
      while (isRecorded && !hasEnded)
      for (let i = 0; isRecorded && i < 100; i++) await stat('.')
      return status
    }
    const tape = await record(agent(true))
    expect(tape.events).toMatchObject([{ response: { end: expect.any(Array) } }])
    const { problems, drift } = await replayTape(tape, agent(false))
    expect([problems, drift]).toEqual([[], []])
  })

  test('is neither where an action was open when it returned: answers may have been noted after that', async () => {
    const agent = (isLost: boolean) => async (): Promise<unknown> => {
      fetch(`${base()}/never`, { method: 'DELETE' }).catch(() => undefined)
      const begun = posted()
      await desk.note({ id: '1' })
      if (!isLost) await begun
      return true
    }
    const { problems, drift } = await replayTape(await record(agent(false)), agent(true))
    expect([problems, drift]).toEqual([[], []])
  })

  test('is green when it returns the response itself, for its caller to read', async () => {
    const agent = async (): Promise<Response> => fetch(`${base()}/orders/1`)
    expect((await replayTape(await record(agent), agent)).problems).toEqual([])
  })

  test('is green when it took the first of two answers', async () => {
    const agent = () => Promise.race([desk.wait({ id: '1' }), actions['a request with fetch']()])
    expect((await replayTape(await record(agent), agent)).problems).toEqual([])
  })
})

describe('an agent that waits now for what the recorded one left', () => {
  const leaving = async () => {
    await desk.look({ id: 'A-17' })
    void desk.longer({ id: 'A-17' })
    return { done: true }
  }
  const staying = async () => {
    await desk.look({ id: 'A-17' })
    await desk.longer({ id: 'A-17' })
    return { done: true }
  }

  test('is told at once that the tape has no answer to it, and that more time does not bring one', async () => {
    const { problems } = await replayTape(await record(leaving), staying, { hangMs: 60_000 } as ReplayOptions)
    expect(problems[0]?.message).toMatchInlineSnapshot(`
      "The agent never answered: it waits for more than the recorded agent did

        tape        run
        after       step 2, tool longer
        unanswered  step 2, tool longer, also when recorded

      The recorded run was over before that answer came, so it is not on the tape, and more time does not bring it.
      → if the new behaviour is right: record the run again and promote the new tape
      → to see the recorded steps: npx vitest-harvest show run
      (HARVEST_AGENT_TIMEOUT)"
    `)
    expect(problems).toHaveLength(1)
  })

  test('is told so of a request, before steps that it has not come to', async () => {
    const tape = await record(async () => {
      const late = fetch(`${base()}/never`, { method: 'POST' }).catch(() => undefined)
      await desk.look({ id: 'A-17' })
      void late
      return { done: true }
    })
    const agent = async () => {
      await fetch(`${base()}/never`, { method: 'POST' })
      await desk.look({ id: 'A-17' })
      return { done: true }
    }
    const { problems } = await replayTape(tape, agent, { hangMs: 60_000 } as ReplayOptions)
    expect(problems[0]?.facts.where).toMatchObject({
      unanswered: expect.stringMatching(/^step 1, POST .*\/never, also when recorded$/),
      next: expect.stringContaining('step 2, tool look'),
    })
  })

  test('is not told so while it works on what no tape sees for as long as when recorded', async () => {
    const slow = async () => {
      await desk.look({ id: 'A-17' })
      void desk.never()
      await new Promise((resolve) => outsideRuns(() => setTimeout(resolve, 1_200)))
      return { done: true }
    }
    const { problems } = await replayTape(await record(slow), slow, { hangMs: 60_000 } as ReplayOptions)
    expect(problems).toEqual([])
  })
})

describe('the code of a tool, run beside its recording, that loses its last await', () => {
  const send = async (path: string) => (await fetch(`${base()}/${path}`, { method: 'POST', body: path })).json()
  const settle = (last: () => unknown) => async () => {
    const settling = tool('settle', async () => {
      await send('check')
      await last()
      return { done: true }
    })
    await settling()
    await desk.look({ id: 'A-17' })
    return { done: true }
  }
  const run = { tools: { run: ['settle'] } } as ReplayOptions

  test.for([
    ['a request', () => send('refund')],
    ['a tool that waits for a timer', () => desk.wait({ id: 'A-17' })],
  ] as const)('is red, and names what it did not wait for: %s', async ([, action]) => {
    const tape = await record(settle(action))
    const same = await replayTape(tape, settle(action), run)
    expect([same.problems, same.drift]).toEqual([[], []])
    for (let again = 0; again < 5; again++) {
      const { problems } = await replayTape(
        tape,
        settle(() => void left.push(action())),
        run,
      )
      expect(problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
      expect(problems[0]?.message).toContain('The code of settle ended without waiting for an action')
    }
  })

  test('is red where the code does not make the request at all, as one that leaves it out', async () => {
    const tape = await record(settle(() => send('refund')))
    const { problems } = await replayTape(
      tape,
      settle(() => undefined),
      run,
    )
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('The code of settle left out 1 recorded step'),
    ])
  })

  test('is green when it did not wait before either', async () => {
    const leaving = settle(() => void left.push(send('refund')))
    const { problems, drift } = await replayTape(await record(leaving), leaving, run)
    expect([problems, drift]).toEqual([[], []])
  })
})

/** Answers to two at once come in one packet each, one behind the other; of `late` ones, much later. */
const shop = createServer((asked, response) => {
  const { url = '' } = asked
  const isPacked = url.includes('packed')
  const body = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'done' } }] })
  if (isPacked) response.setHeader('content-encoding', 'gzip')
  response.setHeader('content-type', 'application/json')
  const end = (): void => void response.end(isPacked ? gzipSync(body) : body)
  asked.resume().on('end', () => setTimeout(end, url.includes('late') ? 40 : 2))
})
const shopBase = served(shop)
const lines = new Agent({ keepAlive: true })
const clients: Readonly<Record<string, (path: string, method?: 'POST' | 'GET') => Promise<unknown>>> = {
  fetch: async (path, method = 'POST') =>
    (await fetch(`${shopBase()}${path}`, method === 'POST' ? { method, body: '{}' } : { method })).json(),
  axios: (path, method = 'POST') => axios.request({ url: `${shopBase()}${path}`, method }),
  got: (path, method = 'POST') => got(`${shopBase()}${path}`, { method }).json(),
  'node:http': (path, method = 'POST') =>
    new Promise((resolve, reject) => {
      request(`${shopBase()}${path}`, { method, agent: lines, headers: { 'content-length': 0 } }, (response) => {
        void response.toArray().then(resolve, reject)
      })
        .on('error', reject)
        .end()
    }),
  OpenAI: (path) =>
    new OpenAI({ apiKey: 'none', baseURL: `${shopBase()}${path}`, maxRetries: 0 }).chat.completions.create({
      model: 'gpt-5',
      messages: [{ role: 'user', content: path }],
    }),
}

describe('an agent that waits for the first of two requests made at once', () => {
  const pairOf = (name: string, paths: readonly string[], method?: 'GET') => {
    const asked = paths.map((path) => clients[name]!(path, method))
    left.push(...asked)
    return asked
  }
  const both = (name: string, paths: readonly string[], method?: 'GET') => async (): Promise<boolean> => {
    await Promise.all(pairOf(name, paths, method))
    return true
  }
  const first = (name: string, paths: readonly string[], method?: 'GET') => async (): Promise<boolean> => {
    await Promise.race(pairOf(name, paths, method))
    return true
  }
  const paths = ['/refund', '/late-invoice']

  test.for(Object.keys(clients))('with %s: is red where it waited for both when recorded', async (name) => {
    const tape = await record(both(name, paths))
    const same = await replayTape(tape, both(name, paths))
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems } = await replayTape(tape, first(name, paths))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
    expect(problems[0]?.message).toContain('late-invoice')
  })

  test.for(Object.keys(clients).flatMap((name) => [paths, ['/a', '/b']].map((asked) => [name, asked] as const)))(
    'with %s, %j: is neither where it did so when recorded',
    async ([name, asked]) => {
      const tape = await record(first(name, asked))
      expect((await replayTape(tape, first(name, asked))).problems).toEqual([])
    },
  )

  test.for(['fetch', 'axios', 'got'])('with %s: is listed where they only read, or were packed', async (name) => {
    for (const [asked, method] of [[paths, 'GET'], [['/packed', '/packed/late']]] as const) {
      const { problems, drift } = await replayTape(await record(both(name, asked, method)), first(name, asked, method))
      expect(problems).toEqual([])
      expect(drift).toMatchObject([{ class: 'awaits', recorded: 'answered', live: 'not awaited' }])
    }
  })

  test.for([
    ['a turn of the event loop', () => new Promise((resolve) => setImmediate(resolve))],
    ['a look at a file', () => stat('.')],
    ['a timer', () => sleep(0)],
  ] as const)('is listed where it waited for %s then, which may have kept it as long', async ([, instead]) => {
    const { problems, drift } = await replayTape(await record(both('fetch', paths)), async () => {
      await first('fetch', paths)()
      await instead()
      return true
    })
    expect(problems).toEqual([])
    expect(drift).toContainEqual(expect.objectContaining({ class: 'awaits', live: 'not awaited' }))
  })
})
