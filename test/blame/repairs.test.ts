import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blameRepairs, type ForkSource } from '../../src/blame/index.ts'
import { ddmin } from '../../src/stats/ddmin.ts'
import { type Plant, plantedSource, seedOf } from './sources.ts'

type Fails = Plant['fails']
const either: Fails = (holds) => holds(3) || holds(11)
const both: Fails = (holds) => holds(3) && holds(11)
const most: Fails = (holds) => Number(holds(3)) + Number(holds(7)) + Number(holds(11)) >= 2
const outside = [1, 3, 4, 6, 7, 9, 11, 13, 14, 16, 17, 18]

const rules: readonly (readonly [
  string,
  number[],
  Fails,
  { necessary: number[]; sufficient: number[]; repairs: number },
])[] = [
  ['one', [7], (holds) => holds(7), { necessary: [7], sufficient: [7], repairs: 1 }],
  ['either', [3, 11], either, { necessary: [], sufficient: [3, 11], repairs: 2 }],
  ['both', [3, 11], both, { necessary: [3, 11], sufficient: [], repairs: 1 }],
  ['most', [3, 7, 11], most, { necessary: [], sufficient: [], repairs: 2 }],
]

describe('which recorded answers made a run fail', () => {
  it.each(rules)('%s of them: exactly, with a deterministic tail', async (_, facts, fails, truth) => {
    const { made, source } = plantedSource({ count: 20, facts, fails, outside }, 1)
    const found = await blameRepairs(source, { tail: 'deterministic' })
    expect(found).toMatchObject({
      how: 'exact',
      outcome: 'found',
      necessary: truth.necessary,
      sufficient: truth.sufficient,
    })
    expect(found.repairSet).toHaveLength(truth.repairs)
    expect(facts).toEqual(expect.arrayContaining([...(found.repairSet ?? [])]))
    const specs = made.map(({ seed, ...arm }) => `${JSON.stringify(arm)}${seed}`)
    expect(new Set(specs).size).toBe(specs.length)
  })

  it.each(rules)(
    '%s of them: with steps that ruin runs by themselves, for nineteen of twenty runs',
    async (name, facts, fails, truth) => {
      let right = 0
      for (let run = 0; run < 20; run++) {
        const { source } = plantedSource({ count: 20, facts, fails, outside, slip: 0.01 }, seedOf(name, run))
        const found = await blameRepairs(source, { limits: { forks: 2000 } })
        const isRight =
          found.how === 'sprt' &&
          found.repairSet?.length === truth.repairs &&
          found.repairSet.every((position) => facts.includes(position)) &&
          `${found.necessary.join(',')};${found.sufficient.join(',')}` ===
            `${truth.necessary.join(',')};${truth.sufficient.join(',')}`
        right += Number(isRight)
      }
      expect(right).toBeGreaterThanOrEqual(19)
    },
  )

  it('are not named for the bad luck of a few runs, however many of them do nothing', async () => {
    let named = 0
    for (let run = 0; run < 150; run++) {
      const plant: Plant = { count: 70, facts: [7], fails: (holds) => holds(7), outside, slip: 0.01 }
      const { source } = plantedSource(plant, seedOf('decoys', run))
      const { necessary, sufficient } = await blameRepairs(source, { limits: { forks: 2000 } })
      if ([...necessary, ...sufficient].some((position) => position !== 7)) named++
    }
    expect(named / 150).toBeLessThanOrEqual(0.02)
  })

  it('among a hundred are asked about in groups', async () => {
    const { made, source } = plantedSource(
      {
        count: 100,
        facts: [20, 70],
        fails: (holds) => holds(20) && holds(70),
        outside: Array.from({ length: 100 }, (_, i) => i),
      },
      1,
    )
    const found = await blameRepairs(source, { tail: 'deterministic' })
    expect(found).toMatchObject({ necessary: [20, 70], sufficient: [], repairSet: [20] })
    expect(made.length).toBeLessThan(60)
  })

  it('are none when drawing the rest anew is enough', async () => {
    const { source } = plantedSource({ count: 10, facts: [4], fails: (holds) => holds(4), outside: [2, 6] }, 1)
    expect(await blameRepairs(source)).toMatchObject({ outcome: 'not_needed', necessary: [], sufficient: [] })
  })

  it('cannot be told when repairing all of them does not help', async () => {
    const { source } = plantedSource({ count: 10, facts: [], fails: () => true, outside: [2, 6] }, 1)
    const found = await blameRepairs(source)
    expect(found).toMatchObject({ outcome: 'no_help' })
    expect(found).not.toHaveProperty('repairSet')
  })

  it('are not told beyond a limit, or of forks that tell nothing', async () => {
    const plant = { count: 20, facts: [7], fails: (holds: (i: number) => boolean) => holds(7), outside }
    const { source } = plantedSource(plant, 1)
    expect(await blameRepairs(source, { limits: { forks: 5 } })).toMatchObject({ outcome: 'unresolved' })
    const lossy: ForkSource = {
      ...source,
      draw: async (spec, signal) => ({ ...(await source.draw(spec, signal)), grade: 'undefined' }),
    }
    expect(await blameRepairs(lossy)).toMatchObject({ outcome: 'undecidable' })
  })

  it('are told of the others when the forks of one never tell anything', async () => {
    const plant = { count: 20, facts: [7], fails: (holds: (i: number) => boolean) => holds(7), outside }
    const { made, source } = plantedSource(plant, 1)
    const isLost = (repaired: readonly number[] = []): boolean => repaired.join(',') === '3'
    const lossy: ForkSource = {
      ...source,
      draw: async (spec, signal) => {
        const draw = await source.draw(spec, signal)
        return isLost(spec.repaired) ? { ...draw, grade: 'undefined' } : draw
      },
    }
    expect(await blameRepairs(lossy, { tail: 'deterministic' })).toMatchObject({
      outcome: 'found',
      necessary: [7],
      repairSet: [7],
    })
    expect(made.filter(({ repaired }) => isLost(repaired))).toHaveLength(2)
  })

  it('are none, for nothing, when every good answer is the recorded one', async () => {
    const { made, source } = plantedSource({ count: 10, facts: [4], fails: (holds) => holds(4) }, 1)
    expect(await blameRepairs({ ...source, suspects: [] })).toMatchObject({ outcome: 'equal', necessary: [] })
    expect(made).toEqual([])
  })

  it('cut short by a limit have no smallest set', async () => {
    const plant: Plant = { count: 20, facts: [3, 11], fails: either, outside, slip: 0.01 }
    for (const forks of [40, 80, 120]) {
      const { source } = plantedSource(plant, 1)
      const { outcome, repairSet } = await blameRepairs(source, { limits: { forks } })
      if (outcome === 'unresolved') expect(repairSet).toBeUndefined()
    }
  })

  it('need a good answer', async () => {
    const { source } = plantedSource({ count: 3, facts: [1], fails: (holds) => holds(1) }, 1)
    const { repairs: _, ...none } = source
    await expect(blameRepairs(none)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Nothing to repair in this run

        answers not of models  1
        good answers           none

      Repairs replace recorded answers with good ones to find which are necessary or sufficient.
      → name a passing run of the same kind: --reference '<tape>'
      (HARVEST_BLAME_NO_REPAIRS)]
    `)
  })
})

describe('the smallest part that still passes', () => {
  const items = Array.from({ length: 24 }, (_, i) => i)

  it('for every planted part, is that part', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(items, { minLength: 1, maxLength: 5 }), async (planted) => {
        const found = await ddmin(items, (part) => Promise.resolve(planted.every((item) => part.includes(item))))
        expect(found).toEqual(planted)
      }),
    )
  })

  it('for every choice of parts, is one of which nothing can be left out', async () => {
    const choices = fc.array(fc.subarray(items, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(choices, async (planted) => {
        const passes = (part: readonly number[]): boolean =>
          planted.some((one) => one.every((item) => part.includes(item)))
        const found = await ddmin(items, (part) => Promise.resolve(passes(part)))
        expect(passes(found)).toBe(true)
        for (const item of found) expect(found.length === 1 || !passes(found.filter((one) => one !== item))).toBe(true)
      }),
    )
  })
})
