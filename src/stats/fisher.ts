import { lnChoose } from './beta-function.ts'
import { checkRate } from './clopper-pearson.ts'
import type { Counted } from './newcombe.ts'

/**
 * Fisher's exact test, one-sided: how likely at least so many hits fall to the first, if hits fall to both alike.
 *
 * For plans whose numbers of runs were fixed beforehand.
 *
 * @throws RangeError when a rate is invalid
 * @see Fisher, J. R. Stat. Soc. 85 (1922) 87–94
 */
export function fisherExact(first: Counted, second: Counted): number {
  checkRate('fisherExact', first.hits, first.runs, 0.05)
  checkRate('fisherExact', second.hits, second.runs, 0.05)
  const hits = first.hits + second.hits
  const all = lnChoose(first.runs + second.runs, hits)
  let sum = 0
  for (let k = Math.max(first.hits, hits - second.runs); k <= Math.min(first.runs, hits); k++) {
    sum += Math.exp(lnChoose(first.runs, k) + lnChoose(second.runs, hits - k) - all)
  }
  return Math.min(1, sum)
}

/**
 * How small the chance has to be that {@link fisherExact} gives with so many runs on either side, where more runs may be added to
 * these and looked at again: of two kinds that are alike one is called better in fewer than 5 of 100 series, also of those
 * that are looked at behind each pair of runs (0.046 with 400 pairs, the most where half of the runs are hits); in 2 of 100 of those
 * that are made four times as long each time.
 */
export function alphaOfLook(runs: number): number {
  return Math.min(0.05, 0.16 / runs)
}

/**
 * Holm's step-down correction: each p-value as it counts among all of them, in the order given. Those at most alpha may
 * be claimed together; the chance that one of the claims is false is then at most alpha, however they depend on another.
 *
 * @see Holm, Scand. J. Statist. 6 (1979) 65–70
 */
export function holm(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] ?? 1) - (values[b] ?? 1))
  const corrected = new Array<number>(values.length).fill(1)
  let highest = 0
  order.forEach((index, rank) => {
    highest = Math.max(highest, Math.min(1, (values.length - rank) * (values[index] ?? 1)))
    corrected[index] = highest
  })
  return corrected
}
