import { expect, test } from 'vitest'
import { scratch } from '../tape/make.ts'
import { disagreements } from './agree.ts'

// `node scripts/agree.ts` does so with ten thousand.
test('whatever is sent and answered, check finds a secret exactly where the recorder redacts one', async () => {
  expect(await disagreements(scratch(), { seed: 14, count: 150 })).toEqual([])
})
