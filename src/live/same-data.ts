import { isMap } from '../json/canonical.ts'
import type { Json } from '../tape/index.ts'

/**
 * Whether two argument values of a call behind the prefix of a fork carry the same data: the same structure, equal
 * numbers and flags, and texts that are equal or, at three words or more, hold the same marked pieces in the same order.
 * Marked is what its spelling sets apart: a piece with a digit or one of `@ / _ \` in it, a quotation, a currency sign.
 *
 * The rule knows no word of any language. It cannot tell "approve" from "reject" in a sentence, so only forks use it,
 * whose models word a free text again each time; a replay takes nothing but equal arguments for equal.
 */
export function sameData(recorded: Json, live: Json): boolean {
  return sameButTexts(recorded, live, (was, is) => isSentence(was) && isSentence(is) && marked(was) === marked(is))
}

/** Whether two values are equal but for texts that may say the same. */
export function sameButTexts(recorded: Json, live: Json, maySay: (was: string, is: string) => boolean): boolean {
  if (typeof recorded === 'string' && typeof live === 'string') return recorded === live || maySay(recorded, live)
  if (isList(recorded) && isList(live)) {
    return recorded.length === live.length && recorded.every((item, i) => sameButTexts(item, live[i] ?? null, maySay))
  }
  if (isMap(recorded) && isMap(live)) {
    const keys = Object.keys(recorded)
    return (
      keys.length === Object.keys(live).length &&
      keys.every((key) => Object.hasOwn(live, key) && sameButTexts(recorded[key] ?? null, live[key] ?? null, maySay))
    )
  }
  return recorded === live
}

function isSentence(text: string): boolean {
  return text.trim().split(/\s+/).length >= 3
}

function marked(text: string): string {
  return (text.match(pieces) ?? []).join('\n')
}

const pieces = /"[^"]*"|“[^”]*”|`[^`]*`|(?<!\p{L})'[^']*'(?!\p{L})|\S*[\d@/_\\]\S*|\p{Sc}/gu

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
