import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scheduler, setInterval as every, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createRecorder, mark, tool } from '../../src/record/index.ts'
import { readTape, type Tape, type TimersRecord } from '../../src/tape/index.ts'

/** Records `agent` and reads the tape. */
async function recorded(agent: () => unknown): Promise<Tape> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-timers-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'timers' }, async () => await agent())
  return readTape(recorder.lastTape!)
}

const timersOf = ({ close }: Tape): readonly TimersRecord[] => close?.timers ?? []
/** `app 20: 3 set, fired 1, 0, 2 times` */
const summary = (tape: Tape): readonly string[] =>
  timersOf(tape).map(([caller, ms, set, fired]) => {
    const firings = new Map(fired)
    const times = Array.from({ length: set }, (_, before) => firings.get(before)?.length ?? 0)
    return `${caller} ${ms}: ${set} set, fired ${times.join(', ')} times`
  })

test('timers are noted however they are set: who set them, for how long, and which of them fired', async () => {
  const tape = await recorded(async () => {
    clearTimeout(setTimeout(() => undefined, 11))
    await new Promise((done) => setTimeout(done, 11))
    await sleep(12)
    await scheduler.wait(12)
    await promisify(setTimeout)(12)
    let ticks = 0
    await new Promise<void>((done) => {
      const timer = setInterval(() => {
        if (++ticks < 3) return
        clearInterval(timer)
        done()
      }, 13)
    })
    for await (const _ of every(14)) if (++ticks === 5) break
    const signal = AbortSignal.timeout(15)
    await new Promise((done) => signal.addEventListener('abort', done))
    AbortSignal.timeout(60_000)
    await sleep(16, undefined, { signal: AbortSignal.abort() }).catch(() => undefined)
    await new Promise((done) => setTimeout(done, Number.NaN))
  })
  expect(summary(tape)).toEqual([
    'app 11: 2 set, fired 0, 1 times',
    'app 12: 3 set, fired 1, 1, 1 times',
    'app 13: 1 set, fired 3 times',
    'app 14: 1 set, fired 2 times',
    'app 15: 1 set, fired 1 times',
    'app 60000: 1 set, fired 0 times',
    'app 1: 1 set, fired 1 times',
  ])
})

test('which of them a wrapped function set is noted, with those of what it calls', async () => {
  const inner = tool('inner', async () => sleep(11))
  const outer = tool('outer', async () => {
    await sleep(12)
    await inner()
  })
  const { close } = await recorded(async () => {
    await sleep(11)
    await outer()
    await sleep(12)
    await inner()
  })
  expect(close?.timersInCalls).toEqual([
    ['app', 11, [1, 2]],
    ['app', 12, [0]],
  ])
  expect((await recorded(async () => sleep(11))).close?.timersInCalls).toEqual([])
  expect((await recorded(async () => undefined)).close).not.toHaveProperty('timersInCalls')
})

test('a firing stands before what came next, at its time', async () => {
  const tape = await recorded(async () => {
    mark('before')
    await sleep(5)
    mark('between')
    await sleep(5)
  })
  const [before, between] = tape.events
  const [, , , fired] = timersOf(tape)[0]!
  const [first, second] = fired.flatMap(([, firings]) => firings)
  expect([first?.[0], second?.[0]]).toEqual([between?.n, tape.close?.n])
  expect(first![1]).toBeGreaterThanOrEqual(before!.at)
  expect(between!.at).toBeGreaterThanOrEqual(first![1])
})

test('the agent gets the timers of Node, arguments, `this` and errors included', async () => {
  const outside = setTimeout(() => undefined)
  await recorded(async () => {
    const inside = setTimeout(() => undefined)
    expect(inside.constructor).toBe(outside.constructor)
    const seen = await new Promise((done) => {
      const timer = setTimeout(
        function (this: unknown, ...args: unknown[]) {
          done([this === timer, ...args])
        },
        1,
        'a',
        'b',
      )
    })
    expect(seen).toEqual([true, 'a', 'b'])
    const setAny = setTimeout as (callback: unknown) => unknown
    expect(() => setAny('no code')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }))
    await expect(sleep(5, undefined, { signal: AbortSignal.timeout(1) })).rejects.toMatchObject({ code: 'ABORT_ERR' })
    expect(await sleep(1, 'slept')).toBe('slept')
    expect(await promisify(setTimeout)(1, 'slept')).toBe('slept')
  })
})

test('what fires after the end of a run, or is set outside of one, belongs to no run and is not listened to', async () => {
  let signal: AbortSignal | undefined
  let late: Promise<void> | undefined
  const outside = sleep(1)
  const tape = await recorded(() => {
    signal = AbortSignal.timeout(60_000)
    late = sleep(5)
  })
  await Promise.all([outside, late])
  expect(summary(tape)).toEqual(['app 60000: 1 set, fired 0 times', 'app 5: 1 set, fired 0 times'])
  expect(getEventListeners(signal!, 'abort')).toEqual([])
})

test('a run with more than ten thousand firings keeps none: some would look like all', async () => {
  const firing = (count: number) => () => Promise.all(Array.from({ length: count }, () => sleep(1)))
  expect(timersOf(await recorded(firing(10_000)))[0]?.[2]).toBe(10_000)
  expect((await recorded(firing(10_001))).close).not.toHaveProperty('timers')
})
