/** Reproducible choices. */
export interface Random {
  /** An integer, `low` and `high` included. */
  int(low: number, high: number): number
  pick<T>(from: readonly T[]): T
  chance(of: number): boolean
  /** Letters and digits that look like an id. */
  id(length: number): string
}

/** Choices that are the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const signs = 'abcdefghijkmnpqrstuvwxyz23456789'
  return {
    int,
    pick: (from) => from[int(0, from.length - 1)] as (typeof from)[number],
    chance: (of) => next() < of,
    id: (length) => Array.from({ length }, () => signs[int(0, signs.length - 1)]).join(''),
  }
}
