import { beginsToken, isAlphanumeric } from './edges.ts'
import type { TextRange } from './types.ts'

// Each is one more search of every text; a run that meets more secrets by name than this is not one.
const knownCap = 256
const none: readonly TextRange[] = []

/**
 * Secrets known by the name that stood before them once. Without that name nothing tells them, so they are looked
 * for as they are: a password of one answer must not stand in the next question.
 */
export class KnownSecrets {
  readonly #bySpelling = new Map<string, Known>()

  /** @param value - {@link isDistinctive} */
  remember(kind: string, value: string): void {
    if (!this.isFull) this.#add(kind, value)
  }

  /** What is remembered now is not looked for. */
  get isFull(): boolean {
    return this.#bySpelling.size >= knownCap
  }

  /** Looks for a value that is secret no matter what it looks like. */
  keep(kind: string, value: string): void {
    if (value.length >= shortestKept) this.#add(kind, value)
  }

  #add(kind: string, value: string): void {
    const inJson = JSON.stringify(value).slice(1, -1)
    for (const spelling of [value, inJson, encodeURIComponent(value)])
      this.#bySpelling.set(spelling, { kind, value, indexIn: searchOf(spelling) })
  }

  find(text: string): readonly TextRange[] {
    if (this.#bySpelling.size === 0) return none
    const found: TextRange[] = []
    for (const [spelling, { kind, value, indexIn }] of this.#bySpelling) {
      for (let at = indexIn(text, 0); at !== -1; at = indexIn(text, at + spelling.length)) {
        const end = at + spelling.length
        const goesOn = isAlphanumeric(text.charCodeAt(end)) && isAlphanumeric(text.charCodeAt(end - 1))
        if (beginsToken(text, at) && !goesOn) found.push({ kind, start: at, end, value })
      }
    }
    return found
  }
}

interface Known {
  readonly kind: string
  readonly value: string
  readonly indexIn: Search
}

type Search = (text: string, from: number) => number

/** Characters of a spelling that are looked for before the rest of it is. */
const head = 32

/**
 * As `indexOf`, whose time is the product of both lengths where a text repeats what a long spelling repeats: behind its head,
 * no character is looked at again.
 *
 * @see Knuth, Morris and Pratt, SIAM J. Comput. 6 (1977) 323–350
 */
function searchOf(spelling: string): Search {
  if (spelling.length <= 2 * head) return (text, from) => text.indexOf(spelling, from)
  const begin = spelling.slice(0, head)
  let borders: Uint32Array | undefined
  return (text, from) => {
    let start = text.indexOf(begin, from)
    let same = head
    while (start !== -1) {
      while (same < spelling.length && text.charCodeAt(start + same) === spelling.charCodeAt(same)) same++
      if (same === spelling.length) return start
      const border = (borders ??= bordersOf(spelling))[same - 1]!
      start += same - border
      if (border < head) start = text.indexOf(begin, start)
      same = Math.max(border, head)
    }
    return -1
  }
}

/** Of each beginning of a text, how many characters at its end are those it begins with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  for (let at = 1, same = 0; at < text.length; at++) {
    while (same > 0 && text.charCodeAt(at) !== text.charCodeAt(same)) same = borders[same - 1]!
    if (text.charCodeAt(at) === text.charCodeAt(same)) same++
    borders[at] = same
  }
  return borders
}

/** What is shorter is never looked for by itself. */
export const shortestKnown = 8
/** Nor is what is shorter than this, though the application says that it is secret: it would be found in any word. */
export const shortestKept = 4

/** A password may be an ordinary word or a date; those stay where nothing says that they are secret. */
export function isDistinctive(value: string): boolean {
  return (
    value.length >= shortestKnown &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !/^\d{4}-\d\d-\d\d/.test(value) &&
    !value.startsWith('redacted-')
  )
}
