import { dirname, join } from 'node:path'
import { parseTape, serializeTape, type Tape } from '../../tape/index.ts'

/** A branch as a whole tape: the events it shares with its parent, then its own. */
export function branchTape(text: string, parent: Tape): Tape {
  // It names its parent as seen from the parent's own folder.
  return parseTape(text, join(dirname(parent.source), 'branch.tape.jsonl'))
}

/**
 * The text of a branch for a place from where its parent's file is seen as `file`.
 *
 * @returns its id with it
 */
export function branchFor(file: string, text: string, parent: Tape): { readonly id: string; readonly text: string } {
  const { header, events, close } = branchTape(text, parent)
  const { id, parent: from } = header
  if (from === undefined || from.file === file) return { id, text }
  const before = from.before ?? Number.POSITIVE_INFINITY
  const shared = new Set(parent.events.flatMap(({ n }) => (n < before ? [n] : [])))
  const own = events.filter(({ n }) => !shared.has(n))
  return { id, text: serializeTape({ ...header, parent: { ...from, file } }, own, close) }
}
