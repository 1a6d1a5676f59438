// One contestant in a process of its own, and the bare calls in another that nobody patched, in turn:
// node --expose-gc measure.child.ts JOB (see Job in bench.ts)
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { inTurn, timed } from '../kit/measure.ts'
import type { Job, Measured } from './bench.ts'
import { type Contestant, contestant } from './contestants.ts'
import { ask } from './work.ts'

const job = JSON.parse(process.argv[2] ?? '') as Job
const { place, count, form, rounds } = job
const work = (base: string): Promise<number> => ask(base, count, form)

interface Round {
  readonly value: number
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakMb: number
}

if (job.task === 'bare') {
  process.on(
    'message',
    (what) =>
      void (what === 'round' ? measured(() => work(place.upstream)) : asked()).then((answer) => process.send?.(answer)),
  )
} else {
  const who = await contestant(job.who)
  if (job.task === 'record') await who.record(place, work)
  else writeFileSync(job.result, JSON.stringify(await measure(who)))
  // What a contestant left open must not keep the bench from its end.
  process.exit(0)
}

async function measure(who: Contestant): Promise<Measured> {
  const cpu = { bare: [] as number[], replay: [] as number[] }
  const peakMb = { bare: 0, replay: 0 }
  let right = count
  const run = (name: 'bare' | 'replay', once: () => Promise<Round>) => async (): Promise<number> => {
    const { value, wallMs, cpuMs, peakMb: peak } = await once()
    cpu[name].push(cpuMs)
    peakMb[name] = peak
    right = Math.min(right, value)
    return wallMs
  }
  const bare = fork(import.meta.filename, [JSON.stringify({ ...job, task: 'bare' })])
  const askBare = async <T>(what: 'round' | 'asked'): Promise<T> => {
    const answer = once(bare, 'message') as Promise<[T]>
    bare.send(what)
    return (await answer)[0]
  }
  const before = await askBare<number>('asked')
  const wall = await inTurn(
    {
      bare: run('bare', () => askBare<Round>('round')),
      replay: run('replay', () => measured(() => who.replay(place, work))),
    },
    rounds,
  )
  const inAll = (await askBare<number>('asked')) - before
  bare.kill()
  // The first round warms up.
  return {
    wall: { bare: wall.get('bare') ?? [], replay: wall.get('replay') ?? [] },
    cpu: { bare: cpu.bare.slice(1), replay: cpu.replay.slice(1) },
    right,
    // The bare calls of all rounds, the first too, are made by the other process.
    asked: inAll - (rounds + 1) * count,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    peakMb,
  }
}

/** How many questions the provider got until now. */
async function asked(): Promise<number> {
  return Number(await (await fetch(place.upstream)).text())
}

async function measured(ask: () => Promise<number>): Promise<Round> {
  globalThis.gc?.()
  const figures = await timed(ask)
  return { ...figures, peakMb: process.resourceUsage().maxRSS / 1024 }
}
