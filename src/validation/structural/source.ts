import { passed } from '../../blame/curve.ts'
import type { ForkDraw, ForkSource, ForkSpec, Grade } from '../../blame/types.ts'
import { type Mode, recordedFacts, recordedGrade, runModel, type StructuralModel } from './model.ts'
import { randomOf } from './random.ts'

/** US dollars of one model call of a model: a round number, so that budgets can be checked by eye. */
const costPerCall = 0.001

/**
 * Forks of a model, drawn in process.
 *
 * @param seed - another number is another sequence of draws for the same specs
 */
export function structuralSource(model: StructuralModel, seed: number): ForkSource {
  const { places, mutation } = model
  let steps = 0
  const positions = places.map(({ label, isExogenous, isTaped, width = 1 }) => {
    const numbers = Array.from({ length: width }, (_, k) => steps + k + 1)
    steps += width
    return { steps: numbers, label, isExogenous, ...(isTaped === true && { resampled: [] }) }
  })
  const { grading = 0 } = model.noise
  const gradings = randomOf(seed, 'gradings')
  const graded = (grade: Grade, random: () => number): Grade => {
    const isSwapped = grading > 0 && (grade === 'ok' || grade === 'bad') && random() < grading
    return isSwapped ? (grade === 'ok' ? 'bad' : 'ok') : grade
  }
  const recorded = recordedGrade(model)
  const known = { grade: recorded, facts: recordedFacts(model) }
  // What a fork from here on calls when all behind it is resampled.
  const callsFrom = [0]
  for (const { isExogenous, width = 1 } of places.toReversed())
    callsFrom.unshift((callsFrom[0] ?? 0) + (isExogenous ? 0 : width))
  return {
    positions,
    recorded,
    ...(mutation !== undefined && { mutants: (position: number) => mutation.count(position) }),
    repairs: 'the answer the model of the agent knows to be right',
    expect: ({ keep }) => ({ modelCalls: callsFrom[keep] ?? 0, costUsd: (callsFrom[keep] ?? 0) * costPerCall }),
    draw: async (spec) => {
      const draw = drawOf(model, spec, seed, known)
      return { ...draw, grade: graded(draw.grade, randomOf(seed, 'grade', JSON.stringify(spec))) }
    },
    drawAgain: async (position, seedOfRun) => {
      const modeOf = (at: number): Mode => (at >= position ? 'drawn' : 'recorded')
      const random = randomOf(seed, seedOfRun, position)
      const { grade } = runModel({ ...model, noise: { ...model.noise, stray: 0 } }, places.length, modeOf, random)
      return passed(graded(grade, random)) === true ? 'ok' : 'bad'
    },
    ...(grading > 0 && { regrade: async () => graded(recorded, gradings) }),
  }
}

interface Recorded {
  readonly grade: ForkDraw['grade']
  /** After each place, the first entry before all of them. */
  readonly facts: readonly number[]
}

/** One draw: the same for the same model, spec and seed. */
function drawOf(model: StructuralModel, spec: ForkSpec, seed: number, recorded: Recorded): ForkDraw {
  const { keep, pinned = [], repaired = [], mutated } = spec
  const pins = new Set(pinned)
  const repairs = new Set(repaired)
  const modeOf = (place: number): Mode => {
    if (mutated?.position === place) return { mutant: mutated.mutant }
    if (repairs.has(place)) return 'repaired'
    return place < keep || pins.has(place) ? 'recorded' : 'live'
  }
  const isIdentical = mutated !== undefined && model.mutation?.isIdentical === true
  if (repairs.size === 0 && (isIdentical || (mutated === undefined && keep >= model.places.length))) {
    // The next thing that is asked is what the tape holds: the rest of the run is the rest of the tape.
    return { grade: recorded.grade, modelCalls: 0, costUsd: 0, fingerprint: 'as recorded', isInert: true }
  }
  const where = mutated === undefined ? -1 : mutated.position * 1000 + mutated.mutant
  const random = randomOf(seed, spec.seed, keep, where, pins.size, repairs.size, ...repairs)
  // Up to here all is as recorded.
  const place = repairs.size > 0 ? 0 : Math.min(keep, mutated?.position ?? keep)
  const start = { place, facts: recorded.facts[place] ?? 0 }
  const { grade, modelCalls, fingerprint } = runModel(model, keep, modeOf, random, start)
  return { grade, modelCalls, costUsd: modelCalls * costPerCall, fingerprint }
}
