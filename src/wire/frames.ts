import type { Json } from '../json/types.ts'
import { isEventStream, readEventStream } from './event-stream.ts'
import { isList, isMap, parseJson } from '../json/canonical.ts'

/** A body cut into the JSON values it carries. */
export interface Frames {
  readonly values: readonly Json[]
  /** Pieces that should have been JSON and are not (the torn end of a truncated stream counts). */
  readonly unreadable: number
}

/**
 * Cuts a response body into JSON values: one for a plain JSON body, one per event for SSE, JSON-array streaming,
 * newline-delimited JSON and AWS event streams. The form is read from the bytes: content types are often wrong.
 *
 * @param hasText - what AWS frames wrap is text, though it may look like JSON
 */
export function readFrames(bytes: Uint8Array, hasText = false): Frames {
  if (isEventStream(bytes)) return { values: readEventStream(bytes, hasText), unreadable: 0 }
  const text = new TextDecoder().decode(bytes)
  const whole = parseJson(text)
  if (whole !== undefined) return { values: isList(whole) ? whole : [whole], unreadable: 0 }
  if (/^(data|event|id|retry)?:/m.test(text)) return readServerSentEvents(text)
  if (/^\s*\[/.test(text)) return gather(valuesIn(text, 1))
  return readLines(text)
}

/**
 * Values one after the other, each in a line as a rule. A value may be written over several lines, or several stand in one:
 * where lines are no values, the reading that finds more of them is the right one. A torn value costs the other reading all
 * that follow.
 */
function readLines(text: string): Frames {
  const byLine = gather(text.split('\n').map((line) => line.trim()))
  if (byLine.unreadable === 0 || !/^\s*\{/.test(text)) return byLine
  const byBrace = gather(valuesIn(text, 0))
  return countMaps(byBrace) > countMaps(byLine) ? byBrace : byLine
}

function countMaps({ values }: Frames): number {
  return values.filter(isMap).length
}

/**
 * The `data` of every event. An event name is added as `type` where the data has none of its own.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
function readServerSentEvents(text: string): Frames {
  const values: Json[] = []
  let unreadable = 0
  // An event ends at a blank line; the last one also at the end of a truncated stream.
  for (const block of text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split(/\n{2,}/)) {
    const data: string[] = []
    let name: string | undefined
    for (const line of block.split('\n')) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
      if (field === 'data') data.push(value ?? '')
      if (field === 'event') name = value
    }
    const joined = data.join('\n').trim()
    if (joined === '' || joined === '[DONE]') continue
    const read = parseJson(joined)
    // Some servers write one `data` line per event and forget the blank lines between them.
    const pieces = read === undefined && data.length > 1 ? gather(data) : undefined
    if (pieces !== undefined) {
      values.push(...pieces.values)
      unreadable += pieces.unreadable
    } else if (read === undefined) unreadable++
    else values.push(named(read, name))
  }
  return { values, unreadable }
}

function named(value: Json, name: string | undefined): Json {
  return name === undefined || !isMap(value) || Object.hasOwn(value, 'type') ? value : { ...value, type: name }
}

/** Texts of the maps and lists that stand `below` others, in a text that may end in the middle of one. */
function valuesIn(text: string, below: 0 | 1): readonly string[] {
  const pieces: string[] = []
  let depth = 0
  let start = -1
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (quoted) {
      if (character === '\\') i++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') {
      if (depth++ === below) start = i
    } else if ((character === '}' || character === ']') && depth > 0) {
      if (--depth === below && start >= 0) pieces.push(text.slice(start, i + 1))
    }
  }
  return pieces
}

function gather(pieces: readonly string[]): Frames {
  const values: Json[] = []
  let unreadable = 0
  for (const piece of pieces) {
    if (piece === '' || piece === '[DONE]') continue
    const value = parseJson(piece)
    if (value === undefined) unreadable++
    else values.push(value)
  }
  return { values, unreadable }
}
