import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TestCase } from 'vitest/node'
import { startArtifact } from '../../src/vitest/channel.ts'
import { RunningCases } from '../../src/vitest/running-cases.ts'
import { startTimeLimit } from '../../src/vitest/time-limit.ts'

// A clock that is set: what happens on a machine that has too much to do must not depend on this one.
vi.mock('node:timers', () => ({
  setTimeout: (action: () => void, ms: number) => setTimeout(action, ms),
  clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
}))
vi.mock('node:perf_hooks', () => ({ performance: { now: () => performance.now() } }))
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const test = { id: 'c', name: 'replays', parent: { type: 'suite', name: 'golden/c' } } as unknown as TestCase
const start = { type: startArtifact, process: 4_711, thread: 0, limitMs: 4_000 } as const

describe('the worker of a case', () => {
  it('is ended where it says nothing for its time limit and a second', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const cases = new RunningCases()
    cases.start(test, start)
    vi.advanceTimersByTime(4_900)
    expect(kill).not.toHaveBeenCalled()
    vi.advanceTimersByTime(200)
    expect(kill.mock.calls).toEqual([[4_711, 'SIGKILL']])
    expect(cases.lost().map(({ error }) => error.code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  })

  it('is not ended while it says that its thread is not blocked, however long that takes', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const cases = new RunningCases()
    cases.start(test, start)
    for (let said = 0; said < 10; said++) {
      // Also where the first half of the wait is over when it says so.
      vi.advanceTimersByTime(4_500)
      cases.start(test, start)
    }
    expect(kill).not.toHaveBeenCalled()
    expect(cases.lost().map(({ error }) => [error.code, error.facts.where])).toEqual([
      ['HARVEST_WORKER_DIED', { case: 'golden/c', ended: '45.0 s after it started' }],
    ])
    cases.end(test)
    vi.advanceTimersByTime(60_000)
    expect(kill).not.toHaveBeenCalled()
  })
})

it('a limit of its own time says about every second that its timers fire, and not behind its end', () => {
  const said: number[] = []
  const began = performance.now()
  const onAlive = () => void said.push(performance.now() - began)
  const limit = startTimeLimit(3_500, new AbortController().signal, { own: true, onAlive })
  vi.advanceTimersByTime(3_500)
  expect([said, limit.isOver]).toEqual([[1_000, 2_000, 3_000], true])
  limit[Symbol.dispose]()
  vi.advanceTimersByTime(60_000)
  expect(said).toHaveLength(3)
})
