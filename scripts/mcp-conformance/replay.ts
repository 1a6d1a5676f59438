// node replay.ts <folder> <suite> <times> <busy loops> <part of a name>: replays each job of the folder so many times, and says which came out as recorded.
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { type Job, run } from './agents.ts'
import { loadSuite } from './suite.ts'

const [dir = '', folder = '', times = '1', loops = '0', part = ''] = process.argv.slice(2)
const busy = Array.from({ length: Number(loops) }, () => new Worker('for (;;);', { eval: true }))
const { log } = console
// The SDK warns of an option at each sign-in, and the suite says each scenario that it runs.
console.warn = console.log = () => undefined
await installReplay()
const suite = await loadSuite(folder)
let failures = 0
for (const file of readdirSync(dir).filter((name) => name.endsWith('.job.json') && name.includes(part))) {
  const job = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Job
  const tape = readTape(join(dir, file.replace('.job.json', '.tape.jsonl')))
  const steps = tape.events.filter(({ kind }) => kind === 'exchange').length
  const unrecorded = tape.close?.unrecorded ?? []
  const said = new Map<string, number>()
  let held = 0
  for (let time = 0; time < Number(times); time++) {
    const { problems, unused, escapes, comparison } = await replayTape(tape, () => run(job, suite))
    if (problems.length + unused.length + escapes.length === 0 && comparison.outcomeEqual) held += 1
    else {
      const how = String(problems[0] ?? 'another outcome')
      said.set(how, (said.get(how) ?? 0) + 1)
    }
  }
  const isHeld = held === Number(times) && unrecorded.length === 0 && steps > 0
  if (!isHeld) failures += 1
  const how = `${steps} exchanges, ended ${tape.close?.outcome.status}, ${held} of ${times} as recorded`
  log(`${isHeld ? 'ok    ' : 'FAILED'}  ${job.name.padEnd(44)} ${how}, load ${loadavg()[0]?.toFixed(0)}`, ...unrecorded)
  for (const [text, count] of said) log(`${count} times: ${text}`)
}
await Promise.all(busy.map((worker) => worker.terminate()))
process.exit(failures === 0 ? 0 : 1)
