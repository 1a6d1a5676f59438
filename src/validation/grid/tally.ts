import { clopperPearson, type Interval } from '../../stats/index.ts'
import type { ColumnScore, TapeScore } from './score.ts'

/** So many of so many. */
export type Count = readonly [hits: number, of: number]

/** The result of the tapes of one cell. Rates are counts, so that intervals can be made of them again. */
export interface CellTally {
  readonly tapes: number
  /** One letter per tape, in order: see `Outcome`. */
  readonly outcomes: string
  readonly top1: Count
  readonly top3: Count
  readonly within1: Count
  readonly meanReciprocalRank: number
  /** Right and certified. */
  readonly certified: Count
  readonly falseCertificates: Count
  readonly falseClaims: Count
  readonly unplanted: Count
  readonly abstained: Count
  readonly falseBlame: Count
  /** Right, or no certificate. */
  readonly rightOrAbstained: Count
  /** Single intervals that hold the truth. */
  readonly coverage: Count
  readonly necessary?: Count
  readonly sufficient?: Count
  readonly repairSet?: Count
  readonly setF1?: number
  /** Earlier places that were necessary too, all and no others, of the runs in which the deciding one was named. */
  readonly earlier?: Count
  readonly forks: Spread
  readonly columnForks: Spread
  readonly modelCalls: Spread
  readonly undefinedForks: Count
}

export interface Spread {
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly most: number
}

/** Adds scores up, in the order of the tapes. */
export function tallyOf(scores: readonly TapeScore[]): CellTally {
  const of = scores.length
  const count = (is: (one: TapeScore) => boolean): Count => [scores.filter(is).length, of]
  const columns = scores.flatMap(({ columns: one }) => (one === undefined ? [] : [one]))
  const earlier = scores.flatMap(({ isEarlierExact: one }) => (one === undefined ? [] : [one]))
  const forks = spreadOf(scores.map((one) => one.forks))
  const allForks = sum(scores.map((one) => one.forks + one.columnForks))
  return {
    tapes: of,
    outcomes: scores.map(({ outcome }) => outcome).join(''),
    top1: count(({ isTop1 }) => isTop1),
    top3: count(({ isTop3 }) => isTop3),
    within1: count(({ isWithin1 }) => isWithin1),
    meanReciprocalRank: rounded(sum(scores.map(({ reciprocalRank }) => reciprocalRank)) / Math.max(1, of)),
    certified: count(({ isCertified }) => isCertified),
    falseCertificates: count(({ isFalseCertificate }) => isFalseCertificate),
    falseClaims: count(({ isFalseClaim }) => isFalseClaim),
    unplanted: count(({ isUnplanted }) => isUnplanted),
    abstained: count(({ isAbstained }) => isAbstained),
    falseBlame: count(({ isFalseBlame }) => isFalseBlame),
    rightOrAbstained: count(({ outcome, isAbstained }) => isAbstained || 'Rr'.includes(outcome)),
    coverage: [sum(scores.map(({ coverage }) => coverage[0])), sum(scores.map(({ coverage }) => coverage[1]))],
    ...(columns.length > 0 && columnTally(columns)),
    ...(earlier.length > 0 && { earlier: [earlier.filter(Boolean).length, earlier.length] as const }),
    forks,
    columnForks: spreadOf(scores.map((one) => one.columnForks)),
    modelCalls: spreadOf(scores.map((one) => one.modelCalls)),
    undefinedForks: [sum(scores.map((one) => one.undefinedForks)), allForks],
  }
}

/** Several cells as one: rates only. */
export function addCounts(counts: readonly Count[]): Count {
  return [sum(counts.map(([hits]) => hits)), sum(counts.map(([, of]) => of))]
}

export function rateOf([hits, of]: Count): number {
  return of === 0 ? Number.NaN : hits / of
}

/** The Clopper-Pearson interval of a count; everything is possible where nothing was counted. */
export function intervalOf([hits, of]: Count, alpha = 0.05): Interval {
  return of === 0 ? { low: 0, high: 1 } : clopperPearson(hits, of, alpha)
}

function columnTally(
  columns: readonly ColumnScore[],
): Pick<CellTally, 'necessary' | 'sufficient' | 'repairSet' | 'setF1'> {
  const count = (is: (one: ColumnScore) => boolean): Count => [columns.filter(is).length, columns.length]
  return {
    necessary: count(({ isNecessaryExact }) => isNecessaryExact),
    sufficient: count(({ isSufficientExact }) => isSufficientExact),
    repairSet: count(({ isRepairSetExact }) => isRepairSetExact),
    setF1: rounded(sum(columns.map(({ f1 }) => f1)) / columns.length),
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return {
    mean: rounded(sum(values) / Math.max(1, values.length)),
    p50: at(0.5),
    p95: at(0.95),
    most: sorted.at(-1) ?? 0,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
