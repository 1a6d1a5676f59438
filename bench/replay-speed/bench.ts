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
  'Each contestant runs in a process of its own, in turn with the bare calls it is divided by, which have a process that nobody patched. The provider is a third one, on loopback.',
  'Only ours checks digests, order and that nothing else was asked; only ours keeps the chunks of a stream apart.',
]

const others = [...Object.keys(peers), 'msw']
/** The size the promise is about. */
const barSize = 300

/** One client to a row, by the clock and by the processor beside each other. */
function quick(arena: Arena): Table {
  const forms = ['json', 'sse', 'http', 'undici', 'sdk'] as const
  const row = (who: string, form: Form): string[] => [
    `${titleOf(who)}, ${clientOf[form as keyof typeof clientOf]}`,
    arena.cell(who, form, barSize),
    arena.cpuCell(who, form, barSize),
  ]
  return {
    title: `${barSize} calls, replayed ÷ bare`,
    columns: ['', 'by the clock', 'by the processor of the client'],
    rows: [
      ...forms.map((form) => row('ours', form)),
      ...floorForms.map((form) => row('memory', form)),
      ...floorForms.map((form) => row('verified', form)),
      ...['undici', 'polly'].map((who) => row(who, 'json')),
    ],
  }
}

/** Whose clients are asked what they take with an answer from memory. */
const floorForms = ['json', 'sse', 'http', 'sdk'] as const

