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
