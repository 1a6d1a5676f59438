import { defineConfig } from 'vitest/config'
import { harvest } from './src/vitest/plugin.ts'
import { SlowestFirst } from './test/support/slowest-first.ts'

export default defineConfig({
  // This repository's own golden set runs with its tests.
  plugins: [harvest({ agents: { refund: './fixtures/refund/refund-agent.ts#refundAgent' } })],
  test: {
    include: ['test/**/*.test.ts'],
    // Many tests start real programs; two at a time is what a small machine carries.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    sequence: { sequencer: SlowestFirst },
    // All other files are the business of `npm run check:types`.
    typecheck: { enabled: true, include: ['test/types/*.test-d.ts'], tsconfig: './test/types/tsconfig.json' },
  },
})
