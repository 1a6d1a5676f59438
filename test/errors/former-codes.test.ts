import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { formerCodes } from '../../src/errors/former-codes.ts'

test('a code is recognised by its former name, and by no other', () => {
  expect(Object.keys(formerCodes).length).toBeGreaterThan(10)
  for (const [former, present] of Object.entries(formerCodes)) {
    const error = new HarvestError(present, { what: 'x' })
    expect(HarvestError.is(error, former as keyof typeof formerCodes), former).toBe(true)
    expect(HarvestError.is(error, present)).toBe(true)
    expect(HarvestError.is(error, 'HARVEST_TRACE')).toBe(false)
  }
})
