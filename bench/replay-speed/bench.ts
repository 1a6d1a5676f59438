import { fork, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bar, Bench, BenchContext, Table } from '../kit/contract.ts'
import { figure, median, spread } from '../kit/measure.ts'
import { peers, type Place } from './contestants.ts'
import type { Form } from './work.ts'

const bench: Bench = {
  question: 'How long does a replay take?',
  async run(context) {
    await context.peers('http')
    await context.peers('aimock')
    using provider = await startProvider()
    const arena = new Arena(context, provider.base)
    const tables = context.isQuick ? [quick(arena)] : full(arena)
    return { tables, bars: bars(arena, context.isQuick), remarks }
  },
}
export default bench

const remarks = [
  'Each contestant runs in a process of its own, in turn with the bare calls it is divided by. The provider is another process, on loopback.',
  'Only ours checks digests, order and that nothing else was asked; only ours keeps the chunks of a stream apart.',
]

const others = [...Object.keys(peers), 'msw']
/** The size the promise is about. */
const barSize = 300

function quick(arena: Arena): Table {
  return {
    title: `${barSize} calls, replayed ÷ bare`,
    columns: ['', 'JSON', 'SSE'],
    rows: [
      ['ours', ...(['json', 'sse'] as const).map((form) => arena.cell('ours', form, barSize))],
      ...quickRivals(arena),
    ],
  }
}

function quickRivals(arena: Arena): string[][] {
  return ['undici', 'polly'].map((who) => [peers[who]?.title ?? who, arena.cell(who, 'json', barSize), ''])
}

function full(arena: Arena): readonly Table[] {
  const sizes = [100, barSize, 1_000]
  const rowsOf = (form: Form): string[][] => [
    ['ours', ...[...sizes, 5_000].map((count) => arena.cell('ours', form, count))],
    ...others.map((who) => [titleOf(who), ...sizes.map((count) => arena.cell(who, form, count)), '']),
  ]
  const columns = ['', ...[...sizes, 5_000].map((count) => `${count} calls`)]
  return [
    { title: 'JSON, replayed ÷ bare', columns, rows: rowsOf('json') },
    { title: 'SSE, 40 chunks each, replayed ÷ bare', columns, rows: rowsOf('sse') },
    {
      title: `${barSize} calls through the OpenAI SDK, replayed ÷ bare`,
      columns: ['', 'by the clock'],
      rows: ['ours', ...others].map((who) => [titleOf(who), arena.cell(who, 'sdk', barSize)]),
    },
    {
      title: 'A conversation of 200 turns that sends all of itself each time, replayed ÷ bare',
      columns: ['', 'by the clock'],
      rows: ['ours', 'undici', 'polly'].map((who) => [titleOf(who), arena.cell(who, 'conversation', 200)]),
    },
    {
      title: 'Ours, by the processor of the client alone, and what a call takes',
      columns: ['', 'JSON ÷ bare', 'JSON, µs a call', 'SSE ÷ bare', 'SSE, µs a call', 'heap afterwards, MB (JSON)'],
      rows: [...sizes, 5_000].map((count) => arena.ownRow(count)),
    },
  ]
}

function titleOf(who: string): string {
  return peers[who]?.title ?? (who === 'msw' ? 'MSW, handlers by hand' : who)
}

const shortfall =
  'undici behind `fetch` is up to a third of what is left, and answering above it would not be what it does. Ours is in parts of which none is a tenth: the tape read and verified, the run made from it, the request compared in full, whose clock read it is (two looks at the stack), two turns of the event loop a delivery. Taken off so far: stacks of requests nobody will ask about, bodies made anew, contexts kept at 7 µs each, and most of the garbage. See docs/performance.md.'

