/** Taken before agents can replace it. Settled: what follows it happens in the next turn. */
const settled = Promise.resolve()

/** Turns counted at most: a client of a model takes some dozens between a call of it and its request. */
const most = 256

/**
 * Counts the turns of the microtask queue from its making, as long as nothing but promises is resolved: how far two things
 * are apart that happen in one go. The same code takes the same number of turns each time.
 */
export class TurnCount {
  #turns = 0
  readonly #next = (): void => {
    this.#turns++
    if (this.#turns < most) void settled.then(this.#next)
  }

  constructor() {
    void settled.then(this.#next)
  }

  /** `undefined` once there were more than are counted. */
  get turns(): number | undefined {
    return this.#turns < most ? this.#turns : undefined
  }
}
