import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { timeAgents } from './time/agents.ts'
import type { RecordedTime } from './time/record.child.ts'
import type { ReplayedTime, ReplayTimesJob } from './time/replay.child.ts'

const replayChild = new URL('./time/replay.child.ts', import.meta.url)

describe('time passes in a replay as it did when recorded', () => {
  let recorded: readonly RecordedTime[] = []
  let replayed: readonly ReplayedTime[] = []
  let untimed: readonly ReplayedTime[] = []
  let heldUp: readonly ReplayedTime[] = []

  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'harvest-time-'))
    try {
      recorded = await withProvider(async ({ base }) => {
        const input = { base, closedPort: 0 }
        return await runInChild(new URL('./time/record.child.ts', import.meta.url), { dir, input })
      })
      const child = (job: Partial<ReplayTimesJob>): Promise<readonly ReplayedTime[]> =>
        runInChild(replayChild, { recorded, times: 2, ...job } satisfies ReplayTimesJob)
      replayed = await child({})
      untimed = await child({ withoutTimers: true })
      heldUp = await child({ holdUps: 20_261_122, times: 3 })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  })

  const expectSame = (all: readonly ReplayedTime[], name: string, times: number): void => {
    const { result } = recorded.find((one) => one.name === name)!
    const { results, distinct } = all.find((one) => one.name === name)!
    expect(results).toEqual({ [JSON.stringify([result, []])]: times })
    // Also what nothing came of was the same: every event, its number and its time.
    expect(distinct).toBe(1)
  }

  test.for(Object.keys(timeAgents))('%s', (name) => {
    expectSame(replayed, name, 2)
  })

  test.for(Object.keys(timeAgents))('in a process that is held up again and again: %s', (name) => {
    expectSame(heldUp, name, 3)
  })

  const untold = Object.entries(timeAgents).flatMap(([name, { needsTimers }]) => (needsTimers ? [] : [name]))
  test.for(untold)('on a tape without timers: %s', (name) => {
    expectSame(untimed, name, 2)
  })
})
