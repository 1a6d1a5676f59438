import { incompleteBeta, lnBeta } from './beta-function.ts'

/**
 * The evidence of paired runs that the first of a pair passes more often than the second: an e-value, 1 is none.
 *
 * Only pairs that differ count. If the first is no better, its expectation is at most 1 at any time, so the chance that it
 * ever reaches 1/alpha is at most alpha, however often one looks and whatever one stops for. Nothing is supposed about how
 * often either passes. Seven pairs that all favour the first reach 1/0.05, eight reach 1/0.025.
 *
 * The mixture over all shares between ½ and 1 of pairs that favour the first, each as likely as the other.
 *
 * @param wins - pairs of which only the first passed
 * @param losses - pairs of which only the second passed
 * @throws RangeError when they are not integers ≥ 0
 * @see Ville 1939; Ramdas, Grünwald, Vovk and Shafer, Statistical Science 38 (2023) 576–601; McNemar 1947 for the pairs
 */
export function signEvidence(wins: number, losses: number): number {
  if (!Number.isSafeInteger(wins) || !Number.isSafeInteger(losses) || wins < 0 || losses < 0)
    throw new RangeError(`signEvidence: ${wins} and ${losses} are no counts of pairs`)
  // 1 − I½(a, b) is I½(b, a), and in this form nothing is lost to rounding.
  const aboveHalf = incompleteBeta(0.5, losses + 1, wins + 1)
  return Math.exp((wins + losses + 1) * Math.LN2 + lnBeta(wins + 1, losses + 1)) * aboveHalf
}

/**
 * About how many pairs it takes to reach 1/alpha, when the first passes with one rate and the second with another,
 * independently. `undefined` when the first is not better.
 */
export function expectedPairs(first: number, second: number, alpha: number): number | undefined {
  const wins = first * (1 - second)
  const differ = wins + second * (1 - first)
  if (!(first > second) || differ === 0) return undefined
  const share = wins / differ
  const growth = Math.LN2 + term(share) + term(1 - share)
  // The mixture pays about one nat for not knowing the share.
  return Math.ceil((Math.log(1 / alpha) + 1) / (differ * growth))
}

function term(p: number): number {
  return p === 0 ? 0 : p * Math.log(p)
}
