// Over 300 lines: what tells pieces of one text from records is one set of rules.
import type { Encoded, TextRange } from './types.ts'
import { closingQuoteOf } from './within-json.ts'
import { isOverworked, work } from './work.ts'

/** A secret that stands in several places, in pieces. */
export interface Scattered {
  readonly kind: string
  readonly value: string
  readonly contextual?: true
  readonly encoded?: Encoded
  readonly quote?: string
  /** Parts of the text, in order; the first is replaced, the others are cut. */
  readonly pieces: readonly { readonly start: number; readonly end: number }[]
}

/**
 * Finds secrets that a model streamed piece by piece: `jane@exam` in one event, `ple.com` in the next. In the
 * bytes they never stand together; whoever reads the answer puts them together again.
 *
 * Looks at server-sent events, JSON lines and a streamed JSON list, and there at the fields in which providers
 * send pieces of an answer; since the sixth version of the finders at all other texts as well.
 */
export function findScattered(
  text: string,
  find: (joined: string) => readonly TextRange[],
  version: number,
): readonly Scattered[] {
  if (!isStream(text, version)) return []
  return [...gather(text, version)].flatMap(([stream, pieces]) => {
    if (pieces.length < 2 || isOverworked()) return []
    return isOfModel.test(stream) ? ofOneText(pieces, find, version) : betweenPieces(pieces, find, version)
  })
}

type Find = (joined: string) => readonly TextRange[]

/** One piece may have all of a secret, and the one before its name: `Bearer ` and then the token. */
function ofOneText(pieces: readonly Piece[], find: Find, version: number): readonly Scattered[] {
  // A piece that holds many is searched once, not for each of them.
  let [asked, values]: [Piece | undefined, ReadonlySet<string>] = [undefined, new Set()]
  const scattered = inPieces(pieces, find, (value, piece) => {
    if (asked !== piece) values = new Set(find(piece.text).map((alone) => alone.value))
    asked = piece
    return !values.has(value)
  })
  if (version < 7) return scattered
  const records = new Records(pieces, find, version)
  return records.withoutChance(scattered, ({ pieces }) => !records.areAt(pieces, (before) => before !== ''))
}

/**
 * Of fields of any name: texts that follow one another may be pieces of one, or the same column of many records; and numbers
 * that fit by chance are numbers.
 */
function betweenPieces(pieces: readonly Piece[], find: Find, version: number): readonly Scattered[] {
  if (pieces.every(({ raw }) => raw === pieces[0]!.raw)) return []
  const records = new Records(pieces, find, version)
  return records.withoutChance(
    inPieces(pieces, find, () => false),
    ({ kind, pieces: places }) => !isNumber.test(kind) && !records.areAt(places, () => true),
  )
}

/**
 * Tells records from pieces of one text: two of them end with a secret, or did, behind the same beginning, such as none or
 * `Bearer `.
 */
class Records {
  readonly #pieces: readonly Piece[]
  readonly #find: Find
  readonly #version: number
  /** What stands before the secret that a piece ends with. */
  readonly #before = new Map<Piece, string | undefined>()
  readonly #edges = new Map<Piece, Edges>()

  constructor(pieces: readonly Piece[], find: Find, version: number) {
    this.#pieces = pieces
    this.#find = find
    this.#version = version
  }

