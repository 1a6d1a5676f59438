import type { PushEvent, Tape } from '../tape/index.ts'
import { endOf } from '../playback/order.ts'
import type { CallState, StepState } from '../match/step.ts'
import { type ChildFrame, type LostAwait, LostAwaits, type LostFrames, type Standing } from './lost-awaits.ts'

/** Notices actions that the code of recorded calls began and did not wait for when it ended, as {@link LostAwaits} does for an agent. */
export class BodyAwaits {
  readonly #tape: Tape
  readonly #children: readonly ChildFrame[]
  /** By the number of the recorded call. */
  readonly #running = new Map<number, LostAwaits>()
  readonly #told = new Set<StepState | PushEvent>()

  /** @param children - all that children said by themselves, in order */
  constructor(tape: Tape, children: readonly ChildFrame[]) {
    this.#tape = tape
    this.#children = children
  }

  runs({ event }: CallState): void {
    this.#running.set(
      event.n,
      new LostAwaits(
        this.#tape,
        this.#children.filter((one) => one.event.in === event.n),
      ),
    )
  }

  /** A step was begun: it is the code's in which it was recorded. */
  begun(step: StepState): void {
    if (step.event.in !== undefined) this.#running.get(step.event.in)?.begun(step)
  }

  ended({ event }: CallState, standing: Standing): void {
    this.#running.get(event.n)?.returned(standing)
  }

  /** What code that ended, and was given time to begin all it does, did not wait for, and did when recorded. */
  found({ event }: CallState): { readonly steps: readonly LostAwait[]; readonly frames: readonly LostFrames[] } {
    const { found = [], foundFrames = [] } = this.#running.get(event.n) ?? {}
    this.#running.delete(event.n)
    const [settledN = 0] = event.settled ?? []
    const steps = found.filter(({ step }) => (endOf(step)?.[0] ?? Number.POSITIVE_INFINITY) < settledN)
    for (const { step } of steps) this.#told.add(step)
    const frames = foundFrames.filter(({ frames: [first] }) => first.n < settledN)
    for (const { frames: of } of frames) for (const one of of) this.#told.add(one)
    return { steps, frames }
  }

  /** Whether it was said of the code that began it. */
  isTold(one: StepState | PushEvent): boolean {
    return this.#told.has(one)
  }
}
