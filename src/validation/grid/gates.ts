import type { Interval } from '../../stats/index.ts'
import type { Cell } from './cells.ts'
import type { MeasuredCell } from './measure.ts'
import type { PeekingTally } from './peeking.ts'
import { addCounts, type Count, intervalOf, rateOf, type CellTally } from './tally.ts'

/** One promise, held against the worst of the cells it is about. */
export interface QualityGate {
  /** Such as `top-1`. */
  readonly name: string
  /** The cells it is about, for people. */
  readonly about: string
  /** Such as `>= 0.95`. */
  readonly bar: string
  readonly isMet: boolean
  /** Cells it was held against. */
  readonly cells: number
  readonly worst?: WorstCell
}

export interface WorstCell {
  readonly id: string
  readonly measured: number
  /** Of rates: Clopper-Pearson, 95 %. */
  readonly interval?: Interval
  /** Tapes, or single intervals when it is about those. */
  readonly of: number
}

interface Pledge {
  readonly name: string
  readonly about: string
  readonly is: (cell: Cell) => boolean
  readonly measure: Measure
}

type Measure =
  | { readonly atLeast: number; readonly rate: (tally: CellTally) => Count | undefined }
  | { readonly atMost: number; readonly rate: (tally: CellTally) => Count | undefined }
  | { readonly atMost: number; readonly value: (tally: CellTally, cell: Cell) => number; readonly isMean?: true }
  | { readonly atLeast: number; readonly value: (tally: CellTally, cell: Cell) => number; readonly isMean?: true }

const isF =
  (group: string) =>
  (cell: Cell): boolean =>
    cell.subject.split('.')[0] === group
const isExact = ({ noise }: Cell): boolean => noise === 'exact'
const isSharp = ({ band, noise }: Cell): boolean => band === 'drop>=.6' && !noise.startsWith('quiet')
const withoutStep = (cell: Cell): boolean =>
  isF('F7')(cell) || isF('F8')(cell) || cell.subject === 'F5.erosion' || cell.subject === 'F6.self_correction'
const hasStep = (cell: Cell): boolean => !withoutStep(cell) && cell.subject !== 'F5.never' && cell.asks === 'run'
/** A curve that rises again cannot be searched by halves; how much was not looked at, the verdict says. */
const isDip = ({ subject }: Cell): boolean => subject === 'F5.dip_and_recover'

