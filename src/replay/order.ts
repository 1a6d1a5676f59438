import type { Moment } from '../tape/index.ts'
import type { CallState, ExchangeState, StepState } from './step.ts'

/**
 * Watches that what waited for an answer when recorded still waits for it. Model calls are what dependence runs
 * through: a step recorded after a model call was answered may not be made before, and a model call may not be made
 * before the steps it was recorded after. Steps between two model calls may change places.
 */
export class Order {
  /** By the moment their answer was complete; the front is the earliest one not yet answered. */
  readonly #models: Pending
  readonly #all: Pending

  constructor(steps: readonly (ExchangeState | CallState)[]) {
    const answered = steps.filter((step) => endOf(step) !== undefined && !isAborted(step))
    this.#models = new Pending(answered.filter(isTurn))
    this.#all = new Pending(answered)
  }

  /** The step that should have been answered before `step` is made, if there is one. */
  violation(step: StepState): StepState | undefined {
    const earliest = (isTurn(step) ? this.#all : this.#models).earliest(step)
    return earliest && (endOf(earliest)?.[0] ?? Number.POSITIVE_INFINITY) < step.event.n ? earliest : undefined
  }
}

class Pending {
  readonly #steps: readonly StepState[]
  #next = 0

  constructor(steps: readonly StepState[]) {
    this.#steps = [...steps].sort((a, b) => (endOf(a)?.[0] ?? 0) - (endOf(b)?.[0] ?? 0))
  }

  earliest(other: StepState): StepState | undefined {
    while (this.#steps[this.#next]?.answered) this.#next++
    const first = this.#steps[this.#next]
    return first === other ? undefined : first
  }
}

function isTurn(step: StepState): boolean {
  const { model } = step as Partial<ExchangeState>
  return model !== undefined && model.dialect !== 'openai-embeddings'
}

function isAborted(step: StepState): boolean {
  return step.event.kind === 'exchange' && step.event.aborted !== undefined
}

function endOf({ event }: StepState): Moment | undefined {
  return event.kind === 'exchange' ? (event.response?.end ?? event.error?.moment) : event.settled
}
