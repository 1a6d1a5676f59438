/** Pairs of runs: of how many only the first passed, only the second, or both alike. */
export interface PairCounts {
  readonly wins: number
  readonly losses: number
  readonly ties: number
}

/**
 * The evidence of paired runs that the first of a pair passes more often than the second by more than `margin`: an
 * e-value, 1 is no evidence.
 *
 * If the rates differ by no more, its expectation is at most 1 at any time, so the chance that it ever reaches 1/alpha is
 * at most alpha, however often one looks and no matter what one stops for. Nothing is supposed about how often either passes.
 * With no margin only pairs that differ count, and seven that all favour the first reach 1/0.05.
 *
 * The mean wealth of gamblers who bet that the difference of a pair is above the margin, each another share of what they
 * have.
 *
 * @param margin - 0 ≤ margin < 1. Default 0: any difference
 * @throws RangeError when the counts are not integers ≥ 0, or the margin is not such a number
 * @see Ville 1939; Waudby-Smith and Ramdas, J. R. Stat. Soc. B 86 (2024) 1–27, for the bets; McNemar 1947 for the pairs
 */
export function pairEvidence({ wins, losses, ties }: PairCounts, margin = 0): number {
  if (![wins, losses, ties].every((count) => Number.isSafeInteger(count) && count >= 0) || !(margin >= 0 && margin < 1))
    throw new RangeError(`pairEvidence: ${wins}, ${losses} and ${ties} are no counts of pairs, or ${margin} no margin`)
  let sum = 0
  for (const { win, loss, tie } of betsOf(margin)) sum += Math.exp(wins * win + losses * loss + ties * tie)
  return sum / gamblers
}

/**
 * About how many pairs it takes to reach 1/alpha, when the first passes with one rate and the second with another,
 * independently. `undefined` when the first is not better by more than the margin.
 */
export function expectedPairs(first: number, second: number, alpha: number, margin = 0): number | undefined {
  const wins = first * (1 - second)
  const losses = second * (1 - first)
  if (!(first - second > margin)) return undefined
  const growth = Math.max(
    ...betsOf(margin).map(({ win, loss, tie }) => wins * win + losses * loss + (1 - wins - losses) * tie),
  )
  // The mean over all gamblers pays about one nat for not knowing which of them is right.
  return growth > 0 ? Math.ceil((Math.log(1 / alpha) + 1) / growth) : undefined
}

/** The logarithms of what a gambler's wealth is multiplied by, for each kind of pair. */
interface Bet {
  readonly win: number
  readonly loss: number
  readonly tie: number
}

const gamblers = 64
let known: { readonly margin: number; readonly bets: readonly Bet[] } | undefined

function betsOf(margin: number): readonly Bet[] {
  if (known?.margin !== margin) {
    const bets = Array.from({ length: gamblers }, (_, i): Bet => {
      // No stake is so large that a pair could take more than all.
      const stake = (i + 0.5) / gamblers / (1 + margin)
      return {
        win: Math.log1p(stake * (1 - margin)),
        loss: Math.log1p(-stake * (1 + margin)),
        tie: Math.log1p(-stake * margin),
      }
    })
    known = { margin, bets }
  }
  return known.bets
}
