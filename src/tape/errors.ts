import { type ErrorFacts, HarvestError } from '../errors/index.ts'
import { orRecordAgain, toRestore } from '../errors/usual-steps.ts'

/** What can be wrong with a tape: one code each. */
export type TapeFault =
  | 'HARVEST_TAPE_MISSING'
  | 'HARVEST_TAPE_UNREADABLE'
  | 'HARVEST_TAPE_EMPTY'
  | 'HARVEST_TAPE_LINE'
  | 'HARVEST_TAPE_TAMPERED'
  | 'HARVEST_TAPE_VERSION'
  | 'HARVEST_TAPE_TRUNCATED'
  | 'HARVEST_TAPE_WRITE'
  | 'HARVEST_TAPE_PARENT'

/** An error about one tape, with the place as `file` or `file:line`. */
export function tapeFault(
  code: TapeFault,
  place: { readonly source: string; readonly line?: number },
  { where, ...facts }: ErrorFacts,
  options?: { readonly cause?: unknown },
): HarvestError {
  const file = place.line === undefined ? place.source : `${place.source}:${place.line}`
  return new HarvestError(code, { ...facts, where: { tape: file, ...where } }, options)
}

/** A line that is not an event, and why: one sentence without a trailing dot. */
export function brokenLine(source: string, line: number, problem: string, cause?: unknown): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_LINE',
    { source, line },
    {
      what: 'Invalid line in the tape',
      where: { problem: printable(problem) },
      why: 'An editor, a merge or a failing disk changed this line.',
      fix: [...toRestore(source), orRecordAgain],
    },
    { cause },
  )
}

/** Text of a tape may hold terminal escapes; a message never does. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
