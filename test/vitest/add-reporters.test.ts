import { expect, test, vi } from 'vitest'

const load = () => import('../../src/vitest/add-reporters.ts')

test('a config that is bundled once for each project adds one summary, and what cleans the output stays first', async () => {
  const one = await load()
  vi.resetModules()
  const other = await load()
  const reporters: unknown[] = [{ onInit: () => undefined }, 'json']
  const vitest = { config: { reporters } } as unknown as Parameters<typeof one.addReporters>[0]
  for (const { addReporters } of [one, other, one]) addReporters(vitest, { mode: 'none' })
  expect(other.addReporters).not.toBe(one.addReporters)
  expect(reporters.map((reporter) => (reporter as object).constructor.name)).toEqual([
    'NeutralReporter',
    // Settles what is written before any other hears of the end.
    'Object',
    'Object',
    'String',
    'HarvestReporter',
  ])
})
