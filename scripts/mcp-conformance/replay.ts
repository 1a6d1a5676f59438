// node replay.ts <folder> <times> <busy loops>: replays each job of the folder so many times, and says which came out as recorded.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { type Job, run } from './agents.ts'

const [dir = '', times = '1', loops = '0'] = process.argv.slice(2)
const busy = Array.from({ length: Number(loops) }, () => new Worker('for (;;);', { eval: true }))
// The SDK warns of an option at each sign-in.
console.warn = () => undefined
await installReplay()
let failures = 0
for (const file of readdirSync(dir).filter((name) => name.endsWith('.job.json'))) {
  const job = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Job
  const tape = readTape(join(dir, file.replace('.job.json', '.tape.jsonl')))
  const steps = tape.events.filter(({ kind }) => kind === 'exchange').length
  const unrecorded = tape.close?.unrecorded ?? []
  const said = new Map<string, number>()
  let held = 0
  for (let time = 0; time < Number(times); time++) {
    const { problems, unused, escapes, comparison } = await replayTape(tape, () => run(job))
    if (problems.length + unused.length + escapes.length === 0 && comparison.outcomeEqual) held += 1
    else said.set(String(problems[0] ?? 'another outcome'), 1)
  }
  const isHeld = held === Number(times) && unrecorded.length === 0 && steps > 0
  if (!isHeld) failures += 1
  const how = `${steps} exchanges, ended ${tape.close?.outcome.status}, ${held} of ${times} as recorded`
  console.log(`${isHeld ? 'ok    ' : 'FAILED'}  ${job.name.padEnd(44)} ${how}`, ...unrecorded)
  for (const text of said.keys()) console.log(text)
}
await Promise.all(busy.map((worker) => worker.terminate()))
process.exit(failures === 0 ? 0 : 1)
