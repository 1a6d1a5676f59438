import type { TextRange } from './types.ts'
import { isOverworked, work } from './work.ts'

/** What may be the end of a text, or a line, in JSON or in what a text of it says. */
const border = /["\\\n]/
/** What stands in texts alone. */
const beyondStructure = /[^{}[\],:\s\d+.\-eEtrufalsn]/
const structure = /[{}[\],:]/
/** What numbers and words are made of. */
const inScalar = /[\w.+-]/

/** Whether what stands for a secret may stand for a number as well. */
type IsDigits = (span: TextRange) => boolean

/** Whether a span stands in one text, or in one number, no matter where texts begin: nearly all do. */
function isInOne(span: TextRange, text: string, isDigits: IsDigits): boolean {
  const said = text.slice(span.start, span.end)
  if (border.test(said)) return false
  return beyondStructure.test(said) || (span.contextual !== true && !structure.test(said) && isDigits(span))
}

/**
 * The spans in a text that is JSON, that has JSON in some of its lines, or that says such a text in a text of its own. None goes beyond the
 * text of JSON it begins in, for what is left would be no JSON. One that begins in no text was misread, but where it tells itself
 * what it is, all texts of it are secret. A number, `true`, `false` or `null` with a secret in it becomes a text as a whole.
 *
 * @param isDigits - whether what stands for a secret is a number, so that it may stand for one. Earlier tapes have it there
 *   no matter what it is
 */
export function withinJson(text: string, spans: readonly TextRange[], isDigits: IsDigits): readonly TextRange[] {
  if (spans.every((span) => isInOne(span, text, isDigits))) return spans
  const places = new JsonPlaces(text, isDigits)
  return spans.flatMap((span) => (isInOne(span, text, isDigits) ? [span] : places.partsOf(span)))
}

/** Where the JSON in a text stands. */
class JsonPlaces {
  readonly #text: string
  readonly #isDigits: IsDigits
  readonly #whole: JsonPlace | undefined
  #lines: Lines | undefined
  /** By where they begin. */
  readonly #inLines = new Map<number, JsonPlace | undefined>()

  constructor(text: string, isDigits: IsDigits) {
    this.#text = text
    this.#isDigits = isDigits
    this.#whole = jsonIn(text, 0, text.length, isDigits)
  }

  partsOf(span: TextRange): readonly TextRange[] {
    work.done += perSpan
    // All of such a text is replaced.
    if (isOverworked()) return [span]
    const { start, end } = span
    const first = this.#at(start)
    if (first !== undefined) return first.partsOf(span)
    const last = this.#at(end - 1)
    return last === undefined ? [span] : cut(this.#text, span, start, Math.min(end, last.start))
  }

  /** The JSON of which this character is a part. */
  #at(at: number): JsonPlace | undefined {
    if (this.#whole !== undefined) return this.#whole
    const lines = (this.#lines ??= new Lines(this.#text))
    const line = lines.of(at)
    const inLine = this.#from(line.start, line.end)
    if (inLine !== undefined) return inLine.start <= at ? inLine : undefined
    const block = lines.around(line.nth)
    const inLines = block && this.#from(block.start, block.end)
    return inLines !== undefined && at < inLines.end ? inLines : undefined
  }

  #from(start: number, end: number): JsonPlace | undefined {
    if (!this.#inLines.has(start)) this.#inLines.set(start, jsonIn(this.#text, start, end, this.#isDigits))
    return this.#inLines.get(start)
  }
}

/** What it costs to look at a span. */
const perSpan = 20

/** The lines of a text. */
class Lines {
  readonly #text: string
  readonly #starts: number[] = [0]
  /** Of each, the last one up to it that begins with an opening bracket, and the first one behind that closes it. */
  readonly #opening: number[] = []
  readonly #closing: number[] = []

  constructor(text: string) {
    this.#text = text
    work.done += text.length >> 4
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
    let last = -1
    this.#starts.forEach((start, nth) => {
      work.done++
      const sign = text[start]
      if (sign === '{' || sign === '[') last = nth
      else if (last !== -1 && this.#closing[last] === undefined && sign === closes[text[this.#starts[last]!]!])
        this.#closing[last] = nth
      this.#opening.push(last)
    })
  }

  of(at: number): { readonly nth: number; readonly start: number; readonly end: number } {
    const nth = countUpTo(this.#starts, at) - 1
    const next = this.#starts[nth + 1]
    return { nth, start: this.#starts[nth]!, end: next === undefined ? this.#text.length : next - 1 }
  }

  /** The lines from one with an opening bracket to one with its closing one. */
  around(nth: number): { readonly start: number; readonly end: number } | undefined {
    const opening = this.#opening[nth]!
    const closing = opening === -1 ? undefined : this.#closing[opening]
    return closing === undefined ? undefined : { start: this.#starts[opening]!, end: this.#starts[closing]! + 1 }
  }
}

const closes: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' }

/** What stands before JSON in a line: `data: `, `0:`. */
const begin = /(?:[\w-]{1,32}: ?)?(?=\s{0,256}[{["])/y

/** What it costs to try whether a text is JSON. */
const perTry = 40

/** The JSON that a part of a text is, with the name of a field of an event before it. */
function jsonIn(text: string, from: number, to: number, isDigits: IsDigits): JsonPlace | undefined {
  begin.lastIndex = from
  if (!begin.test(text)) return undefined
  const said = text.slice(begin.lastIndex, to).trim()
  if (said.at(-1) !== closes[said[0]!]) return undefined
  work.done += perTry + (said.length >> 3)
  // To throw takes longer than to read most of what begins and ends with a text.
  if (said[0] === '"' && closingQuoteOf(said, 0) < said.length - 1) return undefined
  try {
    JSON.parse(said)
  } catch {
    // It only begins and ends like JSON.
    return undefined
  }
  return new JsonPlace(text, begin.lastIndex, to, isDigits)
}

/** JSON in a text: where the texts in it begin and end, inside of their quotes. */
class JsonPlace {
  readonly start: number
  readonly end: number
  readonly #text: string
  readonly #isDigits: IsDigits
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  /** What these texts say, where it was asked for. */
  readonly #said = new Map<number, Said>()

  constructor(text: string, start: number, end: number, isDigits: IsDigits) {
    this.#text = text
    this.#isDigits = isDigits
    this.start = start
    this.end = end
    for (let open = text.indexOf('"', start); open !== -1 && open < end; open = text.indexOf('"', open)) {
      const close = closingQuoteOf(text, open)
      this.#starts.push(open + 1)
      this.#ends.push(close)
      open = close + 1
    }
  }

  partsOf(span: TextRange): readonly TextRange[] {
    const { contextual, start, end } = span
    const [starts, ends] = [this.#starts, this.#ends]
    const nth = countUpTo(starts, start) - 1
    const isIn = nth >= 0 && start < ends[nth]!
    if (isIn && contextual) return this.#partsIn(nth, span)
    if (contextual) return []
    const isScalar = !isIn && !structure.test(this.#text.slice(start, end))
    if (isScalar) return [this.#isDigits(span) ? span : this.#asText(span)]
    const parts: TextRange[] = []
    for (let at = isIn ? nth : nth + 1; at < starts.length && starts[at]! < end; at++)
      parts.push(...this.#partsIn(at, span))
    return parts
  }

  /** The number or word it stands in, whole and in quotes: a placeholder in it would be no JSON. */
  #asText(span: TextRange): TextRange {
    let { start, end } = span
    while (start > this.start && inScalar.test(this.#text[start - 1]!)) start--
    while (end < this.end && inScalar.test(this.#text[end]!)) end++
    return { ...span, start, end, value: this.#text.slice(start, end), quote: '"' }
  }

  /** What of a span stands in one of the texts. */
  #partsIn(nth: number, span: TextRange): readonly TextRange[] {
    const [from, to] = [this.#starts[nth]!, this.#ends[nth]!]
    return cut(this.#text, span, Math.max(span.start, from), Math.min(span.end, to)).flatMap((part) =>
      this.#saidIn(nth).partsOf(part, this.#text, from),
    )
  }

  #saidIn(nth: number): Said {
    const known = this.#said.get(nth)
    if (known !== undefined) return known
    const said = new Said(this.#text.slice(this.#starts[nth], this.#ends[nth]), this.#isDigits)
    this.#said.set(nth, said)
    return said
  }
}

/** What a text of JSON says. */
class Said {
  readonly #places: JsonPlaces
  /** Of each character, and of the end, where it stands as it is written. */
  readonly #written: number[] = []

  constructor(raw: string, isDigits: IsDigits) {
    work.done += raw.length >> 2
    const text = JSON.parse(`"${raw}"`) as string
    this.#places = new JsonPlaces(text, isDigits)
    for (let at = 0; at < raw.length; at += raw[at] !== '\\' ? 1 : raw[at + 1] === 'u' ? 6 : 2) this.#written.push(at)
    this.#written.push(raw.length)
  }

  /** @param offset - where what is written begins in the text */
  partsOf(span: TextRange, text: string, offset: number): readonly TextRange[] {
    const start = countUpTo(this.#written, span.start - offset - 1)
    const end = countUpTo(this.#written, span.end - offset - 1)
    return this.#places.partsOf({ ...span, start, end }).flatMap((part) => {
      const [from, to] = [offset + this.#written[part.start]!, offset + this.#written[part.end]!]
      if (part.quote !== undefined)
        return [{ ...span, start: from, end: to, value: part.value, quote: JSON.stringify(part.quote).slice(1, -1) }]
      return part.start === start && part.end === end ? [span] : cut(text, span, from, to)
    })
  }
}

function cut(text: string, span: TextRange, start: number, end: number): readonly TextRange[] {
  if (start === span.start && end === span.end) return [span]
  return start < end ? [{ ...span, start, end, value: text.slice(start, end) }] : []
}

/** Where the quote is that closes the one at a place; -1 without one. */
export function closingQuoteOf(text: string, open: number): number {
  let close = text.indexOf('"', open + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - backslashes - 1) === backslash) backslashes++
  return backslashes % 2 === 1
}

const backslash = 0x5c

/** How many of the numbers, which are in order, are no greater. */
function countUpTo(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! <= most) low = middle + 1
    else high = middle
  }
  return low
}
