import type { Truth, TrueColumns } from '../structural/truth.ts'
import { minimalDrop } from '../structural/truth.ts'
import type { EngineDiagnosis, FoundColumns } from './diagnosis.ts'

/** One tape: what was said about it, against what is right. */
export interface TapeScore {
  readonly outcome: ScoreOutcome
  /** First guess, whether it was certified or not. */
  readonly isTop1: boolean
  readonly isTop3: boolean
  /** One over the rank of the first right place; 0 when none was ranked. */
  readonly reciprocalRank: number
  readonly isWithin1: boolean
  readonly isCertified: boolean
  readonly isFalseCertificate: boolean
  /** Anything that was claimed is false: a certified place, that no place decided, a place of any column. */
  readonly isFalseClaim: boolean
  /** A real drop was certified, and not one that was planted as the largest. */
  readonly isUnplanted: boolean
  readonly isAbstained: boolean
  /** Something was blamed where there is nothing, or a thing that differs and does not matter. */
  readonly isFalseBlame: boolean
  /** Intervals that hold the truth, of all. */
  readonly coverage: readonly [held: number, of: number]
  readonly columns?: ColumnScore
  /** Earlier places were asked for, behind a right one: those that are named are all of the right ones, and no others. */
  readonly isEarlierExact?: boolean
  readonly forks: number
  readonly columnForks: number
  readonly modelCalls: number
  readonly undefinedForks: number
}

export interface ColumnScore {
  readonly isNecessaryExact: boolean
  readonly isSufficientExact: boolean
  readonly isRepairSetExact: boolean
  /** Of all places that some column or the verdict names, against those that are right. */
  readonly f1: number
}

/**
 * How a tape came out, one letter each in the report. `R`: right and certified. `r`: right, not certified. `a`: it
 * abstained. `w`: a wrong first guess that was not certified. `u`: a real drop, but not the planted one, was certified.
 * `F`: a false certificate.
 */
export type ScoreOutcome = 'R' | 'r' | 'a' | 'w' | 'u' | 'F'

/** What is right to say about a tape. */
export type ExpectedScore = 'step' | 'never' | 'unresolved' | 'nothing'

export interface Scored {
  readonly truth: Truth
  readonly decoys: readonly number[]
  /** Places whose mutated answers flip the outcome, when that is what was asked. Default none. */
  readonly flips?: readonly number[]
  /** The recorded run went well. */
  readonly isPassing: boolean
  /** Without chance the last of the largest drops is the only right answer. */
  readonly isExact: boolean
}

/** Says what is right: the planted facts decide nothing here, only what interventions would show. */
export function expectedOf({ truth, isPassing, flips = [] }: Scored): ExpectedScore {
  if (flips.length > 0) return 'step'
  if (isPassing) return 'nothing'
  if (truth.commitments.length > 0) return 'step'
  return bestChance(truth) < minimalDrop ? 'never' : 'unresolved'
}

/** Scores one tape. */
export function scoreTape(about: Scored, found: EngineDiagnosis): TapeScore {
  const { truth, flips = [] } = about
  const expected = expectedOf(about)
  const right = flips.length > 0 ? flips : about.isExact ? [truth.commitment] : truth.commitments
  const isRight = (place: number): boolean => expected === 'step' && right.includes(place)
  const rank = found.ranking.findIndex(isRight)
  const saysRight = saysRightThing(expected, found, isRight)
  const wrong = found.said === 'confirmed' ? found.named.filter((place) => !isRight(place)) : []
  const falseNames = wrong.filter((place) => !isTrueDrop(truth, place))
  // As near to the bar as a drop that is let pass below: neither right nor false.
  const isFalseNever = found.said === 'never' && bestChance(truth) >= 1.5 * minimalDrop
  const isFalseNothing = found.said === 'nothing' && expected !== 'nothing'
  const isFalseCertificate = falseNames.length > 0 || isFalseNever
  const isAbstained = found.said === 'unresolved' || found.said === 'undecidable'
  const isCertified = found.said === 'confirmed' || found.said === 'never' || found.said === 'nothing'
  const isUnplanted = !isFalseCertificate && wrong.length > 0 && !found.named.some(isRight)
  return {
    outcome: outcomeOf({ isFalseCertificate, isUnplanted, isAbstained, saysRight, isCertified }),
    isTop1: expected === 'step' ? rank === 0 : saysRight,
    isTop3: expected === 'step' ? rank >= 0 && rank < 3 : saysRight,
    reciprocalRank: expected === 'step' ? (rank < 0 ? 0 : 1 / (rank + 1)) : saysRight ? 1 : 0,
    isWithin1:
      expected === 'step' ? right.some((one) => Math.abs(one - (found.ranking[0] ?? Infinity)) <= 1) : saysRight,
    isCertified: isCertified && saysRight,
    isFalseCertificate,
    isFalseClaim:
      isFalseCertificate || isFalseNothing || namesInnocent(truth, found) || namesEarlierWrongly(truth, found),
    isUnplanted,
    isAbstained,
    isFalseBlame: blamesWrongly(about, expected, found),
    coverage: coverageOf(truth, found),
    ...(found.columns !== undefined && { columns: scoreColumns(truth, right, found, found.columns) }),
    ...(found.earlier !== undefined && isCertified && saysRight && { isEarlierExact: isEarlierExact(truth, found) }),
    forks: found.forks,
    columnForks: found.columnForks,
    modelCalls: found.modelCalls,
    undefinedForks: found.undefinedForks,
  }
}