/** Everything the report promises; each is held against the worst cell, never against a mean of cells. */
const promises: readonly Pledge[] = [
  {
    name: 'F0 parity, top-1',
    about: 'the five classes, n >= 20, no noise, position random',
    is: (cell) => isF('F0')(cell) && isExact(cell),
    measure: { atLeast: 1, rate: ({ top1 }) => top1 },
  },
  {
    name: 'exact tail, top-1',
    about: 'every family with a step but dip-and-recover, no noise',
    is: (cell) => isExact(cell) && hasStep(cell) && !isDip(cell),
    measure: { atLeast: 0.99, rate: ({ top1 }) => top1 },
  },
  {
    name: 'exact tail, forks over ceil(log2 n)',
    about: 'the same cells; the most that any tape took',
    is: (cell) => isExact(cell) && hasStep(cell) && !isDip(cell),
    measure: { atMost: 4, value: ({ forks }, { length }) => forks.most - Math.ceil(Math.log2(length)) },
  },
  {
    name: 'exact tail, dip and recover: a real drop is named',
    about: 'the last one or an earlier one, by halving alone',
    is: (cell) => isExact(cell) && isDip(cell) && !cell.sweeps,
    measure: { atLeast: 0.99, rate: ({ top1, unplanted }) => [top1[0] + unplanted[0], top1[1]] },
  },
  {
    name: 'exact tail, dip and recover: top-1 with a sweep',
    about: 'a fork more for each place behind the one found',
    is: ({ sweeps }) => sweeps,
    measure: { atLeast: 0.99, rate: ({ top1 }) => top1 },
  },
  {
    name: 'exact tail, repair set',
    about: 'one minimal set, found exactly',
    is: (cell) => isExact(cell) && cell.hasColumns,
    measure: { atLeast: 0.98, rate: ({ repairSet }) => repairSet },
  },
  {
    name: 'never recoverable',
    about: 'runs that could not have ended well, no noise',
    is: (cell) => isExact(cell) && (cell.subject === 'F5.never' || cell.subject === 'F7.environment'),
    measure: { atLeast: 0.99, rate: ({ top1 }) => top1 },
  },
  {
    name: 'noisy tail, top-1',
    about: 'slips of at most .01, drop of at least .6',
    is: (cell) => isSharp(cell) && hasStep(cell),
    measure: { atLeast: 0.95, rate: ({ top1 }) => top1 },
  },
  {
    name: 'noisy tail, certified',
    about: 'the same cells',
    is: (cell) => isSharp(cell) && hasStep(cell),
    measure: { atLeast: 0.9, rate: ({ certified }) => certified },
  },
  {
    name: 'noisy tail, mean forks at n = 50',
    about: 'the same cells; k = 10 forks at each step would be 500',
    is: (cell) => isSharp(cell) && hasStep(cell) && cell.length === 50,
    measure: { atMost: 120, value: ({ forks }) => forks.mean, isMean: true },
  },
  {
    name: 'noisy tail, mean forks at n = 200',
    about: 'the same cells; k = 10 forks at each step would be 2000',
    is: (cell) => isSharp(cell) && hasStep(cell) && cell.length === 200,
    measure: { atMost: 150, value: ({ forks }) => forks.mean, isMean: true },
  },
  {
    name: 'quiet model, mean forks at n = 50',
    about: 'one step decides right with a chance of .4 or .5, and all else is always the same',
    is: ({ noise, length }) => (noise.endsWith('chance=.4') || noise.endsWith('chance=.5')) && length === 50,
    measure: { atMost: 120, value: ({ forks }) => forks.mean, isMean: true },
  },
  {
    name: 'quiet model, certified',
    about: 'the same, at n = 20 as well',
    is: ({ noise }) => noise.endsWith('chance=.4') || noise.endsWith('chance=.5'),
    measure: { atLeast: 0.85, rate: ({ certified }) => certified },
  },
  {
    name: 'noisy tail, set F1',
    about: 'verdict and columns together, slips of at most .01, drop of at least .6',
    is: (cell) => isSharp(cell) && cell.hasColumns,
    measure: { atLeast: 0.9, value: ({ setF1 }) => setF1 ?? Number.NaN, isMean: true },
  },
  {
    name: 'earlier causes of a run that several had to spoil together',
    about: 'all of them and no others, in runs whose deciding step was named; with no noise and with slips of .01',
    is: ({ asksEarlier }) => asksEarlier === true,
    measure: { atLeast: 0.9, rate: ({ earlier }) => earlier },
  },
  {
    name: 'forks that cannot be judged: blame says so',
    about: 'two forks of five leave their tape before they are free to',
    is: ({ noise }) => noise.endsWith('stray=.4'),
    measure: { atLeast: 0.95, rate: ({ abstained }) => abstained },
  },
  {
    name: 'medium drop, right or no certificate',
    about: 'drop of .4 to .6',
    is: ({ band }) => band === 'drop .4-.6',
    measure: { atLeast: 0.85, rate: ({ rightOrAbstained }) => rightOrAbstained },
  },
  {
    name: 'self-correcting and gradual, right or no certificate',
    about: 'agents that find their own mistakes; chances that get less step by step',
    is: (cell) => cell.subject === 'F6.self_correction' || cell.subject === 'F5.erosion',
    measure: {
      atLeast: 0.95,
      rate: ({ rightOrAbstained, unplanted }) => [rightOrAbstained[0] + unplanted[0], rightOrAbstained[1]],
    },
  },
  {
    name: 'false certificates',
    about: 'every cell',
    is: () => true,
    measure: { atMost: 0.02, rate: ({ falseCertificates }) => falseCertificates },
  },
  {
    name: 'false claims of any kind',
    about: 'every cell: certified or exact places, that no step decided, that nothing is there, places of any column',
    is: () => true,
    measure: { atMost: 0.02, rate: ({ falseClaims }) => falseClaims },
  },
  {
    name: 'an oracle that disagrees with itself: nothing is said',
    about: 'the oracle misgrades three runs in ten',
    is: ({ noise }) => noise.endsWith('grading=.3'),
    measure: { atLeast: 0.98, rate: ({ abstained }) => abstained },
  },
  {
    name: 'what code draws, not what a model answers: no answer is named',
    about: 'the code draws what decides, before its first question or before another one',
    is: ({ subject }) => subject === 'F7.drawn',
    measure: { atLeast: 0.98, rate: ({ abstained }) => abstained },
  },
  {
    name: 'negative controls, a step was blamed',
    about: 'nothing to find: no-op mutations, identical answers, runs that passed, failures of the environment',
    is: isF('F7'),
    measure: { atMost: 0.05, rate: ({ falseBlame }) => falseBlame },
  },
  {
    name: 'mutated values, top-1',
    about: 'runs that went well; the place whose mutants flip them',
    is: ({ plantsMutants }) => plantsMutants === true,
    measure: { atLeast: 0.95, rate: ({ top1 }) => top1 },
  },
  {
    name: 'another model, a step was blamed',
    about: 'the model asked now is not the one of the tape',
    is: isF('F8'),
    measure: { atMost: 0.05, rate: ({ falseBlame }) => falseBlame },
  },
  {
    name: 'decoys blamed',
    about: 'differences that do not matter, in the verdict or any column',
    is: (cell) => isF('F4')(cell) || isF('F10')(cell) || cell.plantsMutants === true,
    measure: { atMost: 0.02, rate: ({ falseBlame }) => falseBlame },
  },
  {
    name: 'coverage of the intervals',
    about: 'confidence sequences at every arm that was looked at after every fork',
    is: ({ noise, asks, subject }) =>
      noise !== 'exact' && !noise.includes('grading') && asks === 'run' && subject !== 'F7.passing_run',
    measure: { atLeast: 0.95, rate: ({ coverage }) => coverage },
  },
]

