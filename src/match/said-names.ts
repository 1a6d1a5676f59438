import type { Redactor } from '../privacy/index.ts'
import type { Tape } from '../tape/index.ts'

/**
 * How names of marks, of wrapped functions, and of those who send each other messages, stand on a tape: without secrets.
 * Tapes of before have them as they were said, and what stands so on the tape is left alone.
 */
export function saidNames(tape: Tape, redactor: Pick<Redactor, 'name'>): (name: string) => string {
  const onTape = new Set(
    tape.events.flatMap((event) =>
      event.kind === 'message' ? [event.from, event.to] : 'name' in event ? [event.name] : [],
    ),
  )
  return (name) => (onTape.has(name) ? name : redactor.name(name))
}
