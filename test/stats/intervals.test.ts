import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clopperPearson, confidenceSequence, type Interval, jeffreys, newcombe, wilson } from '../../src/stats/index.ts'
import { binomial, everSeen } from '../blame/sources.ts'

const z95 = 1.959964
const rates = Array.from({ length: 999 }, (_, i) => (i + 1) / 1000)
const counted = fc
  .integer({ min: 1, max: 500 })
  .chain((runs) => fc.tuple(fc.integer({ min: 0, max: runs }), fc.constant(runs)))

/** How often an interval holds a rate, summed over all numbers of hits. */
function coverage(of: (hits: number, runs: number) => Interval, runs: number): number[] {
  const intervals = Array.from({ length: runs + 1 }, (_, hits) => of(hits, runs))
  return rates.map((rate) => {
    const chances = binomial(runs, rate)
    return intervals.reduce(
      (sum, { high, low }, hits) => sum + (low <= rate && rate <= high ? (chances[hits] ?? 0) : 0),
      0,
    )
  })
}

describe('the Clopper-Pearson interval', () => {
  it.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
  ])("%i of %i, as in Newcombe's table (the exact method)", (hits, runs, low, high) => {
    const interval = clopperPearson(hits, runs)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  it.each([3, 5, 10, 20])('of %i runs holds every rate at least as often as it says, by enumeration', (runs) => {
    expect(Math.min(...coverage(clopperPearson, runs))).toBeGreaterThanOrEqual(0.95)
  })

  it('many of them, each with its share of alpha, hold together', () => {
    const miss = 1 - Math.min(...coverage((hits, runs) => clopperPearson(hits, runs, 0.05 / 50), 5))
    expect(1 - (1 - miss) ** 50).toBeLessThan(0.05)
  })
})

describe('the Jeffreys interval', () => {
  it.each([
    [0, 7, 0, 0.292],
    [1, 7, 0.016, 0.501],
    [2, 7, 0.065, 0.648],
  ])('%i of %i, as in the table of Brown, Cai and DasGupta', (hits, runs, low, high) => {
    const interval = jeffreys(hits, runs)
    expect(interval.low).toBeCloseTo(low, 3)
    expect(interval.high).toBeCloseTo(high, 3)
  })
})

describe('what intervals promise and what they hold, by enumeration', () => {
  it.each([
    [3, 0.828, 0.89],
    [5, 0.833, 0.895],
    [10, 0.842, 0.868],
  ])('of %i runs: Wilson and Jeffreys dip below their promise at some rates', (runs, least, leastJeffreys) => {
    const scored = coverage((hits, of) => wilson(hits, of, z95), runs)
    expect(Math.min(...scored)).toBeCloseTo(least, 3)
    expect(scored.reduce((sum, one) => sum + one, 0) / scored.length).toBeGreaterThan(0.95)
    expect(Math.min(...coverage(jeffreys, runs))).toBeCloseTo(leastJeffreys, 3)
  })
})

