/**
 * The exact range a binomial count lies in but for `risk` on each side: summed in logarithms, no approximation.
 *
 * @returns the smallest and largest count that are still within it
 */
export function binomialBounds(trials: number, chance: number, risk: number): readonly [least: number, most: number] {
  const logs = [0]
  for (let n = 1; n <= trials; n++) logs.push(logs[n - 1]! + Math.log(n))
  const probability = (k: number): number =>
    Math.exp(logs[trials]! - logs[k]! - logs[trials - k]! + k * Math.log(chance) + (trials - k) * Math.log1p(-chance))
  const edge = (counts: Iterable<number>): number => {
    let sum = 0
    for (const k of counts) if ((sum += probability(k)) > risk) return k
    throw new RangeError(`no count of ${trials} is likely enough`)
  }
  const counts = Array.from({ length: trials + 1 }, (_, k) => k)
  return [edge(counts), edge(counts.toReversed())]
}
