import { isCookie, firstSchemeOf, type FirstNames } from './names.ts'
import { holdsNeedle, needleOf } from '../rare.ts'
import type { Finder, TextRange } from '../types.ts'

/**
 * Finds secrets by the name before them: `"password": "…"` in JSON (and in JSON inside JSON), `'secret': '…'`,
 * `api_key=…`, `Password: …`.
 */
export function namedFinder(names: FirstNames): Finder {
  return (text) => {
    const found: TextRange[] = []
    let done = 0
    for (let at = nextSign(text, 0); at !== -1; at = nextSign(text, at + 1)) {
      if (at < done) continue
      const end = nameEnd(text, at)
      const start = names.startBefore(text, end)
      if (start === undefined) continue
      const span = valueAfter(text, start, end)
      if (span === undefined || (isCookie(text.slice(start, end)) && !span.value.includes('='))) continue
      found.push(span)
      done = span.end
    }
    return found
  }
}

const signs = /[:=]/g

/** The first `:` or `=` from here on, or -1. */
function nextSign(text: string, from: number): number {
  signs.lastIndex = from
  return signs.test(text) ? signs.lastIndex - 1 : -1
}

/** Where a name before the sign would end: quotes, Markdown and spaces may stand between them. */
function nameEnd(text: string, sign: number): number {
  let end = sign
  while (end > 0 && sign - end < 16 && isBetween[text.charCodeAt(end - 1)] === 1) end--
  return end
}

const isBetween = new Uint8Array(128)
for (const character of ' \t\n\r*`"\'\\') isBetween[character.charCodeAt(0)] = 1

// The quote that ends the name, the sign, the quote that begins the value; Markdown may stand around the sign.
const betweenPattern = /(\\*["'])?(?:\*\*|`)?\s{0,4}(?:=>|:=|[:=])(?:\*\*)?(\s{0,4})(?:\*\*)?(\\*["'`])?/y

function valueAfter(text: string, nameStart: number, nameEnd: number): TextRange | undefined {
  betweenPattern.lastIndex = nameEnd
  const between = betweenPattern.exec(text)
  if (between === null) return undefined
  const [whole, nameQuote, space, valueQuote] = between
  const start = nameEnd + whole.length
  // A quote behind which the text of a list or object goes on ends the text the name stands in.
  if (valueQuote !== undefined && nameQuote !== valueQuote && endsText(text, start)) return undefined
  if (valueQuote !== undefined) return quotedValue(text, start, valueQuote, nameQuote === valueQuote)
  if (nameQuote !== undefined) return undefined
  const isLoose = space !== '' || whole.includes(':')
  return bareValue(text, start, isLoose, text.slice(nameStart, nameEnd))
}

const afterText = /\s{0,16}(?:[,}\]:]|$)/y

function endsText(text: string, start: number): boolean {
  afterText.lastIndex = start
  return afterText.test(text)
}

/** The value up to the same quote: in JSON inside JSON a quote has as many backslashes before it as the one that began. */
function quotedValue(text: string, start: number, quote: string, isField: boolean): TextRange | undefined {
  const end = closingQuote(text, start, quote)
  const raw = text.slice(start, end)
  const from = start + firstSchemeOf(raw).length
  if (raw === '' || (!isField && isStandIn(text.slice(from, end)))) return undefined
  return { kind: 'secret', start: from, end, value: unescaped(text.slice(from, end), quote), contextual: true }
}

function closingQuote(text: string, start: number, quote: string): number {
  const mark = quote.at(-1)!
  const escapes = quote.length - 1
  for (let at = text.indexOf(mark, start); at !== -1; at = text.indexOf(mark, at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes++
    // Fewer: the text around this one ends here. A run of pairs before it is text: `\\"` ends a value at `\\`.
    if (backslashes <= escapes) return at - backslashes
    if (escapes === 0 && backslashes % 2 === 0) return at
  }
  return text.length
}

function unescaped(raw: string, quote: string): string {
  if (quote !== '"' || !raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // Not JSON after all: the text as it stands is its own name.
    return raw
  }
}

// `theme=dark; sid=…` goes on to the end of its line.
const cookiePattern = /[^\s"'\\`=]{1,256}=[^\r\n"'\\`]{1,4096}/y
const barePattern = /[^\s"'\\&,;<>(){}[\]`|]{4,512}/y

/**
 * A value without quotes. `password=letmein` of a form is one; of `password: string`, `secret = load()` and
 * "the secret: patience" only what looks like no word is.
 */
function bareValue(text: string, start: number, isLoose: boolean, name: string): TextRange | undefined {
  const pattern = isCookie(name) ? cookiePattern : barePattern
  pattern.lastIndex = start
  const raw = pattern.exec(text)?.[0]
  if (raw === undefined || raw.endsWith('...') || text[start + raw.length] === '(') return undefined
  const value = raw.replace(/[.?:*]+$/, '')
  if (value.length < 4 || isStandIn(value) || value.toLowerCase() === name.toLowerCase()) return undefined
  const isWord = /^[A-Za-z_$][A-Za-z_$.-]*$/.test(value)
  if (isWord && (isLoose || value.includes('.'))) return undefined
  return { kind: 'secret', start, end: start + value.length, value, contextual: true }
}

const standIns =
  /^(?:none|null|undefined|true|false|string|str|bearer|basic|digest|aws4-hmac-sha256|token|required|optional|changeme|x{3,}|\*+|your[-_].*|[a-z]+:\/\/.*|process\.env.*|os\.environ.*|import\.meta.*)$/i

/** Text that stands where a secret will: `${API_KEY}`, `<password>`, `None`. A path is what `PWD` holds. */
export function isStandIn(value: string): boolean {
  return /^[$%<{*/~]/.test(value) || standIns.test(value)
}

const formData = needleOf('form-data')
const partHead = /\bname="([^"\r\n]{1,128})"[^\r\n]{0,512}\r\n(?:[^\r\n]{1,512}\r\n){0,4}\r\n/g

/** Finds secret fields of multipart forms: the name stands in the head of the part, the value is its body. */
export function partFinder(names: FirstNames): Finder {
  return (text) => {
    if (!holdsNeedle(text, formData)) return []
    const found: TextRange[] = []
    for (const { 0: head, 1: name = '', index } of text.matchAll(partHead)) {
      const start = index + head.length
      const next = text.indexOf('\r\n--', start)
      const end = next === -1 ? text.length : next
      const value = text.slice(start, end)
      if (value !== '' && names.isSecretQuery(name, value))
        found.push({ kind: 'secret', start, end, value, contextual: true })
    }
    return found
  }
}

const element = /<([\w:.-]{1,64})>([^<>\s]{8,4096})<\//g

/** Finds secret elements: `<password>…</password>`. What looks like a word is left alone, as it is behind a colon. */
export function elementFinder(names: FirstNames): Finder {
  return (text) => {
    if (!text.includes('</')) return []
    const found: TextRange[] = []
    for (const { 1: name = '', 2: value = '', index } of text.matchAll(element)) {
      if (!/\d/.test(value) || isStandIn(value) || !names.isSecret(name, value)) continue
      const start = index + name.length + 2
      found.push({ kind: 'secret', start, end: start + value.length, value, contextual: true })
    }
    return found
  }
}
