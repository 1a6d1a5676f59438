import type { Redactor } from '../privacy/index.ts'
import { shortestKnown } from '../privacy/known.ts'
import { areEqual } from '../seam/pairs.ts'
import type { HeaderPair } from '../tape/index.ts'

/** Redacts the headers of live requests, of which most are the same each time. */
export class HeaderRedactor {
  readonly #redactor: Redactor
  /** Names no tape keeps, regardless of their value. */
  readonly #dropped = new Set<string>()
  /** Values that went through unchanged, by name. */
  readonly #unchanged = new Map<string, Set<string>>()
  /** The request before, and what came of it. */
  #before: Redacted | undefined

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /**
   * Headers as a tape may hold them. A value that went through unchanged before is looked through again, for what is
   * secret may have become known since; not where it stands on the tape for this request, or is too short for that.
   */
  redacted(live: readonly HeaderPair[], recorded: readonly HeaderPair[]): readonly HeaderPair[] {
    const before = this.#before
    const isAsBefore =
      before !== undefined &&
      before.replacements === this.#redactor.replacements &&
      areEqual(before.live, live) &&
      areEqual(before.recorded, recorded)
    if (isAsBefore) return before.kept
    const kept: HeaderPair[] = []
    for (const pair of live) {
      const [name, value] = pair
      if (this.#dropped.has(name)) continue
      const isSettled = value.length < shortestKnown || holds(recorded, name, value)
      if (isSettled && this.#unchanged.get(name)?.has(value)) kept.push(pair)
      else this.#look(pair, kept)
    }
    this.#before = { live, recorded, kept, replacements: this.#redactor.replacements }
    return kept
  }

  #look(pair: HeaderPair, kept: HeaderPair[]): void {
    const [name, value] = pair
    const [redacted] = this.#redactor.requestHeaders([pair])
    if (!redacted) {
      this.#dropped.add(name)
      return
    }
    kept.push(redacted)
    if (redacted[1] !== value) return
    const values = this.#unchanged.get(name)
    if (values) values.add(value)
    else this.#unchanged.set(name, new Set([value]))
  }
}

interface Redacted {
  readonly live: readonly HeaderPair[]
  readonly recorded: readonly HeaderPair[]
  readonly kept: readonly HeaderPair[]
  /** Of the redactor by then. */
  readonly replacements: number
}

function holds(pairs: readonly HeaderPair[], name: string, value: string): boolean {
  for (const pair of pairs) if (pair[0] === name && pair[1] === value) return true
  return false
}
