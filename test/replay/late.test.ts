import { appendFileSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { Agent, createServer, request as httpRequest } from 'node:http'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as setTimer } from 'node:timers/promises'
import axios from 'axios'
import got from 'got'
import { describe, expect, test } from 'vitest'
import Ws, { WebSocketServer } from 'ws'
import { createRecorder, mark, message, type RecorderOptions, tools } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { lateFlag, readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((request, response) => void request.resume().on('end', () => response.end('{}')))
new WebSocketServer({ server }).on('connection', (socket) => void socket.on('error', () => undefined))
const base = served(server)

const desk = tools({
  look: async ({ id }: { id: string }) => ({ id, total: 25 }),
  refund: async ({ id }: { id: string }) => ({ id }),
  audit: async ({ id }: { id: string }) => ({ id }),
})

const works = {
  'a tool': () => desk.refund({ id: 'A-17' }),
  'a message': () => message('desk', 'worker', { id: 'A-17' }),
  'a mark': () => mark('done', { id: 'A-17' }),
  'a request': async () => (await fetch(`${base()}/orders?id=17`, { method: 'POST', body: '{}' })).text(),
} as const
type Work = keyof typeof works
const names: Readonly<Record<Work, string>> = {
  'a tool': 'tool refund',
  'a message': 'message desk → worker',
  'a mark': 'mark done',
  get 'a request'() {
    return `request POST ${base()}/orders`
  },
}
const actions = new Set<Work>(['a tool', 'a message', 'a request'])

const starts = {
  'a timer': (work: () => unknown) => void setTimeout(work, 5),
  'an immediate': (work: () => unknown) => void setImmediate(work),
  'a promise': (work: () => unknown) =>
    void new Promise<void>((resolve) => setTimeout(resolve, 5)).then(async () => {
      await work()
    }),
  'a timer of a timer': (work: () => unknown) => void setTimeout(() => setTimeout(work, 5), 5),
  'the second tick of an interval': (work: () => unknown) => {
    let ticks = 0
    const ticking = setInterval(() => {
      if (++ticks < 2) return
      clearInterval(ticking)
      work()
    }, 5)
  },
  'immediates after a timer': (work: () => unknown) =>
    (async () => {
      await setTimer(5)
      for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve))
      await work()
    })(),
  'a file that is read after a timer': (work: () => unknown) =>
    (async () => {
      await setTimer(5)
      await readFile(import.meta.filename)
      await work()
    })(),
  'work of a thread after a timer': (work: () => unknown) =>
    (async () => {
      await setTimer(5)
      await crypto.subtle.digest('SHA-256', new Uint8Array(1e6))
      await work()
    })(),
} as const
type Start = keyof typeof starts

/** What a recording waits for before it looks: threads of a busy machine take their time. */
let started: unknown

const agent = (start: Start, work?: Work) => async (): Promise<unknown> => {
  await desk.look({ id: 'A-17' })
  if (work !== undefined) started = starts[start](works[work])
  return { done: true }
}

