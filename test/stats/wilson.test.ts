import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wilson } from '../../src/stats/index.ts'

describe('the Wilson interval', () => {
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("%i of %i, as in Newcombe's table", (hits, runs, low, high) => {
    const interval = wilson(hits, runs, 1.959964)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  it('is exact at the ends', () => {
    expect(wilson(0, 10).low).toBe(0)
    expect(wilson(10, 10).high).toBe(1)
  })

  it('for every rate: holds the rate, stays within 0 and 1, and mirrors when passes and failures swap', () => {
    const rate = fc
      .integer({ min: 1, max: 10_000 })
      .chain((runs) => fc.tuple(fc.integer({ min: 0, max: runs }), fc.constant(runs)))
    fc.assert(
      fc.property(rate, ([hits, runs]) => {
        const { low, high } = wilson(hits, runs)
        const mirrored = wilson(runs - hits, runs)
        expect(low).toBeLessThanOrEqual(hits / runs)
        expect(high).toBeGreaterThanOrEqual(hits / runs)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(mirrored.low).toBeCloseTo(1 - high, 12)
      }),
    )
  })

  it.each([
    [1, 0],
    [-1, 5],
    [6, 5],
    [1.5, 5],
    [Number.NaN, 5],
  ])('%d of %d is no rate', (hits, runs) => {
    expect(() => wilson(hits, runs)).toThrow(RangeError)
  })
})
