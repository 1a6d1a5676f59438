// `npm run test:stops -- [pairs] [--busy]`: stops ten agents with real SDKs at random steps, first on the idle machine and then
// under four busy loops; with --busy only under these. Each stop is held against a replay that tells what its code does, and the
// replay goes on to its end. Default 500 pairs each, half an hour on two cores. Ends with 1 when more than one of 500 stops is
// wrong, or a single replay was disturbed.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { agents, pairs, recordAgents, stopAll } from '../bench/debug/stops.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { busy: { type: 'boolean' } } })
const count = Number(positionals[0] ?? 500)
if (!(count >= 1)) throw new RangeError(`how many pairs is a number from 1, not ${positionals[0]}`)
const busyLoops = 4

const recorded = await recordAgents(agents)
const steps = recorded.reduce((sum, agent) => sum + agent.steps.length, 0)
console.log(`${recorded.length} agents with ${steps} steps; ${count} stops on ${availableParallelism()} cores`)
if (values.busy !== true) await stop('idle')
const loops = Array.from({ length: busyLoops }, () => new Worker('for (;;);', { eval: true }))
await stop('under load')
await Promise.all(loops.map((loop) => loop.terminate()))

async function stop(when: string): Promise<void> {
  const start = performance.now()
  const rows = await stopAll(recorded, pairs(recorded, count), (line) => {
    if (process.stdout.isTTY) process.stdout.write(`\r\u001B[K${line}`)
  })
  const wrong = rows.filter((row) => row.wrong !== undefined)
  const disturbed = rows.filter(({ isDisturbed }) => isDisturbed)
  for (const { agent, step, at, wrong: why } of wrong) console.log(`${when}: ${agent}, step ${step}: ${why} (${at})`)
  for (const { agent, step, comparison, problems } of disturbed)
    console.log(`${when}: ${agent}, step ${step}: ${comparison} ${problems.join(' | ')}`)
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  const right = rows.length - wrong.length
  console.log(`${when}: ${right} of ${rows.length} stops right, ${disturbed.length} replays disturbed (${seconds} s)`)
  if (right < rows.length * 0.998 || disturbed.length > 0) process.exitCode = 1
}
