import type { Grade } from '../../blame/types.ts'
import {
  hasFact,
  setFact,
  type Mutation,
  type Noise,
  type ModelPosition,
  type StructuralModel,
  type Write,
} from './model.ts'
import { distinct, integer, type Random } from './random.ts'

/** A model with what was planted in it. */
export interface Planted {
  readonly model: StructuralModel
  /** Places of the planted causes. */
  readonly causes: readonly number[]
  /** Places that differ and do not matter. */
  readonly decoys: readonly number[]
  /** Places whose mutated answers flip the outcome. */
  readonly flips: readonly number[]
  /** Name of the agent of each place. */
  readonly agents: readonly string[]
}

/** How many places answer from outside: as many as one would look at by hand. */
const usualOutside = 12

/** A model in the making. */
export interface Sketch {
  readonly length: number
  readonly random: Random
  readonly noise: Noise
  /** A cause at a place: its fact is set in the recorded run, and when resampled with a chance, the noise's by default. */
  cause(at: number, options?: { readonly inside?: boolean; readonly recurs?: number }): number
  /** A fact that is there when all is well, and is missing in the recorded run. */
  absence(at: number): number
  /** A fact that would be a cause, had it come about: unset in every run. */
  absentCause(at: number): number
  /** A fact that follows from others, at a place of the model. */
  follows(at: number, from: (facts: number) => boolean, options?: { readonly outside?: boolean }): number
  /** The place undoes a fact in the recorded run, and when resampled with this chance. */
  undoes(at: number, fact: number, chance: number): void
  /** Places that write facts that are not read. */
  decoys(count: number): void
  /** This many steps are under way at the same time here. */
  block(at: number, width: number): void
  /** A random place that nothing was put at yet, from `low` on and below `high`. */
  free(low: number, high: number): number
  /** A random place behind all of these that nothing was put at yet; `undefined` without one. */
  behind(...places: readonly number[]): number | undefined
  finish(ending: SketchEnding): Planted
}

export interface SketchEnding {
  fails(facts: number): boolean
  readonly failsAs?: Grade
  luck?(kept: number): number
  readonly mutation?: Mutation
  /** Places whose mutated answers flip the outcome. Default none. */
  readonly flips?: readonly number[]
  /** How many agents take turns, in stretches. Default 1. */
  readonly agents?: number
}

export function sketch(length: number, random: Random, noise: Noise): Sketch {
  const writes = new Map<number, Draft[]>()
  const outside = new Set<number>()
  const inside = new Set<number>()
  const widths = new Map<number, number>()
  const causes: number[] = []
  const decoys: number[] = []
  let decoyFact: number | undefined
  let facts = 0
  const add = (at: number, one: Omit<Draft, 'fact'>, fact = facts++): number => {
    writes.set(at, [...(writes.get(at) ?? []), { fact, ...one }])
    return fact
  }
  const isFree = (at: number): boolean => !writes.has(at)
  const free = (low: number, high: number): number => {
    const open = Array.from({ length: Math.max(0, high - low) }, (_, k) => low + k).filter(isFree)
    const at = open[integer(random, 0, open.length)]
    if (at === undefined) throw new RangeError(`sketch: nothing is free in [${low}, ${high}) of ${length} places`)
    return at
  }
  return {
    length,
    random,
    noise,
    cause(at, options = {}) {
      causes.push(at)
      if (options.inside === true) inside.add(at)
      else outside.add(at)
      return add(at, { recorded: true, live: () => options.recurs ?? noise.recurrence })
    },
    absence(at) {
      causes.push(at)
      outside.add(at)
      return add(at, { recorded: false, live: () => 1 - noise.recurrence, repaired: true })
    },
    absentCause(at) {
      outside.add(at)
      return add(at, { recorded: false, live: () => 0 })
    },
    follows(at, from, options = {}) {
      if (options.outside === true) outside.add(at)
      else inside.add(at)
      return add(at, { recorded: 'follows', live: (now) => (from(now) ? 1 : 0) })
    },
    undoes(at, fact, chance) {
      inside.add(at)
      add(at, { recorded: false, live: (now) => (hasFact(now, fact) ? 1 - chance : 0) }, fact)
    },
    decoys(count) {
      for (let k = 0; k < count; k++) {
        const at = free(0, length)
        decoys.push(at)
        outside.add(at)
        // One fact for all of them: it shows in what was said, and no rule reads it.
        decoyFact = add(at, { recorded: true, live: () => noise.recurrence }, decoyFact)
      }
    },
    block: (at, width) => void widths.set(at, width),
    free,
    behind(...places) {
      const low = Math.max(...places) + 1
      const open = Array.from({ length: Math.max(0, length - low) }, (_, k) => low + k).filter(isFree)
      return open[integer(random, 0, open.length)]
    },
    finish({ agents = 1, flips = [], ...ending }) {
      fillOutside()
      const names = agentNames(length, agents, random)
      const recorded = recordedWrites(length, writes)
      const places = Array.from({ length }, (_, at): ModelPosition => {
        const width = widths.get(at)
        const isExogenous = outside.has(at)
        return {
          label: `${names[at] ?? ''}: ${isExogenous ? 'look up' : 'decide'} ${at + 1}`,
          isExogenous,
          ...(width !== undefined && { width }),
          writes: recorded[at] ?? [],
        }
      })
      return {
        model: { places, noise, ...ending },
        causes: causes.toSorted((a, b) => a - b),
        decoys,
        flips,
        agents: names,
      }
    },
  }

  /** More places that answer from outside, until there are as many as usual. */
  function fillOutside(): void {
    const wanted = Math.min(usualOutside, Math.floor(length / 2))
    const open = Array.from({ length }, (_, at) => at).filter((at) => !inside.has(at) && !outside.has(at))
    while (outside.size < wanted && open.length > 0) {
      const [at] = open.splice(integer(random, 0, open.length), 1)
      if (at !== undefined) outside.add(at)
    }
  }
}

/** A write whose recorded value may follow from the facts before it. */
interface Draft extends Omit<Write, 'recorded'> {
  readonly recorded: boolean | 'follows'
}

function recordedWrites(length: number, drafts: ReadonlyMap<number, readonly Draft[]>): readonly (readonly Write[])[] {
  let facts = 0
  return Array.from({ length }, (_, at) =>
    (drafts.get(at) ?? []).map((one) => {
      const recorded = one.recorded === 'follows' ? one.live(facts) >= 1 : one.recorded
      facts = setFact(facts, one.fact, recorded)
      return { ...one, recorded }
    }),
  )
}

/** Agents take turns in stretches of random length. */
function agentNames(length: number, agents: number, random: Random): readonly string[] {
  const ends = agents < 2 ? [] : distinct(random, agents - 1, 1, length)
  return Array.from({ length }, (_, at) => `agent ${String.fromCharCode(65 + ends.filter((end) => end <= at).length)}`)
}
