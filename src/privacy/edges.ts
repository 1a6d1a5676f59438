/**
 * Whether a token can begin at `index`: at the start, after anything but a letter, digit, `_` or `-`, or after an
 * escape whose last character only looks like part of a word: `\n` in JSON text, `\u003c`, `%20`.
 */
export function beginsToken(text: string, index: number): boolean {
  return index === 0 || !isWordCode(text.charCodeAt(index - 1)) || endsEscape(text, index)
}

/** Whether the characters before `index` are an escape of JSON text or a URL. */
export function endsEscape(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1)
  if (endsShortEscape(text, index)) return true
  if (!isHex(before) || !isHex(text.charCodeAt(index - 2))) return false
  if (text.charCodeAt(index - 3) === percent) return true
  return (
    isHex(text.charCodeAt(index - 3)) &&
    isHex(text.charCodeAt(index - 4)) &&
    text.charCodeAt(index - 5) === lowerU &&
    text.charCodeAt(index - 6) === backslash
  )
}

/** Whether the characters before `index` are `\\n` or another escape of one letter. */
export function endsShortEscape(text: string, index: number): boolean {
  return isEscapeLetter(text.charCodeAt(index - 1)) && text.charCodeAt(index - 2) === backslash
}

/**
 * Where a token that seems to begin at `start` really begins: in JSON text the `n` of `\n` belongs to the escape.
 * Replacing it would leave a lone backslash before the placeholder, and another text once it is parsed.
 */
export function afterEscape(text: string, start: number): number {
  const before = text.charCodeAt(start - 1)
  if (before === backslash) {
    if (isEscapeLetter(text.charCodeAt(start))) return start + 1
    if (text.charCodeAt(start) === lowerU && /^[0-9a-f]{4}$/i.test(text.slice(start + 1, start + 5))) return start + 5
  }
  if (before === percent && isHex(text.charCodeAt(start)) && isHex(text.charCodeAt(start + 1))) return start + 2
  return start
}

const backslash = 0x5c
const percent = 0x25
const lowerU = 0x75

function isEscapeLetter(code: number): boolean {
  // b f n r t
  return code === 0x62 || code === 0x66 || code === 0x6e || code === 0x72 || code === 0x74
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
}

/** A letter, a digit, `_` or `-`. */
function isWordCode(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code === 0x2d
}

const textEnd = /"\s{0,16}[,}\]:]/
const lastTextEnd = /"\s{0,16}(?:[,}\]:]|$)/

/**
 * Where a value ends that reaches from `start` to `end` and is quoted by another sign than JSON quotes its texts with: where
 * a text of JSON ends, at the latest. Beyond it the value of another field stands.
 */
export function endInText(text: string, start: number, end: number): number {
  const said = text.slice(start, end)
  if (!said.includes('"')) return end
  const at = said.search(end === text.length ? lastTextEnd : textEnd)
  if (at === -1) return end
  let last = start + at
  // The backslashes before the quote are its own.
  while (last > start && text.charCodeAt(last - 1) === backslash) last--
  return last
}

/** Where a quoted value ends: at the same quote, or where the text ends that it stands in; the length of `text` without either. */
export function closingQuote(text: string, start: number, quote: string): number {
  const end = sameQuote(text, start, quote)
  return quote.endsWith('"') ? end : endInText(text, start, end)
}

function sameQuote(text: string, start: number, quote: string): number {
  const mark = quote.at(-1)!
  const escapes = quote.length - 1
  for (let at = text.indexOf(mark, start); at !== -1; at = text.indexOf(mark, at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && text.charCodeAt(at - backslashes - 1) === backslash) backslashes++
    // Fewer: the text around this one ends here.
    if (backslashes <= escapes) return at - backslashes
    // More may be of the text, in pairs: `\\"` ends a value at `\\`, and so on for each text around it.
    for (let own = 0; own <= escapes; own = 2 * own + 1) if (backslashes % (2 * own + 2) === own) return at - own
  }
  return text.length
}

/** An ASCII letter or digit. */
export function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
}
