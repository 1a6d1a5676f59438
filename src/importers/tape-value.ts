import { decodeValue, encodeValue, type Json } from '../tape/index.ts'

/** A value as it stands on a tape: an export of ours tells it so, marks of dates, maps and the like included. */
export class TapeValue {
  readonly json: Json

  constructor(json: Json) {
    this.json = json
  }
}

/** A value of a foreign recording as a tape has it. */
export function onTape(value: unknown): Json {
  return value instanceof TapeValue ? value.json : encodeValue(value)
}

/** An error of which nothing but the message is known. */
export function errorOf(message: string): TapeValue {
  return new TapeValue({ $type: 'error', class: 'Error', name: 'Error', message })
}

/**
 * A JSON value that is to be in the form tapes have.
 *
 * @returns `undefined` when a mark in it makes no sense: a reader of the tape would stop at it
 */
export function tapeValueOf(json: Json): TapeValue | undefined {
  try {
    decodeValue(json)
    return new TapeValue(json)
  } catch {
    // Changed on the way, or written by someone else: what else tells of the value has to do.
    return undefined
  }
}
