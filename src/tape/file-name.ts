import { createHash } from 'node:crypto'

/** The longest part of an id that stands in a name. */
const maxLength = 120

/**
 * The name of the file of a run, without its ending. An id may be anything the application calls its runs; a file name may not: an
 * id that is changed or cut for it gets a digest behind, so that two ids never share a file.
 *
 * @param id - of the run, not empty
 */
export function fileNameOf(id: string): string {
  const name = id
    .replaceAll(/[^\w.~-]/g, '-')
    .replace(/^\.+/, '')
    .slice(0, maxLength)
  if (name === id) return name
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 12)
  return name === '' ? digest : `${name}-${digest}`
}