async function record(run: () => Promise<unknown>, options: Partial<RecorderOptions> = {}): Promise<Tape> {
  const dir = temporaryFolder('late')
  const recorder = createRecorder({ dir, ...options })
  started = undefined
  await recorder.run({ agent: 'desk', id: 'run' }, run)
  await started
  await new Promise((resolve) => setTimeout(resolve, 100))
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

const replay = (tape: Tape, run: (input?: unknown) => Promise<unknown>): Promise<ReplayResult> =>
  replayTape(tape, run, { late: true } as ReplayOptions)

const lateRows = ({ drift }: ReplayResult): readonly unknown[] =>
  drift.map(({ class: name, part, recorded, live, policy }) => [name, part, recorded, live, policy])

const cases = (Object.keys(starts) as readonly Start[]).flatMap((start) =>
  (Object.keys(works) as readonly Work[]).map((work) => [start, work] as const),
)

describe('what an agent does after it returned', () => {
  test.for(cases)('from %s, %s: is on its tape by name and listed as not compared', async ([start, work]) => {
    const tape = await record(agent(start, work))
    const { kind, name, path = '' } = tape.close?.late?.[0] ?? {}
    expect([`${kind} ${name}${path}`, tape.close?.late?.length]).toEqual([names[work], 1])
    const same = await replay(tape, agent(start, work))
    expect(same.problems).toEqual([])
    const part = `${names[work]} after the agent returned`
    expect(lateRows(same)).toEqual([['awaits', part, 'made, not compared', 'made', 'report']])
    const gone = await replay(tape, agent(start))
    expect(gone.problems).toEqual([])
    expect(lateRows(gone)).toEqual([['awaits', part, 'made', 'not made', 'report']])
  })

  const answers = {
    'a timer': (answer: () => void) => void setTimeout(answer, 5),
    'a promise': (answer: () => void) =>
      void Promise.resolve()
        .then(() => null)
        .then(() => setImmediate(answer)),
  } as const
  test.for(Object.keys(answers) as readonly (keyof typeof answers)[])(
    'from %s, an answer that it puts into its input: another one is listed as not compared, and so is the same',
    async (start) => {
      const answering = (said: string) => async (input: unknown) => {
        await desk.look({ id: 'A-17' })
        answers[start](() => void (input as { said?: string; messages: string[] }).messages.push(said))
      }
      const input = { messages: ['Refund it.'] }
      const dir = temporaryFolder('late-input')
      await createRecorder({ dir }).run({ agent: 'desk', id: 'run', input }, () => answering('Done.')(input))
      await setTimer(50)
      expect(input.messages).toHaveLength(2)
      const tape = readTape(join(dir, 'run.tape.jsonl'))
      expect(tape.close).toMatchObject({ input: {} })
      for (const said of ['Done.', 'Never.']) {
        const run = await replayTape(tape, answering(said), { late: true } as ReplayOptions)
        expect(run.problems).toEqual([])
        expect(lateRows(run)).toEqual([
          ['awaits', 'change of the input after the agent returned', 'not seen', 'made, not compared', 'report'],
        ])
      }
    },
  )

  test('what it makes of its return value is listed, and what it returned is compared as it was then', async () => {
    const returning = (first: number) => async () => {
      const found = [first]
      started = new Promise<void>((resolve) => setTimeout(() => (found.push(2), resolve()), 5))
      await desk.look({ id: 'A-17' })
      return found
    }
    const tape = await record(returning(1))
    const same = await replay(tape, returning(1))
    expect([same.comparison.outcomeEqual, same.redactedOutcome]).toEqual([true, [1]])
    expect(lateRows(same)).toEqual([
      ['awaits', 'change of the return value after the agent returned', 'not seen', 'made, not compared', 'report'],
    ])
    expect((await replay(tape, returning(3))).comparison.outcomeEqual).toBe(false)
  })

  test('is listed of an agent that leaves a call out as well: a case may accept that', async () => {
    const dir = temporaryFolder('late-left-out')
    const input = { messages: ['Refund it.'] }
    await createRecorder({ dir }).run({ agent: 'desk', id: 'run', input }, () => desk.look({ id: 'A-17' }))
    const run = await replay(readTape(join(dir, 'run.tape.jsonl')), async (given) => {
      setTimeout(() => (given as typeof input).messages.push('Done.'), 5)
    })
    expect(run.problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
    expect(run.drift.map(({ part }) => part)).toContain('change of the input after the agent returned')
  })

  test('an answer that is no longer put into the input after the return is not seen', async () => {
    const late = (answer: (input: { messages: string[] }) => void) => async (input: unknown) => {
      await desk.look({ id: 'A-17' })
      setImmediate(() => answer(input as { messages: string[] }))
    }
    const input = { messages: ['Refund it.'] }
    const dir = temporaryFolder('late-gone')
    const recorded = late(({ messages }) => void messages.push('Done.'))
    await createRecorder({ dir }).run({ agent: 'desk', id: 'run', input }, () => recorded(input))
    await setTimer(50)
    const run = await replayTape(
      readTape(join(dir, 'run.tape.jsonl')),
      late(() => undefined),
      { late: true } as ReplayOptions,
    )
    expect([run.problems, run.drift]).toEqual([[], []])
  })

  test('is seen however long the machine stood still meanwhile', async () => {
    const run = async (): Promise<void> => {
      await desk.look({ id: 'A-17' })
      started = (async () => {
        await setTimer(5)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
        await readFile(import.meta.filename)
        await desk.refund({ id: 'A-17' })
      })()
    }
    expect(lateRows(await replay(await record(run), run))).toEqual([
      ['awaits', 'tool refund after the agent returned', 'made, not compared', 'made', 'report'],
    ])
  })

  test('is on the tape of a run that was held until it was judged', async () => {
    const tape = await record(agent('a timer', 'a tool'), { sample: 0, keep: { when: () => true } })
    expect(tape.close?.late).toEqual([{ kind: 'tool', name: 'refund' }])
  })

  test('is each thing once, whatever it was done with', async () => {
    const run = async (): Promise<void> => {
      for (const id of ['1', '2', '3']) setTimeout(() => void desk.audit({ id }), 5)
      setTimeout(() => mark('done'), 5)
    }
    const tape = await record(run)
    expect(tape.close?.late).toHaveLength(2)
    expect(lateRows(await replay(tape, run))).toHaveLength(2)
  })

  test('leaves a tape alone that was moved or that somebody changed', async () => {
    const dir = temporaryFolder('late')
    const recorder = createRecorder({ dir })
    for (const id of ['moved', 'changed'])
      await recorder.run({ agent: 'desk', id }, async () => void setTimeout(() => mark('done'), 50))
    renameSync(join(dir, 'moved.tape.jsonl'), join(dir, 'other.tape.jsonl'))
    appendFileSync(join(dir, 'changed.tape.jsonl'), '\n')
    const before = readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])).toEqual(before)
  })

  test.for(cases)('from %s, %s: is red or listed where the recording has none', async ([start, work]) => {
    const { problems, drift } = await replay(await record(agent(start)), agent(start, work))
    const part = `${names[work]} after the agent returned`
    if (!actions.has(work)) {
      expect(problems).toEqual([])
      expect(drift).toMatchObject([{ class: 'awaits', part, recorded: 'not made', live: 'made' }])
      return
    }
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_RUN_OVER'])
    expect(problems[0]?.message).toContain(`${names[work]} after it returned, which it did not when recorded`)
    expect(problems[0]?.message).toMatch(/\bat +.*late\.test\.ts:\d+/)
  })

  const child = 'process.stdin.on("data", (line) => process.stdout.write(line))'
  const asked = '{"jsonrpc":"2.0","method":"pay"}\n'
  const connections: Readonly<Record<string, readonly [name: RegExp, () => unknown]>> = {
    'a WebSocket of Node': [/^request OPEN ws:/, () => new WebSocket(base().replace('http', 'ws')).close()],
    'a WebSocket of ws': [
      /^request OPEN ws:/,
      () => new Ws(base().replace('http', 'ws')).on('error', () => undefined).terminate(),
    ],
    'a child process': [
      /^request SPAWN stdio:/,
      () => {
        try {
          const { stdin } = spawn(process.execPath, ['-e', child])
          stdin.end(asked)
        } catch (error) {
          expect(error).toMatchObject({ code: 'HARVEST_ESCAPE' })
        }
      },
    ],
  }
  test.for(Object.keys(connections))('%s, opened from a timer, is on its tape by name and listed', async (which) => {
    const [name, open] = connections[which]!
    const run = (isOpened: boolean) => async (): Promise<unknown> => {
      await desk.look({ id: 'A-17' })
      setTimeout(() => isOpened && open(), 5)
      return { done: true }
    }
    const [tape, without] = [await record(run(true)), await record(run(false))]
    const rows = async (of: Tape, isOpened: boolean): Promise<readonly unknown[]> => {
      const found = await replay(of, run(isOpened))
      expect(found.problems).toEqual([])
      return found.drift.flatMap(({ part, recorded, live }) => (name.test(part) ? [[recorded, live]] : []))
    }
    expect(await rows(tape, true)).toEqual([['made, not compared', 'made']])
    expect(await rows(tape, false)).toEqual([['made', 'not made']])
    expect(await rows(without, true)).toEqual([['not made', 'made']])
    expect(await rows(without, false)).toEqual([])
  })

  test('what is said then over a WebSocket or to a child that were opened before is listed too, and that they end is not', async () => {
    const run = (isSaid: boolean) => async (): Promise<unknown> => {
      const socket = new Ws(base().replace('http', 'ws'))
      await once(socket, 'open')
      const { stdin, stdout } = spawn(process.execPath, ['-e', child])
      stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
      await once(stdout, 'data')
      setTimeout(() => {
        if (isSaid) socket.send('pay')
        if (isSaid) stdin.write(asked)
        socket.close()
        stdin.end()
      }, 5)
      return { done: true }
    }
    const tape = await record(run(false))
    const rows = async (isSaid: boolean): Promise<readonly unknown[]> => {
      const { problems, drift } = await replay(tape, run(isSaid))
      expect(problems).toEqual([])
      return drift.map(({ class: name, part, live }) => [name, part.replace(/(?<=:).*(?= after)/, '…'), live])
    }
    expect(await rows(false)).toEqual([])
    // Which of them comes first is chance.
    const made = ['request SEND ws:…', 'request pay stdio:…'].map((name) => [
      'awaits',
      `${name} after the agent returned`,
      'made',
    ])
    expect((await rows(true)).toSorted()).toEqual(made)
  })

  test('is listed alone where the recorder noted nothing, as that of older tapes', async () => {
    const { header, ...rest } = await record(agent('a timer'))
    const older = { ...rest, header: { ...header, flags: header.flags.filter((flag) => flag !== lateFlag) } }
    for (const work of actions) {
      const { problems, drift } = await replay(older, agent('a timer', work))
      expect(problems).toEqual([])
      expect(drift).toMatchObject([{ class: 'awaits', part: `${names[work]} after the agent returned`, live: 'made' }])
    }
  })

  test.for([
    ['GET', undefined],
    ['HEAD', undefined],
    ['DELETE', 'HARVEST_RUN_OVER'],
    ['PATCH', 'HARVEST_RUN_OVER'],
  ] as const)('a request by %s: only one that reads is no action', async ([method, code]) => {
    const tape = await record(agent('a timer'))
    const { problems, drift } = await replay(tape, async () => {
      await desk.look({ id: 'A-17' })
      setTimeout(() => void fetch(`${base()}/orders`, { method }).catch(() => undefined), 5)
      return { done: true }
    })
    expect(problems.map((each) => each.code)).toEqual(code === undefined ? [] : [code])
    expect(drift.map(({ part }) => part)).toEqual(
      code === undefined ? [`request ${method} ${base()} after the agent returned`] : [],
    )
  })

  test('is listed where it would come too late to be seen, unless the recorded agent left such timers', async () => {
    const left: readonly (readonly [name: string, leave: () => unknown])[] = [
      ['timer of 61000 ms', () => setTimeout(() => void desk.refund({ id: 'A-17' }), 61_000)],
      ['timer of 7 ms', () => setInterval(() => undefined, 7)],
      ['timer of 31000 ms', () => setTimeout(() => setTimeout(() => mark('done'), 31_000), 31_000)],
    ]
    for (const [name, leave] of left) {
      let timer: unknown
      const run = async (): Promise<void> => {
        timer = leave()
        await desk.look({ id: 'A-17' })
      }
      const tape = await record(run)
      clearInterval(timer as NodeJS.Timeout)
      const { problems, drift } = await replay(await record(agent('a timer')), run)
      expect(problems).toEqual([])
      const part = `${name} after the agent returned`
      expect(drift).toMatchObject([{ class: 'awaits', part, live: 'set, not compared', policy: 'report' }])
      expect(lateRows(await replay(tape, run))).toEqual([])
    }
  })

  test('is listed where immediates go on without an end', async () => {
    const run = async (): Promise<void> => {
      const again = (): void => void setImmediate(again)
      await desk.look({ id: 'A-17' })
      again()
    }
    const { problems, drift } = await replay(await record(agent('a timer')), run)
    expect(problems).toEqual([])
    expect(drift).toMatchObject([{ part: 'work without an end after the agent returned', live: 'not compared' }])
  })
})

