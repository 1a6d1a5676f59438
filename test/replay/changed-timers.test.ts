import { addAbortListener, once } from 'node:events'
import http from 'node:http'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import OpenAI from 'openai'
import { startProviderHere } from '../../fixtures/provider/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-changed-timers-'))
const server = http.createServer((request, response) => void request.resume().on('end', () => response.end('ok')))
let url = ''
let tape: Tape

/** Asks under a time limit, waits, and asks again; once more after each of the other pauses. */
const agent =
  (limit: number, ...pauses: readonly number[]) =>
  async () => {
    await (await fetch(`${url}/0`, { signal: AbortSignal.timeout(limit) })).text()
    for (const [at, pause] of pauses.entries()) {
      await sleep(pause)
      await (await fetch(`${url}/${at + 1}`)).text()
    }
  }

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a' }, agent(5_000, 10, 20))
  tape = readTape(recorder.lastTape!)
  await installReplay()
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

async function timersOf(of: () => Promise<void>, options?: ReplayOptions): Promise<readonly unknown[]> {
  const run = await replayTape(tape, of, options)
  const { verdict, notJudged } = verdictOf(run)
  const drift = run.drift.map(
    ({ class: kind, stepNumber, recorded, live }) => `${kind} ${stepNumber}: ${recorded} → ${live}`,
  )
  return [verdict, drift, notJudged.map(({ part }) => part)]
}

/** What differs in the timers of another agent than the recorded one. */
async function recordedWith(
  was: () => Promise<void>,
  is: () => Promise<void>,
  written = (read: Tape): Tape => read,
): Promise<readonly string[]> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'b' }, was)
  const run = await replayTape(written(readTape(recorder.lastTape!)), is)
  expect(run.problems).toEqual([])
  return run.drift.map(({ class: kind, stepNumber, recorded, live }) => `${kind} ${stepNumber}: ${recorded} → ${live}`)
}

