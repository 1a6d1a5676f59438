import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RunningQuantile } from '../../src/record/quantile.ts'
import { isSampled, shareOf } from '../../src/record/sample.ts'
import { binomialBounds } from './binomial.ts'

describe('the sample', () => {
  test('anybody can compute it: the first 48 bits of the SHA-256 of the id', () => {
    // FIPS 180-2, appendix B.1: SHA-256 of "abc" begins with ba7816bf8f01.
    expect(shareOf('abc')).toBe(0xba7816bf8f01 / 2 ** 48)
    expect([0.728, 0.729].map((fraction) => isSampled('abc', fraction))).toEqual([false, true])
  })

  test('for every id, a larger fraction keeps what a smaller one keeps; 0 keeps none and 1 all', () => {
    const fraction = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.string(), fraction, fraction, (id, a, b) => {
        if (isSampled(id, Math.min(a, b))) expect(isSampled(id, Math.max(a, b))).toBe(true)
        expect([isSampled(id, 0), isSampled(id, 1)]).toEqual([false, true])
        expect(isSampled(id, a)).toBe(isSampled(id, a))
      }),
    )
  })

  // Ids that are alike, as ids are: the hash, not the id, must spread them.
  const shares = Array.from({ length: 100_000 }, (_, i) => shareOf(`ticket-${i}`))

  test.for([0.001, 0.01, 0.05, 0.25, 0.5, 0.9])('of 100,000 ids it keeps the fraction %d', (fraction) => {
    const kept = shares.filter((share) => share < fraction).length
    const [least, most] = binomialBounds(shares.length, fraction, 1e-6)
    expect(kept).toBeGreaterThanOrEqual(least)
    expect(kept).toBeLessThanOrEqual(most)
    expect(most - least).toBeLessThan(1600)
  })

  test('ids spread evenly over 100 cells', () => {
    const cells = new Array<number>(100).fill(0)
    for (const share of shares) cells[Math.floor(share * 100)]! += 1
    const expected = shares.length / cells.length
    const chiSquare = cells.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 99 degrees of freedom: outside of these less than once in a hundred thousand, each side.
    expect(chiSquare).toBeGreaterThan(45)
    expect(chiSquare).toBeLessThan(178)
  })

  test('a fraction that is none is refused', () => {
    for (const fraction of [-0.1, 1.1, Number.NaN]) expect(() => isSampled('x', fraction)).toThrow(RangeError)
  })
})

