import { type Interval, wilson } from './wilson.ts'

/**
 * Newcombe's hybrid score interval of the difference of two rates, first minus second, from independent runs.
 *
 * For display: on average it holds the truth as often as it says, with five runs on either side down to 0.90 instead of
 * 0.95. It does not hold when the number of runs depends on how they ended.
 *
 * @param first - hits and runs of the first rate; integers, 0 ≤ hits ≤ runs, runs ≥ 1
 * @param second - the same of the second
 * @param z - standard-normal quantile; 1.96 (the default) gives 95 % coverage
 * @returns both ends, each in [-1, 1]
 * @throws RangeError when a rate is invalid
 * @see Newcombe, Stat. Med. 17 (1998) 873–890, method 10
 */
export function newcombe(first: Counted, second: Counted, z = 1.96): Interval {
  const a = wilson(first.hits, first.runs, z)
  const b = wilson(second.hits, second.runs, z)
  const rateA = first.hits / first.runs
  const rateB = second.hits / second.runs
  return {
    low: rateA - rateB - Math.hypot(rateA - a.low, b.high - rateB),
    high: rateA - rateB + Math.hypot(a.high - rateA, rateB - b.low),
  }
}

/** How many of so many runs. */
export interface Counted {
  readonly hits: number
  readonly runs: number
}
