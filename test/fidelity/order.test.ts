import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ArrivalInput } from '../../fixtures/agents/arrival-order.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { startProvider } from '../../fixtures/provider/index.ts'
import type { RecordedOrder, RecordOrderJob } from './order/record.child.ts'
import type { ReplayedOrders, ReplayOrderJob } from './order/replay.child.ts'

// Enough for rare interleavings to happen; a quick look is HARVEST_ORDER_RUNS=50.
const runs = Number(process.env['HARVEST_ORDER_RUNS'] ?? 1000)
const patience = 300_000

test(
  'an agent that reports the order of six parallel answers reports the recorded order',
  () => recordAndReplay('plain', { spec: 'rlat10' }, 1),
  patience,
)

test(
  'eight replays at once in one process do not disturb each other',
  () => recordAndReplay('at once', { spec: 'rlat3' }, 8),
  patience,
)

test(
  'wrapped tools come back in the recorded order though their code takes a different number of turns every time',
  () => recordAndReplay('wrapped', { spec: 'rlat5', wrapped: true, hops: 3 }, 1),
  patience,
)

async function recordAndReplay(
  label: string,
  { spec, ...variant }: { readonly spec: string; readonly wrapped?: boolean; readonly hops?: number },
  atOnce: number,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'harvest-order-'))
  try {
    const start = performance.now()
    const recorded = await record(dir, spec, variant)
    const recordMs = performance.now() - start
    const job: ReplayOrderJob = { dir, recorded, atOnce }
    const patienceMs = patience
    const replayed: ReplayedOrders = await runInChild(new URL('./order/replay.child.ts', import.meta.url), job, {
      patienceMs,
    })
    const distinct = new Set(recorded.map(({ order }) => order)).size
    console.log(
      `${label}: ${replayed.identical}/${runs} identical, ${distinct} distinct orders, ` +
        `${(recordMs / 1000).toFixed(1)} s recorded, ${(replayed.durationMs / runs).toFixed(1)} ms per replay`,
    )
    expect(replayed.examples).toEqual([])
    expect(replayed.identical).toBe(runs)
    expect(replayed.relaxed).toBe(0)
    // Without many different orders the test would prove nothing.
    expect(distinct).toBeGreaterThan(runs / 10)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function record(dir: string, spec: string, variant: Partial<ArrivalInput>): Promise<readonly RecordedOrder[]> {
  await using provider = await startProvider()
  const { h2base, tlsbase, tlsh2base } = provider
  const input: ArrivalInput = { base: `${provider.base}/~order~${spec}`, h2base, tlsbase, tlsh2base, ...variant }
  const job: RecordOrderJob = { dir, input, runs, atOnce: 4 }
  return await runInChild(new URL('./order/record.child.ts', import.meta.url), job, { patienceMs: patience })
}
