import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bar, Bench, Table } from '../kit/contract.ts'
import { figure, median, spread } from '../kit/measure.ts'
import { caseFile, handFile, makeHand, makeLeast, makeOurs, openHome, type Recorded, recordCase } from './make.ts'
import { type Cost, runShards, runTests, watch } from './run.ts'

const shortfall =
  'The least of any replay is measured beside it: a tape read and verified, a fresh agent, or a shared one, and answers from the tape, each in a test file with a module of its own. Cases have a test file each, but no module. With shared agents fifty cases to a test file took 1.0 in other rounds. What ours adds lies in the worker and in no one place: the case read (YAML), the request compared and answered in recorded order, the trace, the judgement, and two messages to the config process, most of it in code that has run too seldom to be compiled well. See docs/performance.md.'

const bench: Bench = {
  question: 'What do many cases cost in Vitest?',
  async run({ isQuick, scratch, progress }) {
    progress('recording a case')
    await openHome(scratch)
    const suites = new Suites(scratch, await recordCase(scratch))
    const sizes = isQuick ? [1, 100, 500] : [1, 100, 1_000, 10_000]
    const middle = isQuick ? 500 : 1_000
    const rounds = (count: number) => (isQuick ? (count === 1 ? 2 : 1) : count < 1_000 ? 5 : count === 1_000 ? 3 : 1)
    const runs = new Map<number, Rounds>()
    for (const count of sizes) {
      progress(`${count} cases`)
      runs.set(count, inTurn(suites, count, rounds(count), count === middle))
    }
    const largest = sizes.at(-1) ?? middle
    const tables = [
      sizesTable(runs),
      groupings(suites, middle, runs.get(middle), isQuick),
      await watching(suites, isQuick ? 100 : 1_000, isQuick ? 2 : 3, progress),
      ...(isQuick ? [] : [shards(suites, middle, runs.get(middle))]),
    ]
    return { tables, bars: bars(runs, middle, largest), remarks }
  },
}
export default bench

const remarks = [
  'The bar is read where both have one test file per case and share workers (`isolate: false`): the layout in which the hand-written suite is quickest among those with a file per case.',
  "Every hand-written test shares one copy of the agent with all others; every case gets a fresh one, unless it says shared agents (`isolate: 'none'`).",
  '“Cold” is what CI sees: nothing of an earlier run is cached.',
]

/** The projects by what is in them, made when they are first asked for. */
class Suites {
  readonly #home: string
  readonly #recorded: Recorded
  readonly #made = new Set<string>()

  constructor(home: string, recorded: Recorded) {
    this.#home = home
    this.#recorded = recorded
  }

  ours(count: number, isShared = false): string {
    const name = `ours-${count}${isShared ? '-shared' : ''}`
    return this.#once(name, (folder) => makeOurs(folder, this.#recorded, count, isShared))
  }

  least(count: number, isShared = false): string {
    const name = `least-${count}${isShared ? '-shared' : ''}`
    return this.#once(name, (folder) => makeLeast(folder, this.#recorded, count, isShared))
  }

  hand(count: number, perFile = 1, isolate = false): string {
    return this.#once(`hand-${count}-${perFile}-${isolate}`, (folder) => makeHand(folder, count, perFile, isolate))
  }

