import type { HarvestError } from '../errors/index.ts'

/** Problems after which an agent counts as trying for ever. */
const complaintLimit = 200

/** The problems of a run, each once. An agent that goes on making them is given up. */
export class ProblemList {
  readonly all: HarvestError[] = []
  readonly #onGivenUp: (error: HarvestError) => void
  #complaints = 0

  constructor(onGivenUp: (error: HarvestError) => void) {
    this.#onGivenUp = onGivenUp
  }

  /** Whether it is a new one. */
  add(error: HarvestError): boolean {
    const isNew = !this.all.some((known) => known.message === error.message)
    if (isNew) this.all.push(error)
    if (++this.#complaints >= complaintLimit) this.#onGivenUp(error)
    return isNew
  }

  /** Notes a problem that ends the run: nothing waits for the agent any more. */
  giveUp(error: HarvestError): void {
    this.add(error)
    this.#onGivenUp(error)
  }
}