describe('a timer of another length', () => {
  test('is listed with its step and both delays, and the verdict stays', async () => {
    expect(await timersOf(agent(5_000, 10, 20))).toEqual(['same', [], []])
    expect(await timersOf(agent(9_000, 10, 20))).toEqual(['same', ['timers 1: 5000 ms → 9000 ms'], ['timer']])
    expect(await timersOf(agent(7_000, 10, 25))).toEqual([
      'same',
      ['timers 1: 5000 ms → 7000 ms', 'timers 2: 20 ms → 25 ms'],
      ['timer', 'timer'],
    ])
  })

  test('is what the policy of its class says', async () => {
    expect(await timersOf(agent(9_000, 10, 20), { drift: { timers: 'ignore' } })).toEqual(['same', [], []])
    const red = await replayTape(tape, agent(9_000, 10, 20), { drift: { timers: 'fail' } })
    expect(red.problems[0]?.message).toContain(
      'The agent waits for another time than when this run was recorded: timer',
    )
    expect(red.problems[0]?.message).toContain('[-5000-] {+9000+} ms')
  })

  test('and one that is gone is listed behind the step it stood after, and one of several by how often', async () => {
    const unpaused = async (): Promise<void> => {
      await agent(5_000, 10)()
      await (await fetch(`${url}/2`)).text()
    }
    expect(await timersOf(unpaused)).toEqual(['same', ['timers 2: 20 ms, set once → not set'], ['timer']])
    expect(await timersOf(agent(5_000, 10, 10))).toEqual(['same', ['timers 2: 20 ms → 10 ms'], ['timer']])
    expect(
      await recordedWith(agent(5_000, 30, 30), async () => {
        await agent(5_000, 30)()
        await (await fetch(`${url}/2`)).text()
      }),
    ).toEqual(['timers 2: 30 ms, set 2 times → set once'])
  })

  test('and a time limit that is gone is listed', async () => {
    const unlimited = async (): Promise<void> => {
      for (const at of [0, 1, 2]) {
        if (at > 0) await sleep(at * 10)
        await (await fetch(`${url}/${at}`)).text()
      }
    }
    expect(await timersOf(unlimited)).toEqual(['same', ['timers 3: 5000 ms, set once → not set'], ['timer']])
  })

  test('and an `AbortSignal.timeout` that is given to nothing any more is listed, unless it was so when recorded', async () => {
    const ask = async (at: number, signal?: AbortSignal) => {
      await (await fetch(`${url}/${at}`, signal && { signal })).text()
    }
    const limited = async () => ask(0, AbortSignal.timeout(5_000))
    const dropped = async () => {
      AbortSignal.timeout(5_000)
      await ask(0)
    }
    const found = ['timers 1: 5000 ms, set once → set once, given to nothing once']
    expect(await recordedWith(limited, dropped)).toEqual(found)
    expect(await recordedWith(limited, limited)).toEqual([])
    expect(await recordedWith(dropped, dropped)).toEqual([])
    expect(await recordedWith(dropped, async () => ask(0))).toEqual([])
    // What older recorders wrote does not tell.
    const untold = (read: Tape): Tape => {
      const { timersUnheeded: _, ...close } = read.close!
      return { ...read, close }
    }
    expect(await recordedWith(limited, dropped, untold)).toEqual([])
    const [both, one] = [
      async () => {
        await limited()
        await limited()
      },
      async () => {
        await dropped()
        await limited()
      },
    ]
    expect(await recordedWith(both, one)).toEqual([
      'timers 2: 5000 ms, set 2 times → set 2 times, given to nothing once',
    ])
  })

  test.for<readonly [string, (signal: AbortSignal) => unknown]>([
    ['a Request', (signal) => new Request(url, { signal })],
    [
      'node:http',
      (signal) =>
        once(
          http.get(url, { signal }).on('response', (one) => one.resume()),
          'close',
        ),
    ],
    ['a pause', async (signal) => sleep(1, undefined, { signal })],
    ['another signal', (signal) => AbortSignal.any([signal])],
    ['a listener', (signal) => signal.addEventListener('abort', () => undefined)],
    ['a listener of Node', (signal) => addAbortListener(signal, () => undefined)],
    ['a property that listens', (signal) => (signal.onabort = () => undefined)],
    ['code that throws', (signal) => signal.throwIfAborted()],
    ['code that looks', (signal) => signal.aborted],
    [
      'code that looks after it was frozen',
      (signal) => {
        const { aborted } = Object.freeze(signal)
        signal.throwIfAborted()
        return aborted
      },
    ],
  ])('but one that is given to %s is heeded', async ([, heed]) => {
    // Longer than the tests take: Node throws where one that was frozen runs out.
    const agent = async (): Promise<void> => {
      await heed(AbortSignal.timeout(3_600_000))
    }
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'c' }, agent)
    const read = readTape(recorder.lastTape!)
    expect(read.close?.timersUnheeded).toEqual([])
    const run = await replayTape(read, agent)
    expect([run.problems, run.drift]).toEqual([[], []])
  })

  test("of the body of a wrapped function is not missed, and beside such one the agent's own is", async () => {
    const look = tool('look', async () => sleep(15))
    const paused = async (): Promise<void> => {
      await look()
      await sleep(15)
      await sleep(25)
      await (await fetch(`${url}/0`)).text()
    }
    expect(await recordedWith(paused, paused)).toEqual([])
    const unpaused = async (): Promise<void> => {
      await look()
      await sleep(25)
      await (await fetch(`${url}/0`)).text()
    }
    expect(await recordedWith(paused, unpaused)).toEqual(['timers 1: 15 ms, set once → not set'])
    const older = ({ close, ...rest }: Tape): Tape => {
      const { timersInCalls: _, ...others } = close!
      return { ...rest, close: others }
    }
    expect(await recordedWith(paused, unpaused, older)).toEqual([])
  })

  test('that is new is listed where it was set, also when the recorded run set none', async () => {
    const more = async (): Promise<void> => {
      await agent(5_000, 10, 20)()
      await sleep(77)
    }
    expect(await timersOf(more)).toEqual(['same', ['timers 3: 77 ms, not set → set once'], ['timer']])
    expect(await timersOf(agent(5_000, 10, 20), { drift: { timers: 'fail' } })).toEqual(['same', [], []])
    const asked = (init?: RequestInit) => async () => void (await (await fetch(`${url}/0`, init)).text())
    expect(await recordedWith(asked(), asked())).toEqual([])
    const limited = async (): Promise<void> => asked({ signal: AbortSignal.timeout(5_000) })()
    expect(await recordedWith(asked(), limited)).toEqual(['timers 1: 5000 ms, not set → set once'])
    const twice = async (): Promise<void> => {
      await limited()
      await limited()
    }
    const once = async (): Promise<void> => {
      await limited()
      await asked()()
    }
    expect(await recordedWith(once, twice)).toEqual(['timers 1: 5000 ms, set once → set 2 times'])
  })

  test('and one that is new beside as long ones in the body of a wrapped function is listed unless bodies run', async () => {
    const wait = async (): Promise<void> => sleep(15)
    const look = tool('look', wait)
    const asked = (limit?: number) => async (): Promise<void> => {
      await look()
      if (limit !== undefined) await sleep(limit)
      await (await fetch(`${url}/0`)).text()
    }
    expect(await recordedWith(asked(), asked(15))).toEqual(['timers 1: 15 ms, not set → set once'])
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'b' }, asked())
    const { problems, drift } = await replayTape(readTape(recorder.lastTape!), asked(), { tools: { run: ['look'] } })
    expect([problems, drift]).toEqual([[], []])
  })

  test('of a tape that says nothing of timers is not matched with anything', async () => {
    const { timers: _, ...close } = tape.close!
    const run = await replayTape({ ...tape, close }, agent(9_000, 10, 20))
    expect(run.drift).toEqual([])
  })
})