function bars(arena: Arena, isQuick: boolean): readonly Bar[] {
  const bar = (form: 'json' | 'sse', title: string, rivals: readonly string[]): Bar => {
    const found = arena.ratios('ours', form, barSize)
    return {
      what: `${barSize} ${title} calls replayed ÷ bare fetch`,
      value: median(found),
      spread: spread(found),
      limit: { atMost: 0.35 },
      claim: `Replaying ${barSize} ${title} calls, as a multiple of making them`,
      others: Object.fromEntries(
        rivals.flatMap((who) => {
          const ratios = arena.rightRatios(who, form, barSize)
          return ratios ? [[titleOf(who), median(ratios)]] : []
        }),
      ),
      shortfall,
    }
  }
  const rivals = isQuick ? ['undici', 'polly'] : others
  const both = [bar('json', 'JSON', rivals), bar('sse', 'SSE', isQuick ? [] : others)]
  if (isQuick) return both
  const growth = median(arena.perCall('json', 5_000)) / median(arena.perCall('json', barSize))
  return [...both, { what: 'a call of 5,000 ÷ a call of 300, JSON', value: growth, limit: { atMost: 1.3 } }]
}

/** A task for `measure.child.ts`. */
export interface Job {
  readonly task: 'record' | 'measure'
  readonly who: string
  readonly form: Form
  readonly count: number
  readonly rounds: number
  readonly place: Place
  /** Where the figures go. */
  readonly result: string
}

/** Milliseconds of each round, and what was left behind. */
export interface Measured {
  readonly wall: Readonly<Record<'bare' | 'replay', readonly number[]>>
  readonly cpu: Readonly<Record<'bare' | 'replay', readonly number[]>>
  /** Answers in the worst round that were those to their questions. */
  readonly right: number
  readonly heapMb: number
}

/** Has each contest fought once, when it is first asked for. */
class Arena {
  readonly #context: BenchContext
  readonly #upstream: string
  readonly #known = new Map<string, Measured>()

  constructor(context: BenchContext, upstream: string) {
    this.#context = context
    this.#upstream = upstream
  }

  ratios(who: string, form: Form, count: number): readonly number[] {
    const { wall } = this.#measured(who, form, count)
    return wall.replay.map((ms, round) => ms / (wall.bare[round] ?? Number.NaN))
  }

  /** Of one who records this, and serves what was asked for. */
  rightRatios(who: string, form: Form, count: number): readonly number[] | undefined {
    return /fails|wrong/.test(this.cell(who, form, count)) ? undefined : this.ratios(who, form, count)
  }

  cell(who: string, form: Form, count: number): string {
    // A recorder may be unable to record this at all.
    try {
      return this.#cell(who, form, count)
    } catch (error) {
      if (who === 'ours') throw error
      return 'fails'
    }
  }

  #cell(who: string, form: Form, count: number): string {
    const { right } = this.#measured(who, form, count)
    const wrong = right < count ? `, ${count - right} of ${count} wrong` : ''
    return figure(this.ratios(who, form, count)) + wrong
  }

  /** Microseconds of each round. */
  perCall(form: Form, count: number): readonly number[] {
    return this.#measured('ours', form, count).wall.replay.map((ms) => (ms * 1_000) / count)
  }

  ownRow(count: number): readonly string[] {
    const columns = (['json', 'sse'] as const).flatMap((form) => {
      const { cpu } = this.#measured('ours', form, count)
      const shares = cpu.replay.map((ms, round) => ms / (cpu.bare[round] ?? Number.NaN))
      return [figure(shares), figure(this.perCall(form, count), 0)]
    })
    return [`${count} calls`, ...columns, this.#measured('ours', 'json', count).heapMb.toFixed(1)]
  }

  #measured(who: string, form: Form, count: number): Measured {
    const name = `${who}-${form}-${count}`
    const known = this.#known.get(name)
    if (known) return known
    this.#context.progress(`${titleOf(who)}, ${count} calls, ${form}`)
    const rounds = this.#context.isQuick ? 3 : count >= 5_000 ? 5 : 7
    const result = join(this.#context.scratch, `${name}.result.json`)
    const place = { dir: this.#context.scratch, name, upstream: this.#upstream }
    for (const task of ['record', 'measure'] as const) {
      const job: Job = { task, who, form, count, rounds, place, result }
      execFileSync(
        process.execPath,
        ['--expose-gc', join(import.meta.dirname, 'measure.child.ts'), JSON.stringify(job)],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      )
    }
    const measured = JSON.parse(readFileSync(result, 'utf8')) as Measured
    this.#known.set(name, measured)
    return measured
  }
}

async function startProvider(): Promise<Disposable & { readonly base: string }> {
  const child = fork(join(import.meta.dirname, 'provider.ts'))
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)))
    child.once('error', reject)
  })
  return { base: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => child.disconnect() }
}
