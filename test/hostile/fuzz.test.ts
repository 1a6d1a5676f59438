import { expect, it } from 'vitest'
import { fuzzCommands } from './fuzz.ts'

// A slice of `npm run test:fuzz`, always the same mutants.
it('every command on mutants of tapes and cases starts nothing, hangs nowhere, crashes nowhere, and touches nothing beside the project', {
  timeout: 300_000,
}, async () => {
  const { finds, lines } = await fuzzCommands({ first: 0, mutants: 40, hangMs: 60_000, share: 4 })
  expect(finds).toEqual([])
  expect(lines).toBeGreaterThan(300)
})
