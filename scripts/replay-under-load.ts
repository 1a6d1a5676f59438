// `npm run test:load -- [times]`: replays every wire scenario and every time scenario of test/fidelity, first on the idle
// machine and then under four busy loops, and compares: a replay must not depend on what else the machine does. Default
// 200 times each, half an hour on two cores. Ends with 1 when any run differs.
import { availableParallelism, tmpdir } from 'node:os'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { runInChild } from '../fixtures/child/index.ts'
import { withProvider } from '../fixtures/provider/index.ts'
import type { RecordedTime } from '../test/fidelity/time/record.child.ts'
import type { ReplayedTime, ReplayTimesJob } from '../test/fidelity/time/replay.child.ts'

const times = Number(process.argv[2] ?? 200)
if (!(times >= 1)) throw new RangeError(`how often is a number from 1, not ${process.argv[2]}`)
const fidelity = new URL('../test/fidelity/', import.meta.url)
const busyLoops = 4

const dir = await mkdtemp(join(tmpdir(), 'harvest-load-'))
try {
  const recorded = await record()
  console.log(`${recorded.length} scenarios recorded; ${times} replays of each on ${availableParallelism()} cores`)
  const idle = await replay(recorded)
  const loops = Array.from({ length: busyLoops }, () => new Worker('for (;;);', { eval: true }))
  const loaded = await replay(recorded)
  await Promise.all(loops.map((loop) => loop.terminate()))
  const bad = recorded.filter((one) => !isSame(one, idle, 'idle') || !isSame(one, loaded, 'under load'))
  console.log(`${recorded.length - bad.length} of ${recorded.length} scenarios came out as recorded, every time`)
  process.exitCode = bad.length === 0 ? 0 : 1
} finally {
  await rm(dir, { recursive: true, force: true })
}

async function record(): Promise<readonly RecordedTime[]> {
  return await withProvider(async ({ base }) => {
    // Nothing listens on port 1.
    const job = { dir, input: { base, closedPort: 1 } }
    const all: RecordedTime[] = []
    for (const child of ['time/record.child.ts', 'scenarios/record.child.ts'])
      all.push(...(await runInChild<typeof job, readonly RecordedTime[]>(new URL(child, fidelity), job)))
    return all
  })
}

async function replay(recorded: readonly RecordedTime[]): Promise<readonly ReplayedTime[]> {
  const start = performance.now()
  const job: ReplayTimesJob = { recorded, times }
  const replayed: readonly ReplayedTime[] = await runInChild(new URL('time/replay.child.ts', fidelity), job, {
    patienceMs: 3_600_000,
  })
  console.log(`${recorded.length * times} replays in ${Math.round((performance.now() - start) / 1000)} s`)
  return replayed
}

function isSame({ name, result }: RecordedTime, all: readonly ReplayedTime[], when: string): boolean {
  const { results = {}, distinct = 0 } = all.find((one) => one.name === name) ?? {}
  const wanted = JSON.stringify([result, []])
  const isGood = results[wanted] === times && distinct === 1
  if (!isGood)
    console.log(`${when}: ${name}: ${distinct} different runs\n  recorded ${wanted}\n  ${JSON.stringify(results)}`)
  return isGood
}
