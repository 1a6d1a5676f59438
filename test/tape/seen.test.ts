import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeenNumbers } from '../../src/tape/seen.ts'

test('for every list of numbers, one is seen when it came before, and only then', () => {
  const near = fc.integer({ min: 0, max: 130 })
  const anywhere = fc.constantFrom(0, 31, 32, 4095, 4096, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER)
  fc.assert(
    fc.property(fc.array(fc.oneof(near, anywhere), { maxLength: 60 }), (numbers) => {
      const seen = new SeenNumbers()
      const fresh = numbers.map((n) => seen.add(n))
      expect(fresh).toEqual(numbers.map((n, at) => numbers.indexOf(n) === at))
    }),
  )
})
