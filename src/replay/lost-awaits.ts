import type { StepState } from '../match/step.ts'
import { isGivenUp } from '../playback/order.ts'
import type { Tape } from '../tape/index.ts'

/** Taken before agents can fake it. */
const { nextTick } = process

/** A step whose recorded answer came before the recorded run ended, and which the replayed agent did not wait for. */
export interface LostAwait {
  readonly step: StepState
  /** The recorded agent did wait: the answer needed the event loop, which it would not have got otherwise. */
  readonly isCertain: boolean
}

/**
 * Notices actions that the agent did not wait for when it returned.
 *
 * An agent that returns in the very turn in which it begins an action waited for nothing since. Had the recorded agent done
 * so, the answer would not be on its tape, unless it came in that turn too: what an in-process function answers at once.
 * What it begins after it returned, such as the rest of a conversation, it waits for even less, answered or not.
 */
export class LostAwaits {
  readonly #tape: Tape
  /** Begun in this turn of the event loop. */
  readonly #fresh = new Set<StepState>()
  readonly #left: StepState[] = []
  hasReturned = false

  constructor(tape: Tape) {
    this.#tape = tape
  }

  begun(step: StepState): void {
    if (this.hasReturned) return void this.#left.push(step)
    this.#fresh.add(step)
    nextTick(() => this.#fresh.delete(step))
  }

  /** The agent returned its value; whoever gets it may still read from it, so that an unread answer is not one of these. */
  returned(): void {
    this.#left.push(...[...this.#fresh].filter((step) => !step.answered))
    this.hasReturned = true
  }

  /** Once the run is over. How an import ended is unknown. */
  get found(): readonly LostAwait[] {
    if (this.#tape.header.imported !== undefined) return []
    return this.#left.flatMap((step) => {
      const end = isGivenUp(step) ? undefined : endOf(step)
      return end === undefined ? [] : [{ step, isCertain: this.#neededLoop(step, end) }]
    })
  }

  /** An answer over the network needs the event loop; a function does when an answer came or a timer fired while it ran. */
  #neededLoop({ event }: StepState, end: number): boolean {
    if (event.kind === 'exchange') return true
    const answers = this.#tape.events.flatMap((other) => (other.kind === 'exchange' ? [other.response?.moment[0]] : []))
    const timers = (this.#tape.close?.timers ?? []).flatMap(([, , , fired]) => fired.flatMap(([, places]) => places))
    return [...answers, ...timers.map(([n]) => n)].some((n) => n !== undefined && n > event.n && n <= end)
  }
}

/** The number of the moment at which a recorded step was answered for good. */
function endOf({ event }: StepState): number | undefined {
  if (event.kind === 'exchange') return event.response?.end?.[0] ?? event.error?.moment[0]
  return event.settled?.[0]
}
