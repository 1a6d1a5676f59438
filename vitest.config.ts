import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Many tests start real programs; two at a time is what a small machine carries.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    typecheck: { enabled: true, include: ['test/types/*.test-d.ts'], tsconfig: './tsconfig.json' },
  },
})