  /** Whether the pieces in which the places lie are records, of those with beginnings that count. */
  areAt(places: Scattered['pieces'], counts: (before: string) => boolean): boolean {
    const parts = piecesWith(this.#pieces, places)
    const seen = new Set<string>()
    // The last ones first: the next secret may begin in them.
    for (let at = parts.length - 1; at >= 0; at--) {
      const before = this.#beforeIn(parts[at]!)
      if (before === undefined || !counts(before)) continue
      if (seen.has(before)) return true
      seen.add(before)
    }
    return false
  }

  /**
   * Those that count, without those that are whole in one piece, where the pieces are lines and the next one only begins with a
   * word. What is JSON together is one text, and all in it counts.
   */
  withoutChance(scattered: readonly Scattered[], counts: (one: Scattered) => boolean): readonly Scattered[] {
    const [inJson, others] = [scattered.filter(isInJson), scattered.filter((one) => !isInJson(one) && counts(one))]
    return [...inJson, ...this.#beyondLines(others)]
  }

  #beyondLines(scattered: readonly Scattered[]): readonly Scattered[] {
    if (this.#version < 8 || scattered.length === 0 || this.#pieces.some(({ text }) => hasBlankEdge.test(text)))
      return scattered
    const whole = scattered.map(({ pieces: places }) => this.#whole(places))
    const ofLines = this.#pieces.filter(({ text }) => /\s/.test(text)).length
    if (ofLines < certainLines && !this.#areSecretsInTwo()) return scattered
    return scattered.filter(({ pieces: places }, nth) => {
      const own = whole[nth]!
      if (own.length === 0 || ofLines >= certainLines) return own.length === 0
      return !piecesWith(this.#pieces, places).every((part, at) => {
        const from = places[at]!.start - part.start
        const { first } = this.#edgesOf(part)
        return own.includes(part) || isPlain.test(part.raw.slice(from, Math.min(first, places[at]!.end - part.start)))
      })
    })
  }

  #areSecretsInTwo(): boolean {
    const isIn = (piece: Piece): boolean => this.#edgesOf(piece).first < piece.text.length
    const one = this.#pieces.findIndex(isIn)
    return one !== -1 && this.#pieces.slice(one + 1, one + mostAlone).some(isIn)
  }

  /** The pieces in which the places lie that have a secret alone where others begin. */
  #whole(places: Scattered['pieces']): readonly Piece[] {
    const parts = piecesWith(this.#pieces, places)
    return parts.filter((part, at) => {
      const { starts, ends } = this.#edgesOf(part)
      return (at > 0 && starts) || (at < parts.length - 1 && ends)
    })
  }

  #edgesOf(piece: Piece): Edges {
    const known = this.#edges.get(piece)
    if (known !== undefined) return known
    const { text } = piece
    const found = this.#find(text)
    const edges = {
      starts: placeholderAtStart.test(text) || found.some(({ start }) => start === 0),
      ends: placeholderAtEnd.test(text) || found.some(({ end }) => end === text.length),
      first: Math.min(placeholderWithin.exec(text)?.index ?? text.length, ...found.map(({ start }) => start)),
    }
    this.#edges.set(piece, edges)
    return edges
  }

  #beforeIn(piece: Piece): string | undefined {
    if (this.#before.has(piece)) return this.#before.get(piece)
    const { text } = piece
    let start = placeholderAtEnd.exec(text)?.index ?? text.length
    for (const found of this.#find(text)) if (found.end === text.length) start = Math.min(start, found.start)
    const before = start === text.length || (this.#version < 7 && start > 0) ? undefined : text.slice(0, start)
    this.#before.set(piece, before)
    return before
  }
}

/** Whether a secret stands alone where a piece begins or ends, and where the first one begins. */
interface Edges {
  readonly starts: boolean
  readonly ends: boolean
  readonly first: number
}

/** So many pieces of several words that neither begin nor end with a blank are lines: a text is cut at some of its blanks. */
const certainLines = 6
/** So many pieces behind one with a secret are searched for another one. */
const mostAlone = 64
const hasBlankEdge = /^\s|\s$/
const words = String.raw`(?:\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}+)?`
/** Words and signs, and no part of a token. */
const isPlain = new RegExp(String.raw`^${words}(?:[^\p{L}\p{M}\d]+${words})*$`, 'u')

/** The pieces in which the places lie; both stand in order. */
function isInJson({ quote }: Scattered): boolean {
  return quote !== undefined
}

function piecesWith(pieces: readonly Piece[], places: Scattered['pieces']): readonly Piece[] {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (endOf(pieces[middle]!) > places[0]!.start) high = middle
    else low = middle + 1
  }
  const parts: Piece[] = []
  let at = low
  for (const { start } of places) {
    while (endOf(pieces[at]!) <= start) at++
    if (parts.at(-1) !== pieces[at]) parts.push(pieces[at]!)
  }
  return parts
}

function endOf({ start, raw }: Piece): number {
  return start + raw.length
}

const placeholderAtEnd = /(?<![\w.@-])redacted-[\w.@-]{1,128}$/
const placeholderAtStart = /^redacted-[\w.@-]{1,128}(?![\w.@-])/
const placeholderWithin = /(?<![\w.@-])redacted-[\w.@-]{1,128}/
const isNumber = /^(?:card|iban|phone|ssn|ip)$/

const fieldOfEvents = /^(?:data|event|id|retry|:)/

/** What may stand before a stream: a mark of byte order, blank lines, and the sign before each JSON text of RFC 7464. */
const beforeStream = /\ufeff?[\s\x1e]*/y
const beginsObject = /^\ufeff?[\s\x1e]*\{/
const secondJson = /\}[^\S\r\n]*[\r\n\x1e][\s\x1e]*\{/
const firstField = /(?:data|event|id|retry|:)/y
const firstLine = /[0-9a-z]:["{[]/y

/** Whether a text may be a stream of pieces that are read together. */
export function isStream(text: string, version: number): boolean {
  if (version < 12) return isStreamBefore(text, version)
  beforeStream.lastIndex = 0
  beforeStream.test(text)
  const start = (firstField.lastIndex = firstLine.lastIndex = beforeStream.lastIndex)
  if (text[start] === '{')
    return version < 13
      ? secondJson.test(text)
      : hasSecondObject(text) && (secondJson.test(text) || isConcatenated(text, start))
  if (firstField.test(text)) return /[\r\n]data:/.test(text)
  if (firstLine.test(text)) return /[\r\n][0-9a-z]:"/.test(text)
  return text[start] === '[' && /^\[\s{0,4}\{/.test(text.slice(start, start + 6)) && text.includes('"candidates"')
}

const besideEachOther = /\}[^\S\r\n]*\{/

/** Whether an object may begin where another one ends. A search for a sign costs a fraction of a pattern. */
function hasSecondObject(text: string): boolean {
  for (let at = text.indexOf('}'); at !== -1; at = text.indexOf('}', at + 1)) {
    let next = at + 1
    while (text.charCodeAt(next) <= 0x20) next++
    if (text.charCodeAt(next) === opening) return true
  }
  return false
}

/** Whether an object of JSON begins right behind the first one: in one document such braces stand in texts alone. */
function isConcatenated(text: string, start: number): boolean {
  work.done += text.length >> 4
  beforeStream.lastIndex = objectEnd(text, start)
  beforeStream.test(text)
  return text[beforeStream.lastIndex] === '{'
}

const [quote, opening, closing] = [0x22, 0x7b, 0x7d]

/** Where an object of JSON ends that begins here, or later; of one that does not, the text does. */
function objectEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === opening) depth++
    else if (code === closing && --depth <= 0) return at + 1
    if (code !== quote) continue
    at = closingQuoteOf(text, at)
    if (at === -1) break
  }
  return text.length
}

function isStreamBefore(text: string, version: number): boolean {
  // A line feed is rare in JSON, and a brace is not.
  if (text.startsWith('{')) return text.includes('\n{') && (text.includes('}\n{') || text.includes('}\r\n{'))
  if (fieldOfEvents.test(text)) return text.includes('\ndata:')
  if (version >= 6 && text[1] === ':' && /^[0-9a-z]:["{[]/.test(text)) return /\n[0-9a-z]:"/.test(text)
  if (!text.startsWith('[')) return false
  return /^\[\s{0,4}\{/.test(text) && text.includes('"candidates"')
}

interface Piece {
  /** Where its text stands, without the quotes. */
  readonly start: number
  readonly raw: string
  readonly text: string
}

const pieceFields =
  'content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal|transcript|input|textDelta|inputTextDelta|response|completion|generated_text|output'
const piecePattern = new RegExp(`"(${pieceFields})"\\s{0,8}:\\s{0,8}"((?:[^"\\\\\n]|\\\\.){0,65536})"`, 'g')
/** Of any field; a line of a stream of the AI SDK, `0:"…"`; a line of text behind `data:`. */
const pieceBehind = (start: string): RegExp =>
  new RegExp(
    [
      String.raw`(?:"([\w.-]{1,64})"\s{0,8}:\s{0,8}|${start}([0-9a-z]):)"((?:[^"\\\n]|\\.){0,65536})"`,
      String.raw`${start}data: ?"((?:[^"\\\n]|\\.){0,65536})"\r?$`,
      String.raw`${start}data:(?! ?[{[][^\r\n]*[}\]]\r?$) ?([^\r\n]{1,65536})`,
    ].join('|'),
    'gm',
  )
const anyPiece = pieceBehind('^')
const anyPieceNow = pieceBehind(String.raw`^\ufeff?`)
/** Fields that say which event, run or item it is. */
const ofIds = /(?:^|_)ids?$|I[dD]s?$|^(?:type|object|model|role|event|created|timestamp)$/
const isOfModel = new RegExp(`^(?:${pieceFields}) `)
const streamPattern =
  /"(?:index|output_index|content_index|contentBlockIndex|item_id)"\s{0,8}:\s{0,8}("?[\w-]{1,128}"?)/g
/** They may be of the text, as that of a tool call is, or of the piece: pieces are read together with and without regard to them. */
const idPattern =
  /"(?:id|tool_?call_?id|tool_?use_?id|call_?id)"\s{0,8}:\s{0,8}("(?:[^"\\\r\n]|\\.){1,128}"|\d{1,16})/gi

/** The texts a stream sends in pieces, each in order. */
export function streamedTexts(text: string, version: number): Iterable<readonly Pick<Piece, 'start' | 'text'>[]> {
  return gather(text, version).values()
}

/** What it costs to read a piece. */
const perPiece = 16

/** Pieces by the stream they belong to: the field, and the numbers of choice, block or item beside it. */
function gather(text: string, version: number): Map<string, Piece[]> {
  const streams = new Map<string, Piece[]>()
  const byId = new Map<string, Map<string, Piece[]>>()
  const pattern = version < 6 ? piecePattern : version < 12 ? anyPiece : anyPieceNow
  const lineSign = version >= 12 && !text.includes('\n') ? '\r' : '\n'
  // Objects without a line of their own are what lines are elsewhere.
  const hasObjects = version >= 13 && beginsObject.test(text) && besideEachOther.test(text)
  work.done += text.length >> 3
  let lineEnd = hasObjects ? 0 : -1
  let numbers = ''
  let ids = ''
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { field, raw, end, isJson } = version < 6 ? ofModel(match) : ofAny(match)
    if (version >= 6 && ofIds.test(field)) continue
    if (end > lineEnd) {
      let lineStart = lineEnd
      if (hasObjects) while (lineEnd < end) [lineStart, lineEnd] = [lineEnd, objectEnd(text, lineEnd)]
      else {
        lineStart = text.lastIndexOf(lineSign, match.index) + 1
        const lineFeed = text.indexOf(lineSign, end)
        lineEnd = lineFeed === -1 ? text.length : lineFeed
      }
      const line = text.slice(lineStart, lineEnd)
      numbers = valuesIn(line, streamPattern)
      if (version >= 12) ids = valuesIn(line, idPattern)
    }
    const stream = `${field} ${numbers}`
    const pieces = streams.get(stream) ?? []
    if (pieces.length === 0) streams.set(stream, pieces)
    work.done += perPiece
    const piece = { start: end - raw.length, raw, text: isJson ? textOf(raw) : raw }
    pieces.push(piece)
    if (ids === '') continue
    const of = byId.get(stream) ?? new Map<string, Piece[]>()
    if (of.size === 0) byId.set(stream, of)
    const own = of.get(ids)
    if (own === undefined) of.set(ids, [piece])
    else own.push(piece)
  }
  for (const [stream, of] of byId)
    for (const [own, pieces] of of) {
      if (pieces.length === 1 || pieces.length === streams.get(stream)!.length) continue
      work.done += perPiece * pieces.length
      streams.set(`${stream} ${own}`, pieces)
    }
  return streams
}

interface Matched {
  readonly field: string
  readonly raw: string
  /** Where the text ends. */
  readonly end: number
  /** Its escapes are those of JSON. */
  readonly isJson: boolean
}

function ofModel({ 0: whole, 1: field = '', 2: raw = '', index }: RegExpExecArray): Matched {
  return { field, raw, end: index + whole.length - 1, isJson: true }
}

function ofAny({ 0: whole, 1: named, 2: line, 3: text, 4: data, 5: plain = '', index }: RegExpExecArray): Matched {
  const raw = text ?? data ?? plain
  const isJson = text !== undefined || data !== undefined
  const start = data === undefined ? whole.length - raw.length - (isJson ? 1 : 0) : whole.indexOf('"') + 1
  return { field: named ?? line ?? 'data', raw, end: index + start + raw.length, isJson }
}

function valuesIn(line: string, pattern: RegExp): string {
  let values = ''
  pattern.lastIndex = 0
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) values += `${match[1]},`
  return values
}

/** @param counts - whether a secret does that stands in one piece */
function inPieces(pieces: readonly Piece[], find: Find, counts: (value: string, piece: Piece) => boolean): Scattered[] {
  const joined = pieces.map(({ text }) => text).join('')
  const scattered: Scattered[] = []
  const offsetOf = rawOffsets()
  let first = 0
  let firstStart = 0
  for (const { kind, value, start, end, contextual, encoded, quote } of find(joined)) {
    // In the order of their meaning, not of their places.
    if (start < firstStart) first = firstStart = 0
    while (firstStart + pieces[first]!.text.length <= start) firstStart += pieces[first++]!.text.length
    // Only together do the pieces say that it is a number.
    const isOfOne = quote === undefined && end <= firstStart + pieces[first]!.text.length
    if (isOfOne && !counts(value, pieces[first]!)) continue
    const parts: { start: number; end: number }[] = []
    for (let at = first, atStart = firstStart; atStart < end; atStart += pieces[at++]!.text.length) {
      const piece = pieces[at]!
      const from = Math.max(0, start - atStart)
      const to = Math.min(piece.text.length, end - atStart)
      if (from < to) parts.push({ start: piece.start + offsetOf(piece, from), end: piece.start + offsetOf(piece, to) })
    }
    scattered.push({
      kind,
      value,
      pieces: parts,
      ...(contextual && { contextual }),
      ...(encoded && { encoded }),
      ...(quote !== undefined && { quote: JSON.stringify(quote).slice(1, -1) }),
    })
  }
  return scattered
}

function textOf(raw: string): string {
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // Not JSON: what stands there is then all there is.
    return raw
  }
}

/** Where a character of the text of a piece stands in its raw form; those of one piece are asked for one after the other. */
function rawOffsets(): (piece: Piece, offset: number) => number {
  let [last, taken, at] = ['', 0, 0]
  return ({ raw, text }, offset) => {
    if (raw === text) return offset
    if (raw !== last || offset < taken) [last, taken, at] = [raw, 0, 0]
    for (; taken < offset; taken++) at += raw[at] !== '\\' ? 1 : raw[at + 1] === 'u' ? 6 : 2
    return at
  }
}
