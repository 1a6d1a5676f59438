import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ArrivalInput } from '../../fixtures/agents/arrival-order.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import type { RecordedOrder, RecordOrderJob } from './order/record.child.ts'
import type { ReplayedOrders, ReplayOrderJob } from './order/replay.child.ts'

// Enough for rare interleavings to happen; a quick look is HARVEST_ORDER_RUNS=50.
const most = Number(process.env['HARVEST_ORDER_RUNS'] ?? 1000)
const some = Math.ceil(most / 10)
const patience = 300_000

test('an agent that reports the order of six parallel answers reports the recorded order', { timeout: patience }, () =>
  expectSameOrders({ label: 'plain', runs: most, latency: 'rlat10' }),
)

test('a replayed agent may take a different number of turns after each answer', { timeout: patience }, () =>
  expectSameOrders({ label: 'other turns', runs: some, latency: 'rlat10', replay: { hops: 3 } }),
)

test('eight replays at once in one process do not disturb each other', { timeout: patience }, () =>
  expectSameOrders({ label: 'eight at once', runs: some, latency: 'rlat3', replay: { atOnce: 8 } }),
)

test('wrapped tools settle in the recorded order', { timeout: patience }, () =>
  expectSameOrders({ label: 'served tools', runs: some, latency: 'rlat5', record: { wrapped: 'serve', hops: 3 } }),
)

test(
  'wrapped tools that run again settle in the recorded order, whatever turns their code takes',
  { timeout: patience },
  () => expectSameOrders({ label: 'run tools', runs: some, latency: 'rlat5', record: { wrapped: 'run', hops: 3 } }),
)

test('without the recorded order of delivery hardly any replay would be the same', { timeout: patience }, async () => {
  const runs = Math.min(most, 50)
  const { replayed } = await recordAndReplay({ label: 'ungated', runs, latency: 'rlat10', replay: { ungated: true } })
  expect(replayed.identical).toBeLessThan(runs / 10)
})

interface Experiment {
  readonly label: string
  readonly runs: number
  /** Fault spec of the provider. */
  readonly latency: string
  readonly record?: Partial<ArrivalInput>
  readonly replay?: Partial<ReplayOrderJob>
}

async function expectSameOrders(experiment: Experiment): Promise<void> {
  const { runs } = experiment
  const { replayed, distinct } = await recordAndReplay(experiment)
  expect(replayed.examples).toEqual([])
  expect(replayed.identical).toBe(runs)
  expect(replayed.relaxed).toBe(0)
  // Without many different orders the test would prove nothing.
  expect(distinct).toBeGreaterThan(runs / 10)
}

async function recordAndReplay(experiment: Experiment): Promise<{ replayed: ReplayedOrders; distinct: number }> {
  const { label, runs, replay = {} } = experiment
  const dir = await mkdtemp(join(tmpdir(), 'harvest-order-'))
  try {
    const start = performance.now()
    const recorded = await record(dir, experiment)
    const recordMs = performance.now() - start
    const job: ReplayOrderJob = { dir, recorded, atOnce: 1, ...replay }
    const script = new URL('./order/replay.child.ts', import.meta.url)
    const replayed: ReplayedOrders = await runInChild(script, job, { patienceMs: patience })
    const distinct = new Set(recorded.map(({ order }) => order)).size
    console.log(
      `${label}: ${replayed.identical}/${runs} identical, ${distinct} distinct orders, ` +
        `${(recordMs / 1000).toFixed(1)} s recorded, ${(replayed.durationMs / runs).toFixed(1)} ms per replay`,
    )
    return { replayed, distinct }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function record(dir: string, { runs, latency, record: variant }: Experiment): Promise<readonly RecordedOrder[]> {
  return withProvider(async (provider) => {
    const { h2base, tlsbase, tlsh2base } = provider
    const input: ArrivalInput = { base: `${provider.base}/~order~${latency}`, h2base, tlsbase, tlsh2base, ...variant }
    const job: RecordOrderJob = { dir, input, runs, atOnce: 4 }
    const script = new URL('./order/record.child.ts', import.meta.url)
    return await runInChild(script, job, { patienceMs: patience })
  })
}
