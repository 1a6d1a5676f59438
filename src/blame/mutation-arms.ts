import { clopperPearson } from '../stats/clopper-pearson.ts'
import type { MutatedPosition } from './mutation-verdict.ts'
import type { ForkDraw, ForkSource } from './types.ts'
import { wilson } from '../stats/wilson.ts'

/** How often a position flips the outcome beyond its control, as far as explored. */
export interface Rank {
  readonly position: number
  readonly mean: number
  readonly lower: number
  readonly upper: number
  /** It has mutants left to try. */
  readonly isOpen: boolean
}

/** What is known of the mutants of every position, each mutant counted once. */
export class MutationArms {
  readonly positions: readonly number[]
  forks = 0
  readonly #arms = new Map<number, MutantArm>()
  readonly #controls = new Map<number, { flips: number; forks: number }>()

  constructor(source: ForkSource, positions: readonly number[]) {
    this.positions = positions
    for (const position of positions) this.#arms.set(position, new MutantArm(source.mutants?.(position) ?? 0))
  }

  /** The number of the next mutant of a position: one not tried yet, then all of them in turn. */
  next(position: number): number {
    return this.#at(position).next()
  }

  /** @param isFlip - `undefined` when the fork tells nothing */
  add(position: number, mutant: number, draw: ForkDraw, isFlip: boolean | undefined): void {
    this.forks++
    this.#at(position).add(mutant, draw, isFlip)
  }

  addControl(position: number, isFlip: boolean): void {
    const control = this.#controls.get(position) ?? { flips: 0, forks: 0 }
    control.forks++
    control.flips += Number(isFlip)
    this.#controls.set(position, control)
  }

  /** Positions at which no fork was graded. */
  get lost(): number[] {
    return this.positions.filter((position) => this.#at(position).undefined > 0)
  }

  /** The foremost first. */
  ranked(delta: number): Rank[] {
    const beta = Math.log((Math.log(Math.max(2, this.forks)) + 1) / delta)
    const noiseAt = this.#noises()
    // Most positions have come to the same few counts.
    const edges = new Map<string, { readonly lower: number; readonly upper: number }>()
    const edgesOf = (mean: number, count: number): { readonly lower: number; readonly upper: number } => {
      const key = `${mean} of ${count}`
      const known = edges.get(key)
      if (known !== undefined) return known
      const made = { lower: klEdge(mean, count, beta, 0), upper: klEdge(mean, count, beta, 1) }
      edges.set(key, made)
      return made
    }
    return this.positions
      .map((position) => {
        const { count, flips, isOpen } = this.#at(position)
        const noise = noiseAt(position)
        const mean = count === 0 ? 0 : flips / count
        const { lower, upper } = count === 0 ? { lower: 0, upper: 1 } : edgesOf(mean, count)
        // Of what the noise leaves to flip: else every position with a quiet tail would be tried before the noisy ones.
        const beyond = (rate: number): number => (rate - noise) / Math.max(0.01, 1 - noise)
        return {
          position,
          // As if two more mutants had done nothing: one flip of one would lead before thirty of forty.
          mean: beyond((flips + 2 * noise) / (count + 2)),
          lower: beyond(lower),
          upper: beyond(count === 0 || isOpen ? upper : mean),
          isOpen,
        }
      })
      .toSorted((a, b) => b.mean - a.mean || a.position - b.position)
  }

  summary(isDeterministic: boolean): MutatedPosition[] {
    return this.positions.map((position) => {
      const arm = this.#at(position)
      const { count, flips, inert, mutants } = arm
      const all = arm.graded + arm.undefined
      // A mutant tried several times has a rate of its own; rounded, it counts as one flip or none.
      const hits = Math.min(count, Math.round(flips))
      const isSampled = count > inert && !isDeterministic
      return {
        position,
        mutants,
        tried: count,
        inert,
        forks: all,
        ...(count === 0 ? {} : { rate: flips / count }),
        ...(isSampled
          ? { display: wilson(hits, count), simultaneous: clopperPearson(hits, count, 0.05 / this.positions.length) }
          : {}),
        undefinedRate: all === 0 ? 0 : arm.undefined / all,
      }
    })
  }

  /**
   * The flip-rate of the controls, those nearby above all: what lies behind a position is resampled in both, so the rate
   * changes little from one position to the next.
   */
  #noises(): (position: number) => number {
    const reach = Math.max(1, this.positions.length / 8)
    let flips = 0
    let forks = 0
    for (const control of this.#controls.values()) {
      flips += control.flips
      forks += control.forks
    }
    if (forks === 0) return () => 0
    return (position) => {
      // All controls together weigh as much as one at the position itself.
      let near = flips / forks
      let weight = 1
      for (const [at, control] of this.#controls) {
        const closeness = Math.exp(-0.5 * ((at - position) / reach) ** 2)
        near += closeness * control.flips
        weight += closeness * control.forks
      }
      return near / weight
    }
  }

  #at(position: number): MutantArm {
    const arm = this.#arms.get(position)
    if (arm === undefined) throw new RangeError(`MutationArms: position ${position} has no mutants`)
    return arm
  }
}

class MutantArm {
  readonly mutants: number
  graded = 0
  undefined = 0
  #next = 0
  readonly #seen = new Map<number, { flips: number; forks: number; inert: number }>()

  constructor(mutants: number) {
    this.mutants = mutants
  }

  next(): number {
    return this.#next++ % this.mutants
  }

  add(mutant: number, draw: ForkDraw, isFlip: boolean | undefined): void {
    if (isFlip === undefined) {
      this.undefined++
      return
    }
    this.graded++
    const one = this.#seen.get(mutant) ?? { flips: 0, forks: 0, inert: 0 }
    one.forks++
    // Inert forks stay in the denominator: to leave them out would count those alone in which the tail did something.
    if (draw.isInert === true) one.inert++
    else one.flips += Number(isFlip)
    this.#seen.set(mutant, one)
  }

  /** Distinct mutants that were tried. */
  get count(): number {
    return this.#seen.size
  }

  /** Mutants after which nothing else was ever asked than recorded: exactly no effect. */
  get inert(): number {
    let count = 0
    for (const { forks, inert } of this.#seen.values()) count += Number(forks === inert)
    return count
  }

  /** The sum of the mutants' flip-rates. */
  get flips(): number {
    let sum = 0
    for (const { flips, forks } of this.#seen.values()) sum += flips / forks
    return sum
  }

  /** Few mutants are tried a second time, against the noise of the tail; more copies tell nothing about the position. */
  get isOpen(): boolean {
    return this.graded + this.undefined < Math.max(this.mutants, 4) && this.inert < this.mutants
  }
}

/** The rate above (towards 1) or below (towards 0) the mean that so many forks just do not exclude. */
function klEdge(mean: number, forks: number, beta: number, towards: 0 | 1): number {
  let inside = mean
  let outside: number = towards
  for (let i = 0; i < 30; i++) {
    const middle = (inside + outside) / 2
    if (forks * divergence(mean, middle) > beta) outside = middle
    else inside = middle
  }
  return inside
}

/** Kullback and Leibler's divergence of two rates, in nats. */
function divergence(p: number, q: number): number {
  return (p > 0 ? p * Math.log(p / q) : 0) + (p < 1 ? (1 - p) * Math.log((1 - p) / (1 - q)) : 0)
}
