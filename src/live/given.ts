import type { TapeEvent } from '../tape/index.ts'

/** Steps of forks that a tape, a change or a script answered. */
const given = new WeakSet<TapeEvent>()

/** A step of a fork has its answer from a tape, a change or a script: an outage in it is part of what is asked. */
export function noteGiven(event: TapeEvent): void {
  given.add(event)
}

/** Whether a step of a fork has its answer from a tape, a change or a script. */
export function isGiven(event: TapeEvent): boolean {
  return given.has(event)
}
