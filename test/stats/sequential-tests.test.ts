import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fisherExact, holm, pairEvidence, sprt } from '../../src/stats/index.ts'
import { expectedPairs, type PairCounts } from '../../src/stats/pair-evidence.ts'
import { choose } from '../blame/sources.ts'

const few = fc.integer({ min: 0, max: 60 })

describe('the evidence of pairs', () => {
  const pairs = fc.record({ wins: few, losses: few, ties: few })

  it('is none before the first, and 20 after seven of a kind', () => {
    expect(pairEvidence({ wins: 0, losses: 0, ties: 0 })).toBe(1)
    const reached = [5, 6, 7, 8].map((wins) => pairEvidence({ wins, losses: 0, ties: 3 }))
    expect(reached.map(Math.floor)).toEqual([10, 18, 31, 56])
    // A difference of more than .1 takes a pair more: 1.1/.9(w+1) · ((2/1.1)^(w+1) - 1).
    const above = [7, 8, 9].map((wins) => pairEvidence({ wins, losses: 0, ties: 0 }, 0.1))
    expect(above.map(Math.floor)).toEqual([18, 29, 48])
  })

  it('without a margin is the mean over all shares between a half and one of how much better they explain the pairs', () => {
    for (const [wins, losses] of [
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
      expect(pairEvidence({ wins, losses, ties: 5 }) / (sum / cells)).toBeCloseTo(1, 2)
    }
  })

  it('for every pairs and every margin, is what it is expected to be after one more whose rates differ by the margin', () => {
    const chances = fc.tuple(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.double({ min: 0, max: 0.5, noNaN: true }))
    fc.assert(
      fc.property(pairs, chances, ({ wins, losses, ties }, [loss, more]) => {
        const win = Math.min(1 - loss, loss + more)
        const margin = win - loss
        fc.pre(margin < 0.99)
        const after = (counts: Partial<PairCounts>): number => pairEvidence({ wins, losses, ties, ...counts }, margin)
        const next =
          win * after({ wins: wins + 1 }) +
          loss * after({ losses: losses + 1 }) +
          (1 - win - loss) * after({ ties: ties + 1 })
        expect(next / after({})).toBeCloseTo(1, 9)
        expect(after({ wins: wins + 1 })).toBeGreaterThan(after({ losses: losses + 1 }))
      }),
    )
  })

  it.each([
    // Chances of a win and of a loss, and the margin: the rates differ by it, or by less.
    [0.5, 0.5, 0, 0.05],
    [0.3, 0.3, 0, 0.0125],
    [0.3, 0.2, 0.1, 0.05],
    [0.1, 0, 0.1, 0.025],
    [0.45, 0.37, 0.1, 0.05],
    [0.6, 0.1, 0.5, 0.05],
  ])(
    'looked at after each of 40 pairs (%d won, %d lost, %d needed), ever reaches 1/%d less often than that',
    (win, loss, margin, alpha) => {
      const reached = everReached(40, win, loss, (counts) => pairEvidence(counts, margin) >= 1 / alpha)
      expect(reached).toBeGreaterThan(0)
      expect(reached).toBeLessThanOrEqual(alpha)
    },
  )

  it('is reached after about as many pairs as expected', () => {
    expect(expectedPairs(0.9, 0.02, 0.025)).toBeGreaterThanOrEqual(8)
    expect(expectedPairs(0.9, 0.02, 0.025)).toBeLessThanOrEqual(14)
    expect(expectedPairs(0.9, 0.02, 0.025, 0.1)).toBeGreaterThan(expectedPairs(0.9, 0.02, 0.025) ?? Infinity)
    expect(expectedPairs(0.3, 0.3, 0.025)).toBeUndefined()
    expect(expectedPairs(0.2, 0.3, 0.025)).toBeUndefined()
    expect(expectedPairs(0.35, 0.3, 0.025, 0.1)).toBeUndefined()
  })

  it.each([
    [{ wins: -1, losses: 0, ties: 0 }, 0],
    [{ wins: 0.5, losses: 0, ties: 0 }, 0],
    [{ wins: 0, losses: Number.NaN, ties: 0 }, 0],
    [{ wins: 1, losses: 0, ties: -1 }, 0],
    [{ wins: 1, losses: 0, ties: 0 }, 1],
    [{ wins: 1, losses: 0, ties: 0 }, -0.1],
    [{ wins: 1, losses: 0, ties: 0 }, Number.NaN],
  ])('%o and a margin of %d are refused', (counts, margin) => {
    expect(() => pairEvidence(counts, margin)).toThrow(RangeError)
  })
})

/** How often something was ever seen on walks of so many pairs, stopped at once when it is: exact, over all walks. */
function everReached(steps: number, win: number, loss: number, isSeen: (counts: PairCounts) => boolean): number {
  let alive = new Map([['0 0', 1]])
  let seen = 0
  for (let made = 1; made <= steps; made++) {
    const next = new Map<string, number>()
    for (const [state, chance] of alive) {
      const [wins = 0, losses = 0] = state.split(' ').map(Number)
      for (const [w, l, share] of [
        [wins + 1, losses, win],
        [wins, losses + 1, loss],
        [wins, losses, 1 - win - loss],
      ] as const) {
        if (share <= 0) continue
        if (isSeen({ wins: w, losses: l, ties: made - w - l })) seen += chance * share
        else next.set(`${w} ${l}`, (next.get(`${w} ${l}`) ?? 0) + chance * share)
      }
    }
    alive = next
  }
  return seen
}

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
