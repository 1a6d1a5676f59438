import { createRedactor, rulesOfTape } from '../../privacy/index.ts'
import { secretsIn } from '../../recordings/secrets.ts'
import { serializeTape, type Tape } from '../../tape/index.ts'
import { counted } from '../../errors/words.ts'

/**
 * What a report takes out of the inbox with it: how many places of a tape look like a secret or like personal data, by kind.
 * Nothing is removed: a report that says less than its tape would mislead.
 */
export function findingsOf(tape: Tape): Readonly<Record<string, number>> {
  // Patterns of a tape from elsewhere are code that may run for ever; its recorder has applied them.
  const { rules: _, ...names } = tape.header.redact ?? {}
  const header = { ...tape.header, redact: names }
  const redactor = createRedactor(rulesOfTape({ ...tape, header }), { keys: true })
  const found = secretsIn(tape, serializeTape(tape.header, tape.events, tape.close), redactor)
  const kinds = Map.groupBy(found, ({ kind }) => kind ?? 'a body that could not be searched')
  return Object.fromEntries([...kinds].map(([kind, list]) => [kind, list.length]))
}

/** The warning in one line. */
export function findingsLine(findings: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(findings)
  if (kinds.length === 0)
    return 'this file holds all that the tape holds; no pattern of a secret or of personal data was found in it'
  const found = kinds.map(([kind, count]) => `${kind} in ${counted(count, 'place')}`)
  return `this file holds all that the tape holds, and that looks like secrets or personal data: ${found.join(', ')}`
}
