import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { ArrivalInput } from '../../fixtures/agents/arrival-order.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import type { RecordedOrder, RecordOrderJob } from './order/record.child.ts'
import type { ReplayedOrders, ReplayOrderJob } from './order/replay.child.ts'

// Enough for many orders to happen; `npm run test:explore` looks at 1,000 for those that are rare.
const most = Number(process.env['HARVEST_ORDER_RUNS'] ?? 100)
const some = Math.ceil(most / 4)

/** One recording serves every replay of agents that were recorded in the same way. */
let plain: Recording
beforeAll(async () => {
  plain = await record({ label: 'plain', runs: most, latency: 'rlat10' })
  return () => rm(plain.dir, { recursive: true, force: true })
})

test('an agent that reports the order of six parallel answers reports the recorded order', () =>
  expectSameOrders('plain', plain, most))

test('a replayed agent may take a different number of turns after each answer', { tags: 'thorough' }, () =>
  expectSameOrders('other turns', plain, some, { hops: 3 }),
)

test('answers that go through undici come in the recorded order as well', { tags: 'thorough' }, () =>
  expectSameOrders('through undici', plain, some, {}, { VITEST_HARVEST_FETCH: 'undici' }),
)

test('eight replays at once in one process do not disturb each other', { tags: 'thorough' }, () =>
  expectSameOrders('eight at once', plain, some, { atOnce: 8 }),
)

test.for([
  ['wrapped tools settle in the recorded order', 'serve'],
  ['wrapped tools that run again settle in the recorded order, whatever turns their code takes', 'run'],
] as const)('%s', async ([, wrapped]) => {
  const variant = { wrapped, hops: 3 }
  const recording = await record({ label: `${wrapped} tools`, runs: some, latency: 'rlat5', variant })
  try {
    await expectSameOrders(`${wrapped} tools`, recording, some)
  } finally {
    await rm(recording.dir, { recursive: true, force: true })
  }
})

test('without the recorded order of delivery hardly any replay would be the same', { tags: 'thorough' }, async () => {
  const runs = Math.min(most, 25)
  expect((await replay('ungated', plain, runs, { ungated: true })).identical).toBeLessThan(runs / 10)
})

interface Recording {
  readonly dir: string
  readonly recorded: readonly RecordedOrder[]
}

async function expectSameOrders(
  label: string,
  recording: Recording,
  runs: number,
  variant?: Partial<ReplayOrderJob>,
  env?: Readonly<Record<string, string>>,
): Promise<void> {
  const replayed = await replay(label, recording, runs, variant, env)
  expect(replayed.examples).toEqual([])
  expect(replayed.identical).toBe(runs)
  expect(replayed.relaxed).toBe(0)
  // Without many different orders the test would prove nothing.
  const distinct = new Set(recording.recorded.slice(0, runs).map(({ order }) => order)).size
  expect(distinct).toBeGreaterThan(runs / 10)
}

/** Replays the first `runs` of a recording. */
async function replay(
  label: string,
  { dir, recorded }: Recording,
  runs: number,
  variant: Partial<ReplayOrderJob> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<ReplayedOrders> {
  const job: ReplayOrderJob = { dir, recorded: recorded.slice(0, runs), atOnce: 1, ...variant }
  const script = new URL('./order/replay.child.ts', import.meta.url)
  const replayed: ReplayedOrders = await runInChild(script, job, { env })
  const each = (replayed.durationMs / runs).toFixed(1)
  console.log(`${label}: ${replayed.identical}/${runs} identical, ${each} ms per replay`)
  return replayed
}

interface Experiment {
  readonly label: string
  readonly runs: number
  /** Fault spec of the provider. */
  readonly latency: string
  readonly variant?: Partial<ArrivalInput>
}

async function record({ label, runs, latency, variant }: Experiment): Promise<Recording> {
  const dir = await mkdtemp(join(tmpdir(), 'harvest-order-'))
  const start = performance.now()
  const recorded = await withProvider(async (provider): Promise<readonly RecordedOrder[]> => {
    const { h2base, tlsbase, tlsh2base } = provider
    const input: ArrivalInput = { base: `${provider.base}/~order~${latency}`, h2base, tlsbase, tlsh2base, ...variant }
    const job: RecordOrderJob = { dir, input, runs, atOnce: 4 }
    const script = new URL('./order/record.child.ts', import.meta.url)
    return await runInChild(script, job)
  })
  const distinct = new Set(recorded.map(({ order }) => order)).size
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${label}: ${runs} recorded in ${seconds} s, ${distinct} distinct orders`)
  return { dir, recorded }
}
