import { createHash } from 'node:crypto'

/** Longest id that is made of a file's name. */
const idCap = 80

/** Names for the tapes of one import, each given once. */
export class TapeIds {
  readonly #given = new Set<string>()

  /** An id made of text: small letters, digits, dots and dashes; a number behind it when the same was given before. */
  of(text: string): string {
    const slug = slugOf(text)
    let id = slug
    for (let count = 2; this.#given.has(id); count++) id = `${slug}-${count}`
    this.#given.add(id)
    return id
  }
}

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  if (slug !== '' && slug.length <= idCap) return slug
  // What is cut away may be all that tells two files apart.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  return slug === '' ? `recording-${hash}` : `${slug.slice(0, idCap - 9).replace(/[^a-z0-9]+$/, '')}-${hash}`
}
