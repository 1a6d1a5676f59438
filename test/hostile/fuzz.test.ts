import '../support/packed.ts'
import { expect, it } from 'vitest'
import { built } from '../support/built.ts'
import { fuzzCommands } from './fuzz.ts'

// A slice of `npm run test:fuzz`, always the same mutants, on the package as it is installed from its tarball.
it('every command on mutants of tapes and cases starts nothing, hangs nowhere, crashes nowhere, and touches nothing beside the project', {
  timeout: 300_000,
}, async () => {
  const { finds, lines } = await fuzzCommands({
    main: built('cli/main.js'),
    first: 0,
    mutants: 40,
    hangMs: 60_000,
    share: 4,
  })
  expect(finds).toEqual([])
  expect(lines).toBeGreaterThan(300)
})
