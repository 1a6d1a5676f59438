import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { startTimeLimit } from '../../src/vitest/time-limit.ts'

it('a time limit that is over has nobody listening: Node would keep the run it waited for', async () => {
  const limit = startTimeLimit(10_000, new AbortController().signal)
  const { signal } = limit
  await limit.race(Promise.resolve(), () => new Error('late'))
  await limit.race(Promise.resolve(), () => new Error('late'))
  const before = getEventListeners(signal, 'abort').length
  limit[Symbol.dispose]()
  expect([before, getEventListeners(signal, 'abort').length]).toEqual([2, 0])
})

it.each([
  ['counts for a limit of real time', false],
  ['does not count for a limit of its own time', true],
])('what a process stood still for %s', async (_how, own) => {
  const limit = startTimeLimit(300, new AbortController().signal, { own })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  await new Promise((resolve) => setTimeout(resolve))
  expect(limit.isOver).toBe(!own)
  if (!limit.isOver) await new Promise((resolve) => limit.signal.addEventListener('abort', resolve))
  expect(limit.isOver).toBe(true)
  limit[Symbol.dispose]()
})
