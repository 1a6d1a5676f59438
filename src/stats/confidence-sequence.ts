import { lnBeta } from './beta-function.ts'
import { checkRate } from './clopper-pearson.ts'
import type { Interval } from './wilson.ts'

/**
 * The Beta-mixture confidence sequence of a rate: the chance that it misses the truth at any time at all, looked at
 * after every run for ever, is at most alpha. So one may look after each run and stop because of what one sees.
 *
 * A rate stays in the interval while the mixture of all rates explains the runs less than 1/alpha times as well as it does.
 *
 * @param hits - runs that passed; an integer, 0 ≤ hits ≤ runs
 * @param runs - runs that were judged; an integer; 0 gives [0, 1]
 * @param alpha - how often it may ever miss; default 0.05
 * @throws RangeError when hits and runs are not such integers, or alpha is not between 0 and 1
 * @see Robbins, Ann. Math. Stat. 41 (1970) 1397–1409; Kaufmann and Koolen, JMLR 22 (2021) 1–44, with Beta(½, ½) as mixture
 */
export function confidenceSequence(hits: number, runs: number, alpha = 0.05): Interval {
  checkRate('confidenceSequence', hits, runs === 0 ? 1 : runs, alpha)
  if (runs === 0) return { low: 0, high: 1 }
  const misses = runs - hits
  const mixture = lnBeta(hits + 0.5, misses + 0.5) - lnBeta(0.5, 0.5)
  const threshold = Math.log(1 / alpha)
  const isOutside = (rate: number): boolean =>
    mixture - (hits ? hits * Math.log(rate) : 0) - (misses ? misses * Math.log1p(-rate) : 0) >= threshold
  const rate = hits / runs
  return {
    low: hits === 0 ? 0 : edge(0, rate, isOutside),
    high: misses === 0 ? 1 : edge(1, rate, isOutside),
  }
}

/** Where the outside ends, to 2⁻⁵⁰ and rounded outwards. */
function edge(outside: number, inside: number, isOutside: (rate: number) => boolean): number {
  let out = outside
  let within = inside
  for (let i = 0; i < 50; i++) {
    const middle = (out + within) / 2
    if (isOutside(middle)) out = middle
    else within = middle
  }
  return out
}
