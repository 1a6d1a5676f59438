import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fisherExact, holm, signEvidence, sprt } from '../../src/blame/index.ts'
import { expectedPairs } from '../../src/blame/sign-test.ts'
import { choose, everSeen } from './sources.ts'

const few = fc.integer({ min: 0, max: 60 })

describe('the evidence of pairs', () => {
  it('is none before the first, and 20 after seven of a kind', () => {
    expect(signEvidence(0, 0)).toBeCloseTo(1, 12)
    expect([5, 6, 7, 8].map((wins) => Math.floor(signEvidence(wins, 0)))).toEqual([10, 18, 31, 56])
  })

  it('is the mean over all shares between a half and one of how much better they explain the pairs', () => {
    for (const [wins, losses] of [
      [0, 0],
      [3, 1],
      [9, 2],
      [4, 7],
    ] as const) {
      const cells = 20_000
      let sum = 0
      for (let i = 0; i < cells; i++) {
        const share = 0.5 + (i + 0.5) / (2 * cells)
        sum += (2 * share) ** wins * (2 * (1 - share)) ** losses
      }
      expect(signEvidence(wins, losses)).toBeCloseTo(sum / cells, 5)
    }
  })

  it('for every pairs, with a half as the share, is what it is expected to be after one more', () => {
    fc.assert(
      fc.property(few, few, (wins, losses) => {
        const next = (signEvidence(wins + 1, losses) + signEvidence(wins, losses + 1)) / 2
        expect(next / signEvidence(wins, losses)).toBeCloseTo(1, 9)
        expect(signEvidence(wins + 1, losses)).toBeGreaterThan(signEvidence(wins, losses + 1))
      }),
    )
  })

  it.each([0.5, 0.4, 0.2])(
    'is expected to be at most 1 over all walks of 14 pairs, %d of which favour the first',
    (share) => {
      let mean = 0
      for (let wins = 0; wins <= 14; wins++) {
        mean += Number(choose(14, wins)) * share ** wins * (1 - share) ** (14 - wins) * signEvidence(wins, 14 - wins)
      }
      expect(mean).toBeLessThanOrEqual(1 + 1e-9)
      if (share === 0.5) expect(mean).toBeCloseTo(1, 9)
    },
  )

  it.each([
    [0.5, 0.05],
    [0.5, 0.0125],
    [0.4, 0.05],
  ])('looked at after each of 300 pairs (%d), ever reaches 1/%d less often than that', (share, alpha) => {
    const reached = everSeen(300, share, (wins, losses) => signEvidence(wins, losses) >= 1 / alpha)
    expect(reached).toBeGreaterThan(0)
    expect(reached).toBeLessThanOrEqual(alpha)
  })

  it('is reached after about as many pairs as expected', () => {
    expect(expectedPairs(0.9, 0.02, 0.025)).toBeGreaterThanOrEqual(8)
    expect(expectedPairs(0.9, 0.02, 0.025)).toBeLessThanOrEqual(14)
    expect(expectedPairs(0.3, 0.3, 0.025)).toBeUndefined()
    expect(expectedPairs(0.2, 0.3, 0.025)).toBeUndefined()
  })

  it.each([
    [-1, 0],
    [0.5, 0],
    [0, Number.NaN],
  ])('%d and %d are no counts', (wins, losses) => {
    expect(() => signEvidence(wins, losses)).toThrow(RangeError)
  })
})

describe("Wald's test", () => {
  const plan = { good: 0.8, bad: 0.3, error: 0.05 }

  it('decides where the likelihood ratio leaves 1/19 and 19', () => {
    // ln 19 = 2.944; a hit is ln(.8/.3) = .981, a miss ln(.2/.7) = -1.253.
    expect([sprt(3, 0, plan), sprt(4, 0, plan)]).toEqual([undefined, 'good'])
    expect([sprt(0, 2, plan), sprt(0, 3, plan)]).toEqual([undefined, 'bad'])
    expect([sprt(5, 1, plan), sprt(4, 1, plan)]).toEqual(['good', undefined])
  })

  it.each([0.05, 0.02, 0.005])('errs either way at most as often as Wald bounds it, by enumeration (%d)', (error) => {
    const bound = error / (1 - error)
    const walk = (rate: number, wrong: 'good' | 'bad'): number => {
      let wrongly = 0
      let open = new Map([[0, 1]])
      for (let runs = 1; runs <= 120; runs++) {
        const next = new Map<number, number>()
        for (const [hits, chance] of open) {
          for (const [after, share] of [
            [hits + 1, rate],
            [hits, 1 - rate],
          ] as const) {
            const verdict = sprt(after, runs - after, { ...plan, error })
            if (verdict === wrong) wrongly += chance * share
            if (verdict === undefined) next.set(after, (next.get(after) ?? 0) + chance * share)
          }
        }
        open = next
      }
      expect([...open.values()].reduce((sum, chance) => sum + chance, 0)).toBeLessThan(1e-6)
      return wrongly
    }
    const [good, bad] = [walk(plan.good, 'bad'), walk(plan.bad, 'good')]
    for (const wrongly of [good, bad]) {
      expect(wrongly).toBeGreaterThan(0)
      expect(wrongly).toBeLessThanOrEqual(bound)
    }
  })

  it.each([
    { good: 0.3, bad: 0.8, error: 0.05 },
    { good: 1, bad: 0.3, error: 0.05 },
    { good: 0.8, bad: 0, error: 0.05 },
    { good: 0.8, bad: 0.3, error: 0.5 },
  ])('%o is no plan', (none) => {
    expect(() => sprt(1, 1, none)).toThrow(RangeError)
  })
})

describe("Fisher's exact test", () => {
  it.each([
    [4, 0, 1 / 70],
    [3, 1, 17 / 70],
  ])('of the lady tasting tea: %i of 4 and %i of 4', (first, second, value) => {
    expect(fisherExact({ hits: first, runs: 4 }, { hits: second, runs: 4 })).toBeCloseTo(value, 12)
  })

  it('for every table, is a sum of exact fractions', () => {
    const side = fc
      .integer({ min: 1, max: 25 })
      .chain((runs) => fc.tuple(fc.integer({ min: 0, max: runs }), fc.constant(runs)))
    fc.assert(
      fc.property(side, side, ([a, m], [b, n]) => {
        let ways = 0n
        for (let k = a; k <= Math.min(m, a + b); k++) {
          if (a + b - k <= n) ways += choose(m, k) * choose(n, a + b - k)
        }
        const value = Number((ways * 10n ** 15n) / choose(m + n, a + b)) / 1e15
        expect(fisherExact({ hits: a, runs: m }, { hits: b, runs: n })).toBeCloseTo(value, 10)
      }),
    )
  })
})

describe("Holm's correction", () => {
  it('steps down', () => {
    const corrected = holm([0.01, 0.04, 0.03, 0.005])
    for (const [i, value] of [0.03, 0.06, 0.06, 0.02].entries()) expect(corrected[i]).toBeCloseTo(value, 12)
    expect(holm([])).toEqual([])
  })

  it('for every values: keeps their order, lies between them and Bonferroni, and ends at 1', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }), (values) => {
        const corrected = holm(values)
        values.forEach((value, i) => {
          expect(corrected[i]).toBeGreaterThanOrEqual(value)
          expect(corrected[i]).toBeLessThanOrEqual(Math.min(1, value * values.length) + 1e-12)
          values.forEach((other, j) => {
            if (value < other) expect(corrected[i]).toBeLessThanOrEqual(corrected[j] ?? 0)
          })
        })
      }),
    )
  })
})
