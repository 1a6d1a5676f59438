import { draw, sfc32 } from '../../prng.ts'

/** The next number of a sequence, in [0, 1). */
export type Random = () => number

/** Numbers that look random and are the same ones for the same words. Good for models; no secret may hang on them. */
export function randomOf(...words: readonly (number | string)[]): Random {
  const state = sfc32()
  const take = (value: number): void => {
    state.a ^= value
    state.b = Math.imul(state.b ^ value, 0x85ebca6b)
    draw(state)
  }
  for (const word of words) {
    if (typeof word === 'number') {
      take(word | 0)
      // Numbers beyond 32 bits differ in what lies above.
      take(Math.floor(word / 0x1_0000_0000) | 0)
    } else for (let i = 0; i < word.length; i++) take(word.charCodeAt(i) + 0x10000)
    take(0x7feb352d)
  }
  // The last words have to reach every bit.
  for (let i = 0; i < 12; i++) draw(state)
  return () => draw(state) / 0x1_0000_0000
}

/** An integer from `low` on and below `high`. */
export function integer(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low))
}

/** `count` different integers from `low` on and below `high`, in ascending order. */
export function distinct(random: Random, count: number, low: number, high: number): readonly number[] {
  if (high - low < count) throw new RangeError(`distinct: there are no ${count} integers in [${low}, ${high})`)
  const found = new Set<number>()
  while (found.size < count) found.add(integer(random, low, high))
  return [...found].sort((a, b) => a - b)
}
