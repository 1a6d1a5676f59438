import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { createRecorder, tools } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions } from '../../src/match/types.ts'
import { seamState } from '../../src/seam/source.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Recording } from './tapes.ts'

beforeAll(() => installReplay())

const { setImmediate: realImmediate } = seamState().natives

/** A file that is there after so many turns of the event loop: a fast machine has many of them while a disk works. */
function fileAfter(turns: number): string {
  const path = join(temporaryFolder('any-machine'), 'file')
  execFileSync('mkfifo', [path])
  const turn = (left: number): void => {
    if (left === 0) void writeFile(path, 'text')
    else realImmediate(() => turn(left - 1))
  }
  turn(turns)
  return path
}

/** Runs `work` while each turn of the event loop takes so many ms. */
async function slowly<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let isOver = false
  const turn = (): void => {
    if (isOver) return
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    realImmediate(turn)
  }
  turn()
  try {
    return await work()
  } finally {
    isOver = true
  }
}

async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('any-machine')
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk', id: 'run' }, agent)
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

const desk = tools({ refund: async ({ id }: { id: string }) => ({ id }) })

test('the ticks of a recorded interval are no time without anything happening, however long each turn takes', async () => {
  const agent = async (): Promise<number> => {
    let ticks = 0
    await new Promise<void>((resolve) => {
      const ticking = setInterval(() => {
        if (++ticks < 100) return
        clearInterval(ticking)
        resolve()
      }, 1)
    })
    return ticks
  }
  const tape = await record(agent)
  const { outcome } = await slowly(2, () => replayTape(tape, agent, { hangMs: 100 } as ReplayOptions))
  expect(outcome).toEqual({ status: 'returned', value: 100 })
})

test('a file comes before a time-out, however long it takes', async () => {
  const recording = new Recording()
  recording.exchange({ url: 'https://shop.test/notes', answer: 'noted' })
  const path = fileAfter(150_000)
  const { outcome, comparison } = await replayTape(recording.tape(), async () => {
    await (await fetch('https://shop.test/notes', { method: 'POST' })).text()
    return Promise.race([readFile(path, 'utf8'), sleep(10).then(() => 'too late')])
  })
  expect([outcome, comparison.timersFired]).toEqual([{ status: 'returned', value: 'text' }, 0])
})

test('a request that waits for a file when the agent returns is made, however long that takes', async () => {
  const recording = new Recording()
  const { response, ...unanswered } = recording.exchange({ url: 'https://shop.test/notes', body: 'text' })
  recording.events[0] = unanswered
  const path = fileAfter(2_000)
  const { problems } = await replayTape(recording.tape(), async () => {
    void readFile(path, 'utf8').then((body) => fetch('https://shop.test/notes', { method: 'POST', body }))
    await Promise.resolve()
    return null
  })
  expect(problems).toEqual([])
})

test.for([{}, { late: true }])(
  'with %o, an action behind a file after the end is seen, however long that takes',
  async (options) => {
    const agent = (path?: string) => async (): Promise<void> => {
      await desk.refund({ id: 'A-17' })
      if (path !== undefined) void readFile(path).then(() => desk.refund({ id: 'A-17' }))
    }
    const tape = await record(agent())
    const { problems } = await replayTape(tape, agent(fileAfter(2_000)), options as ReplayOptions)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_RUN_OVER'])
  },
)

test('a request that waits for a file when the body of a tool ends is made, however long that takes', async () => {
  const recording = new Recording()
  const { n } = recording.call('refund', { id: 'A-17' }, { id: 'A-17' }, { settled: [9, 9] })
  const { response, ...unanswered } = recording.exchange({ url: 'https://shop.test/notes', body: 'text', in: n })
  recording.events[1] = unanswered
  const path = fileAfter(2_000)
  const { refund } = tools({
    refund: async ({ id }: { id: string }) => {
      void readFile(path, 'utf8').then((body) => fetch('https://shop.test/notes', { method: 'POST', body }))
      await Promise.resolve()
      return { id }
    },
  })
  const { problems } = await replayTape(recording.tape({ value: { id: 'A-17' } }), () => refund({ id: 'A-17' }), {
    tools: 'run',
  } as ReplayOptions)
  expect(problems.map(({ message }) => message)).toEqual([])
})
