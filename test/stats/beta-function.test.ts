import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { betaQuantile, incompleteBeta, lnBeta, lnChoose, lnGamma } from '../../src/stats/beta-function.ts'
import { choose } from '../blame/sources.ts'

describe('the gamma function', () => {
  it.each([1, 2, 3, 5, 10, 20, 100])('is the factorial before %i', (n) => {
    let logarithm = 0
    for (let k = 2; k < n; k++) logarithm += Math.log(k)
    expect(lnGamma(n)).toBeCloseTo(logarithm, 11)
  })

  it.each([
    [0.5, Math.sqrt(Math.PI)],
    [1.5, Math.sqrt(Math.PI) / 2],
    [4.5, (105 / 16) * Math.sqrt(Math.PI)],
    [0.25, 3.625609908221908],
  ])('at %d', (x, value) => {
    expect(Math.exp(lnGamma(x))).toBeCloseTo(value, 12)
  })

  it.each([0, -1, Number.NaN])('has no logarithm at %d', (x) => {
    expect(() => lnGamma(x)).toThrow(RangeError)
  })

  it('counts the ways to choose, as exact arithmetic does', () => {
    for (const [n, k] of [
      [5, 2],
      [52, 5],
      [100, 50],
    ] as const)
      expect(Math.exp(lnChoose(n, k)) / Number(choose(n, k))).toBeCloseTo(1, 12)
  })
})

describe('the incomplete beta function', () => {
  it('for whole numbers, is a sum of binomial chances', () => {
    for (let n = 1; n <= 30; n++) {
      for (let k = 1; k <= n; k++) {
        for (const p of [0.001, 0.05, 0.3, 0.5, 0.8, 0.999]) {
          let atLeast = 0
          for (let hits = k; hits <= n; hits++) atLeast += Number(choose(n, hits)) * p ** hits * (1 - p) ** (n - hits)
          expect(incompleteBeta(p, k, n - k + 1)).toBeCloseTo(atLeast, 12)
        }
      }
    }
  })

  const shape = fc.double({ min: 0.5, max: 400, noNaN: true })
  // Of which one can be taken without rounding.
  const point = fc.integer({ min: 0, max: 4096 }).map((cells) => cells / 4096)

  it('for every shape: mirrors, grows, and its quantile leads back', () => {
    fc.assert(
      fc.property(shape, shape, point, point, (a, b, x, y) => {
        expect(incompleteBeta(x, a, b)).toBeCloseTo(1 - incompleteBeta(1 - x, b, a), 9)
        if (x < y) expect(incompleteBeta(x, a, b)).toBeLessThanOrEqual(incompleteBeta(y, a, b) + 1e-12)
        const quantile = betaQuantile(y, a, b)
        expect(incompleteBeta(quantile - 1e-12, a, b)).toBeLessThanOrEqual(y + 1e-12)
        expect(incompleteBeta(quantile + 1e-12, a, b)).toBeGreaterThanOrEqual(y - 1e-12)
      }),
    )
  })

  it('refuses what is no shape', () => {
    expect(() => incompleteBeta(0.5, 0, 1)).toThrow(RangeError)
    expect(() => incompleteBeta(0.5, 1, -1)).toThrow(RangeError)
  })

  it('has the arcsine law as its half and half', () => {
    expect(incompleteBeta(0.3, 0.5, 0.5)).toBeCloseTo((2 / Math.PI) * Math.asin(Math.sqrt(0.3)), 12)
    expect(Math.exp(lnBeta(0.5, 0.5))).toBeCloseTo(Math.PI, 12)
  })
})
