/** Two rates to tell apart, and how often it may go wrong either way. */
export interface SprtPlan {
  /** The rate of a good one, in (0, 1). */
  readonly good: number
  /** The rate of a bad one, in (0, 1), below `good`. */
  readonly bad: number
  /** How often a good one may be called bad, and a bad one good. */
  readonly error: number
}

/**
 * Wald's sequential probability ratio test of a rate: what the runs so far say, `undefined` while more are needed.
 *
 * The logarithm of the likelihood ratio is held against ±ln((1 − error) / error). On average no test with these errors
 * needs fewer runs.
 *
 * @throws RangeError when the rates are not 0 < bad < good < 1 or the error is not between 0 and ½
 * @see Wald, Ann. Math. Stat. 16 (1945) 117–186
 */
export function sprt(hits: number, misses: number, plan: SprtPlan): 'good' | 'bad' | undefined {
  const { good, bad, error } = plan
  if (!(0 < bad && bad < good && good < 1) || !(error > 0 && error < 0.5))
    throw new RangeError(`sprt: good ${good}, bad ${bad} and error ${error} are no plan`)
  const bound = Math.log((1 - error) / error)
  const ratio = sprtRatio(hits, misses, plan)
  if (ratio >= bound) return 'good'
  return ratio <= -bound ? 'bad' : undefined
}

/** The logarithm of how much better a good rate explains the runs than a bad one. */
export function sprtRatio(hits: number, misses: number, { good, bad }: SprtPlan): number {
  return hits * Math.log(good / bad) + misses * (Math.log1p(-good) - Math.log1p(-bad))
}
