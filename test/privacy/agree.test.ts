import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scratch } from '../tape/make.ts'
import { disagreements } from './agree.ts'
import { arbitraryBody } from './arbitrary.ts'

// `node scripts/agree.ts` does so with ten thousand.
test('whatever is sent and answered, check finds a secret exactly where the recorder redacts one', async () => {
  expect(await disagreements(scratch(), fc.sample(arbitraryBody, 150))).toEqual([])
})
