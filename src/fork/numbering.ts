import type { Moment, TapeEvent } from '../tape/index.ts'

/** Ms by which the virtual clock may be ahead of what the parent does next: its timers fired that much early. */
const slackMs = 50

/**
 * Numbers what happens in a fork. What happens where the parent's tape has it keeps its number and its time; everything
 * else gets fresh ones, which no event of the parent has.
 */
export class EventNumbering {
  readonly #used: ReadonlySet<number>
  #next = 0
  /** Numbers below it are history: something was delivered since. */
  #floor = 0
  #lastAt = 0

  constructor(events: readonly TapeEvent[]) {
    this.#used = new Set(events.map(({ n }) => n))
  }

  /** Whether `moment` of the parent can stand here: it is not behind what was delivered, nor is its time past. */
  isInPlace([n, at]: Moment, now: number): boolean {
    return n >= this.#floor && at >= this.#lastAt && now <= at + slackMs
  }

  /**
   * Takes a moment of the parent at which the agent did something. What it does in one go reaches us in an order of its
   * own (a request goes out later than a call), so the others of that go keep their places.
   */
  did(recorded: Moment): Moment {
    this.#next = Math.max(this.#next, recorded[0] + 1)
    return recorded
  }

  /** Takes a moment of the parent at which the agent got something. */
  got(recorded: Moment): Moment {
    this.#floor = recorded[0] + 1
    this.#next = Math.max(this.#next, this.#floor)
    this.#lastAt = recorded[1]
    return recorded
  }

  fresh(now: number): Moment {
    while (this.#used.has(this.#next)) this.#next++
    const n = this.#next++
    this.#floor = this.#next
    this.#lastAt = Math.max(this.#lastAt, Math.round(now * 1000) / 1000)
    return [n, this.#lastAt]
  }
}
