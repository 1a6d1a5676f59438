import { cappedValue, redactedValue, type Redactor } from '../privacy/index.ts'
import { cutsOfEvent, encodeFor, type Json, type Tape } from '../tape/index.ts'

/** A value of a run that follows a tape, as the recorder of that would have written it: cut where it cut. */
export function encodeOn(tape: Tape, value: unknown, redactor: Redactor): Json {
  const json = encodeFor(tape.header.flags, value)
  const window = valueWindow(tape)
  return window === undefined ? redactor.json(json) : redactedValue(cappedValue(json, window), redactor)
}

/** How much was kept of either end of the values of a tape that were cut; `undefined` where all are whole. */
function valueWindow(tape: Pick<Tape, 'events'>): number | undefined {
  let window = windows.get(tape)
  if (window === undefined) {
    const found = tape.events.find((event) => event.kind !== 'exchange' && cutsOfEvent(event).length > 0)
    windows.set(tape, (window = { of: found && cutsOfEvent(found)[0]?.window }))
  }
  return window.of
}

const windows = new WeakMap<object, { readonly of: number | undefined }>()
