/** Both ends of an interval of a rate, each in [0, 1]. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * The Wilson score interval of a rate.
 *
 * Chosen over the textbook ±z·√(p(1−p)/n) because few runs are usual, and the textbook interval collapses to a point
 * when every run passes or none does.
 *
 * @param hits - runs that passed; an integer, 0 ≤ hits ≤ runs
 * @param runs - runs that were judged; an integer ≥ 1
 * @param z - standard-normal quantile; 1.96 (the default) gives 95 % coverage
 * @throws RangeError when hits and runs are not such integers
 * @see Wilson, J. Am. Stat. Assoc. 22 (1927) 209–212; worked values in Newcombe, Stat. Med. 17 (1998) 857–872
 */
export function wilson(hits: number, runs: number, z = 1.96): Interval {
  if (!Number.isSafeInteger(hits) || !Number.isSafeInteger(runs) || runs < 1 || hits < 0 || hits > runs)
    throw new RangeError(`wilson: ${hits} of ${runs} is no rate`)
  const rate = hits / runs
  const square = z * z
  const middle = (rate + square / (2 * runs)) / (1 + square / runs)
  const half = (z / (1 + square / runs)) * Math.sqrt((rate * (1 - rate)) / runs + square / (4 * runs * runs))
  // At the ends the exact bound is 0 or 1; floating point leaves ±1e-17 there.
  return { low: hits === 0 ? 0 : middle - half, high: hits === runs ? 1 : middle + half }
}
