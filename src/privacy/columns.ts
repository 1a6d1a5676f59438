// Over 300 lines: what stands above columns is read in one place, as now and as by the finders before.
import { addSecret } from './edges.ts'
import { unescaped } from './named.ts'
import type { NameTable } from './names.ts'
import { passwords, words } from './said.ts'
import type { TextRange } from './types.ts'
import { type NameClass, passes } from './values.ts'
import type { Trigger } from './walk.ts'
import { isOverworked, walking, work } from './work.ts'

/** Ends of other names that stand above columns. */
const othersBefore = ['ecret', 'oken', 'pi_key', 'piKey', 'asswd']
const others = [
  ...othersBefore,
  ...[
    'ECRET',
    'OKEN',
    'PI_KEY',
    'pi-key',
    'PI key',
    'PI Key',
    'ccess key',
    'ccess_key',
    'ccessKey',
    'rivate_key',
    'pwd',
    'PWD',
  ],
]

/** Secrets in the columns below their names: CSV, Markdown, what databases print; as they are, and in a text of JSON. */
export function columnTriggers(names: NameTable): readonly Trigger[] {
  const isNow = names.version >= 8
  const beginOf = lineBegins(isNow ? beginsText : beginsTextBefore)
  const reading: Reading = { names, beginOf, breakFrom: lineBreaks() }
  return [...words(passwords), ...(isNow ? others : othersBefore)].map(
    (text): Trigger => ({
      text,
      group: 'columns',
      at: (within, index, found) =>
        isNow
          ? belowNames(reading, within, index + text.length, found)
          : belowHeader(names, beginOf, within, index + text.length, found),
    }),
  )
}

/** How a table is written. */
interface Format {
  readonly delimiter: string
  /** Backslashes before the letter of a line break: 1 in a text of JSON, 2 in one inside of that. */
  readonly escapes: number
  /** What a cell is quoted with. */
  readonly quote: string
}

interface Cell {
  readonly begin: number
  readonly end: number
  readonly isQuoted: boolean
}

interface Row {
  readonly cells: readonly Cell[]
  readonly end: number
  /** Where the next one begins; absent behind the last one. */
  readonly next: number | undefined
}

/** What ends a cell: a delimiter, a line break or the end of the text. */
interface Stop {
  readonly at: number
  readonly next: number | undefined
  readonly isCell: boolean
}

interface Reading {
  readonly names: NameTable
  readonly beginOf: LineBegins
  readonly breakFrom: ReturnType<typeof lineBreaks>
}

