import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DropPosterior } from '../../src/blame/posterior.ts'

const size = 7
const forks = fc.array(fc.record({ keep: fc.nat(size - 1), passed: fc.nat(4), failed: fc.nat(4) }), { maxLength: 12 })

interface World {
  what: number | 'never'
  weight: number
  rate: (keep: number) => number
  drop: number
}

/** The same question, answered term by term. */
function plainly(draws: readonly { keep: number; passed: number; failed: number }[]) {
  const above = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97]
  const below = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6]
  const worlds: World[] = []
  for (const rate of [0.005, 0.02, 0.05, 0.1])
    worlds.push({ what: 'never', weight: 0.1 / 4, rate: () => rate, drop: 0 })
  for (let c = 0; c < size; c++) {
    const pairs = above.flatMap((a) => below.filter((b) => b <= a - 0.1 + 1e-9).map((b) => ({ a, b })))
    for (const { a, b } of pairs) {
      const doubt = c === size - 1 ? 1 : (1 - b) ** 2
      const weight = (0.9 / size / pairs.length) * doubt
      // Behind the last position lies the recorded run, which failed.
      const drop = c === size - 1 ? a : a - b
      worlds.push({ what: c, weight, rate: (keep) => (keep <= c ? a : b), drop })
    }
  }
  for (const world of worlds) {
    for (const { failed, keep, passed } of draws) {
      world.weight *= world.rate(keep) ** passed * (1 - world.rate(keep)) ** failed
    }
  }
  const all = worlds.reduce((sum, { weight }) => sum + weight, 0)
  const chance = (what: number | 'never', to: typeof worlds = worlds): number =>
    to.filter((world) => world.what === what).reduce((sum, { weight }) => sum + weight, 0) / all
  return { worlds, all, chance }
}

const answers = [...Array.from({ length: size }, (_, c) => c), 'never' as const]

describe('the posterior of the deciding position', () => {
  it('for every forks, is what summing over all worlds gives', () => {
    fc.assert(
      fc.property(forks, (draws) => {
        const posterior = new DropPosterior(0, size)
        for (const { failed, keep, passed } of draws) posterior.add(keep, passed, failed)
        const { chance } = plainly(draws)
        const all = answers.reduce<number>((sum, what) => sum + chance(what), 0)
        for (const what of answers) expect(posterior.chance(what)).toBeCloseTo(chance(what) / all, 9)
      }),
    )
  })

  it('for every forks, tells the gain of one more as the entropy it is expected to take', () => {
    fc.assert(
      fc.property(forks, fc.nat(size - 1), (draws, keep) => {
        const posterior = new DropPosterior(0, size)
        for (const one of draws) posterior.add(one.keep, one.passed, one.failed)
        const { worlds, all } = plainly(draws)
        const passes = worlds.reduce((sum, { rate, weight }) => sum + rate(keep) * weight, 0) / all
        const after = (passed: number): number => {
          const then = new DropPosterior(0, size)
          for (const one of draws) then.add(one.keep, one.passed, one.failed)
          then.add(keep, passed, 1 - passed)
          return then.entropy
        }
        const expected = posterior.entropy - passes * after(1) - (1 - passes) * after(0)
        expect(posterior.gain(keep)).toBeCloseTo(Math.max(0, expected), 8)
      }),
      { numRuns: 40 },
    )
  })

  it('for every forks, says how likely a large drop is as summing over the worlds with one does', () => {
    fc.assert(
      fc.property(forks, (draws) => {
        const posterior = new DropPosterior(0, size)
        for (const { failed, keep, passed } of draws) posterior.add(keep, passed, failed)
        const { worlds, all } = plainly(draws)
        const large = worlds.reduce((sum, { drop, weight }) => sum + (drop >= 0.35 ? weight : 0), 0)
        expect(posterior.chanceOfDrop(0.35)).toBeCloseTo(large / all, 8)
      }),
    )
  })

  it('gives what is excluded no chance, and the rest all of it', () => {
    const posterior = new DropPosterior(2, size)
    posterior.add(3, 5, 0)
    posterior.add(5, 0, 5)
    posterior.exclude(3)
    posterior.exclude('never')
    const chances = answers.map((what) => posterior.chance(what))
    expect(chances.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12)
    expect([posterior.chance(0), posterior.chance(3), posterior.chance('never')]).toEqual([0, 0, 0])
    expect(posterior.best().what).toBe(4)
    expect(posterior.range(0.9)).toEqual({ from: 4, to: 4 })
  })

  it('asks of 200 positions about few forks, and weighs those between which nothing was drawn alike', () => {
    const posterior = new DropPosterior(0, 200)
    posterior.add(100, 3, 1)
    const equal = Array.from({ length: 99 }, (_, c) => posterior.chance(c))
    expect(new Set(equal).size).toBe(1)
    expect(posterior.candidates().length).toBeLessThan(25)
  })

  it('needs a position', () => {
    expect(() => new DropPosterior(3, 3)).toThrow(RangeError)
  })
})