describe("Newcombe's interval of a difference", () => {
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('%i/%i less %i/%i, as in his table', (hitsA, runsA, hitsB, runsB, low, high) => {
    const interval = newcombe({ hits: hitsA, runs: runsA }, { hits: hitsB, runs: runsB }, z95)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  it('of five runs each holds the difference at least .899 of the time, by enumeration', () => {
    let least = 1
    const grid = Array.from({ length: 21 }, (_, i) => i / 20)
    for (const a of grid) {
      for (const b of grid.filter((rate) => rate <= a)) {
        const [first, second] = [binomial(5, a), binomial(5, b)]
        let held = 0
        first.forEach((chance, x) => {
          second.forEach((other, y) => {
            const { high, low } = newcombe({ hits: x, runs: 5 }, { hits: y, runs: 5 }, z95)
            if (low - 1e-12 <= a - b && a - b <= high + 1e-12) held += chance * other
          })
        })
        least = Math.min(least, held)
      }
    }
    expect(least).toBeCloseTo(0.899, 3)
  })

  it('for every two rates: holds their difference, stays in [-1, 1], and turns with them', () => {
    fc.assert(
      fc.property(counted, counted, ([hitsA, runsA], [hitsB, runsB]) => {
        const a = { hits: hitsA, runs: runsA }
        const b = { hits: hitsB, runs: runsB }
        const { high, low } = newcombe(a, b)
        const turned = newcombe(b, a)
        expect(low).toBeLessThanOrEqual(hitsA / runsA - hitsB / runsB)
        expect(high).toBeGreaterThanOrEqual(hitsA / runsA - hitsB / runsB)
        expect(low).toBeGreaterThanOrEqual(-1 - 1e-12)
        expect(high).toBeLessThanOrEqual(1 + 1e-12)
        expect(turned.low).toBeCloseTo(-high, 12)
        expect(turned.high).toBeCloseTo(-low, 12)
      }),
    )
  })
})

describe('the confidence sequence', () => {
  it.each([
    [3, 0.75],
    [5, 0.585],
    [10, 0.377],
    [20, 0.224],
    [50, 0.105],
  ])('of %i misses ends at %d', (runs, high) => {
    expect(confidenceSequence(0, runs)).toEqual({ low: 0, high: expect.closeTo(high, 3) as number })
  })

  it('knows nothing without a run', () => {
    expect(confidenceSequence(0, 0)).toEqual({ low: 0, high: 1 })
  })

  it.each([
    [0.05, 0.05],
    [0.2, 0.05],
    [0.2, 0.01],
    [0.5, 0.05],
  ])(
    'looked at after each of 200 runs, it ever misses a rate of %d at most %d of the time, by enumeration',
    (rate, alpha) => {
      const isMissed = (hits: number, misses: number): boolean => {
        const { high, low } = confidenceSequence(hits, hits + misses, alpha)
        return rate < low || rate > high
      }
      const missed = everSeen(200, rate, isMissed)
      expect(missed).toBeGreaterThan(0)
      expect(missed).toBeLessThanOrEqual(alpha)
    },
  )

  it('where Wilson, looked at like that, misses a rate of .2 almost every second time', () => {
    const missed = everSeen(200, 0.2, (hits, misses) => {
      const { high, low } = wilson(hits, hits + misses, z95)
      return high < 0.2 || low > 0.2
    })
    expect(missed).toBeGreaterThan(0.45)
  })
})

describe('every interval of a rate', () => {
  it.each([
    ['clopperPearson', clopperPearson],
    ['jeffreys', jeffreys],
    ['confidenceSequence', confidenceSequence],
  ] as const)(
    '%s: holds the rate, stays within 0 and 1, mirrors, moves with the hits, widens with a smaller alpha',
    (_, of) => {
      fc.assert(
        fc.property(counted, ([hits, runs]) => {
          const { high, low } = of(hits, runs)
          expect(0 <= low && low <= hits / runs && hits / runs <= high && high <= 1).toBe(true)
          const mirrored = of(runs - hits, runs)
          expect(mirrored.low).toBeCloseTo(1 - high, 9)
          const wider = of(hits, runs, 0.01)
          expect(wider.low).toBeLessThanOrEqual(low)
          expect(wider.high).toBeGreaterThanOrEqual(high)
          if (hits === runs) return
          const more = of(hits + 1, runs)
          expect(more.low).toBeGreaterThanOrEqual(low)
          expect(more.high).toBeGreaterThanOrEqual(high)
        }),
        { numRuns: 40 },
      )
    },
  )

  it.each([
    [1, 0],
    [-1, 5],
    [6, 5],
    [1.5, 5],
    [Number.NaN, 5],
  ])('%d of %d is no rate', (hits, runs) => {
    expect(() => clopperPearson(hits, runs)).toThrow(RangeError)
    expect(() => jeffreys(hits, runs)).toThrow(RangeError)
    if (runs > 0) expect(() => confidenceSequence(hits, runs)).toThrow(RangeError)
  })

  it.each([0, 1, -0.1, Number.NaN])('%d is no alpha', (alpha) => {
    expect(() => clopperPearson(1, 2, alpha)).toThrow(RangeError)
    expect(() => confidenceSequence(1, 2, alpha)).toThrow(RangeError)
  })
})
