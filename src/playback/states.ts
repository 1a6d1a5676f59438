import type { StateEvent, Tape } from '../tape/index.ts'

/** A call of `state` in a run that follows a tape. */
export interface StateCall {
  /** Its number among those of its name inside the same tool call, from 1. */
  readonly call: number
  /** Whether it leaves a snapshot: those that left one when recorded do, and all that was not thinned. */
  readonly isKept: boolean
  /** The recorded snapshot. */
  readonly expected?: StateEvent
}

/** Snapshots of a tape, by the calls that left them: the tape decides which calls leave one, and no clock. */
export class RecordedStates {
  readonly #recorded = new Map<string, Map<number, StateEvent>>()
  readonly #thinned = new Set<string>()
  readonly #calls = new Map<string, number>()

  constructor({ events }: Tape) {
    for (const event of events) {
      if (event.kind !== 'state') continue
      const key = keyOf(event.name, event.in)
      const list = this.#recorded.get(key) ?? new Map<number, StateEvent>()
      this.#recorded.set(key, list.set(event.call, event))
      if (event.thinned === true) this.#thinned.add(key)
    }
  }

  get all(): readonly StateEvent[] {
    return [...this.#recorded.values()].flatMap((list) => [...list.values()])
  }

  /** @param body - the recorded tool call inside of which it is made */
  called(name: string, body: number | undefined): StateCall {
    const key = keyOf(name, body)
    const call = (this.#calls.get(key) ?? 0) + 1
    this.#calls.set(key, call)
    const expected = this.#recorded.get(key)?.get(call)
    const isKept = expected !== undefined || !this.#thinned.has(key)
    return { call, isKept, ...(expected === undefined ? {} : { expected }) }
  }
}

function keyOf(name: string, body: number | undefined): string {
  return JSON.stringify([body ?? null, name])
}
