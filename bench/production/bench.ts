import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Bar, Bench, BenchContext, Table } from '../kit/contract.ts'
import { sfc32 } from '../../src/prng.ts'
import { figure, median, medianFigure, rangeOfMedian, ratios, shuffled } from '../kit/measure.ts'
import { Child } from '../record-overhead/children.ts'
import type { Asked, How, Told } from './runner.ts'

type Measured = { readonly tables: readonly Table[]; readonly bars: readonly Bar[] }
type Start = (how: How) => Promise<Child>

const mebi = 2 ** 20

const shortfall =
  'A bare run of four calls takes about 1 ms of processor time, so that 1.10 leaves 25 µs a call. The row least is a floor: a hand-written holder that finds the run, hears a request before it is sent, keeps addresses, headers, bytes and times and asks whose clock is read. It numbers nothing, has no limits and judges nothing, and takes about half of what the bar allows. A held run does that in the order of the world, beside the other transports, timers and sources of chance, keeps the input as it was, and is judged. Heuristics read the end of each answer as well. There is no look at the stack in it, no redaction, digest, JSON or disk, and none of its functions has more than 2 % of the samples of a profile. The cost is the same for a model that thinks for a second.'

const noise =
  'Processes of one program differ by more than this bar where the machine is busy. The range says where the median lies; the pairs that were measured are in the table.'

