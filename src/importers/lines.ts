import type { Cursor } from './cursor.ts'
import { isJson, readJson } from './json.ts'
import { brokenAt, skipSpace } from './json-syntax.ts'

const lineFeed = 0x0a

/**
 * Whether bytes are JSON Lines: the first line that is not empty is a JSON object or list by itself, and another one
 * follows it. JSON that was laid out for people never ends on its first line.
 */
export function isJsonLines(bytes: Buffer): boolean {
  // A long document of one line is not made into text for this, nor one that was laid out for people.
  if (!/^[\uFEFF\s]*[[{#]/.test(bytes.toString('utf8', 0, 100)) || !bytes.includes(lineFeed)) return false
  const lines = linesOf(bytes)
  const first = lines.next()
  if (first.done === true || !/^[[{]/.test(first.value.text) || !/[\]}]$/.test(first.value.text)) return false
  const second = lines.next()
  if (second.done === true || !/^[[{]/.test(second.value.text)) return false
  // Not a document by itself: the file is one document of several lines, or none.
  return isJson(first.value.text)
}

/**
 * The documents of JSON Lines, each read when it is asked for, so that no text of the whole file stands in memory.
 *
 * @throws HarvestError `HARVEST_IMPORT_SYNTAX`, `HARVEST_IMPORT_TOO_DEEP` with the line
 */
export function* readLines(bytes: Buffer, file: string): Generator<Cursor> {
  for (const { text, line } of linesOf(bytes)) yield readJson(text, file, line)
}

/**
 * Whether a text that is no JSON is one document behind the other, laid out for people, as console exporters leave them in
 * a file.
 */
export function isJsonSequence(text: string): boolean {
  const end = brokenAt(text)
  return end < text.length && '[{'.includes(text[end]!) && isJson(text.slice(0, end))
}

/**
 * The documents of a sequence, each read when it is asked for.
 *
 * @throws HarvestError `HARVEST_IMPORT_SYNTAX`, `HARVEST_IMPORT_TOO_DEEP` with the line
 */
export function* readSequence(text: string, file: string): Generator<Cursor> {
  let line = 1
  for (let rest = text; skipSpace(rest, 0) < rest.length; ) {
    const end = brokenAt(rest)
    const document = rest.slice(0, end)
    // What is broken at its very beginning is reported as what it is.
    yield readJson(document.trim() === '' ? rest : document, file, line)
    line += document.split('\n').length - 1
    rest = rest.slice(end)
  }
}

interface Line {
  readonly text: string
  /** 1-based. */
  readonly line: number
}

/** Some recorders begin with notes, on lines of their own. */
const noteCap = 50

/** Lines that are not empty, from the first one that is no note. */
function* linesOf(bytes: Buffer): Generator<Line, undefined> {
  let hasBegun = false
  for (let from = 0, line = 1; from < bytes.length; line++) {
    const feed = bytes.indexOf(lineFeed, from)
    const end = feed === -1 ? bytes.length : feed
    const text = bytes
      .toString('utf8', from, end)
      .replace(/^\uFEFF/, '')
      .trim()
    const isNote = !hasBegun && line <= noteCap && text.startsWith('#')
    if (text !== '' && !isNote) {
      hasBegun = true
      yield { text, line }
    }
    from = end + 1
  }
  return undefined
}
