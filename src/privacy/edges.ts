import type { TextRange } from './types.ts'

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

/**
 * Where a value ends that reaches from `start` to `end` and is quoted by another sign than JSON quotes its texts with: where
 * the text of JSON ends that it stands in, at the latest. Beyond it the value of another field stands.
 */
export function endInText(text: string, start: number, end: number): number {
  let depths: readonly number[] | undefined
  // Of the rest of the text, which may be long, nothing is searched.
  const said = text.slice(start, end)
  for (let found = said.indexOf('"'); found !== -1; found = said.indexOf('"', found + 1)) {
    const at = start + found
    const depth = depthOf(text, at)
    // Nothing closes a value that goes on to the end: a quote there is of the text around it.
    const isLast = at + 1 === text.length && end === text.length
    if (!isLast && !goesOn(text, at + 1, depth)) continue
    if (isLast || (depths ??= depthsAt(text, start)).includes(depth)) return Math.max(start, at - depth)
  }
  // The backslashes before a quote are its own.
  return text[end] === '"' ? Math.max(start, end - depthOf(text, end)) : end
}

/** Whether a quote that ends before `index` ends a text of JSON. */
export function isBehindText(text: string, index: number): boolean {
  if (text[index - 1] !== '"') return false
  const depth = depthOf(text, index - 1)
  return depthsAt(text, index - 1 - depth).includes(depth)
}

/** How many backslashes are a quote's own: none, 1, 3, 7 and so on for each text of JSON around its own. The rest is of the text before it. */
export function depthOf(text: string, quote: number): number {
  let backslashes = 0
  while (text.charCodeAt(quote - backslashes - 1) === backslash) backslashes++
  return (backslashes ^ (backslashes + 1)) >> 1
}

const white = String.raw`(?:\s|\\{1,64}[nrt]){0,256}`
const afterClosing = new RegExp(
  String.raw`${white}(?:[,:]${white}(?:\\*"|[{[\d-]|true|false|null)|[}\]](?![\w'\`])|(\\*)"|$)`,
  'y',
)
const beforeOpening = new RegExp(String.raw`(?:[{[,:]|(\\*)")${white}$`)

/** Whether JSON goes on behind the quote of a text. */
function goesOn(text: string, behind: number, depth: number): boolean {
  afterClosing.lastIndex = behind
  const match = afterClosing.exec(text)
  // A quote of a text around this one.
  return match !== null && (match[1] === undefined || depthOf(text, afterClosing.lastIndex - 1) < depth)
}

const mostQuotes = 256

/** The texts of JSON that a place stands in, each by the backslashes before its quotes. */
function depthsAt(text: string, start: number): readonly number[] {
  const depths: number[] = []
  let least = Infinity
  let at = start === 0 ? -1 : text.lastIndexOf('"', start - 1)
  for (let count = 0; at !== -1 && least > 0 && count < mostQuotes; count++) {
    const depth = depthOf(text, at)
    if (depth < least) {
      least = depth
      const from = Math.max(0, at - depth - 256)
      const match = beforeOpening.exec(text.slice(from, at - depth))
      const isOpening = match !== null && (match[1] === undefined || match[1].length < depth)
      if (isOpening) depths.push(depth)
    }
    at = at === 0 ? -1 : text.lastIndexOf('"', at - 1)
  }
  return depths
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

/** A text without these signs at its end: a pattern would begin at each of them where something else follows. */
export function withoutLast(signs: string, text: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

const isOfOption = codesOf(/[\w.-]/, 128)
const longestOption = 64

/** Where the name of an option ends that begins here; `start` where none does. */
export function optionEnd(text: string, start: number): number {
  if (!isLetter(text.charCodeAt(start))) return start
  let end = start + 1
  while (end - start < longestOption && has(isOfOption, text.charCodeAt(end))) end++
  return end - start < 2 ? start : end
}

function isLetter(code: number): boolean {
  return isAlphanumeric(code) && code >= 0x41
}

const isOfField = codesOf(/[\w$-]/, 128)
const longestField = 32

/**
 * Whether `","` stands here, and what follows is no field, `"value":`. Most lists are written so: they need no pattern that
 * also knows the others.
 */
export function isPlainComma(text: string, index: number): boolean {
  if (!text.startsWith('","', index)) return false
  const start = index + 3
  let end = start
  while (end - start <= longestField && has(isOfField, text.charCodeAt(end))) end++
  const code = text.charCodeAt(end)
  if (code === doubleQuote) {
    const next = text.charCodeAt(end + 1)
    return next === comma || next === bracket
  }
  return code !== backslash && code !== singleQuote
}

const [doubleQuote, singleQuote, comma, bracket] = [0x22, 0x27, 0x2c, 0x5d]

/** An ASCII letter or digit. */
export function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
}

/** Adds a secret that is known by what stands around it. */
export function addSecret(found: TextRange[], start: number, end: number, value: string): void {
  found.push({ kind: 'secret', start, end, value, contextual: true })
}

/** Of each code below a length, 1 where a pattern allows the character. */
export function codesOf(allowed: RegExp, length = 256): Uint8Array {
  return Uint8Array.from({ length }, (_, code) => (allowed.test(String.fromCharCode(code)) ? 1 : 0))
}

/** Whether the code is among {@link codesOf}: an index beyond them would make each look slow. */
export function has(codes: Uint8Array, code: number): boolean {
  return code < codes.length && codes[code] === 1
}

const [isWhite, isEscaped, mostWhite] = [codesOf(/\s/), codesOf(/[nrt]/, 128), 64]

/** Before white space, as it stands there or as JSON spells it. */
export function withoutWhite(text: string, end: number): number {
  let at = end
  while (end - at < mostWhite) {
    if (has(isWhite, text.charCodeAt(at - 1))) at--
    else if (has(isEscaped, text.charCodeAt(at - 1)) && text.charCodeAt(at - 2) === backslash) {
      at -= 2
      while (end - at < mostWhite && text.charCodeAt(at - 1) === backslash) at--
    } else break
  }
  return at
}

/** A pattern with another part in the place of one that it has. */
export function changed({ source, flags }: RegExp, part: string, other: string): RegExp {
  return new RegExp(
    source.replace(part, () => other),
    flags,
  )
}

/** A pattern that is tried in one place, written as it stands. */
export function sticky(source: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw(source, ...parts), 'y')
}

/** A pattern, also of lines in a text of JSON behind its commas, as deep as they are. */
export function overLines({ source }: RegExp): RegExp {
  const gap = String.raw`(?:\s|\\{1,8}[nrt]){0,64}`
  return new RegExp(
    source.replaceAll(String.raw`\s{0,4},`, `${gap},`).replaceAll(String.raw`,\s{0,16}`, `,${gap}`),
    'y',
  )
}