  #once(name: string, make: (folder: string) => void): string {
    const folder = join(this.#home, name)
    if (!this.#made.has(name)) make(folder)
    this.#made.add(name)
    return folder
  }
}

interface Rounds {
  readonly ours: readonly Cost[]
  /** Ours with one copy of the agents for all cases of a worker, as the hand-written tests have. */
  readonly shared: readonly Cost[]
  readonly hand: readonly Cost[]
  /** What any replay does at least, measured at one size alone. */
  readonly least: readonly Cost[]
  readonly leastShared: readonly Cost[]
}

function inTurn(suites: Suites, count: number, rounds: number, withLeast: boolean): Rounds {
  const [ours, shared, hand, least, leastShared]: Cost[][] = [[], [], [], [], []] as const
  for (let round = 0; round < rounds; round++) {
    const all = [
      () => ours.push(runTests(suites.ours(count), count)),
      () => hand.push(runTests(suites.hand(count), count)),
      () => shared.push(runTests(suites.ours(count, true), count)),
      ...(withLeast
        ? [
            () => least.push(runTests(suites.least(count), count)),
            () => leastShared.push(runTests(suites.least(count, true), count)),
          ]
        : []),
    ]
    for (const run of round % 2 === 0 ? all : all.reverse()) run()
  }
  return { ours, shared, hand, least, leastShared }
}

function ratio(rounds: Rounds, key: keyof Cost, who: keyof Rounds = 'ours'): readonly number[] {
  return rounds[who].map((cost, round) => cost[key] / (rounds.hand[round]?.[key] ?? Number.NaN))
}

function sizesTable(runs: ReadonlyMap<number, Rounds>): Table {
  const each = (costs: readonly Cost[], count: number, key: keyof Cost) =>
    `${(median(costs.map((cost) => cost[key])) / count).toFixed(1)} ms`
  return {
    title: 'A whole `vitest run`, cold, one test file per case',
    columns: [
      'cases',
      'wall ÷ hand-written',
      'processor ÷ hand-written',
      'the same, shared agents',
      'wall a case',
      'by hand',
      'processor a case',
      'by hand',
    ],
    rows: [...runs].map(([count, rounds]) => [
      count.toLocaleString('en'),
      figure(ratio(rounds, 'wallMs')),
      figure(ratio(rounds, 'cpuMs')),
      figure(ratio(rounds, 'cpuMs', 'shared')),
      ...(['wallMs', 'cpuMs'] as const).flatMap((key) => [
        each(rounds.ours, count, key),
        each(rounds.hand, count, key),
      ]),
    ]),
  }
}

/** The same tests in the other ways people write them, beside our cases. */
function groupings(suites: Suites, count: number, rounds: Rounds | undefined, isQuick: boolean): Table {
  const base = rounds?.ours[0] ?? runTests(suites.ours(count), count)
  const isolated = isQuick ? 5 : 100
  const few = runTests(suites.ours(isolated), isolated)
  const row: Row = (name, ours, other) => [
    name,
    (ours.wallMs / other.wallMs).toFixed(2),
    (ours.cpuMs / other.cpuMs).toFixed(2),
  ]
  return {
    title: 'Our cases ÷ the same tests written otherwise',
    columns: ['by hand', 'wall', 'processor'],
    rows: [
      row(`${count} tests, 100 to a file`, base, runTests(suites.hand(count, 100), count)),
      row(
        `${isolated} tests, one to a file, Vitest’s default isolation`,
        few,
        runTests(suites.hand(isolated, 1, true), isolated),
      ),
      ...(isQuick ? [] : [cached(suites, count, row)]),
    ],
  }
}

type Row = (name: string, ours: Cost, other: Cost) => string[]

function cached(suites: Suites, count: number, row: Row): string[] {
  const again = (folder: string): Cost => {
    runTests(folder, count)
    return runTests(folder, count, { isCold: false })
  }
  const ours = again(suites.ours(count))
  return row(`${count} tests, one to a file, both cached from a run before`, ours, again(suites.hand(count)))
}

async function watching(
  suites: Suites,
  count: number,
  edits: number,
  progress: (line: string) => void,
): Promise<Table> {
  progress(`watching ${count} cases`)
  const [ours, hand] = [suites.ours(count), suites.hand(count)]
  using us = await watch(ours, count)
  using them = await watch(hand, count)
  const note = (file: string, text: string) => () => appendFileSync(file, text)
  const [one, all]: [number[], number[]] = [[], []]
  for (let edit = 0; edit < edits; edit++) {
    const case_ = await us.after(note(caseFile(ours, 7), `# ${edit}\n`), 1)
    one.push(case_ / (await them.after(note(handFile(hand, 7), `// ${edit}\n`), 1)))
    const agent = await us.after(note(join(ours, 'src/refund-agent.ts'), `// ${edit}\n`), count)
    all.push(agent / (await them.after(note(join(hand, 'src/refund-agent.ts'), `// ${edit}\n`), count)))
  }
  return {
    title: `Watching ${count} cases: from an edit to the end of the run it causes, ÷ hand-written`,
    columns: ['edited', 'wall'],
    rows: [
      ['one case, one test file', figure(one)],
      ['the agent', figure(all)],
    ],
  }
}

function shards(suites: Suites, count: number, rounds: Rounds | undefined): Table {
  const parts = runShards(suites.ours(count), 4)
  const names = parts.flatMap((part) => part.names)
  if (names.length !== count || new Set(names).size !== count)
    throw new Error(`the shards ran ${names.length} of ${count}`)
  const walls = parts.map(({ wallMs }) => wallMs)
  const whole = median(rounds?.ours.map(({ wallMs }) => wallMs) ?? [Number.NaN])
  return {
    title: `${count} cases in four shards ÷ all in one run, wall`,
    columns: ['the longest shard', 'all four', 'cases lost or run twice'],
    rows: [[(Math.max(...walls) / whole).toFixed(2), (walls.reduce((a, b) => a + b) / whole).toFixed(2), '0']],
  }
}

function bars(runs: ReadonlyMap<number, Rounds>, middle: number, largest: number): Bar[] {
  const bars: Bar[] = []
  for (const count of new Set([middle, largest])) {
    const rounds = runs.get(count)
    if (rounds === undefined) continue
    const bar = (what: string, [found, least]: readonly (readonly number[])[], atMost: number): Bar => ({
      what: `${count} cases, ${what} ÷ hand-written`,
      value: median(found ?? []),
      spread: spread(found ?? []),
      ...(least !== undefined && least.length > 0 && { parts: { 'the least of any replay': median(least) } }),
      limit: { atMost },
      shortfall,
    })
    bars.push(
      bar('wall', [ratio(rounds, 'wallMs'), ratio(rounds, 'wallMs', 'least')], 1.25),
      bar('processor', [ratio(rounds, 'cpuMs'), ratio(rounds, 'cpuMs', 'least')], 1.25),
      bar(
        'with shared agents, processor',
        [ratio(rounds, 'cpuMs', 'shared'), ratio(rounds, 'cpuMs', 'leastShared')],
        0.8,
      ),
    )
  }
  const [small, large] = [runs.get(largest / 10 >= 100 ? largest / 10 : 100), runs.get(largest)]
  if (small && large) {
    const of = ({ ours }: Rounds) => median(ours.map(({ cpuMs }) => cpuMs))
    const value = of(large) / largest / (of(small) / (largest / 10 >= 100 ? largest / 10 : 100))
    bars.push({
      what: `processor a case at ${largest} ÷ at ${largest / 10 >= 100 ? largest / 10 : 100}`,
      value,
      limit: { atMost: 1.2 },
    })
  }
  return bars
}