/**
 * `full`: every cell has to reach the bar by what was measured. `sample`: few tapes say little, so a promise is broken
 * when the interval of a cell, or of all its cells together, lies on the wrong side of the bar; where it is about a mean,
 * when that of all cells does.
 */
export type Strictness = 'full' | 'sample'

/** Holds what was measured against every promise it says something about. */
export function gatesOf(
  cells: readonly MeasuredCell[],
  peeking: readonly PeekingTally[],
  strictness: Strictness,
): readonly QualityGate[] {
  return [...promises.flatMap((promise) => gateOf(promise, cells, strictness)), ...peekingGates(peeking, strictness)]
}

function gateOf(promise: Pledge, cells: readonly MeasuredCell[], strictness: Strictness): readonly QualityGate[] {
  const { name, about, is, measure } = promise
  const meant = cells.filter(({ cell }) => is(cell))
  if (meant.length === 0) return []
  const isFloor = 'atLeast' in measure
  const bar = isFloor ? `>= ${measure.atLeast}` : `<= ${measure.atMost}`
  const held = meant.flatMap(({ cell, tally }) => figureOf(measure, cell, tally))
  // What was not measured is not kept.
  if (held.length === 0) return [{ name, about, bar, isMet: false, cells: 0 }]
  const isReached = ({ measured, interval }: Omit<WorstCell, 'id'>): boolean => {
    const [low, high] =
      strictness === 'full' || interval === undefined ? [measured, measured] : [interval.low, interval.high]
    return isFloor ? high >= measure.atLeast - 1e-9 : low <= measure.atMost + 1e-9
  }
  const together = held.flatMap(({ count }) => (count === undefined ? [] : [count]))
  const all = addCounts(together)
  const isMeanOfFew = strictness === 'sample' && 'value' in measure && measure.isMean === true
  const isMet = isMeanOfFew
    ? isReached({ measured: held.reduce((sum, { measured }) => sum + measured, 0) / held.length, of: all[1] })
    : held.every(isReached) && (together.length === 0 || isReached(figure(all)))
  const [worst] = held.toSorted((a, b) => (isFloor ? a.measured - b.measured : b.measured - a.measured))
  return [{ name, about, bar, isMet, cells: held.length, ...(worst && { worst: worst.shown }) }]
}

interface HeldCell extends Omit<WorstCell, 'id'> {
  readonly shown: WorstCell
  readonly count?: Count
}

function figureOf(measure: Measure, cell: Cell, tally: CellTally): readonly HeldCell[] {
  const { id } = cell
  if ('value' in measure) {
    const one = { measured: measure.value(tally, cell), of: tally.tapes }
    return [{ ...one, shown: { id, ...one } }]
  }
  const count = measure.rate(tally)
  if (count === undefined || count[1] === 0) return []
  return [{ ...figure(count), count, shown: { id, ...figure(count) } }]
}

function figure(count: Count): Omit<WorstCell, 'id'> & { readonly interval: Interval } {
  return { measured: rateOf(count), interval: intervalOf(count), of: count[1] }
}

/** The interval itself, apart from any engine: looked at after every draw, how often does it ever miss. */
function peekingGates(peeking: readonly PeekingTally[], strictness: Strictness): readonly QualityGate[] {
  const held = peeking
    .map(({ id, everMissed: [missed, of] }) => ({ id, ...figure([of - missed, of]) }))
    .sort((a, b) => a.measured - b.measured)
  const [worst] = held
  if (worst === undefined) return []
  const isMet = held.every(({ measured, interval }) => (strictness === 'full' ? measured : interval.high) >= 0.95)
  const about = 'confidence sequences, looked at after each of 400 draws: never missed'
  return [{ name: 'coverage under peeking', about, bar: '>= 0.95', isMet, cells: held.length, worst }]
}
