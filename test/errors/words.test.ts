import { assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oneOf } from '../../src/errors/options.ts'
import { grouped } from '../../src/errors/words.ts'

describe('words made without what Node knows of languages', () => {
  it('counts have their thousands apart, as English writes them', () => {
    const counts = integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
    assert(
      property(counts, (count) => {
        expect(grouped(Math.abs(count))).toBe(Math.abs(count).toLocaleString('en-US'))
      }),
      { seed: 21, examples: [[0], [999], [1_000], [999_999], [1_000_000]] },
    )
  })

  it('the choices of an option are listed as English lists them', () => {
    const english = new Intl.ListFormat('en', { type: 'disjunction' })
    for (let length = 1; length < 6; length++) {
      const words = Array.from({ length }, (_, at) => at)
      expect(oneOf(words).expected).toBe(english.format(words.map(String)))
    }
  })
})