const bench: Bench = {
  question: 'What does a recorder cost that is left on and keeps few runs?',
  async run(context) {
    const folder = mkdtempSync(join(import.meta.dirname, '.tapes-'))
    const provider = await Child.start<{ port: number }>('provider.ts', [])
    const base = `http://127.0.0.1:${provider.said.port}`
    const start: Start = async (how) =>
      (await Child.start('../production/runner.ts', [how, base, mkdtempSync(join(folder, 'inbox-'))])).child
    try {
      const parts = [
        await processorTime(context, start),
        await largeAnswer(context, start),
        await manyRuns(context, start),
      ]
      return {
        tables: parts.flatMap(({ tables }) => tables),
        bars: parts.flatMap(({ bars }) => bars),
        remarks: [
          'Each run asks a model on loopback four times; it answers at once, with 0.7 KB, so that nothing hides what the recorder does.',
        ],
      }
    } finally {
      provider.child.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
export default bench

/** The same runs in one process for each recorder, in turn. */
async function processorTime({ isQuick, progress }: BenchContext, start: Start): Promise<Measured> {
  const hows = [
    'bare',
    'listened',
    'copied',
    'least',
    'left out',
    'dropped',
    'watched',
    'kept',
  ] as const satisfies readonly How[]
  const children = new Map<How, Child>()
  for (const how of hows) children.set(how, await start(how))
  // Short rounds, each of them in an order of its own: what disturbs the machine for longer falls out of the pairs.
  const runs = 40
  const rounds = isQuick ? 25 : 250
  const deed = (how: How, count: number) => async (): Promise<number> =>
    (await children.get(how)!.ask<Told>({ do: 'runs', runs: count, concurrent: 1 } satisfies Asked)).cpuMs
  progress('processor time')
  for (const how of hows) await deed(how, 500)()
  const figures = new Map<How, number[]>(hows.map((how) => [how, []]))
  const chance = sfc32()
  for (let round = 0; round < rounds; round++)
    for (const how of shuffled(hows, chance)) figures.get(how)!.push(await deed(how, runs)())
  const off = await offPairs(start, isQuick ? 200 : 3_000)
  for (const child of children.values()) child.stop()
  const bar = (how: How, what: string, atMost: number): Bar => {
    const paired = ratios(figures, how, 'bare')
    return { what, value: median(paired), spread: rangeOfMedian(paired), limit: { atMost } }
  }
  const dropped = bar('dropped', 'a run that is not kept ÷ unrecorded: processor time', 1.1)
  return {
    tables: [
      {
        title: 'Processor time of a run of four calls',
        columns: ['recorder', '÷ unrecorded', 'ms'],
        rows: hows.map((how) => [
          how,
          medianFigure(ratios(figures, how, 'bare')),
          (median(figures.get(how) ?? []) / runs).toFixed(2),
        ]),
      },
      {
        title: 'A recorder that is off, and none, in turn in one process',
        columns: ['pairs', 'off ÷ none, the median of pairs'],
        rows: [[`${off.length}`, medianFigure(off, 3)]],
      },
    ],
    bars: [
      {
        what: 'a recorder that is off ÷ none: processor time',
        value: median(off),
        spread: rangeOfMedian(off),
        limit: { atMost: 1.01 },
        shortfall: noise,
      },
      {
        ...bar('left out', 'a run that is not drawn at the start ÷ unrecorded: processor time', 1.1),
        shortfall: noise,
      },
      {
        ...dropped,
        shortfall,
        claim: 'A run that is not kept, as a multiple of the processor time of an unrecorded one',
      },
      {
        ...bar('watched', 'the same, with every heuristic about keeping ÷ unrecorded: processor time', 1.1),
        shortfall,
      },
    ],
  }
}

/**
 * Runs with a recorder that is off and without one, beside each other in one process. A recorder that is off leaves nothing behind
 * it, so the two can share one, and what tells processes apart falls out.
 */
async function offPairs(start: Start, pairs: number): Promise<readonly number[]> {
  const child = await start('off')
  const { ratios: all = [] } = await child.ask<Told>({ do: 'pairs', pairs, runs: 5 } satisfies Asked)
  child.stop()
  return all
}

/** What an answer of 200 MB adds to the resident memory. */
async function largeAnswer({ isQuick, progress }: BenchContext, start: Start): Promise<Measured> {
  const sizeMb = 200
  const piece = Buffer.from('{"text":"It was a dark and stormy night, and the rain fell in torrents."},\n'.repeat(900))
  const server = createServer((_, response) => {
    let left = sizeMb * mebi
    const more = (): void => {
      while (left > 0) {
        left -= piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const peaks = new Map<How, number[]>()
  for (let round = 0; round < (isQuick ? 1 : 5); round++) {
    for (const how of ['bare', 'dropped', 'kept'] as const) {
      progress(`an answer of ${sizeMb} MB, ${how}`)
      const child = await start(how)
      await child.ask<Told>({ do: 'runs', runs: 20, concurrent: 1 } satisfies Asked)
      const { peak } = await child.ask<Told>({ do: 'read', url } satisfies Asked)
      peaks.set(how, [...(peaks.get(how) ?? []), peak / mebi])
      child.stop()
    }
  }
  server.close()
  const added = (how: How): number => median(peaks.get(how)!) - median(peaks.get('bare')!)
  return {
    tables: [
      {
        title: `Resident memory that an answer of ${sizeMb} MB adds, at its highest`,
        columns: ['recorder', 'MB'],
        rows: [...peaks].map(([how, values]) => [how, figure(values, 0)]),
      },
    ],
    bars: (['dropped', 'kept'] as const).map((how) => ({
      what: `an answer of ${sizeMb} MB, ${how}: resident memory beyond unrecorded, in MB`,
      value: added(how),
      limit: { atMost: 64 },
    })),
  }
}

/** What is held after many runs, and after many at once. */
async function manyRuns({ isQuick, progress }: BenchContext, start: Start): Promise<Measured> {
  const marks = [1_000, isQuick ? 2_000 : 4_000]
  const child = await start('watched')
  const heaps: number[] = []
  let done = 0
  for (const mark of marks) {
    progress(`memory: ${mark} runs`)
    await child.ask<Told>({ do: 'runs', runs: mark - done, concurrent: 10 } satisfies Asked)
    done = mark
    heaps.push((await child.ask<Told>({ do: 'settle' } satisfies Asked)).heap / mebi)
  }
  progress('500 runs at once')
  const { cpuMs, peak } = await child.ask<Told>({ do: 'runs', runs: 500, concurrent: 500 } satisfies Asked)
  const { stats, heap } = await child.ask<Told>({ do: 'settle' } satisfies Asked)
  child.stop()
  const { runs = 0, dropped = 0, kept = 0, heldBytes = 0, failures = 0 } = stats ?? {}
  if (runs !== done + 500 || dropped + kept !== runs || heldBytes !== 0 || failures !== 0)
    throw new Error(`the stats do not sum up: ${JSON.stringify(stats)}`)
  const grown = heaps.at(-1)! - heaps[0]!
  return {
    tables: [
      {
        title: 'Runs that are held, judged and not kept',
        columns: ['runs', 'heap after collections, MB', 'CPU, ms a run', 'resident at its highest, MB beyond before'],
        rows: [
          ...marks.map((mark, n) => [`${mark}, 10 at a time`, heaps[n]!.toFixed(2), '', '']),
          ['500 more, at once', (heap / mebi).toFixed(2), (cpuMs / 500).toFixed(2), (peak / mebi).toFixed(0)],
        ],
      },
    ],
    bars: [
      { what: `heap after ${marks[1]} runs, beyond that after ${marks[0]}, in MB`, value: grown, limit: { atMost: 1 } },
      {
        what: 'heap after 500 runs more, all at once, beyond that before, in MB',
        value: heap / mebi - heaps.at(-1)!,
        limit: { atMost: 16 },
      },
    ],
  }
}
