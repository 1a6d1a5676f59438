// One contestant in a process of its own: node --expose-gc measure.child.ts JOB (see Job in bench.ts)
import { writeFileSync } from 'node:fs'
import { inTurn, timed } from '../kit/measure.ts'
import type { Job, Measured } from './bench.ts'
import { contestant } from './contestants.ts'
import { ask } from './work.ts'

const job = JSON.parse(process.argv[2] ?? '') as Job
const { place, count, form, rounds } = job
const work = (base: string): Promise<number> => ask(base, count, form)
const who = await contestant(job.who)

if (job.task === 'record') await who.record(place, work)
else writeFileSync(job.result, JSON.stringify(await measure()))
// What a contestant left open must not keep the bench from its end.
process.exit(0)

async function measure(): Promise<Measured> {
  const cpu = { bare: [] as number[], replay: [] as number[] }
  let right = count
  const run = (name: 'bare' | 'replay', once: () => Promise<number>) => async (): Promise<number> => {
    globalThis.gc?.()
    const { value, wallMs, cpuMs } = await timed(once)
    cpu[name].push(cpuMs)
    right = Math.min(right, value)
    return wallMs
  }
  const wall = await inTurn(
    { bare: run('bare', () => work(place.upstream)), replay: run('replay', () => who.replay(place, work)) },
    rounds,
  )
  // The first round warms up.
  return {
    wall: { bare: wall.get('bare') ?? [], replay: wall.get('replay') ?? [] },
    cpu: { bare: cpu.bare.slice(1), replay: cpu.replay.slice(1) },
    right,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
  }
}