describe('the running quantile', () => {
  const estimates = (quantile: number, values: readonly number[]) => {
    const running = new RunningQuantile(quantile)
    return values.map((value) => (running.add(value), running.value))
  }

  test('the worked example of the paper, table I: the median after each of 20 observations', () => {
    const observed = [
      0.02, 0.15, 0.74, 3.39, 0.83, 22.37, 10.15, 15.43, 38.62, 15.92, 34.6, 10.28, 1.47, 0.4, 0.05, 11.39, 0.27, 0.42,
      0.09, 11.37,
    ]
    const published = [0.74, 0.74, 0.74, 2.18, 4.75, 4.75, 9.28, 9.28, 9.28, 9.28, 6.3, 6.3, 6.3, 6.3, 4.44, 4.44]
    const found = estimates(0.5, observed).slice(4)
    // The paper rounds to two digits as it goes.
    for (const [at, value] of published.entries()) expect(Math.abs(found[at]! - value), `${at + 5}`).toBeLessThan(0.011)
  })

  const amount = fc.integer({ min: 0, max: 1_000_000 })
  const level = fc.double({ min: 0.01, max: 0.99, noNaN: true })

  test('for every stream, also of values that repeat, it is what the box of the paper says word for word', () => {
    const values = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 5, maxLength: 40 })
    fc.assert(
      fc.property(values, level, (some, quantile) => {
        expect(estimates(quantile, some).at(-1)).toBeCloseTo(boxOne(quantile, some), 9)
      }),
      { numRuns: 500 },
    )
  })

  test('for every stream, it lies between the smallest and the largest value', () => {
    fc.assert(
      fc.property(fc.array(amount, { minLength: 5, maxLength: 200 }), level, (values, quantile) => {
        const last = estimates(quantile, values).at(-1)!
        expect(last).toBeGreaterThanOrEqual(Math.min(...values))
        expect(last).toBeLessThanOrEqual(Math.max(...values))
      }),
    )
  })

  test('for every stream of one value, it is exactly that value: nothing stands out', () => {
    fc.assert(
      fc.property(amount, level, fc.integer({ min: 5, max: 300 }), (value, quantile, length) => {
        expect(estimates(quantile, new Array<number>(length).fill(value)).at(-1)).toBe(value)
      }),
    )
  })

  test('for every stream, scaling and shifting the values scales and shifts it', () => {
    const values = fc.array(amount, { minLength: 5, maxLength: 100 })
    fc.assert(
      fc.property(values, level, fc.constantFrom(2, 4, 8), (some, quantile, scale) => {
        const [plain, scaled] = [some, some.map((value) => value * scale)].map((list) =>
          estimates(quantile, list).at(-1),
        )
        expect(scaled).toBeCloseTo(plain! * scale, 3)
      }),
    )
  })

  test.for([0.5, 0.9, 0.99])('of 20,000 shuffled values it finds the quantile %d to a hundredth', (quantile) => {
    let state = 1
    const next = () => (state = (state * 48271) % 2147483647) / 2147483647
    const last = estimates(
      quantile,
      Array.from({ length: 20_000 }, () => next()),
    ).at(-1)!
    expect(Math.abs(last - quantile)).toBeLessThan(0.01)
  })

  test('a quantile that is none is refused', () => {
    for (const quantile of [0, 1, Number.NaN]) expect(() => new RunningQuantile(quantile)).toThrow(RangeError)
  })
})

/** Box 1 of the paper, step by step, with its names and its counting from 1. */
function boxOne(p: number, [x1 = 0, x2 = 0, x3 = 0, x4 = 0, x5 = 0, ...rest]: readonly number[]): number {
  const q = [Number.NaN, ...[x1, x2, x3, x4, x5].toSorted((a, b) => a - b)]
  const n = [Number.NaN, 1, 2, 3, 4, 5]
  const wanted = [Number.NaN, 1, 1 + 2 * p, 1 + 4 * p, 3 + 2 * p, 5]
  const dn = [Number.NaN, 0, p / 2, p, (1 + p) / 2, 1]
  for (const x of rest) {
    let k = 4
    if (x < q[1]!) {
      q[1] = x
      k = 1
    } else if (x < q[2]!) k = 1
    else if (x < q[3]!) k = 2
    else if (x < q[4]!) k = 3
    else if (x > q[5]!) q[5] = x
    for (let i = k + 1; i <= 5; i++) n[i]! += 1
    for (let i = 1; i <= 5; i++) wanted[i]! += dn[i]!
    for (let i = 2; i <= 4; i++) {
      const off = wanted[i]! - n[i]!
      if (!((off >= 1 && n[i + 1]! - n[i]! > 1) || (off <= -1 && n[i - 1]! - n[i]! < -1))) continue
      const d = Math.sign(off)
      const up = ((n[i]! - n[i - 1]! + d) * (q[i + 1]! - q[i]!)) / (n[i + 1]! - n[i]!)
      const down = ((n[i + 1]! - n[i]! - d) * (q[i]! - q[i - 1]!)) / (n[i]! - n[i - 1]!)
      const parabola = q[i]! + (d / (n[i + 1]! - n[i - 1]!)) * (up + down)
      const line = q[i]! + (d * (q[i + d]! - q[i]!)) / (n[i + d]! - n[i]!)
      q[i] = q[i - 1]! < parabola && parabola < q[i + 1]! ? parabola : line
      n[i]! += d
    }
  }
  return q[3]!
}
