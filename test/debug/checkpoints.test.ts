import { describe, expect, it } from 'vitest'
import type { DebugChild } from '../../src/debug/code/child.ts'
import { Checkpoints } from '../../src/debug/code/checkpoints.ts'

const mb = 2 ** 20

/** Checkpoints of a run whose step N is asked for behind the answer at place N - 1, and the processes that live. */
function checkpoints(maxMb: number | undefined, eachMb = 10) {
  const alive = new Set<object>()
  const parkedAt: number[] = []
  const start = async (): Promise<DebugChild> => {
    const child = {
      // No process has it: what it said itself counts.
      pid: -1,
      rss: eachMb * mb,
      park: async (place: number) => ({ held: parkedAt[parkedAt.push(place) - 1] }),
      close: () => void alive.delete(child),
    }
    alive.add(child)
    return child as never
  }
  const wayTo = (step: number) => ({ step, burst: step, skip: 0, ...(step > 1 ? { park: step - 1 } : {}) })
  return { kept: new Checkpoints({ start, wayTo }, maxMb), alive, parkedAt }
}

describe('replays that wait at steps', () => {
  it('are kept only where a replay to there takes long', async () => {
    const { kept, alive } = checkpoints(1_000)
    kept.took(99, 1_000)
    await kept.fillAround(1_000)
    expect([kept.steps, alive.size]).toEqual([[], 0])
  })

  it('stand one step before, here, and farther back by powers of ten', async () => {
    const { kept } = checkpoints(1_000)
    kept.took(4_000, 4_000)
    await kept.fillAround(4_000)
    await kept.fillAround(4_000)
    expect(kept.steps).toEqual([3_000, 3_900, 3_990, 3_999, 4_000])
    // A replay to step 90 is not felt.
    const near = checkpoints(1_000)
    near.kept.took(190, 190)
    await near.kept.fillAround(190)
    await near.kept.fillAround(190)
    expect(near.kept.steps).toEqual([180, 189, 190])
  })

  it('hold no more memory than they may, and those nobody wants any more go first', async () => {
    const { kept, alive } = checkpoints(25)
    kept.took(4_000, 4_000)
    await kept.fillAround(4_000)
    await kept.fillAround(4_000)
    expect(kept.steps).toEqual([3_999, 4_000])
    await kept.fillAround(2_000)
    expect(kept.steps).toEqual([1_999, 2_000])
    expect(alive.size).toBe(2)
    const none = checkpoints(0)
    none.kept.took(4_000, 4_000)
    await none.kept.fillAround(4_000)
    expect(none.alive.size).toBe(0)
  })

  it('are used up by the nearest step behind them, and end with the session', async () => {
    const { kept, alive } = checkpoints(1_000)
    kept.took(4_000, 4_000)
    await kept.fillAround(4_000)
    await kept.fillAround(4_000)
    expect(kept.take(3_995)).toMatchObject({ step: 3_990, place: 3_989 })
    expect(kept.take(3_995)).toMatchObject({ step: 3_900 })
    expect(kept.take(100)).toBeUndefined()
    kept.close()
    // What was taken is no business of theirs.
    expect([kept.steps, alive.size]).toEqual([[], 2])
  })
})
