import { type ForkChange, type ForkPlan, patchTape } from '../fork/index.ts'
import { type Budget } from '../live/index.ts'
import { parseTape, stepsOf, type Tape } from '../tape/index.ts'
import type { ReferenceRun } from './reference-run.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { decisionOf, type PlacedPosition } from './positions.ts'
import type { ForkSpec, RunLayer } from './types.ts'

/** What the plans of all forks of a run have in common. */
export interface PlanOptions {
  readonly positions: readonly PlacedPosition[]
  readonly tools: 'tape' | 'live'
  readonly reference: ReferenceRun | undefined
  readonly budget: Budget
  /** Another clock and order of answers, for the layer `timing`. */
  timing?(seed: number): Pick<ForkPlan, 'changes' | 'clockOffsetMs'>
}

/** Says what blame asks for, in positions, as what a fork is asked for, in steps. */
export interface Planner {
  /** @throws RangeError for a mutant that does not exist */
  planOf(spec: ForkSpec): ForkPlan
  /** The distinct mutants of a position. */
  mutantsAt(position: number): readonly Mutant[]
}

/**
 * Plans the forks of a run.
 *
 * - repaired: with a reference run, its answer; without one the step is asked again
 * - pinned, and the other steps of a block of which only some are resampled: as recorded, where the same is asked; what
 *   a model decided there, no matter what it is asked at its place
 */
export function createPlanner(tape: Tape, options: PlanOptions): Planner {
  const { positions, tools, reference, budget } = options
  const steps = stepsOf(tape)
  const known = new Map<number, readonly Mutant[]>()
  const mutantsAt = (position: number): readonly Mutant[] => {
    const found =
      known.get(position) ??
      (positions[position]?.steps ?? []).flatMap((number) => {
        const step = steps[number - 1]
        return step === undefined ? [] : mutantsOf(step, number)
      })
    known.set(position, found)
    return found
  }
  const stepsAt = (list: readonly number[]): readonly number[] =>
    list.flatMap((position) => positions[position]?.all ?? [])
  // What happens inside a tool call does not happen where that is as recorded.
  const decidedAt = (list: readonly number[]): readonly number[] =>
    list
      .flatMap((position) => positions[position]?.steps ?? [])
      .filter((number) => {
        const step = steps[number - 1]
        return step !== undefined && decisionOf(step) !== undefined
      })

  return {
    mutantsAt,
    planOf({ keep, mutated, pinned = [], repaired = [], only, layers, seed }) {
      if (layers !== undefined) return planOfLayers(layers, seed, options)
      const mutant = mutated === undefined ? undefined : mutantsAt(mutated.position)[mutated.mutant]
      if (mutated !== undefined && mutant === undefined)
        throw new RangeError(`position ${mutated.position} has no mutant ${mutated.mutant}`)
      const changes = [
        ...(mutant === undefined ? [] : [mutation(tape, mutant)]),
        ...(reference === undefined ? [] : stepsAt(repaired).flatMap((step) => repair(reference, step))),
      ]
      const held = only === undefined ? [] : stepsAt([keep]).filter((step) => !only.includes(step))
      const modes = Object.fromEntries([
        ...[...stepsAt(pinned), ...held].map((step) => [step, 'replayed'] as const),
        ...decidedAt(pinned).map((step) => [step, 'held'] as const),
        ...(reference === undefined ? stepsAt(repaired) : []).map((step) => [step, 'live'] as const),
      ])
      return {
        keep: positions.slice(0, keep).reduce((count, { all }) => count + all.length, 0),
        ...(changes.length === 0 ? {} : { changes }),
        ...(Object.keys(modes).length === 0 ? {} : { modes }),
        tail: { from: 'live', tools, budget },
        seed: `${seed}`,
      }
    },
  }
}

/**
 * Reads are as recorded in each of them: chance is not a layer. Where tools may be asked at all, a call that was not recorded
 * an answer to is made: a run that goes well does other things than the recorded one.
 */
function planOfLayers(layers: readonly RunLayer[], seed: number, { tools, budget, timing }: PlanOptions): ForkPlan {
  const changed = layers.includes('timing') ? timing?.(seed) : undefined
  const free = { keep: 0, chance: 'recorded', seed: `${seed}`, ...changed } as const
  // Where tools answer otherwise, its question to a model has their answers: that decision is held. All else was not recorded.
  const models = layers.includes('model') ? 'live' : layers.includes('tools') ? 'tape' : 'recorded'
  if (models === 'recorded' && tools === 'tape') return { ...free, tail: { from: 'tape' } }
  const others = layers.includes('tools') ? 'live' : tools === 'live' ? 'unrecorded' : 'tape'
  return { ...free, tail: { from: 'live', tools: others, models, budget } }
}

function mutation(tape: Tape, mutant: Mutant): ForkChange {
  if (mutant.kind === 'decision') return { step: mutant.step, decide: mutant.decision }
  const { step } = mutant.patch
  const other = stepsOf(parseTape(patchTape(tape, [mutant.patch]).text, tape.source))[step - 1]
  return { step, rewrite: (recorded) => other ?? recorded, always: true }
}

function repair(reference: ReferenceRun, step: number): readonly ForkChange[] {
  const good = reference.answerFor(step)
  return good === undefined ? [] : [{ step, rewrite: (recorded) => good(recorded), always: true }]
}
