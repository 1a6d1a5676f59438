import { describe, expect, it } from 'vitest'
import { blameEarlier, blameFailedRun, ForkBudget } from '../../src/blame/index.ts'
import { plantedSource, type Plant } from './sources.ts'

const runs = 100

/** What is said of an agent with planted facts: where the run was lost, and which earlier positions were necessary too. */
async function saidOf(plant: Plant, seed: number, tail: 'deterministic' | 'noisy' = 'noisy') {
  const { source, made } = plantedSource(plant, seed)
  const forkBudget = new ForkBudget(source)
  const failed = await blameFailedRun(source, { forkBudget, tail })
  const before = made.length
  const earlier = await blameEarlier(source, failed, { forkBudget, tail })
  const { verdict } = failed
  const last = verdict.kind === 'confirmed' ? verdict.commitments.at(-1)?.position : undefined
  return {
    last,
    earlier: earlier.map(({ position }) => position),
    held: earlier.map(({ held }) => held),
    forks: made.length - before,
  }
}

const two: Plant = { count: 20, facts: [4, 13], fails: (holds) => holds(4) && holds(13), slip: 0.01, again: 0.2 }
const three: Plant = { ...two, facts: [2, 9, 15], fails: (holds) => [2, 9, 15].every((one) => holds(one)) }

describe('the earlier causes of a run that several decisions had to spoil together', () => {
  it('are named behind the last one, which is where the run was lost', async () => {
    let named = 0
    for (let seed = 0; seed < runs; seed++) {
      const { last, earlier, held } = await saidOf(two, seed)
      if (last !== 13) continue
      named += Number(earlier.length === 1 && earlier[0] === 4)
      if (earlier.length > 0) expect(held).toEqual([[13]])
      expect(earlier.every((one) => one === 4)).toBe(true)
    }
    expect(named).toBeGreaterThan(0.9 * runs)
  })

  it('are all of them, each with the later ones as recorded', async () => {
    expect(await saidOf({ ...three, slip: 0, again: 0 }, 1, 'deterministic')).toMatchObject({
      last: 15,
      earlier: [2, 9],
      held: [[9, 15], [15]],
    })
    const { last, earlier } = await saidOf(three, 3)
    expect({ last, earlier }).toEqual({ last: 15, earlier: [2, 9] })
  })

  it.each([
    ['one decision alone', { facts: [13], fails: (holds) => holds(13) }],
    ['either of two', { facts: [4, 13], fails: (holds) => holds(4) || holds(13) }],
  ] satisfies [string, Pick<Plant, 'facts' | 'fails'>][])(
    'are none where %s spoiled it, and few forks show that',
    async (_, plant) => {
      for (let seed = 0; seed < runs; seed++) {
        const { last, earlier, forks } = await saidOf({ ...two, ...plant }, seed)
        if (last !== 13) continue
        expect({ earlier, forks }).toEqual({ earlier: [], forks: 5 })
      }
    },
  )

  it('are not looked for before the first step at which anything is drawn anew', async () => {
    const { earlier, forks } = await saidOf({ ...two, facts: [0], fails: (holds) => holds(0) }, 1)
    expect({ earlier, forks }).toEqual({ earlier: [], forks: 0 })
  })

  it('are given up when one takes more than 160 forks', async () => {
    let most = 0
    for (let seed = 0; seed < 40; seed++) {
      const { earlier, forks } = await saidOf({ ...two, again: 0.45 }, seed)
      most = Math.max(most, forks)
      expect(earlier.every((one) => one === 4)).toBe(true)
    }
    // For each of them, and a few that show that there is none before it.
    expect(most).toBeLessThanOrEqual(165)
  })
})
