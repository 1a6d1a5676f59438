// Runs agents whose bodies together are far larger than the heap may grow, and says how far it grew.
// node --expose-gc flat.child.ts <base of a model> <folder>
import { rmSync } from 'node:fs'
import { createRecorder } from '../../src/record/index.ts'

const [base, dir = ''] = process.argv.slice(2)
const collect = (globalThis as { gc?: () => void }).gc
if (collect === undefined) throw new Error('run with --expose-gc')

const recorder = createRecorder({
  dir,
  sample: 0,
  hold: { megabytes: 2 },
  keep: { outliers: { tokens: 0.99, costUsd: 0.99 }, tools: ['never'] },
  budget: { tokens: { soft: 1e9 } },
})

async function ask(): Promise<void> {
  const messages = [{ role: 'user', content: 'Where is my order 4711? '.repeat(2_500) }]
  const body = JSON.stringify({ model: 'gpt-4o', messages, wish: { pad: 60_000 } })
  const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', body })
  await response.text()
}

async function run(calls: number): Promise<void> {
  await recorder.run({ agent: 'long' }, async () => {
    for (let call = 0; call < calls; call++) await ask()
  })
}

/** What is really kept: buffers of answers go a few collections after the objects that held them. */
async function usedMiB(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 10; turn++) {
    collect?.()
    await new Promise((next) => setTimeout(next, 20))
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, (heapUsed + external) / 2 ** 20)
  }
  return least
}

await run(20)
const before = await usedMiB()
let inside = 0
await recorder.run({ agent: 'long' }, async () => {
  for (let call = 0; call < 40; call++) await ask()
  const early = await usedMiB()
  for (let call = 0; call < 200; call++) await ask()
  inside = (await usedMiB()) - early
})
for (let runs = 0; runs < 100; runs++) await run(1)
const after = (await usedMiB()) - before
rmSync(dir, { recursive: true, force: true })
console.log(JSON.stringify({ inside, after, dropped: recorder.stats.dropped }))
