import { createRedactor, type Redactor, redactorOfTape } from '../privacy/index.ts'
import type { Tape } from '../tape/index.ts'

/**
 * Redacts what is said of a run and stands on no tape. Its numbers are its own: those of a replay follow from what is on the
 * tape, and would be others for each text more.
 */
export function redactorForMessages(tape?: Tape): (text: string) => string {
  let redactor: Redactor | undefined
  return (text) => {
    redactor ??= tape === undefined ? createRedactor() : redactorOfTape(tape)
    return redactor.text(text)
  }
}

/** What code of the user's threw, in words of a message: `TypeError: no total`. */
export function thrownText(thrown: unknown, tape?: Tape): string {
  return redactorForMessages(tape)(thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown))
}
