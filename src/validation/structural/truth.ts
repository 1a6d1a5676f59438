import { type Mode, recordedFacts, recordedGrade, runModel, setFact, type StructuralModel } from './model.ts'

/** What is right about a model, computed from it and never estimated. */
export interface Truth {
  /** V₀ … Vₙ: the chance that a run ends well whose first j places are kept. Vₙ is that of the recorded run, 0 or 1. */
  readonly curve: readonly number[]
  /** Places that decided the outcome: their drop is at least {@link minimalDrop} and near the largest one. */
  readonly commitments: readonly number[]
  /** The last of the largest drops, which is what a tail without chance has to come to; -1 without one. */
  readonly commitment: number
  /** The largest drop. */
  readonly drop: number
  /** Places whose drop is that of what code draws before their question: no answer decided there. Absent: none. */
  readonly drawn?: readonly number[]
  readonly columns: TrueColumns
  /** The curve of runs in which these places answer as recorded, kept or not. Absent: it is not needed. */
  curveWith?(held: readonly number[]): readonly number[]
}

/** The other three columns, over the places whose answers come from outside, without noise. */
export interface TrueColumns {
  /** Repairing this one alone lets the run end well. */
  readonly necessary: readonly number[]
  /** This one alone, everything else repaired, makes the run fail. */
  readonly sufficient: readonly number[]
  /** All sets that let the run end well and of which nothing can be left out. */
  readonly repairSets: readonly (readonly number[])[]
}

/** A drop of the curve that counts as one: the tau of blame. */
export const minimalDrop = 0.2

/** Drops that are this near to the largest one are as good an answer. */
const nearlyLargest = 0.8

/** Says what is right about a model. */
export function truthOf(model: StructuralModel): Truth {
  const curve = curveOf(model)
  const drops = curve.slice(0, -1).map((chance, j) => chance - (curve[j + 1] ?? 0))
  const drop = drops.reduce((most, one) => Math.max(most, one), 0)
  const isDrawn = (at: number): boolean => model.places[at]?.isDrawn === true
  const drawn = drops.flatMap((_, j) => (isDrawn(j) ? [j] : []))
  const isCause = (one: number): boolean => one >= minimalDrop && one >= nearlyLargest * drop
  const largest = drop < minimalDrop ? -1 : drops.findLastIndex((one) => one >= drop - 1e-9)
  return {
    curve,
    commitments: drops.flatMap((one, j) => (isCause(one) && !isDrawn(j) ? [j] : [])),
    // Equal drops differ in their last bits.
    commitment: isDrawn(largest) ? -1 : largest,
    drop,
    ...(drawn.length === 0 ? {} : { drawn }),
    columns: columnsOf(model),
    curveWith: (held) => {
      const places = model.places.map((place, at) => (held.includes(at) ? { ...place, isTaped: true as const } : place))
      return curveOf({ ...model, places })
    },
  }
}

/**
 * The recoverability curve, exactly: backwards over the places, the chance to end well from every set of facts on. A
 * place resampled moves from one set to others with known chances, so nothing has to be simulated.
 */
export function curveOf(model: StructuralModel): readonly number[] {
  const { places, noise } = model
  const states = 1 << factCount(model)
  let after = Float64Array.from({ length: states }, (_, facts) => (model.fails(facts) ? 0 : 1))
  const recorded = recordedFacts(model)
  const curve = [recordedGrade(model) === 'ok' ? 1 : 0]
  for (let j = places.length - 1; j >= 0; j--) {
    const before = new Float64Array(states)
    for (let facts = 0; facts < states; facts++) before[facts] = chanceFrom(model, j, facts, after)
    after = before
    // A slip is fatal and nothing undoes it: the factor is the same no matter what the facts are.
    curve.unshift((after[recorded[j] ?? 0] ?? 0) * (model.luck?.(j) ?? 1))
  }
  return curve

  function chanceFrom({ places: all }: StructuralModel, j: number, facts: number, next: Float64Array): number {
    const isTaped = all[j]?.isTaped === true
    const spread = (k: number, now: number): number => {
      const one = all[j]?.writes[k]
      if (one === undefined) {
        const kept = next[now] ?? 0
        return noise.correction === 0 || isTaped
          ? kept
          : noise.correction * (next[0] ?? 0) + (1 - noise.correction) * kept
      }
      const chance = isTaped ? Number(one.recorded) : one.live(now)
      let sum = 0
      if (chance > 0) sum += chance * spread(k + 1, setFact(now, one.fact, true))
      if (chance < 1) sum += (1 - chance) * spread(k + 1, setFact(now, one.fact, false))
      return sum
    }
    return (isTaped ? 1 : 1 - noise.slip) * spread(0, facts)
  }
}

/** The columns by trying every repair there is: of places that write facts, since no other place can matter. */
function columnsOf(model: StructuralModel): TrueColumns {
  const outside = model.places.flatMap(({ isExogenous }, at) => (isExogenous ? [at] : []))
  const suspects = outside.filter((at) => (model.places[at]?.writes.length ?? 0) > 0)
  const endsWell = (repaired: ReadonlySet<number>): boolean => {
    const modeOf = (at: number): Mode =>
      repaired.has(at) ? 'repaired' : model.places[at]?.isExogenous === true ? 'recorded' : 'live'
    return runModel(quiet(model), 0, modeOf, () => 0.5).grade === 'ok'
  }
  const necessary = suspects.filter((at) => endsWell(new Set([at])))
  const sufficient = suspects.filter((at) => !endsWell(new Set(outside.filter((one) => one !== at))))
  // What fails with everything repaired fails by something else than one of them.
  const isCurable = endsWell(new Set(outside))
  return { necessary, sufficient: isCurable ? sufficient : [], repairSets: minimal(suspects, endsWell) }
}

/** Every set that does it and has no smaller one inside that does. */
function minimal(
  suspects: readonly number[],
  endsWell: (repaired: ReadonlySet<number>) => boolean,
): readonly (readonly number[])[] {
  const found: (readonly number[])[] = []
  for (let size = 0; size <= largestSet; size++)
    for (const subset of subsetsOf(suspects, size)) {
      if (found.some((smaller) => smaller.every((one) => subset.includes(one)))) continue
      if (endsWell(new Set(subset))) found.push(subset)
    }
  return found
}

/** No family plants more causes that all have to be repaired; the decoys beside them make larger sets too many to try. */
const largestSet = 3

/** All subsets of one size, in the order of their members. */
function* subsetsOf(all: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield []
  else
    for (const [at, first] of all.entries())
      for (const rest of subsetsOf(all.slice(at + 1), size - 1)) yield [first, ...rest]
}

/** The same model without chance: what recurs with some chance does not. */
function quiet(model: StructuralModel): StructuralModel {
  const places = model.places.map((place) => ({
    ...place,
    writes: place.writes.map((one) => ({ ...one, live: (facts: number) => (one.live(facts) > 0.5 ? 1 : 0) })),
  }))
  const { luck, ...rest } = model
  const luckOf = luck === undefined ? {} : { luck: (kept: number) => (luck(kept) > 0.5 ? 1 : 0) }
  return { ...rest, places, noise: { slip: 0, recurrence: 0, correction: 0, wording: 'same' }, ...luckOf }
}

function factCount({ places }: StructuralModel): number {
  const most = places.flatMap(({ writes }) => writes.map(({ fact }) => fact)).reduce((a, b) => Math.max(a, b), -1)
  return most + 1
}
