import type { SerializedConfig } from 'vitest'
import { expect, it } from 'vitest'
import { isCollectedHere } from '../../src/vitest/collected-here.ts'

const config = {
  watch: false,
  isolate: false,
  pool: 'forks',
  includeTaskLocation: undefined,
  coverage: { enabled: false },
  experimental: { viteModuleRunner: true, importDurations: { limit: 0 } },
}
const isHere = (change: object) => isCollectedHere({ ...config, ...change } as unknown as SerializedConfig)

it('a worker of many files that nobody asks for modules collects its cases itself', () => {
  expect([{}, { pool: 'threads' }].map(isHere)).toEqual([true, true])
})

it.each([
  ['watch mode, which follows imports', { watch: true }],
  ['locations, which come from source maps', { includeTaskLocation: true }],
  ['coverage', { coverage: { enabled: true } }],
  ['durations of imports', { experimental: { importDurations: { limit: 10 } } }],
  ['records of what a file depends on', { experimental: { recordDependencies: true } }],
  ['a worker for each file', { isolate: true }],
  ['a vm for each file', { pool: 'vmThreads' }],
  ['the other vm', { pool: 'vmForks' }],
  ['a pool of the user', { pool: './pool.ts' }],
])('for %s, Vitest imports the module of each case', (_what, change) => {
  expect(isHere(change)).toBe(false)
})
