import { neutral } from '../errors/index.ts'
import { counted } from '../errors/words.ts'

/** How much room a text gets. */
export interface Room {
  /** Columns. */
  readonly width: number
  /** Lines at most; absent: as many as it takes. */
  readonly lines?: number
}

/** Columns of the terminal; 80 without one, so that a pipe gets the same text on every machine. */
export function terminalWidth(): number {
  return Math.max(40, process.stdout.isTTY ? process.stdout.columns || 80 : 80)
}

/**
 * Recorded text as neutral lines of about `width` columns. A line break of the text is seen: what follows it starts
 * with `| `; what was only wrapped is indented. What does not fit is counted: `… 34 more lines`.
 */
export function foldText(recorded: string, { width, lines = Infinity }: Room): readonly string[] {
  const text = recorded.replace(/\r\n?/g, '\n').replace(/(?<!\n)\n+$/, '')
  const rows: string[] = []
  for (let from = 0; from <= text.length; ) {
    const end = endOfLine(text, from)
    let at = from
    do {
      if (rows.length >= lines) return [...rows, rest(text, at, end)]
      const to = wrapAt(text, at, end, width - (rows.length === 0 ? 0 : 2))
      const mark = rows.length === 0 ? '' : at === from ? '| ' : '  '
      // Line by line: wrapping may have brought to the front what a CI runner obeys there.
      rows.push(`${mark}${neutral(text.slice(at, to).trimEnd())}`.trimEnd())
      at = to
    } while (at < end)
    from = end + 1
  }
  return rows
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Where a line ends that begins at `from`: after the last blank or comma that fits, or in mid-word without one. */
function wrapAt(text: string, from: number, end: number, width: number): number {
  let columns = 0
  let blank = -1
  for (let at = from; at < end; ) {
    const character = text.codePointAt(at) ?? 0
    columns += columnsOfCharacter(character)
    if (columns > width && at > from) return blank > from + width / 3 ? blank : at
    at += character > 0xffff ? 2 : 1
    if (character === 0x20 || character === 0x2c) blank = at
  }
  return end
}

/** How many columns of a terminal a text takes: what is seen as one character counts as one, wide or not. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e…]*$/.test(text)) return text.length
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let columns = 0
  for (const { segment } of graphemes.segment(text)) columns += columnsOfGrapheme(segment)
  return columns
}

/** Made for the first text that is neither ASCII nor our own mark of what was cut: it loads data of ICU. */
let graphemes: Intl.Segmenter | undefined

function columnsOfGrapheme(grapheme: string): number {
  if (/^\p{RGI_Emoji}$/v.test(grapheme)) return 2
  const character = grapheme.codePointAt(0) ?? 0
  return columnsOfCharacter(character)
}

function columnsOfCharacter(character: number): number {
  if (character > 0x7f && /^[\p{M}\p{Cf}]$/u.test(String.fromCodePoint(character))) return 0
  return isWide(character) ? 2 : 1
}

/** A text in lines of at most `width` columns, broken after a blank or a comma where there is one. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < text.length; ) {
    const to = wrapAt(text, at, text.length, width)
    lines.push(text.slice(at, to).trimEnd())
    at = to
  }
  return lines.length === 0 ? [''] : lines
}

/** A text without its beginning, so that it fits: of a path the end tells the most. */
export function endOfText(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
  const characters = Array.from(text)
  let room = width - 1
  let from = characters.length
  while (from > 0 && (room -= columnsOf(characters[from - 1]!)) >= 0) from--
  return `…${characters.slice(from).join('')}`
}

/** Characters that take two columns of a terminal: East Asian scripts, full-width forms, emoji. */
function isWide(character: number): boolean {
  return (
    (character >= 0x1100 && character <= 0x115f) ||
    (character >= 0x2e80 && character <= 0xa4cf) ||
    (character >= 0xac00 && character <= 0xd7a3) ||
    (character >= 0xf900 && character <= 0xfaff) ||
    (character >= 0xfe30 && character <= 0xfe6f) ||
    (character >= 0xff00 && character <= 0xff60) ||
    (character >= 0x20000 && character <= 0x3fffd) ||
    /^\p{Emoji_Presentation}$/u.test(String.fromCodePoint(character))
  )
}

/** What was left out, from the middle of a line or from the beginning of one. */
function rest(text: string, at: number, end: number): string {
  let lines = at === 0 || text[at - 1] === '\n' ? 1 : 0
  for (let from = end; from < text.length; from = endOfLine(text, from + 1)) lines++
  return lines === 0 ? `… ${counted(end - at, 'more character')}` : `… ${counted(lines, 'more line')}`
}
