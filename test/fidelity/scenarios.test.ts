import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { scenarios } from './scenarios/index.ts'
import type { RecordedScenario } from './scenarios/record.child.ts'
import type { ReplayedScenario } from './scenarios/replay.child.ts'

describe('what happened on the wire happens again, with the provider gone', () => {
  let recorded: readonly RecordedScenario[] = []
  let replayed: readonly ReplayedScenario[] = []
  let throughUndici: readonly ReplayedScenario[] = []

  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'harvest-scenarios-'))
    try {
      recorded = await record(dir)
      const script = new URL('./scenarios/replay.child.ts', import.meta.url)
      replayed = await runInChild(script, recorded)
      throughUndici = await runInChild(script, recorded, { env: { VITEST_HARVEST_FETCH: 'undici' } })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  })

  afterAll(() => {
    const total = (all: readonly { readonly durationMs: number }[]) =>
      all.reduce((sum, { durationMs }) => sum + durationMs, 0).toFixed(0)
    console.log(`${recorded.length} scenarios: ${total(recorded)} ms recorded, ${total(replayed)} ms replayed`)
  })

  test.for(Object.entries(scenarios))('%s', ([name, { timers = 0 }]) => {
    const before = recorded.find((one) => one.name === name)!
    for (const all of [replayed, throughUndici]) expectSame(before, all.find((one) => one.name === name)!, timers)
  })
})

function expectSame(before: RecordedScenario, after: ReplayedScenario, timers: number): void {
  expect(after.problems).toEqual([])
  expect(after.result).toEqual(before.result)
  expect(after.drift).toEqual([])
  expect(after.reached).toEqual({})
  expect(after.comparison.identical).toBe(after.comparison.recorded)
  expect(after.comparison.outcomeEqual).toBe(true)
  // Waiting is done by the virtual clock, or not at all.
  expect(after.comparison.timersFired).toBeGreaterThanOrEqual(timers)
}

function record(dir: string): Promise<readonly RecordedScenario[]> {
  return withProvider(async (provider) => {
    const input = { base: provider.base, closedPort: await closedPort() }
    return await runInChild(new URL('./scenarios/record.child.ts', import.meta.url), { dir, input })
  })
}

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}
