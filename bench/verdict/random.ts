/** A stream of numbers below 1 that is the same in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many of a list, chosen by a seed, in the order of the list. */
export function chosen<T>(from: readonly T[], count: number, seed: number): readonly T[] {
  const next = numbers(seed)
  const ranked = from.map((each, at) => ({ each, at, rank: next() })).sort((a, b) => a.rank - b.rank)
  return ranked
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each)
}
