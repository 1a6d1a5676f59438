import type { Finder, TextRange } from '../types.ts'

/**
 * Finds secrets that URLs and forms spell with `%`: `postgres%3A%2F%2Fapp%3A…%40db`, JSON in a query, a private key in
 * a form. Every stretch with such an escape is read as what it says, and what is found there is reported in the text as it
 * stands. Linear: stretches do not overlap.
 */
export function inPercent(text: string, find: Finder): readonly TextRange[] {
  const found: TextRange[] = []
  let done = 0
  for (let sign = text.indexOf('%'); sign !== -1; sign = text.indexOf('%', Math.max(done, sign + 1))) {
    if (!isEscape(text, sign)) continue
    let start = sign
    while (start > done && isPart(text.charCodeAt(start - 1))) start--
    const { plain, places, end } = read(text, start)
    done = end
    for (const span of find(plain)) found.push({ ...span, start: places[span.start]!, end: places[span.end]! })
  }
  return found
}

/** What a stretch says, and where each character of that stands; one place more for the end. */
function read(text: string, start: number): { plain: string; places: readonly number[]; end: number } {
  let plain = ''
  const places: number[] = []
  let at = start
  for (; at < text.length; ) {
    const code = text.charCodeAt(at)
    const length = code === percent && isEscape(text, at) ? 3 : 1
    if (length === 1 && !isPart(code)) break
    places.push(at)
    // Bytes beyond ASCII stay apart: no built-in kind is recognised by them.
    plain +=
      length === 3
        ? String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 3), 16))
        : code === plus
          ? ' '
          : text[at]
    at += length
  }
  places.push(at)
  return { plain, places, end: at }
}

const percent = 0x25
const plus = 0x2b
const parts = new Set([...".~!*'()+-_"].map((character) => character.charCodeAt(0)))

/** What stands unescaped in a value of a URL or a form. */
function isPart(code: number): boolean {
  const isWord = (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
  return isWord || parts.has(code)
}

function isEscape(text: string, at: number): boolean {
  return /^%[0-9A-Fa-f]{2}$/.test(text.slice(at, at + 3))
}
