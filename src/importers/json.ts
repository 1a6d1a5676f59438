import { Cursor, type Path } from './cursor.ts'
import { depthCap } from './limits.ts'
import { refusal } from './refusal.ts'

/**
 * The root of a JSON document.
 *
 * @param firstLine - the 1-based line of the file at which the text begins
 * @throws HarvestError `HARVEST_IMPORT_TOO_DEEP`, `HARVEST_IMPORT_SYNTAX`
 */
export function readJson(text: string, file: string, firstLine = 1): Cursor {
  const lineOfOffset = (offset: number): number => firstLine - 1 + lineAt(text, offset)
  const deep = tooDeepAt(text)
  if (deep !== undefined)
    throw refusal(
      'HARVEST_IMPORT_TOO_DEEP',
      { file, line: lineOfOffset(deep) },
      `nested deeper than ${depthCap} levels`,
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const { message } = cause as SyntaxError
    const offset = /position (\d+)/.exec(message)?.[1]
    // Of a short text the engine shows the text in place of the position; in one line that is all there is to say.
    const end = message.includes('end of JSON') || !text.includes('\n') ? text.length : undefined
    const at = offset === undefined ? end : Number(offset)
    throw refusal('HARVEST_IMPORT_SYNTAX', { file, ...(at === undefined ? {} : { line: lineOfOffset(at) }) }, message, {
      cause,
    })
  }
  return new Cursor(value, {
    file,
    lineOf(path) {
      const offset = offsetOf(text, path)
      return offset === undefined ? undefined : lineOfOffset(offset)
    },
  })
}

/** The 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

const quote = 0x22
const backslash = 0x5c

/** Where nesting passes the cap. Looks at characters only, so that nothing is built of what is refused. */
export function tooDeepAt(text: string): number | undefined {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > depthCap) return i
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return undefined
}

/** Index of the closing quote of a string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}

/** Where the value of a path begins, in a text that is JSON; of a missing one, where what should hold it begins. */
function offsetOf(text: string, path: Path): number | undefined {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const next = memberAt(text, at, step)
    if (next === undefined) return at
    at = next
  }
  return at
}

function memberAt(text: string, open: number, step: string | number): number | undefined {
  // What should be a map or a list may be something else: what is asked of it stands there then.
  if (text[open] !== (typeof step === 'string' ? '{' : '[')) return undefined
  let at = skipSpace(text, open + 1)
  for (let index = 0; at < text.length && text[at] !== ']' && text[at] !== '}'; index++) {
    let name: string | number = index
    if (typeof step === 'string') {
      const end = endOfString(text, at)
      name = JSON.parse(text.slice(at, end + 1)) as string
      at = skipSpace(text, skipSpace(text, end + 1) + 1)
    }
    if (name === step) return at
    at = skipSpace(text, endOfValue(text, at))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return undefined
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const character = text[i]
    if (character === '"') i = endOfString(text, i)
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') {
      if (depth === 0) return i
      depth--
    } else if (character === ',' && depth === 0) return i
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++
  return at
}
