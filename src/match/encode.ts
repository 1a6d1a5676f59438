import { cappedValue, redactedValue, type Redactor } from '../privacy/index.ts'
import { encodeFor, type Json, type Tape, valueWindow } from '../tape/index.ts'

/** A value of a run that follows a tape, as the recorder of that would have written it: cut where it cut. */
export function encodeOn(tape: Tape, value: unknown, redactor: Redactor): Json {
  const json = encodeFor(tape.header.flags, value)
  const window = valueWindow(tape)
  return window === undefined ? redactor.json(json) : redactedValue(cappedValue(json, window), redactor)
}
