import { join } from 'node:path'
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { createRecorder, tools } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const words = ['a', 'b', 'c', 'd', 'e', 'f']
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const desk = tools({
  note: async (said: unknown) => `noted ${String(said)}`,
  /** Says a word, and the next one only some time later. */
  slow: async function* (): AsyncGenerator<string, string> {
    for (const word of words) {
      await wait(3)
      yield word
    }
    return '6 words'
  },
  /** Has them all at once. */
  quick: async function* (): AsyncGenerator<string, string> {
    yield* words
    return '6 words'
  },
  failing: async function* (): AsyncGenerator<string, string> {
    yield 'a'
    await wait(3)
    throw new Error('no more words')
  },
  tidy: async function* (): AsyncGenerator<string, string> {
    try {
      for (const word of words) {
        await wait(2)
        yield word
      }
    } finally {
      await wait(8)
    }
    return '6 words'
  },
  stream: () => Readable.from(words),
  byHand: () => {
    let next = 0
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: next >= words.length, value: words[next++] }),
        return: async () => ({ done: true, value: undefined }),
      }),
    }
  },
  echo: async function* (): AsyncGenerator<string, void, string> {
    let heard = 'nothing'
    for (;;) heard = yield `heard ${heard}`
  },
})

const sources = ['slow', 'quick', 'failing', 'tidy', 'stream', 'byHand'] as const
type Source = (typeof sources)[number]
const open = (name: Source): AsyncIterable<string> => desk[name]() as AsyncIterable<string>
const iteratorOf = (name: Source): AsyncGenerator<string> =>
  open(name)[Symbol.asyncIterator]() as AsyncGenerator<string>

/** Each leaves an answer that comes in pieces before its end. */
const leavers: Readonly<Record<string, (name: Source) => Promise<unknown>>> = {
  'for await … break': async (name) => {
    for await (const word of open(name)) {
      await desk.note(word)
      break
    }
  },
  'for await … throw': async (name) => {
    try {
      for await (const word of open(name)) throw new Error(word)
    } catch (error) {
      await desk.note((error as Error).message)
    }
  },
  'Readable.from and break': async (name) => {
    for await (const word of Readable.from(open(name))) {
      await desk.note(word)
      break
    }
  },
  'Readable.from and take(2)': async (name) =>
    desk.note(
      await Readable.from(open(name))
        .take(2)
        .toArray()
        .catch(() => 'failed'),
    ),
  'stream.destroy() in the first event': async (name) => {
    const stream = Readable.from(open(name)).on('error', () => {})
    await new Promise<void>((resolve) =>
      stream.once('data', () => {
        stream.destroy()
        resolve()
      }),
    )
  },
  'stream.destroy(error)': async (name) => {
    const stream = Readable.from(open(name)).on('error', () => {})
    stream.once('data', () => stream.destroy(new Error('enough')))
    await new Promise((resolve) => stream.once('close', resolve))
  },
  'stream.destroy() before anything is read': async (name) => {
    Readable.from(open(name)).destroy()
  },
  'an AbortSignal': async (name) => {
    const control = new AbortController()
    try {
      for await (const _ of Readable.from(open(name), { signal: control.signal })) control.abort()
    } catch (error) {
      await desk.note((error as Error).name)
    }
  },
  'a pipeline that fails': async (name) => {
    const full = new Writable({ objectMode: true, write: (_, __, done) => done(new Error('full')) })
    await pipeline(iteratorOf(name), full).catch((error: Error) => desk.note(error.message))
  },
  'a pipe that is left': async (name) => {
    const pass = new Transform({ objectMode: true, transform: (word, _, done) => done(null, word) })
    const stream = Readable.from(open(name)).on('error', () => {})
    for await (const _ of stream.pipe(pass)) break
  },
  'return() before the first next()': async (name) => {
    await iteratorOf(name).return(undefined)
  },
  'return() while next() is under way, not awaited': async (name) => {
    const iterator = iteratorOf(name)
    await iterator.next()
    iterator.next().catch(() => {})
    void iterator.return(undefined)
  },
  'throw() into it': async (name) => {
    const iterator = iteratorOf(name)
    await iterator.next()
    await iterator.throw?.(new Error('enough')).catch((error: Error) => desk.note(error.message))
  },
  'one next() and no more': async (name) => {
    const { value } = await iteratorOf(name).next()
    await desk.note(value)
  },
  'no next() at all': async (name) => void open(name),
  'a race with a timer': async (name) => {
    const iterator = iteratorOf(name)
    await iterator.next()
    const first = await Promise.race([iterator.next().then(() => 'word'), wait(1).then(() => 'timer')])
    void iterator.return?.(undefined).catch(() => {})
    await desk.note(first)
  },
}

const agent = (leave: (name: Source) => Promise<unknown>, name: Source) => async (): Promise<unknown> => {
  await leave(name)
  return desk.note('end')
}