function full(arena: Arena): readonly Table[] {
  const sizes = [100, barSize, 1_000]
  const rowsOf = (form: Form): string[][] => [
    ['ours', ...[...sizes, 5_000].map((count) => arena.cell('ours', form, count))],
    // How they grow is not promised of ours by comparison: each of theirs is two more processes and five rounds.
    ...others.map((who) => [titleOf(who), '', arena.cell(who, form, barSize), '', '']),
  ]
  const columns = ['', ...[...sizes, 5_000].map((count) => `${count} calls`)]
  return [
    { title: 'JSON, replayed ÷ bare', columns, rows: rowsOf('json') },
    { title: 'SSE, 40 chunks each, replayed ÷ bare', columns, rows: rowsOf('sse') },
    ...(['json', 'sse', 'sdk', 'http', 'undici'] as const).map(
      (form): Table => ({
        title: `${barSize} calls through ${clientOf[form]}, replayed ÷ bare`,
        columns: ['', 'by the clock', 'by the processor of the client'],
        rows: ['ours', ...(isOneOf(floorForms, form) ? ['memory', 'verified'] : []), ...others].map((who) => [
          titleOf(who),
          arena.cell(who, form, barSize),
          arena.cpuCell(who, form, barSize),
        ]),
      }),
    ),
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

const clientOf = {
  json: '`fetch`, JSON',
  sse: '`fetch`, SSE',
  sdk: 'the OpenAI SDK, JSON',
  http: '`node:http`, JSON',
  undici: '`undici.request`, JSON',
} as const

function titleOf(who: string): string {
  return peers[who]?.title ?? titles[who] ?? who
}

const titles: Readonly<Record<string, string>> = {
  msw: 'MSW, handlers by hand',
  memory: 'the client alone, answered from memory',
  verified: 'the same, with the tape read and verified',
}

function isOneOf(list: readonly string[], one: string): boolean {
  return list.includes(one)
}

const shortfall =
  'The floor is "the client alone, answered from memory", and the row below it, with the tape read and verified: no replay that keeps the client takes less. For `node:http`, what is left of the bar for the processor is at most 0.08 of a bare call, 10 to 20 µs, which the stack of who asked takes alone; all that is ours takes 70, by a table in docs/performance.md. What comes on top is the run made from the tape, the request compared, two turns of the event loop a delivery, a real `Response` over a stream of bytes, and for `node:http` and an SDK looks at the stack: who asked, who read the clock, drew a number or set a timer. None of the parts of ours is a tenth, but that one of an SDK, with 13 %. The rounds counted are the second to the fifth, in which V8 still compiles: through `fetch`, JSON took 0.40 to 0.51 of the processor in them and 0.34 to 0.38 in the 31st to 60th of the same three processes; `node:http` took 2.7 of it in the second and 1.3 in the seventh to twelfth of three others. See docs/performance.md.'

const secondsShortfall =
  'Seconds of a machine that others used at the same time, on which a bare call took two to three times what it takes on an idle one. What holds anywhere is the share of 5,000 bare calls, in the first table.'

const growthShortfall =
  'By the clock, of two processes that ran at different times on a machine that others used. What holds anywhere is the share of bare calls by the processor, in the last table.'

const memoryShortfall =
  'Beside it are processes that make the same calls, as often and in turn: bare, answered from memory, and that with the tape read and verified. Node lets a heap grow on a machine that has memory: what is alive in it, after a collection in the middle of the 5,000 calls, is 37 MB, of which 12 are there before the tape is read. Most of the rest is the space for young objects: with half of it (`--max-semi-space-size=16`) it is 200 MB instead of 266. See docs/performance.md.'

interface Goal {
  readonly form: 'json' | 'sse' | 'sdk' | 'http'
  readonly wall?: number
  readonly cpu: number
}

const goals: readonly Goal[] = [
  { form: 'json', wall: 0.3, cpu: 0.45 },
  { form: 'sse', wall: 0.3, cpu: 0.55 },
  { form: 'http', wall: 0.45, cpu: 0.6 },
  { form: 'sdk', cpu: 0.7 },
]

function bars(arena: Arena, isQuick: boolean): readonly Bar[] {
  const rivals = isQuick ? [] : others
  const bar = (form: Goal['form'], by: 'wall' | 'cpu', atMost: number): Bar => {
    const found = arena.ratios('ours', form, barSize, by)
    return {
      what: `${barSize} calls through ${clientOf[form]}, replayed ÷ bare, ${by === 'wall' ? 'by the clock' : 'processor'}`,
      value: median(found),
      spread: spread(found),
      ...(isOneOf(floorForms, form) && {
        parts: {
          'the client alone': median(arena.ratios('memory', form, barSize, by)),
          'with the tape verified': median(arena.ratios('verified', form, barSize, by)),
        },
      }),
      limit: { atMost },
      ...(by === 'wall' &&
        form !== 'http' && {
          claim: `Replaying ${barSize} ${form === 'json' ? 'JSON' : 'SSE'} calls, as a multiple of making them`,
        }),
      others: Object.fromEntries(
        rivals.flatMap((who) => {
          const ratios = arena.rightRatios(who, form, barSize, by)
          return ratios ? [[titleOf(who), median(ratios)]] : []
        }),
      ),
      shortfall,
    }
  }
  const all = goals.flatMap(({ form, wall, cpu }) => [
    ...(wall === undefined ? [] : [bar(form, 'wall', wall)]),
    bar(form, 'cpu', cpu),
  ])
  if (isQuick) return all
  const growth = median(arena.perCall('json', 5_000)) / median(arena.perCall('json', barSize))
  const long = (who: string): readonly number[] => arena.perCall('json', 5_000, who).map((us) => us * 0.005)
  return [
    ...all,
    {
      what: 'a call of 5,000 ÷ a call of 300, JSON',
      value: growth,
      limit: { atMost: 1.3 },
      shortfall: growthShortfall,
    },
    {
      what: '5,000 JSON calls replayed, seconds',
      value: median(long('ours')),
      spread: spread(long('ours')),
      parts: { 'the client alone': median(long('memory')), 'with the tape verified': median(long('verified')) },
      limit: { atMost: 0.9 },
      shortfall: secondsShortfall,
    },
    {
      what: '5,000 JSON calls replayed, MB of memory at most',
      value: arena.peakMb('ours', 'json', 5_000),
      parts: {
        'made bare': arena.peakMb('ours', 'json', 5_000, 'bare'),
        'the client alone': arena.peakMb('memory', 'json', 5_000),
        'with the tape verified': arena.peakMb('verified', 'json', 5_000),
      },
      limit: { atMost: 250 },
      shortfall: memoryShortfall,
    },
  ]
}

/** A task for `measure.child.ts`. */
export interface Job {
  readonly task: 'record' | 'measure' | 'bare'
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
  /** Questions of the replays that went to the provider. */
  readonly asked: number
  readonly heapMb: number
  /** Resident memory of each process at most. */
  readonly peakMb: Readonly<Record<'bare' | 'replay', number>>
}

const asksProvider = 'asks the provider'

/** Has each contest fought once, when it is first asked for. */
class Arena {
  readonly #context: BenchContext
  readonly #upstream: string
  readonly #known = new Map<string, Measured>()

  constructor(context: BenchContext, upstream: string) {
    this.#context = context
    this.#upstream = upstream
  }

  ratios(who: string, form: Form, count: number, by: 'wall' | 'cpu' = 'wall'): readonly number[] {
    const { replay, bare } = this.#measured(who, form, count)[by]
    return replay.map((ms, round) => ms / (bare[round] ?? Number.NaN))
  }

  cpuCell(who: string, form: Form, count: number): string {
    return ['fails', asksProvider].includes(this.cell(who, form, count))
      ? ''
      : figure(this.ratios(who, form, count, 'cpu'))
  }

  peakMb(who: string, form: Form, count: number, by: 'bare' | 'replay' = 'replay'): number {
    return this.#measured(who, form, count).peakMb[by]
  }

  /** Of one who records this, serves what was asked for, and does not ask for it again. */
  rightRatios(who: string, form: Form, count: number, by: 'wall' | 'cpu'): readonly number[] | undefined {
    const cell = this.cell(who, form, count)
    return cell === asksProvider || /fails|wrong/.test(cell) ? undefined : this.ratios(who, form, count, by)
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
    const { right, asked } = this.#measured(who, form, count)
    if (asked > 0 && who === 'ours') throw new Error(`a replay asked the provider ${asked} times`)
    if (asked > 0) return asksProvider
    const wrong = right < count ? `, ${count - right} of ${count} wrong` : ''
    return figure(this.ratios(who, form, count)) + wrong
  }

  /** Microseconds of each round. */
  perCall(form: Form, count: number, who = 'ours'): readonly number[] {
    return this.#measured(who, form, count).wall.replay.map((ms) => (ms * 1_000) / count)
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
    const rounds = this.#context.isQuick ? 3 : count >= 5_000 ? 3 : 5
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
