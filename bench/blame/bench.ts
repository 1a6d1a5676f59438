import { type Cell, type CellTape, gridCells, tapesOf } from '../../src/validation/grid/cells.ts'
import { type EngineDiagnosis, nothing } from '../../src/validation/grid/diagnosis.ts'
import { scoreTape, type TapeScore } from '../../src/validation/grid/score.ts'
import type { Bar, Bench, Table } from '../kit/contract.ts'
import { figure } from '../kit/measure.ts'
import { openDesk } from './desk.ts'
import { type Overhead, overheadOf } from './overhead.ts'
import { type Policy, policies } from './policies.ts'

const bench: Bench = {
  question: 'How many forks does it take to know which step decided?',
  async run({ isQuick, progress }) {
    const cells = lengths.flatMap((length) => tails.map((tail) => ({ length, tail })))
    const measured: MeasuredCell[] = []
    for (const { length, tail } of cells) {
      progress(`${tail} tails, ${length} steps`)
      measured.push(await measureCell(length, tail, isQuick ? 4 : 40))
    }
    progress('what a fork costs')
    const overheads: Overhead[] = []
    for (const steps of isQuick ? [35] : [35, 50]) overheads.push(await overheadOf(steps, isQuick ? 3 : 9))
    return {
      tables: [...measured.map(tableOf), overheadTable(overheads)],
      bars: measured.flatMap(barsOf),
      remarks: [
        'Planted causes in models of agents, not real logs. Every policy blames the same runs and gets the same forks.',
        'Dollars: 3 per million tokens in, 15 out, prompts of 1,000 tokens that grow by 380 a call, 300 tokens an answer, nothing cached.',
      ],
    }
  },
}
export default bench

const lengths = [20, 50, 200] as const
/** `noisy`: keeping the step takes at least .6 of the chance to end well. `weak`: .4 to .6. */
const tails = ['clean', 'noisy', 'weak'] as const
type Tail = (typeof tails)[number]

/** How causes combine, and how they show. */
const subjects = ['F1', 'F4', 'F5.single', 'F5.and_2', 'F5.or_2', 'F5.two_of_three', 'F5.early_cause_late_symptom']
const seed = 20_261_121

interface Figures {
  readonly scores: readonly TapeScore[]
  readonly forks: number
  readonly modelCalls: number
  readonly costUsd: number
}

interface MeasuredCell {
  readonly length: number
  readonly tail: Tail
  readonly tapes: number
  readonly figures: ReadonlyMap<string, Figures>
}

async function measureCell(length: number, tail: Tail, perSubject: number): Promise<MeasuredCell> {
  const tapes = cellsOf(length, tail).flatMap((cell) =>
    [...tapesOf(cell, perSubject, seed)].map((tape) => ({ tape, isExact: cell.noise === 'exact' })),
  )
  const figures = new Map<string, Figures>()
  for (const [name, policy] of Object.entries(policies)) {
    const all: Blamed[] = []
    for (const { tape, isExact } of tapes) all.push(await blame(tape, isExact, policy))
    const mean = (of: (one: Blamed) => number): number => all.reduce((sum, one) => sum + of(one), 0) / all.length
    figures.set(name, {
      scores: all.map(({ score }) => score),
      forks: mean(({ score }) => score.forks),
      modelCalls: mean(({ score }) => score.modelCalls),
      costUsd: mean(({ costUsd }) => costUsd),
    })
  }
  return { length, tail, tapes: tapes.length, figures }
}

function cellsOf(length: number, tail: Tail): readonly Cell[] {
  return gridCells().filter(
    (cell) =>
      subjects.includes(cell.subject) &&
      cell.length === length &&
      (tail === 'clean'
        ? cell.noise === 'exact' && !cell.sweeps
        : /^slip=\S+$/.test(cell.noise) && cell.band === (tail === 'noisy' ? 'drop>=.6' : 'drop .4-.6')),
  )
}

interface Blamed {
  readonly score: TapeScore
  readonly costUsd: number
}

async function blame({ number, planted, truth }: CellTape, isExact: boolean, policy: Policy): Promise<Blamed> {
  const desk = openDesk(planted.model, seed + number)
  const said = await policy(desk)
  const found: EngineDiagnosis = { ...nothing, ...said, forks: desk.forks, modelCalls: desk.modelCalls }
  return {
    score: scoreTape({ truth, decoys: planted.decoys, isPassing: false, isExact }, found),
    costUsd: desk.costUsd,
  }
}

function tableOf({ length, tail, tapes, figures }: MeasuredCell): Table {
  return {
    title: `${length} steps, ${tail} tail, ${tapes} runs`,
    columns: ['policy', 'top-1', 'right and claimed', 'claimed and wrong', 'forks', 'live calls', 'dollars'],
    rows: [...figures].map(([name, { scores, forks, modelCalls, costUsd }]) => [
      name,
      share(scores, ({ isTop1 }) => isTop1).toFixed(2),
      share(scores, ({ isCertified }) => isCertified).toFixed(2),
      share(scores, ({ isFalseCertificate }) => isFalseCertificate).toFixed(2),
      forks.toFixed(0),
      modelCalls.toFixed(0),
      costUsd.toFixed(costUsd < 10 ? 2 : 0),
    ]),
  }
}

function share(scores: readonly TapeScore[], is: (score: TapeScore) => boolean): number {
  return scores.filter(is).length / scores.length
}

function overheadTable(overheads: readonly Overhead[]): Table {
  return {
    title: 'One fork from the middle of a run ÷ one plain replay of it, processor time',
    columns: ['steps', 'tail answered by a script', 'tail asked over loopback', 'the replay, ms'],
    rows: overheads.map(({ steps, scripted, live, replayMs }) => [
      `${steps}`,
      figure(scripted),
      figure(live),
      replayMs,
    ]),
  }
}

/** What the validation promises; where it promises nothing, what ten forks at every step are. */
function forksAllowed(length: number, tail: Tail): number {
  if (tail === 'clean') return Math.ceil(Math.log2(length)) + 4
  if (tail === 'noisy' && length >= 50) return length === 50 ? 120 : 150
  return 10 * length
}

/** What is promised of each kind of run, beside the same figure of every other policy. */
function barsOf({ length, tail, figures }: MeasuredCell): readonly Bar[] {
  const ours = figures.get('vitest-harvest')
  if (ours === undefined) return []
  const rivals = [...figures].filter(([name]) => name !== 'vitest-harvest')
  const others = (of: (one: Figures) => number): Readonly<Record<string, number>> =>
    Object.fromEntries(rivals.map(([name, one]) => [name, Number(of(one).toFixed(3))]))
  const top1 = (one: Figures): number => share(one.scores, ({ isTop1 }) => isTop1)
  const about = `${length} steps, ${tail} tail`
  return [
    {
      what: `${about}: right step first`,
      value: top1(ours),
      limit: { atLeast: { clean: 0.99, noisy: 0.95, weak: 0.85 }[tail] },
      others: others(top1),
    },
    {
      what: `${about}: forks to a claim`,
      value: ours.forks,
      limit: { atMost: forksAllowed(length, tail) },
      others: others(({ forks }) => forks),
      ...(tail === 'noisy' && length === 50
        ? { claim: 'Forks until the step is named that decided a noisy run of 50' }
        : {}),
    },
    {
      what: `${about}: claimed and wrong`,
      value: share(ours.scores, ({ isFalseCertificate }) => isFalseCertificate),
      limit: { atMost: 0.02 },
      others: others(({ scores }) => share(scores, ({ isFalseCertificate }) => isFalseCertificate)),
    },
  ]
}