function saysRightThing(expected: ExpectedScore, found: EngineDiagnosis, isRight: (place: number) => boolean): boolean {
  switch (expected) {
    case 'step':
      return found.said !== 'never' && found.said !== 'nothing' && isRight(found.ranking[0] ?? -1)
    case 'never':
      return found.said === 'never'
    case 'unresolved':
      return found.said === 'unresolved'
    case 'nothing':
      return found.said === 'nothing' && found.named.length === 0
  }
}

/** Whether a column names a place that is in none of the true ones. */
function namesInnocent({ columns: truth }: Truth, { columns }: EngineDiagnosis): boolean {
  if (columns === undefined) return false
  const guilty = new Set([...truth.necessary, ...truth.sufficient, ...truth.repairSets.flat()])
  const named = [...columns.necessary, ...columns.sufficient, ...(columns.repairSet ?? [])]
  return named.some((place) => !guilty.has(place))
}

/** Whether an earlier place is named that lowers the chance by less than half of what counts, with the later ones held. */
function namesEarlierWrongly(truth: Truth, { earlier = [] }: EngineDiagnosis): boolean {
  return earlier.some(({ position, held }) => (earlierDrops(truth, held)[position] ?? 0) < minimalDrop / 2)
}

/** From the place that decided backwards: each time the largest drop before, until none is large enough. */
function isEarlierExact(truth: Truth, { named, earlier = [] }: EngineDiagnosis): boolean {
  const held = named.slice(0, 1)
  for (const { position } of earlier.toReversed()) {
    const drops = earlierDrops(truth, held)
    if ((drops[position] ?? 0) < Math.max(minimalDrop, 0.8 * Math.max(...drops))) return false
    held.unshift(position)
  }
  return held.length === 0 || earlierDrops(truth, held).every((drop) => drop < minimalDrop)
}

/** How much is lost at each place before those that are held. */
function earlierDrops({ curveWith }: Truth, held: readonly number[]): readonly number[] {
  const curve = curveWith?.(held) ?? []
  return curve.slice(0, Math.min(...held)).map((chance, at) => chance - (curve[at + 1] ?? 0))
}

/** Where there is nothing, any name is one too many; elsewhere a decoy is, in any column. */
function blamesWrongly(
  { truth, decoys }: Scored,
  expected: ExpectedScore,
  { named, columns }: EngineDiagnosis,
): boolean {
  const all = [...named, ...(columns?.necessary ?? []), ...(columns?.sufficient ?? []), ...(columns?.repairSet ?? [])]
  if (expected === 'nothing') return all.length > 0
  // A run that hardly ever ends well may still have a step that took the rest.
  if (expected === 'never') return all.some((place) => !isTrueDrop(truth, place))
  return all.some((place) => decoys.includes(place))
}

/** A drop of half of what counts: who certifies one names something real, and not what was asked for. */
function isTrueDrop({ curve, drawn = [] }: Truth, place: number): boolean {
  return !drawn.includes(place) && (curve[place] ?? 0) - (curve[place + 1] ?? 0) >= minimalDrop / 2
}

function bestChance({ curve }: Truth): number {
  return curve.slice(0, -1).reduce((best, one) => Math.max(best, one), 0)
}

function coverageOf({ curve }: Truth, { intervals }: EngineDiagnosis): readonly [number, number] {
  // The ends of an interval are found by halving; the truth may be one of them.
  const slack = 1e-6
  const held = intervals.filter(({ keep, low, high }) => {
    const chance = curve[keep] ?? 0
    return chance >= low - slack && chance <= high + slack
  })
  return [held.length, intervals.length]
}

function scoreColumns(
  truth: Truth,
  right: readonly number[],
  found: EngineDiagnosis,
  columns: FoundColumns,
): ColumnScore {
  const { necessary, sufficient, repairSets } = truth.columns
  const repair = columns.repairSet
  return {
    isNecessaryExact: isSameSet(columns.necessary, necessary),
    isSufficientExact: isSameSet(columns.sufficient, sufficient),
    isRepairSetExact: repair === undefined ? repairSets.length === 0 : repairSets.some((one) => isSameSet(one, repair)),
    f1: f1Of(truth.columns, right, found, columns),
  }
}

/** Where several repair sets are as small, the one that was found most of is the one it is held against. */
function f1Of(truth: TrueColumns, right: readonly number[], found: EngineDiagnosis, columns: FoundColumns): number {
  const said = new Set([...found.named, ...columns.necessary, ...columns.sufficient, ...(columns.repairSet ?? [])])
  const scores = (truth.repairSets.length === 0 ? [[]] : truth.repairSets).map((set) => {
    const wanted = new Set([...right, ...truth.necessary, ...truth.sufficient, ...set])
    const both = [...said].filter((place) => wanted.has(place)).length
    return said.size + wanted.size === 0 ? 1 : (2 * both) / (said.size + wanted.size)
  })
  return Math.max(...scores)
}

function isSameSet(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one))
}

function outcomeOf(one: {
  readonly isFalseCertificate: boolean
  readonly isUnplanted: boolean
  readonly isAbstained: boolean
  readonly saysRight: boolean
  readonly isCertified: boolean
}): ScoreOutcome {
  if (one.isFalseCertificate) return 'F'
  if (one.isUnplanted) return 'u'
  if (one.saysRight) return one.isCertified ? 'R' : 'r'
  return one.isAbstained ? 'a' : 'w'
}