const kept = new Agent({ keepAlive: true, timeout: 5_000 })
const clients: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  fetch: async (path) => (await fetch(`${base()}${path}`, { method: 'POST', body: '{}' })).text(),
  axios: (path) => axios.post(`${base()}${path}`, { id: 'A-17' }),
  got: (path) => got.post(`${base()}${path}`, { json: { id: 'A-17' }, agent: { http: kept } }).text(),
  'node:http': (path) =>
    new Promise((resolve, reject) => {
      const options = { method: 'POST', agent: kept, headers: { 'content-length': 2 } }
      httpRequest(`${base()}${path}`, options, (response) => {
        void response.toArray().then(resolve, reject)
      })
        .on('error', reject)
        .end('{}')
    }),
}

describe('a request after the agent returned, of an origin to which the recording has one then', () => {
  const asks =
    (...paths: readonly string[]) =>
    async (): Promise<unknown> => {
      await desk.look({ id: 'A-17' })
      setTimeout(() => {
        for (const path of paths) started = fetch(`${base()}${path}`, { method: 'POST', body: '{}' })
      }, 5)
      return { done: true }
    }
  const told = async (tape: Tape, ...paths: readonly string[]): Promise<readonly unknown[]> =>
    (await replay(tape, asks(...paths))).problems.map(({ code }) => code)

  test.for([
    ['beside it', ['/log', '/refund']],
    ['instead of it', ['/refund']],
    ['below it', ['/log/refund']],
  ] as const)('to another path %s: is red', async ([, paths]) => {
    const tape = await record(asks('/log'))
    expect(tape.close?.late).toEqual([{ kind: 'request', name: `POST ${base()}`, path: '/log' }])
    expect(await told(tape, ...paths)).toEqual(['HARVEST_RUN_OVER'])
    expect(await told(tape, '/log')).toEqual([])
  })

  test.for(Object.keys(clients))('with %s: only that to the recorded path is known', async (name) => {
    const run = (path: string) => async (): Promise<void> => {
      setTimeout(() => void (started = clients[name]!(path).catch(() => undefined)), 5)
      await desk.look({ id: 'A-17' })
    }
    const tape = await record(run('/log'))
    expect(tape.close?.late).toEqual([{ kind: 'request', name: `POST ${base()}`, path: '/log' }])
    const codes = async (path: string) => (await replay(tape, run(path))).problems.map(({ code }) => code)
    expect([await codes('/log'), await codes('/refund')]).toEqual([[], ['HARVEST_RUN_OVER']])
  })

  test('to the same path but for ids and the query: is listed, and no id is on the tape', async () => {
    const tape = await record(asks('/runs/8af3/log?at=1', '/runs/77c1/log?at=2'))
    expect(tape.close?.late).toEqual([{ kind: 'request', name: `POST ${base()}`, path: '/runs/…/log' }])
    expect(await told(tape, '/runs/abcdef0/log')).toEqual([])
    expect(await told(tape, '/runs/8af3/refund')).toEqual(['HARVEST_RUN_OVER'])
  })

  test('to a path with a value that is redacted: is listed, and the value is not on the tape', async () => {
    const tape = await record(asks('/of/mia@example.com/log'))
    expect(JSON.stringify(tape.close?.late)).not.toContain('mia')
    expect(await told(tape, '/of/mia@example.com/log')).toEqual([])
    expect(await told(tape, '/of/mia@example.com/refund')).toEqual(['HARVEST_RUN_OVER'])
  })

  test('is listed once where the recorder noted no paths, to all of them', async () => {
    const { close, ...rest } = await record(asks('/log'))
    const late = close!.late!.map(({ kind, name }) => ({ kind, name }))
    const { problems, drift } = await replay({ ...rest, close: { ...close!, late } }, asks('/log', '/refund'))
    const part = `request POST ${base()} after the agent returned`
    expect([problems, drift.map((one) => [one.part, one.recorded])]).toEqual([[], [[part, 'made, not compared']]])
  })
})

describe('a request that an agent makes at its end and does not wait for', () => {
  test.for(Object.keys(clients))('with %s: is the same, and ends in no error', async (name) => {
    const post = clients[name]!
    // A list per run: the recorded request is answered when its server answers, maybe during the replay.
    const run = (ended: string[]) => async (): Promise<string> => {
      await post('/refund')
      void post('/log').then(
        () => ended.push('answered'),
        (error: unknown) => ended.push(`failed: ${String(error)}`),
      )
      return 'done'
    }
    const tape = await record(run([]))
    const ended: string[] = []
    const { problems, drift } = await replay(tape, run(ended))
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect([problems, drift.filter(({ class: of }) => of !== 'awaits'), ended]).toEqual([[], [], []])
  })
})
