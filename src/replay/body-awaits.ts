import type { Tape } from '../tape/index.ts'
import { endOf } from '../playback/order.ts'
import type { CallState, StepState } from '../match/step.ts'
import { type LostAwait, LostAwaits, type Standing } from './lost-awaits.ts'

/** Notices actions that the code of recorded calls began and did not wait for when it ended, as {@link LostAwaits} does for an agent. */
export class BodyAwaits {
  readonly #tape: Tape
  /** By the number of the recorded call. */
  readonly #running = new Map<number, LostAwaits>()
  readonly #told = new Set<StepState>()

  constructor(tape: Tape) {
    this.#tape = tape
  }

  runs({ event }: CallState): void {
    this.#running.set(event.n, new LostAwaits(this.#tape))
  }

  /** A step was begun: it is the code's in which it was recorded. */
  begun(step: StepState): void {
    if (step.event.in !== undefined) this.#running.get(step.event.in)?.begun(step)
  }

  ended({ event }: CallState, standing: Standing): void {
    this.#running.get(event.n)?.returned(standing)
  }

  /** What code that ended, and was given time to begin all it does, did not wait for, and did when recorded. */
  found({ event }: CallState): readonly LostAwait[] {
    const found = this.#running.get(event.n)?.found ?? []
    this.#running.delete(event.n)
    const [settledN = 0] = event.settled ?? []
    const own = found.filter(({ step }) => (endOf(step)?.[0] ?? Number.POSITIVE_INFINITY) < settledN)
    for (const { step } of own) this.#told.add(step)
    return own
  }

  /** Whether it was said of the code that began it. */
  isTold(step: StepState): boolean {
    return this.#told.has(step)
  }
}
