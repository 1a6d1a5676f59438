import type { Grade } from '../../blame/types.ts'
import type { Random } from './random.ts'

/**
 * A model of an agent whose causes are known: steps write facts, and a rule over the facts at the end says whether the
 * run failed. Facts are bits of one number, so that every chance can be computed instead of estimated.
 */
export interface StructuralModel {
  readonly places: readonly ModelPosition[]
  readonly noise: Noise
  /** Whether a run that ends with these facts failed. */
  fails(facts: number): boolean
  /** What a failure by the facts is. Default `bad`. */
  readonly failsAs?: Grade
  /** Chance in [0, 1] that a run with these many kept places ends well when no fact is against it. Default 1. */
  luck?(kept: number): number
  /** What mutations of a place do; absent: the model has none. */
  readonly mutation?: Mutation
}

/** One place at which the model can be resampled. */
export interface ModelPosition {
  readonly label: string
  readonly isExogenous: boolean
  /** Steps that are under way at the same time here. Default one. */
  readonly width?: number
  /** It answers from the tape, kept or not. */
  readonly isTaped?: true
  /** What it writes the agent's own code draws, before the question is asked: the answer itself decides nothing. */
  readonly isDrawn?: true
  readonly writes: readonly Write[]
}

/** What a place does to one fact. */
export interface Write {
  /** Number of the bit. */
  readonly fact: number
  /** In the recorded run. */
  readonly recorded: boolean
  /** Chance that the bit is set when the place is resampled, by the facts before it. */
  live(facts: number): number
  /** With a good answer. Default unset. */
  readonly repaired?: boolean
  /** The agent's own code draws it, before the question is asked. */
  readonly isDrawn?: true
}

/** How an agent differs from itself. All are chances per step that is resampled. */
export interface Noise {
  /** It makes a fatal mistake of its own. */
  readonly slip: number
  /** It repeats its recorded mistake. */
  readonly recurrence: number
  /** It finds what is wrong so far and corrects it. */
  readonly correction: number
  /** A fork leaves its tape before it is free to, so that nothing can be said of it. Per fork. Default 0. */
  readonly stray?: number
  /** Who grades says the contrary. Per grade. Default 0. */
  readonly grading?: number
  /** `varies`: it never says the same words twice. `same`: what differs are mistakes alone, and two runs may look equal. */
  readonly wording: 'varies' | 'same'
}

/** An agent that does the same each time. */
export const noNoise: Noise = { slip: 0, recurrence: 0, correction: 0, wording: 'same' }

export interface Mutation {
  /** How many distinct mutants a place has. */
  count(place: number): number
  /** Facts, as bits, that a mutant sets. */
  raises(place: number, mutant: number): number
  /** The mutated answer is the recorded one, byte for byte. */
  readonly isIdentical?: true
}

/** How one place answers in a run. `drawn`: as recorded, and what its code draws before the question is resampled. */
export type Mode = 'recorded' | 'live' | 'drawn' | 'repaired' | { readonly mutant: number }

export interface ModelRun {
  readonly grade: Grade
  /** Model calls that were resampled. */
  readonly modelCalls: number
  /** All that the places from `from` on did. */
  readonly fingerprint: string
}

/** Bit of the fact that a step slipped. The other facts lie below it. */
const slipped = 1 << 20

/**
 * Runs the model once.
 *
 * @param kept - places at the beginning that were kept: their part is in no fingerprint, and luck depends on them
 * @param start - the run up to some place with all of it as recorded, so that it need not be run. Default from the beginning
 */
export function runModel(
  model: StructuralModel,
  kept: number,
  modeOf: (place: number) => Mode,
  random: Random,
  start: { readonly place: number; readonly facts: number } = { place: 0, facts: 0 },
): ModelRun {
  const { places, noise } = model
  if (noise.stray !== undefined && random() < noise.stray)
    return { grade: 'undefined', modelCalls: 0, fingerprint: 'left its tape' }
  let { facts } = start
  let modelCalls = 0
  let told = 0x811c9dc5
  const tell = (what: number): void => {
    told = Math.imul(told ^ what, 0x01000193) ^ (told >>> 15)
  }
  for (let at = start.place; at < places.length; at++) {
    const place = places[at]
    if (place === undefined) break
    const asked = modeOf(at)
    const mode = asked === 'live' && place.isTaped === true ? 'recorded' : asked
    facts = write(model, place, at, facts, mode, random)
    if (mode === 'live') {
      if (!place.isExogenous) modelCalls += place.width ?? 1
      // Slips strike with their chance at every step resampled, whoever answers it.
      if (noise.slip > 0 && random() < noise.slip) facts |= slipped
      if (noise.correction > 0 && random() < noise.correction) facts &= slipped
      if (noise.wording === 'varies') tell(Math.floor(random() * 0x7fffffff))
    }
    if (at >= kept) tell(facts + 1)
  }
  const luck = model.luck?.(kept) ?? 1
  const isUnlucky = luck < 1 && random() >= luck
  tell(isUnlucky ? 2 : 3)
  const hasSlipped = (facts & slipped) !== 0
  const failed = model.fails(facts & ~slipped)
  const grade = failed ? (model.failsAs ?? 'bad') : hasSlipped || isUnlucky ? 'bad' : 'ok'
  return { grade, modelCalls, fingerprint: (told >>> 0).toString(36) }
}

/** Facts after each place of the recorded run; the first entry is before all of them. */
export function recordedFacts(model: StructuralModel): readonly number[] {
  const all = [0]
  for (const { writes } of model.places)
    all.push(writes.reduce((facts, { fact, recorded }) => setFact(facts, fact, recorded), all.at(-1) ?? 0))
  return all
}

/** How the recorded run ended. */
export function recordedGrade(model: StructuralModel): Grade {
  const failed = model.fails(recordedFacts(model).at(-1) ?? 0)
  if (failed) return model.failsAs ?? 'bad'
  return (model.luck?.(model.places.length) ?? 1) < 1 ? 'bad' : 'ok'
}

export function setFact(facts: number, fact: number, value: boolean): number {
  return value ? facts | (1 << fact) : facts & ~(1 << fact)
}

export function hasFact(facts: number, fact: number): boolean {
  return (facts & (1 << fact)) !== 0
}

function write(
  model: StructuralModel,
  place: ModelPosition,
  at: number,
  facts: number,
  mode: Mode,
  random: Random,
): number {
  let after = facts
  for (const one of place.writes) {
    const value =
      mode === 'live' || (mode === 'drawn' && (place.isDrawn ?? one.isDrawn) === true)
        ? isDrawn(one.live(after), random)
        : mode === 'repaired'
          ? (one.repaired ?? false)
          : one.recorded
    after = setFact(after, one.fact, value)
  }
  if (typeof mode === 'object') after |= model.mutation?.raises(at, mode.mutant) ?? 0
  return after
}

/** A sure thing draws no number: that keeps runs that differ elsewhere comparable. */
function isDrawn(chance: number, random: Random): boolean {
  return chance >= 1 || (chance > 0 && random() < chance)
}
