import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inPairs, isControlFirst } from '../../src/fork/pair-order.ts'

const digest = fc.string({ minLength: 1 }).map((text) => ({ digest: text }))

/** How many of the runs, and of their controls, are asked when a provider that takes turns is at its first server. */
function atFirst(tape: { readonly digest: string }, pairs: number): readonly [runs: number, controls: number] {
  const asked = inPairs(tape, 2 * pairs).filter((_, turn) => turn % 2 === 0)
  return [asked.filter((at) => at % 2 === 0).length, asked.filter((at) => at % 2 === 1).length]
}

test('of each four pairs two ask the control first', () => {
  fc.assert(
    fc.property(digest, fc.nat({ max: 50 }), (tape, block) => {
      const first = [0, 1, 2, 3].filter((pair) => isControlFirst(tape, 4 * block + pair))
      expect(first).toHaveLength(2)
    }),
  )
})

test('which two is left to chance: each choice is met as often', () => {
  const counts = new Map<string, number>()
  for (let n = 0; n < 6_000; n++) {
    const order = [0, 1, 2, 3].map((pair) => isControlFirst({ digest: `${n}` }, pair)).join()
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  expect(counts.size).toBe(6)
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
})

test('all runs are asked once, each beside its control, in the same order each time', () => {
  fc.assert(
    fc.property(digest, fc.nat({ max: 40 }), (tape, count) => {
      const order = inPairs(tape, count)
      expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => at))
      order.forEach((at, turn) => expect(at >> 1).toBe(turn >> 1))
      expect(inPairs(tape, count)).toEqual(order)
    }),
  )
})

test('a provider that takes turns never has all runs of one kind, of three pairs on', () => {
  fc.assert(
    fc.property(digest, fc.integer({ min: 3, max: 40 }), (tape, pairs) => {
      const [runs, controls] = atFirst(tape, pairs)
      expect(runs + controls).toBe(pairs)
      expect(Math.abs(runs - controls)).toBeLessThanOrEqual(2)
    }),
  )
})
