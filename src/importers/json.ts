import { Cursor, type Path } from './cursor.ts'
import { endOfString, excessIn } from './excess.ts'
import { brokenAt, skipSpace } from './json-syntax.ts'
import { refusal } from './refusal.ts'

/**
 * The root of a JSON document.
 *
 * @param firstLine - the 1-based line of the file at which the text begins
 * @param prefix - what stands before paths in messages
 * @throws HarvestError `HARVEST_IMPORT_TOO_DEEP`, `_TOO_LARGE`, `_BOMB`, `_SYNTAX`
 */
export function readJson(text: string, file: string, firstLine = 1, prefix?: string): Cursor {
  const lineOfOffset = (offset: number): number => firstLine - 1 + lineAt(text, offset)
  refuseExcess(text, { file, line: firstLine })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const line = lineOfOffset(brokenAt(text))
    throw refusal('HARVEST_IMPORT_SYNTAX', { file, line }, (cause as SyntaxError).message, { cause })
  }
  return new Cursor(value, {
    file,
    ...(prefix === undefined ? {} : { prefix }),
    lineOf(path) {
      const offset = offsetOf(text, path)
      return offset === undefined ? undefined : lineOfOffset(offset)
    },
  })
}

/**
 * Refuses a text of JSON that passes a limit, before anything is built of it.
 *
 * @param begin - where the text begins
 * @throws HarvestError `HARVEST_IMPORT_TOO_DEEP`, `_TOO_LARGE`, `_BOMB`
 */
export function refuseExcess(text: string, { file, line }: { readonly file: string; readonly line: number }): void {
  const excess = excessIn(text)
  if (excess !== undefined)
    throw refusal(excess.code, { file, line: line - 1 + lineAt(text, excess.at) }, excess.problem)
}

/** Whether a text is JSON within the limits. */
export function isJson(text: string): boolean {
  if (excessIn(text) !== undefined) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // Where it is broken is reported when it is read as what it is taken for then.
    return false
  }
}

/** The 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
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

/** Where the value of a name or index begins, in a map or list that begins at `open`. */
export function memberAt(text: string, open: number, step: string | number): number | undefined {
  // What is missing may be missing below a value that is no list or map.
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

/** Where a value ends: at the comma or bracket behind it. */
export function endOfValue(text: string, start: number): number {
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