const [newline, backslash, quoteSign, space, carriageReturn] = [0x0a, 0x5c, 0x22, 0x20, 0x0d]
const beforeDelimiter = /(?:\\{0,16}["`*]){0,2} {0,40}(?:[,;\t|]|\r?\n|(?:\\{1,8}r)?\\{1,8}n|\\{1,8}t)/y
/** As the bytes are, as JSON may spell it, and as Latin letters. */
const byteOrder = /\ufeff|ï»¿|\\{1,8}u[Ff][Ee][Ff]{2}/y
/** So many rows of other lengths in a row belong to no table; so many cells more than names are looked at. */
const [longestHeader, longestName, mostOthers, mostMore] = [4_096, 96, 64, 8]

function belowNames({ names, beginOf, breakFrom }: Reading, text: string, end: number, found: TextRange[]): number {
  beforeDelimiter.lastIndex = end
  if (!beforeDelimiter.test(text)) return 0
  work.done += 20
  byteOrder.lastIndex = beginOf(text, end)
  let start = byteOrder.test(text) ? byteOrder.lastIndex : beginOf(text, end)
  const { index, escapes } = breakFrom(text, end)
  // The whole is a text of JSON.
  if (start === 0 && escapes > 0 && text.charCodeAt(0) === quoteSign) start = 1
  if (index - start > longestHeader || (escapes & (escapes - 1)) !== 0) return 0
  work.done += (index - start) >> 2
  const header = text.slice(start, index)
  const unquoted = header.includes('"') ? header.replaceAll(/"[^"]*"/g, '') : header
  const delimiter = /\||\t|\\+t|;|,/.exec(unquoted)?.[0]
  if (delimiter === undefined) return index
  const sign = delimiter.endsWith('t') ? '\t' : delimiter
  const format = { delimiter: sign, escapes, quote: `${'\\'.repeat(Math.max(0, 2 * escapes - 1))}"` }
  const head = readRow(text, start, format)
  const kinds = kindsOf(names, text, head, format)
  let last = Math.max(end, head.end)
  let unlike = 0
  for (let at = kinds === undefined ? undefined : head.next; at !== undefined && kinds !== undefined; ) {
    const row = readRow(text, at, format)
    work.done += 2 + ((row.end - at) >> 3) + row.cells.length
    const said = text.slice(at, row.end)
    if (said === '' || said === '\r' || isOverworked()) break
    const cells = row.cells.length > kinds.length && sign === '|' ? aligned(text, at, row, start, head) : row.cells
    if (cells.length === kinds.length) {
      unlike = 0
      if (!ruled.test(said)) cells.forEach((cell, nth) => addCell(text, cell, kinds[nth], format, false, found))
    } else {
      // The names of the next table.
      if (row.cells.length > 1 && kindsOf(names, text, row, format) !== undefined) return at
      if (++unlike > mostOthers) break
      // A cell may be missing, and a sign that parts cells stand in one: what looks random near the place is taken.
      const more = Math.min(mostMore, Math.max(0, cells.length - kinds.length))
      if (cells.length > 1)
        kinds.forEach((kind, nth) => {
          if (kind === undefined) return
          for (const cell of cells.slice(nth, nth + more + 1)) addCell(text, cell, kind, format, true, found)
        })
    }
    last = row.end
    at = row.next
  }
  return last
}

/** What the names above columns promise; `undefined` where they are no such names, or none promises a secret. */
function kindsOf(
  names: NameTable,
  text: string,
  row: Row,
  format: Format,
): readonly (NameClass | undefined)[] | undefined {
  const cells = row.cells.map((cell) => ({ ...cell, said: cellOf(text, cell, format).value }))
  // A list in lines is no head. The first column of a table without a name has the numbers of the rows.
  const isList =
    /^\s/.test(text.slice(row.cells[0]!.begin, row.end)) ||
    cells.some(({ said }, nth) => said === '' && (nth > 0 || cells.length < 3))
  if (row.next === undefined || (format.delimiter !== '|' && isList)) return undefined
  if (!cells.every(({ said, isQuoted }) => (isQuoted ? said.length <= longestName : headerCell.test(said))))
    return undefined
  const kinds = cells.map(({ said }) => names.classOf(said))
  return kinds.some((kind) => kind !== undefined) ? kinds : undefined
}

/** The cells of a row below the signs that part those of the head, where it has signs in its cells as well. */
function aligned(text: string, at: number, row: Row, start: number, head: Row): readonly Cell[] {
  const bars = head.cells.slice(0, -1).map(({ end }) => at + end - start)
  if (!bars.every((bar) => bar < row.end && text[bar] === '|')) return row.cells
  return [...bars, row.end].map((end, nth) => ({ begin: nth === 0 ? at : bars[nth - 1]! + 1, end, isQuoted: false }))
}

/** A call, and what begins or ends with a bracket. */
const ofCode = /^[(){}<>]|\w\(|[(){}<>]$/

function addCell(
  text: string,
  cell: Cell,
  kind: NameClass | undefined,
  format: Format,
  isUnlike: boolean,
  found: TextRange[],
): void {
  if (kind === undefined || cell.end - cell.begin < 3) return
  work.done += 8
  const { begin, end, value } = cellOf(text, cell, format)
  const isPassword = kind === 'always' || kind === 'foreign'
  if (
    /^[!-~]+$/.test(value) &&
    !(cell.isQuoted ? /^\w{0,64}\([^()]*\)$/ : ofCode).test(value) &&
    passes(isPassword ? 'pass' : kind, value, true) &&
    (!isUnlike || passes('key', value, true))
  )
    addSecret(found, begin, end, value)
}

/** What a cell says, and where that stands. */
function cellOf(
  text: string,
  { begin, end, isQuoted }: Cell,
  { escapes, quote }: Format,
): { begin: number; end: number; value: string } {
  const said = text.slice(begin, end)
  const raw = isQuoted ? said : plain(said)
  let value = isQuoted ? raw.replaceAll(quote + quote, quote) : raw
  for (let own = escapes; own >= 1; own >>= 1) value = unescaped(value, '"')
  const from = begin + said.indexOf(raw)
  return { begin: from, end: from + raw.length, value }
}

/** The cells of a line; a quoted one may have line breaks. */
function readRow(text: string, from: number, format: Format): Row {
  const cells: Cell[] = []
  for (let at = from; ; ) {
    const quoted = format.delimiter === '|' ? undefined : quotedCell(text, at, format)
    const stop = quoted?.stop ?? stopFrom(text, at, text.length, format)!
    cells.push({ begin: quoted?.begin ?? at, end: quoted?.end ?? stop.at, isQuoted: quoted !== undefined })
    if (!stop.isCell || stop.next === undefined) return { cells, end: stop.at, next: stop.next }
    at = stop.next
  }
}

/** A cell in quotes, where one begins here; a quote inside of it is doubled. `undefined`: it does not end as one. */
function quotedCell(text: string, at: number, format: Format): { begin: number; end: number; stop: Stop } | undefined {
  const { quote } = format
  let open = at
  while (text.charCodeAt(open) === space) open++
  if (!text.startsWith(quote, open)) return undefined
  const begin = open + quote.length
  for (let mark = text.indexOf('"', begin); mark !== -1; ) {
    let own = 0
    while (mark - own > begin && text.charCodeAt(mark - own - 1) === backslash) own++
    // The text ends that the table stands in.
    if (own < quote.length - 1) return undefined
    let behind = mark + 1
    if (text.startsWith(quote, behind)) {
      mark = text.indexOf('"', behind + quote.length)
      continue
    }
    while (text.charCodeAt(behind) === space || text.charCodeAt(behind) === carriageReturn) behind++
    const stop = stopFrom(text, behind, behind + 1, format)
    return stop === undefined ? undefined : { begin, end: mark + 1 - quote.length, stop }
  }
  return undefined
}

/** What ends a cell, before `last`; the end of the text does as well. */
function stopFrom(text: string, start: number, last: number, { delimiter, escapes }: Format): Stop | undefined {
  const sign = delimiter.charCodeAt(0)
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at)
    if (code === newline) return { at, next: escapes === 0 ? at + 1 : undefined, isCell: false }
    if (code === sign) return { at, next: at + 1, isCell: true }
    if (escapes > 0 && code === quoteSign) return { at, next: undefined, isCell: false }
    if (code !== backslash) continue
    let behind = at + 1
    while (text.charCodeAt(behind) === backslash) behind++
    const letter = text[behind]
    if (escapes > 0) {
      const count = behind - at
      if (letter === '"' && count < 2 * escapes - 1) return { at, next: undefined, isCell: false }
      if (count % (2 * escapes) === escapes) {
        const before = behind - escapes
        if (letter === 'n') return { at: before, next: behind + 1, isCell: false }
        const isBoth = letter === 'r' && text.startsWith(`${'\\'.repeat(escapes)}n`, behind + 1)
        if (isBoth) return { at: before, next: behind + 2 + escapes, isCell: false }
        if (letter === 't' && delimiter === '\t') return { at: before, next: behind + 1, isCell: true }
      }
    }
    // Escaped, as Markdown does it; and a quote of the table's own text.
    const isSkipped = (letter === '|' && delimiter === '|') || (letter === '"' && escapes > 0)
    at = isSkipped ? behind : behind - 1
  }
  return last >= text.length ? { at: text.length, next: undefined, isCell: false } : undefined
}

/** The first line break from a place on, and how many backslashes it is written with. No character is looked at twice. */
function lineBreaks(): (text: string, from: number) => { readonly index: number; readonly escapes: number } {
  const pattern = /\n|(?<!\\)(\\{1,64})(?:r\\{1,64})?n/g
  let [seen, since, next] = [0, 0, { index: -1, escapes: 0 }]
  return (text, from) => {
    if (seen === walking.nth && from >= since && from <= next.index) return next
    pattern.lastIndex = from
    const match = pattern.exec(text)
    ;[seen, since] = [walking.nth, from]
    next = { index: match?.index ?? Number.POSITIVE_INFINITY, escapes: match?.[1]?.length ?? 0 }
    return next
  }
}

const beforeNextCell = /["`*]{0,2} {0,40}(?:[,;\t|]|\r?\n|(?:\\{1,8}r)?\\{1,8}n|\\{1,8}t)/y
const [longestLine, mostRows] = [1_024, 4_096]
const lineBreak = /\n|(?:\\{1,8}r)?\\{1,8}n/y
/** Behind a line of a text of JSON, and at the beginning and the end of that text. */
const beginsTextBefore = /\\n$|:\\{0,7}"$/
const beginsText = /\\n$|[:[] ?\\{0,7}"$/
const afterText = /^\\{0,8}"\s?[,}\]]/
const headerCell = /^[\p{L}\p{N} ._#-]{0,48}$/u
const ruled = /^[\s|+:=-]*$/

/** As {@link belowNames}, by the finders before the eighth version: up to the first row of another length. */
function belowHeader(names: NameTable, beginOf: LineBegins, text: string, end: number, found: TextRange[]): number {
  beforeNextCell.lastIndex = end
  if (!beforeNextCell.test(text)) return 0
  work.done += 20
  const start = beginOf(text, end)
  if (end - start > longestLine) return 0
  const stop = lineEnd(text, start, true)
  const isEscaped = text[stop] === '\\'
  const last = isEscaped ? stop : lineEnd(text, start, false)
  const header = text.slice(start, last)
  work.done += header.length
  const delimiter = /\||\t|\\+t|;|,/.exec(header)?.[0]
  if (header.length >= longestLine || delimiter === undefined) return last
  const cells = header.split(delimiter).map(plain)
  // A list in lines is no head.
  if (delimiter !== '|' && (/^\s/.test(header) || cells.includes(''))) return last
  const kinds = cells.every((cell) => headerCell.test(cell)) ? cells.map((cell) => names.classOf(cell)) : []
  if (!kinds.some((kind) => kind !== undefined)) return last
  let from = last
  for (let row = 0; row < mostRows; row++) {
    lineBreak.lastIndex = from
    if (!lineBreak.test(text)) break
    from = lineBreak.lastIndex
    const to = lineEnd(text, from, isEscaped)
    const line = text.slice(from, to)
    const values = line.split(delimiter)
    work.done += 20 + line.length + 10 * values.length
    if (line !== '' && !ruled.test(line)) {
      if (values.length !== kinds.length) break
      let at = from
      values.forEach((cell, nth) => {
        const [kind, value] = [kinds[nth], plain(cell)]
        const begin = at + cell.indexOf(value)
        at += cell.length + delimiter.length
        const isPassword = kind === 'always' || kind === 'foreign'
        if (
          kind !== undefined &&
          /^[!-~]+$/.test(value) &&
          !/[\\(){}<>]/.test(value) &&
          passes(isPassword ? 'pass' : kind, value, true)
        )
          addSecret(found, begin, begin + value.length, value)
      })
    } else if (line === '') break
    from = to
  }
  return from
}

type LineBegins = (text: string, end: number) => number

/** Where a line begins, or the text of JSON that it is the first of. No character is looked at twice. */
function lineBegins(beginsLine: RegExp): LineBegins {
  let [seen, upTo, begin] = [0, 0, 0]
  return (text, end) => {
    if (seen !== walking.nth || end < upTo) [seen, upTo, begin] = [walking.nth, 0, 0]
    for (let at = end; at > upTo; at--) {
      const last = text.charCodeAt(at - 1)
      if (last !== 0x0a && last !== 0x6e && last !== quoteSign) continue
      if (last !== 0x0a && !beginsLine.test(text.slice(Math.max(0, at - 9), at))) continue
      begin = at
      break
    }
    upTo = end
    return begin
  }
}

/** Where a line ends; one of a text of JSON where that does, at the latest. */
function lineEnd(text: string, start: number, isEscaped: boolean): number {
  const most = Math.min(text.length, start + longestLine)
  for (let at = start; at < most; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) return at
    if (!isEscaped) continue
    lineBreak.lastIndex = at
    if (code === 0x5c && (lineBreak.test(text) || afterText.test(text.slice(at, at + 12)))) return at
    if (code === quoteSign && at > start && afterText.test(text.slice(at, at + 4))) return at
  }
  return most
}

/** A cell without its spaces, quotes and Markdown. */
function plain(cell: string): string {
  return cell.trim().replace(/^(?:["`]|\*\*)|(?:["`]|\*\*|\r)$/g, '')
}
