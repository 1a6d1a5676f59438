import { betaQuantile } from './beta-function.ts'
import type { Interval } from './wilson.ts'

/**
 * The Clopper-Pearson interval of a rate: never holds the truth less often than it says, no matter what the rate is.
 *
 * The one to use for claims, and for many claims at once: divided among m of them, `alpha / m`, all of them hold
 * together. It is for a number of runs that was fixed beforehand; who looks after every run needs
 * {@link confidenceSequence}.
 *
 * @param hits - runs that passed; an integer, 0 ≤ hits ≤ runs
 * @param runs - runs that were judged; an integer ≥ 1
 * @param alpha - how often the interval may miss the truth; 0.05 (the default) gives 95 % coverage
 * @throws RangeError when hits and runs are not such integers, or alpha is not between 0 and 1
 * @see Clopper and Pearson, Biometrika 26 (1934) 404–413
 */
export function clopperPearson(hits: number, runs: number, alpha = 0.05): Interval {
  checkRate('clopperPearson', hits, runs, alpha)
  return {
    low: hits === 0 ? 0 : betaQuantile(alpha / 2, hits, runs - hits + 1),
    high: hits === runs ? 1 : betaQuantile(1 - alpha / 2, hits + 1, runs - hits),
  }
}

/**
 * The Jeffreys interval of a rate: the central part of the Beta posterior from the prior Beta(½, ½), with the ends at 0
 * and 1 where every run fails or passes. Right on average, below its promise at some rates; for display.
 *
 * Parameters as in {@link clopperPearson}.
 *
 * @throws RangeError as {@link clopperPearson}
 * @see Brown, Cai and DasGupta, Statistical Science 16 (2001) 101–133
 */
export function jeffreys(hits: number, runs: number, alpha = 0.05): Interval {
  checkRate('jeffreys', hits, runs, alpha)
  return {
    low: hits === 0 ? 0 : betaQuantile(alpha / 2, hits + 0.5, runs - hits + 0.5),
    high: hits === runs ? 1 : betaQuantile(1 - alpha / 2, hits + 0.5, runs - hits + 0.5),
  }
}

/** @throws RangeError when the numbers are no rate, or alpha is no probability strictly between 0 and 1 */
export function checkRate(name: string, hits: number, runs: number, alpha: number): void {
  if (!Number.isSafeInteger(hits) || !Number.isSafeInteger(runs) || runs < 1 || hits < 0 || hits > runs)
    throw new RangeError(`${name}: ${hits} of ${runs} is no rate`)
  if (!(alpha > 0 && alpha < 1)) throw new RangeError(`${name}: alpha ${alpha} is not between 0 and 1`)
}