const dir = temporaryFolder('iterables')
let made = 0
async function record(run: () => Promise<unknown>): Promise<Tape> {
  const id = `run-${made++}`
  await createRecorder({ dir }).run({ agent: 'desk', id }, run)
  return readTape(join(dir, `${id}.tape.jsonl`))
}
const replay = (tape: Tape, run: () => Promise<unknown>, options: ReplayOptions = {}): Promise<ReplayResult> =>
  replayTape(tape, run, { ...options, hangMs: 1_500 } as ReplayOptions)

test.for(Object.keys(leavers))(
  'an unchanged agent that leaves a tool which answers in pieces is the same: %s',
  async (how) => {
    const leave = leavers[how]!
    for (const name of sources) {
      const tape = await record(agent(leave, name))
      const { problems, drift, comparison, outcome } = await replay(tape, agent(leave, name))
      expect({ name, problems, drift, outcome, isEqual: comparison.outcomeEqual }).toEqual({
        name,
        problems: [],
        drift: [],
        outcome: { status: 'returned', value: 'noted end' },
        isEqual: true,
      })
    }
  },
)

test('a recorded generator hands its return value on, hears what next() is given, and so does its replay', async () => {
  const run = async (): Promise<unknown> => {
    const all = async function* (): AsyncGenerator<string, void> {
      await desk.note(yield* desk.slow())
    }
    const words: unknown[] = []
    for await (const word of all()) words.push(word)
    const echo = desk.echo()
    const said = [await echo.next(), await echo.next('you'), await echo.return()]
    return said.map(({ value }) => value)
  }
  expect(await run()).toEqual(['heard nothing', 'heard you', undefined])
  const tape = await record(run)
  expect(tape.close?.outcome).toEqual({
    status: 'returned',
    value: ['heard nothing', 'heard you', { $type: 'undefined' }],
  })
  const { problems, drift, comparison } = await replay(tape, run)
  expect([problems, drift, comparison.outcomeEqual]).toEqual([[], [], true])
})

test('less read than recorded of an answer that is left open is listed, with its line', async () => {
  const reading = (name: Source, count: number) => async (): Promise<unknown> => {
    const iterator = iteratorOf(name)
    for (let at = 0; at < count; at++) await iterator.next()
    return desk.note('end')
  }
  for (const name of ['slow', 'quick', 'byHand'] as const) {
    const tape = await record(reading(name, 3))
    expect((await replay(tape, reading(name, 3))).drift).toEqual([])
    for (const now of [2, 0]) {
      const { drift, problems } = await replay(tape, reading(name, now))
      expect([problems, drift]).toMatchObject([
        [],
        [
          {
            class: 'awaits',
            part: `step 1, tool ${name}`,
            recorded: 'read 3 pieces',
            live: `left open after ${now} of 3 pieces`,
            site: expect.stringContaining('iterables.test.ts:'),
          },
        ],
      ])
    }
    // Seven are all of it, with its end: some is in order before what follows, and then it is red.
    const whole = await record(reading(name, 7))
    for (const now of [6, 1]) {
      const { drift, problems } = await replay(whole, reading(name, now))
      expect([name, now, problems.length + drift.length]).toEqual([name, now, 1])
    }
  }
})

test('what an agent gives next() is an argument: another one is another call', async () => {
  const run = (answer: unknown) => async (): Promise<unknown> => {
    const echo = desk.echo()
    await echo.next()
    await echo.next(answer as string)
    await echo.return()
    return desk.note('end')
  }
  const tape = await record(run('yes'))
  expect((await replay(tape, run('yes'))).problems).toEqual([])
  for (const other of ['no', undefined]) {
    const { problems, drift } = await replay(tape, run(other))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
    expect(drift).toMatchObject([{ class: 'arguments', part: 'echo', path: 'next()[1]', recorded: 'yes' }])
  }
})

test('a tool that answers in pieces and is left before it began is told so when it is recorded', async () => {
  let isClosed = false
  const source = tools({
    rows: () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 1 }),
        return: async () => {
          isClosed = true
          return { done: true, value: undefined }
        },
      }),
    }),
  })
  await record(async () => source.rows()[Symbol.asyncIterator]().return())
  expect(isClosed).toBe(true)
})

test('the body of a tool that yields one piece more than recorded, or returns something else, is another one', async () => {
  let more = 0
  const kit = tools({
    rows: async function* () {
      for (let at = 0; at < 2 + (more === 1 ? 1 : 0); at++) yield at
      return more === 2 ? 'all' : 'both'
    },
  })
  const run = async (): Promise<unknown> => {
    const seen: unknown[] = []
    for await (const row of kit.rows()) seen.push(row)
    return seen
  }
  const tape = await record(run)
  const paths: unknown[] = []
  for (more = 0; more < 3; more++) {
    const { drift } = await replay(tape, run, { tools: 'run' } as ReplayOptions)
    paths.push(drift.map(({ class: name, path }) => `${name} ${path}`))
  }
  expect(paths).toEqual([[], ['results pieces[2]'], ['results result']])
})
