import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runInChild } from '../../fixtures/child/index.ts'
import type { Bar, Bench, BenchContext, Table } from '../kit/contract.ts'
import { titleOf, type ToolName, toolNames } from '../peers/tool.ts'
import type { Driven, Job } from './drive.child.ts'
import { judge, type Judged, type Verdict } from './judge.ts'
import { mutations } from './mutations.ts'
import { startProvider } from './provider.ts'
import { sessionOf } from './session.ts'

const seed = 20_261_121
const size = 100

const bench: Bench = {
  question: 'Is a wrong answer ever served silently?',
  async run(context) {
    const sessions = context.isQuick ? 10 : 100
    for (const folder of ['http', 'aimock']) await context.peers(folder)
    const results = new Map<ToolName, Result>()
    // Two at a time: there are two processes for each, one after the other.
    const waiting = [...toolNames]
    const work = async (): Promise<void> => {
      for (let tool = waiting.shift(); tool !== undefined; tool = waiting.shift()) {
        context.progress(titleOf(tool))
        results.set(tool, await pairsOf(tool, sessions, context))
      }
    }
    await Promise.all([work(), work()])
    const judged = new Map(toolNames.map((tool) => [tool, results.get(tool)?.judged ?? []] as const))
    const live = toolNames.flatMap((tool) => {
      const calls = results.get(tool)?.liveCalls ?? 0
      return calls === 0 ? [] : [`${titleOf(tool)} made ${calls} live calls in replay: requests to the second host.`]
    })
    const ours = judged.get('ours') ?? []
    return {
      tables: [totals(judged), silentByMutation(judged), byMutation(ours)],
      bars: bars(judged),
      remarks: [`Seed ${seed}; ${sessions} runs of ${size} pairs each.`, ...live],
    }
  },
}
export default bench

interface Result {
  readonly judged: readonly Judged[]
  readonly liveCalls: number
}

/** Records every run in one process and asks it in another, with the provider gone. */
async function pairsOf(tool: ToolName, sessions: number, { scratch }: BenchContext): Promise<Result> {
  const dir = join(scratch, tool)
  mkdirSync(dir, { recursive: true })
  const provider = await startProvider()
  try {
    const drive = (mode: Job['mode']): Promise<Driven> => {
      const job: Job = { tool, mode, dir, bases: provider.bases, seed, sessions, size }
      return runInChild(new URL('./drive.child.ts', import.meta.url), job, { patienceMs: 1_800_000 })
    }
    const recorded = await drive('record')
    provider.refuse()
    const replayed = await drive('replay')
    const judged = recorded.flatMap((one, number) => {
      const other = replayed[number]
      if (!other) throw new RangeError(`run ${number} was recorded and not replayed`)
      return judge(sessionOf(seed, number, size), one, other)
    })
    return { judged, liveCalls: provider.live() }
  } finally {
    await provider.close()
  }
}

function bars(judged: ReadonlyMap<ToolName, readonly Judged[]>): readonly Bar[] {
  const others = (figure: (all: readonly Judged[]) => number): Record<string, number> =>
    Object.fromEntries(
      [...judged].filter(([tool]) => tool !== 'ours').map(([tool, all]) => [titleOf(tool), figure(all)]),
    )
  const ours = judged.get('ours') ?? []
  const silent = (all: readonly Judged[]): number =>
    silentOf(all.filter(({ mutation }) => mutation.differs !== 'not kept'))
  const lost = (all: readonly Judged[]): number =>
    silentOf(all.filter(({ mutation }) => mutation.differs === 'not kept'))
  const changed = ours.filter(({ mutation }) => mutation.differs === 'kept').length
  return [
    {
      what: 'wrong answers served silently',
      value: silent(ours),
      limit: { atMost: 0 },
      others: others(silent),
      claim: `Wrong answers served without a word, in ${changed.toLocaleString('en')} requests changed in what a tape may keep`,
    },
    {
      what: 'share of questions asked again, in any spelling, that got their own answer',
      value: ownAnswers(ours),
      limit: { atLeast: 1 },
      others: others(ownAnswers),
    },
    {
      what: 'share of recorded questions that got their own answer right after a refusal',
      value: unharmed(ours),
      limit: { atLeast: 1 },
      others: others(unharmed),
    },
    {
      what: 'wrong answers served silently where only what no tape may keep differs',
      value: lost(ours),
      limit: { atMost: 0 },
      others: others(lost),
      ...(lost(ours) > 0 ? { shortfall } : {}),
    },
  ]
}

function silentOf(all: readonly Judged[]): number {
  return all.filter(({ verdict }) => verdict === 'silent').length
}

function ownAnswers(all: readonly Judged[]): number {
  return share(all.filter(({ mutation }) => mutation.differs === 'nowhere').map(({ verdict }) => verdict === 'right'))
}

function unharmed(all: readonly Judged[]): number {
  const refused = all.filter(({ mutation, isUnharmed }) => mutation.differs === 'kept' && isUnharmed !== undefined)
  return share(refused.map(({ isUnharmed }) => isUnharmed === true))
}

function share(of: readonly boolean[]): number {
  return of.filter(Boolean).length / of.length
}

const shortfall =
  'Secrets, addresses and cards are placeholders on a tape, numbered by first appearance, and headers nobody knows are ' +
  'not kept at all: a run that uses another one from its beginning on looks the same. Recorders that tell them apart ' +
  'have them on disk in clear. A digest would tell them apart too, and would let anyone who has the tape try out ' +
  'addresses until one fits. A replay says how many addresses and cards of the agent itself it could not compare. What ' +
  'is nobody’s secret is kept and compared on demand (`redact: { allow: […] }`), and so is a header ' +
  '(`redact: { headers: […] }`).'

function totals(results: ReadonlyMap<ToolName, readonly Judged[]>): Table {
  const verdicts: readonly Verdict[] = ['right', 'refused', 'reported', 'silent', 'not recorded']
  return {
    title: 'What became of the pairs',
    columns: ['', 'served, right', 'refused', 'served, drift reported', '**served silently wrong**', 'not recorded'],
    rows: [...results].map(([tool, judged]) => [
      titleOf(tool),
      ...verdicts.map((verdict) => String(judged.filter((each) => each.verdict === verdict).length)),
    ]),
  }
}

function silentByMutation(results: ReadonlyMap<ToolName, readonly Judged[]>): Table {
  return {
    title: 'Served silently wrong, by what differs',
    columns: ['what differs', 'pairs', ...[...results.keys()].map(titleOf)],
    rows: mutations.map((mutation) => {
      const of = (judged: readonly Judged[]): readonly Judged[] =>
        judged.filter((each) => each.mutation.name === mutation.name)
      const silent = [...results.values()].map((judged) => {
        const all = of(judged)
        if (all.every(({ verdict }) => verdict === 'not recorded')) return '–'
        return String(all.filter(({ verdict }) => verdict === 'silent').length)
      })
      return [mutation.name, String(of(results.get('ours') ?? []).length), ...silent]
    }),
  }
}

function byMutation(ours: readonly Judged[]): Table {
  return {
    title: 'Ours, by what differs',
    columns: ['what differs', 'right', 'refused', 'reported', 'silent', 'as'],
    rows: mutations.map(({ name }) => {
      const all = ours.filter(({ mutation }) => mutation.name === name)
      const count = (verdict: Verdict): string => String(all.filter((each) => each.verdict === verdict).length)
      const drift = [...new Set(all.flatMap((each) => each.drift))].sort().join(', ')
      return [name, count('right'), count('refused'), count('reported'), count('silent'), drift]
    }),
  }
}
