import { describe, expect, it } from 'vitest'
import { blameMutations, type ForkSource, type MutationBlame } from '../../src/blame/index.ts'
import { clopperPearson } from '../../src/stats/index.ts'
import { mutationSource, seedOf } from './sources.ts'

const inert = (count: number, slip: number): number[] =>
  Array.from({ length: count }, (_, i) => 1 - (1 - slip) ** (count - 1 - i))
const flat = (count: number, rate: number): number[] => Array<number>(count).fill(rate)
const oneAt = (rates: readonly number[], position: number, rate: number): number[] => rates.with(position, rate)

describe('mutations of a run', () => {
  it.each([
    ['a quiet tail', oneAt(flat(20, 0.02), 7, 0.9), flat(20, 0.02), 7, 20],
    ['a noisy tail', oneAt(flat(20, 0.2), 7, 0.8), flat(20, 0.2), 7, 18],
    ['decoys', flat(50, 0.05).map((rate, i) => (i === 23 ? 0.8 : i % 10 === 3 ? 0.4 : rate)), flat(50, 0.02), 23, 18],
  ])(
    'with %s: the position the outcome hangs on is found and certified',
    async (name, rates, controls, position, least) => {
      let right = 0
      for (let run = 0; run < 20; run++) {
        const { source } = mutationSource(rates, controls, seedOf(name, run))
        const { verdict } = await blameMutations(source, { limits: { forks: 1000 } })
        if (verdict.kind === 'responsible' && verdict.positions[0]?.position === position) right++
      }
      expect(right).toBeGreaterThanOrEqual(least)
    },
  )

  it('are found among a hundred positions whose long tails flip a third of the runs by themselves', async () => {
    let right = 0
    for (let run = 0; run < 20; run++) {
      const position = 3 + 2 * run
      const rates = inert(100, 0.005)
      const source = mutationSource(oneAt(rates, position, 0.9), rates, seedOf('long', run)).source
      const { verdict } = await blameMutations(source, { limits: { forks: 2400 } })
      if (verdict.kind === 'responsible' && verdict.positions[0]?.position === position) right++
    }
    expect(right).toBeGreaterThanOrEqual(19)
  })

  it.each([
    [20, 0.01],
    [50, 0.01],
    [50, 0.03],
  ])('that change nothing, over %i steps that each ruin %d of the runs, blame nobody', async (count, slip) => {
    let blamed = 0
    for (let run = 0; run < 25; run++) {
      const { source } = mutationSource(inert(count, slip), inert(count, slip), seedOf('noop', count, slip, run))
      const { verdict } = await blameMutations(source, { limits: { forks: 1000 } })
      if (verdict.kind === 'responsible') blamed++
    }
    expect(blamed).toBeLessThanOrEqual(1)
  })

  it('of a failed run are asked what saves it', async () => {
    const { source } = mutationSource(oneAt(flat(8, 0), 5, 0.9), flat(8, 0), 2, { recorded: 'bad' })
    const { verdict } = await blameMutations(source)
    expect(verdict).toMatchObject({ kind: 'responsible', positions: [{ position: 5, how: 'certified' }] })
  })

  it('count once each, however often they are tried', async () => {
    const { made, source } = mutationSource(oneAt(flat(6, 0.05), 2, 0.9), flat(6, 0.05), 4, { mutants: () => 2 })
    const { positions, verdict } = await blameMutations(source)
    const copies = made.filter(({ mutated }) => mutated?.position === 2).length
    expect(copies).toBeGreaterThan(10)
    expect(positions[2]).toMatchObject({ mutants: 2, tried: 2, forks: copies })
    // Two mutants, both of which flip: Wilson of 2 in 2, not of ten in ten.
    expect(positions[2]?.display?.low).toBeCloseTo(0.342, 3)
    expect(positions[2]?.simultaneous).toEqual(clopperPearson(2, 2, 0.05 / 6))
    expect(verdict).toMatchObject({ kind: 'responsible', positions: [{ position: 2, mutants: 2 }] })
  })

  it('that leave the run as it was have an effect of exactly none, and no interval', async () => {
    const { source } = mutationSource(flat(4, 0), flat(4, 0), 1)
    const unchanged: ForkSource = {
      ...source,
      draw: async (spec, signal) => {
        const draw = await source.draw(spec, signal)
        return spec.mutated?.position === 1 ? { ...draw, isInert: true } : draw
      },
    }
    const { positions } = await blameMutations(unchanged, { tail: 'noisy' })
    const [first, second] = positions
    expect(second).toMatchObject({ rate: 0 })
    expect(second?.inert).toBe(second?.tried)
    expect(second).not.toHaveProperty('display')
    expect(first).toHaveProperty('display')
  })

  it('with a fixed plan are held against as many controls, and named by Fisher and Holm', async () => {
    const { made, source } = mutationSource(oneAt(flat(10, 0.1), 4, 0.9), flat(10, 0.1), 3)
    const { verdict } = await blameMutations(source, { plan: { pairs: 12 }, tail: 'noisy' })
    expect(made).toHaveLength(10 * 24)
    if (verdict.kind !== 'responsible') throw new Error(verdict.kind)
    expect(verdict.positions).toHaveLength(1)
    expect(verdict.positions[0]).toMatchObject({
      position: 4,
      how: 'fisher',
      mutated: { forks: 12 },
      control: { forks: 12 },
    })
    expect(verdict.positions[0]?.pValue).toBeLessThan(0.05)
  })

  it('with a deterministic tail need one fork each, and one control per position', async () => {
    const { made, source } = mutationSource(oneAt(flat(12, 0), 3, 1), flat(12, 0), 1, { mutants: () => 2 })
    const repeatable: ForkSource = {
      ...source,
      draw: async (spec, signal) => {
        const draw = await source.draw(spec, signal)
        return { ...draw, fingerprint: draw.grade }
      },
    }
    const { isDeterministic, positions, verdict } = await blameMutations(repeatable, { tail: 'deterministic' })
    expect(isDeterministic).toBe(true)
    expect(verdict).toEqual({
      kind: 'responsible',
      positions: [
        {
          position: 3,
          how: 'exact',
          mutated: { flips: 2, forks: 2 },
          control: { flips: 0, forks: 1 },
          difference: 1,
          mutants: 2,
        },
      ],
    })
    expect(positions[3]).not.toHaveProperty('display')
    expect(made).toHaveLength(3 * 12)
  })

  it('rule out no answer of which nothing could be changed', async () => {
    const found = async (mutants: (position: number) => number): Promise<MutationBlame['verdict']> => {
      const { source } = mutationSource(flat(4, 0), flat(4, 0), 1, { mutants })
      return (await blameMutations(source, { tail: 'deterministic' })).verdict
    }
    expect(await found(() => 2)).toEqual({ kind: 'none' })
    expect(await found((position) => (position % 2) * 2)).toEqual({ kind: 'unshown', untried: [0, 2] })
  })

  it('are given no verdict when more than a fifth of the forks tell nothing', async () => {
    const { source } = mutationSource(flat(10, 0.1), flat(10, 0.1), 1)
    const lossy: ForkSource = {
      ...source,
      draw: async (spec, signal) => {
        const draw = await source.draw(spec, signal)
        return spec.mutated?.position === 2 || spec.keep > 7 ? { ...draw, grade: 'undefined' } : draw
      },
    }
    const { verdict } = await blameMutations(lossy)
    expect(verdict).toMatchObject({ kind: 'undecidable' })
    if (verdict.kind === 'undecidable') expect(verdict.positions).toContain(2)
  })

  it('that a limit cut short name nobody, and say so', async () => {
    const { source } = mutationSource(flat(10, 0.1), flat(10, 0.1), 1)
    const { verdict } = await blameMutations(source, { limits: { forks: 20 } })
    expect(verdict).toEqual({ kind: 'unresolved' })
  })

  it('need mutants', async () => {
    const { source } = mutationSource([0.1], [0.1], 1, { mutants: () => 0 })
    await expect(blameMutations(source)).rejects.toMatchObject({ code: 'HARVEST_BLAME_NO_MUTANTS' })
  })
})
