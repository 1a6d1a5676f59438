import { mulberry32 } from '../../test/recordings/mulberry32.ts'

/** So many of a list, chosen by a seed, in the order of the list. */
export function chosen<T>(from: readonly T[], count: number, seed: number): readonly T[] {
  const next = mulberry32(seed)
  const ranked = from.map((each, at) => ({ each, at, rank: next() })).sort((a, b) => a.rank - b.rank)
  return ranked
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each)
}