describe('a time limit of the AI SDK', () => {
  test('that is new, gone or another one is listed', async () => {
    const provider = await startProviderHere()
    const model = createOpenAI({ apiKey: 'test-key', baseURL: `${provider.base}/v1` }).chat('gpt-x')
    const asked = (timeout?: number) => async (): Promise<void> => {
      await generateText({ model, prompt: 'Hello', ...(timeout !== undefined && { timeout }) })
    }
    expect(await recordedWith(asked(), asked())).toEqual([])
    expect(await recordedWith(asked(5_000), asked(5_000))).toEqual([])
    expect(await recordedWith(asked(), asked(5_000))).toEqual(['timers 1: 5000 ms, not set → set once'])
    expect(await recordedWith(asked(5_000), asked())).toEqual(['timers 1: 5000 ms, set once → not set'])
    expect(await recordedWith(asked(5_000), asked(7_000))).toEqual(['timers 1: 5000 ms → 7000 ms'])
    await provider.close()
  })
})

describe('a time limit of an SDK', () => {
  const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] }
  const late = http.createServer((request) => void request.resume())
  let baseURL = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => late.listen(0, '127.0.0.1', resolve))
    baseURL = `http://127.0.0.1:${(late.address() as AddressInfo).port}`
  })
  afterAll(() => {
    late.closeAllConnections()
    late.close()
  })
  const clients: Readonly<Record<string, (timeout: number, maxRetries: number) => Promise<unknown>>> = {
    openai: (timeout, maxRetries) =>
      new OpenAI({ apiKey: 'none', baseURL, timeout, maxRetries }).chat.completions.create(asked),
    '@anthropic-ai/sdk': (timeout, maxRetries) =>
      new Anthropic({ apiKey: 'none', baseURL, timeout, maxRetries }).messages.create({ ...asked, max_tokens: 9 }),
  }
  test.for(Object.entries(clients).flatMap(([name, ask]) => [0, 1].map((retries) => [name, retries, ask] as const)))(
    'of %s that fires is listed when it is another one, with %i retries',
    async ([name, retries, ask]) => {
      const agent = (limit: number) => async (): Promise<void> => {
        await ask(limit, retries).catch(() => undefined)
        await (await fetch(`${url}/0`)).text()
      }
      expect(await recordedWith(agent(60), agent(60))).toEqual([])
      const recorder = createRecorder({ dir })
      await recorder.run({ agent: 'b' }, agent(60))
      const { problems, drift } = await replayTape(readTape(recorder.lastTape!), agent(90))
      expect(problems).toEqual([])
      expect(drift.map(({ part, recorded, live }) => [part, recorded, live])).toEqual([
        [`timer of ${name}`, '60 ms', '90 ms'],
      ])
    },
  )

  test('of a package that reads the clock another number of times may be the time that is left', async () => {
    // A package of the test's own: only its folder says so.
    const folder = join(dir, 'node_modules', 'limiter')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'index.js'),
      `export const limited = (ms, reads) => {
        for (let i = 0; i < reads; i++) Date.now()
        return new Promise((resolve) => setTimeout(resolve, ms))
      }`,
    )
    const { limited } = (await import(pathToFileURL(join(folder, 'index.js')).href)) as {
      limited: (ms: number, reads: number) => Promise<void>
    }
    const agent = (ms: number, reads: number) => async (): Promise<void> => {
      await sleep(50)
      await limited(ms, reads)
      await (await fetch(`${url}/0`)).text()
    }
    expect(await recordedWith(agent(20, 1), agent(25, 1))).toEqual(['timers 1: 20 ms → 25 ms'])
    expect(await recordedWith(agent(20, 1), agent(25, 2))).toEqual([])
    expect(await recordedWith(agent(20, 2), agent(25, 1))).toEqual([])
    const both =
      (ms: number, ...order: readonly number[]) =>
      async (): Promise<void> => {
        const asked = order.map(async (at) => limited(ms, 1).then(async () => (await fetch(`${url}/${at}`)).text()))
        await Promise.all(asked)
      }
    expect(await recordedWith(both(20, 0, 1), both(25, 0, 1))).toEqual(['timers 1: 20 ms → 25 ms'])
    expect(await recordedWith(both(20, 0, 1), both(25, 1, 0))).toEqual([])
    expect(await recordedWith(agent(20, 1), agent(2_000, 2))).toEqual(['timers 1: 20 ms → 2000 ms'])
  })
})
