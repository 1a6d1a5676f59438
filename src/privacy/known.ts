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
  readonly #bySpelling = new Map<string, { readonly kind: string; readonly value: string }>()

  /** @param value - {@link isDistinctive} */
  remember(kind: string, value: string): void {
    if (this.#bySpelling.size >= knownCap) return
    const inJson = JSON.stringify(value).slice(1, -1)
    for (const spelling of [value, inJson, encodeURIComponent(value)]) this.#bySpelling.set(spelling, { kind, value })
  }

  /** Looks for a value that is secret no matter what it looks like. */
  keep(kind: string, value: string): void {
    if (value.length < shortestKept) return
    const inJson = JSON.stringify(value).slice(1, -1)
    for (const spelling of [value, inJson, encodeURIComponent(value)]) this.#bySpelling.set(spelling, { kind, value })
  }

  find(text: string): readonly TextRange[] {
    if (this.#bySpelling.size === 0) return none
    const found: TextRange[] = []
    for (const [spelling, { kind, value }] of this.#bySpelling) {
      for (let at = text.indexOf(spelling); at !== -1; at = text.indexOf(spelling, at + spelling.length)) {
        const end = at + spelling.length
        const goesOn = isAlphanumeric(text.charCodeAt(end)) && isAlphanumeric(text.charCodeAt(end - 1))
        if (beginsToken(text, at) && !goesOn) found.push({ kind, start: at, end, value })
      }
    }
    return found
  }
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
