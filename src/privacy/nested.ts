import { wordsOf } from './names.ts'
import { work } from './work.ts'

const isKey = /^_?key$/i
/**
 * What may stand between the name and a value as long as a secret is. Backslashes are taken in one way: as the number of ways
 * doubles with each, some twenty of them would take seconds.
 */
const longValue = /(?:[\s:=>"'`|-]|(?=(\\{1,8}[nr]?))\1){1,24}[\w+/=.~-]{16}/y
const longestAbove = 512
const escapedEnd = /(?:\\{1,8}r)?\\{1,8}n/
/** A line that names what the deeper ones below it belong to: `search:`, `"search":`, `[azure.search]`. */
const heading =
  /(?:^|\\*["'])([ \t]*)(?:- {1,4})?(?:(\\{0,8}["']|)([\w.-]{1,64})\2 {0,4}:|\[([\w.-]{1,64})\])\s*(?:#.*)?$/
const blankOrComment = /^\s*(?:#.*)?$/
/** What stands before a name in an object, and before one in a line. */
const member = /[{,](?:\s|\\{1,8}[nrt]){0,64}\\*["']?$/
const lineStart = /(\n|\\n)[ \t]{0,64}(?:- {1,4})?\\*["']?$/
/** The name of an object, before its brace. */
const ofObject = /([\w$.-]{1,64})(?:\\*["'])?\s{0,8}[:=]$/

/**
 * What a `key` that says nothing by itself is called with the name of what it stands in, as in `azure.search.key`:
 * the object before it, or the line above that is not as deep.
 *
 * @returns `search_key`; `undefined`: it is no key, it has no long value, or what it stands in has no name
 */
export function nestedName(text: string, start: number, name: string): string | undefined {
  if (!isKey.test(name)) return undefined
  work.done += 2
  longValue.lastIndex = start + name.length
  if (!longValue.test(text)) return undefined
  const from = Math.max(0, start - longestAbove)
  const above = text.slice(from, start)
  work.done += 8 + (above.length >> 4)
  const parent = member.test(above.slice(-96)) ? parentInBraces(above) : parentInLines(above)
  return parent === undefined ? undefined : `${wordsOf(parent, false).join('_')}_key`
}

function parentInBraces(above: string): string | undefined {
  let depth = 0
  for (let at = above.length - 1; at >= 0; at--) {
    const code = above.charCodeAt(at)
    if (code === closing) depth++
    else if (code === opening && depth-- === 0) {
      const before = above.slice(Math.max(0, at - 96), at).trimEnd()
      return before.endsWith(':') || before.endsWith('=') ? ofObject.exec(before)?.[1] : undefined
    }
  }
  return undefined
}

const [opening, closing, bracket, dash] = [0x7b, 0x7d, 0x5b, 0x2d]

function parentInLines(above: string): string | undefined {
  const end = lineStart.exec(above.slice(-96))?.[1]
  if (end === undefined) return undefined
  const isRaw = end === '\n'
  const lines = isRaw ? above.split('\n') : above.slice(above.lastIndexOf('\n') + 1).split(escapedEnd)
  const indent = indentOf(lines.pop()!)
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at]!
    const depth = indentOf(line)
    const isTable = depth === indent && line.charCodeAt(depth) === bracket
    // Before the first line of a text in quotes something else stands.
    const mayBegin = at === 0 && !isRaw
    if (!mayBegin && ((depth >= indent && !isTable) || blankOrComment.test(line))) continue
    const [, before = '', , name, table] = heading.exec(line) ?? []
    return before.length <= indent && table !== undefined ? table : before.length < indent ? name : undefined
  }
  return undefined
}

/** Of an item of a list, that of its first name. */
function indentOf(line: string): number {
  let at = 0
  while (isBlank(line.charCodeAt(at)) || (line.charCodeAt(at) === dash && isBlank(line.charCodeAt(at + 1)))) at++
  return at
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
