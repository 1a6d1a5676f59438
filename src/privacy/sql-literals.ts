import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { type NameClass, passes } from './values.ts'
import type { Trigger } from './walk.ts'

/** So far a statement is read, before a literal and in it. */
const before = 256
const literalCap = 1_024
const columnsCap = 1_536
const rowsCap = 65_536

/**
 * Values that stand in the text of a statement: `create user ada password '…'`, `identified by '…'`, `set password for ada =
 * '…'`, and those of an `insert` that names its columns.
 */
export function sqlLiteralTriggers(names: NameTable): readonly Trigger[] {
  const literal = [" '", "('", ' "', ' \\'].map(
    (head): Trigger => ({ text: head, group: 'literals', at: (...place) => namedLiteral(names, ...place) }),
  )
  const values = ['values', 'VALUES', 'Values'].map(
    (word): Trigger => ({ text: word, group: 'rows', at: (...place) => insertedRows(names, word, ...place) }),
  )
  return [...literal, ...values]
}

const identified = /identified\s{1,8}(?:(?:with|via)\s{1,8}\S{1,64}\s{1,8})?(?:by|as|using)[\s(]{0,8}$/iy
const setFor = /set\s{1,8}password\s{1,8}for\s[^;=]{1,160}(?:=|to)\s{0,8}$/iy
const statement = /\b(?:create|alter|grant|set|attach|copy|unload|identified)\b/i

function namedLiteral(names: NameTable, text: string, index: number, found: TextRange[]): number {
  const kind = kindBefore(names, text, index + 1)
  if (kind === undefined) return 0
  // As many backslashes as there are texts of JSON around it.
  const sign = /\\{0,64}["']/y
  sign.lastIndex = index + 1
  const [quote = ''] = sign.exec(text) ?? []
  return quote === '' ? 0 : literalAt(text, sign.lastIndex, quote, kind, found)
}

/** What the words before a literal promise. */
function kindBefore(names: NameTable, text: string, end: number): NameClass | undefined {
  let stop = end
  while (end - stop < 16 && isGap(text.charCodeAt(stop - 1))) stop--
  let start = stop
  while (stop - start < 64 && isOfWord(text.charCodeAt(start - 1))) start--
  const word = text.slice(start, stop)
  // For whom a password is set stands between its name and the value.
  if (/^to$/i.test(word) || (word === '' && text[stop - 1] === '=')) return endsIn(setFor, 'set', text, end)
  if (/^(?:by|as|using)$/i.test(word)) return endsIn(identified, 'identified', text, end)
  const kind = word === '' ? undefined : names.classOf(word)
  if (kind === undefined) return undefined
  const said = text.slice(Math.max(0, start - before), start)
  return statement.test(said.slice(said.lastIndexOf(';') + 1)) ? kind : undefined
}

/** Space, or a parenthesis that opens. */
function isGap(code: number): boolean {
  return code === 0x20 || code === 0x28 || (code >= 0x09 && code <= 0x0d)
}

function isOfWord(code: number): boolean {
  const letter = code | 0x20
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x24
}

/** Whether the words up to `end` are of such a form, which begins with this word. */
function endsIn(form: RegExp, first: string, text: string, end: number): NameClass | undefined {
  const said = text.slice(Math.max(0, end - before), end)
  form.lastIndex = said.toLowerCase().lastIndexOf(first)
  return form.lastIndex >= 0 && form.test(said) ? 'always' : undefined
}

/** @param open - behind the opening quote. Returns where to go on; 0 when it is not closed. */
function literalAt(text: string, open: number, sign: string, kind: NameClass, found: TextRange[]): number {
  const end = closing(text, open, sign)
  if (end === undefined) return 0
  const value = text.slice(open, end).replaceAll("''", "'")
  if (passes(kind, value, false)) found.push({ kind: 'secret', start: open, end, value, contextual: true })
  return end + sign.length
}

function closing(text: string, open: number, sign: string): number | undefined {
  for (let at = text.indexOf(sign, open); at !== -1 && at - open <= literalCap; at = text.indexOf(sign, at + 1)) {
    // Doubled, or behind a backslash, it belongs to the literal.
    if (sign !== "'") return at
    if (text[at + 1] === "'") at++
    else if (text[at - 1] !== '\\' || at === open) return at
  }
  return undefined
}

function insertedRows(names: NameTable, word: string, text: string, index: number, found: TextRange[]): number {
  const kinds = columnsBefore(text, index)?.map((column) => names.classOf(column))
  if (kinds?.some((kind) => kind !== undefined) !== true) return 0
  let [at, nth, depth] = [index + word.length, 0, 0]
  let isFound = false
  for (const most = Math.min(text.length, at + rowsCap); at < most; at++) {
    const sign = text[at]!
    if (sign === '(') {
      if (depth++ === 0) [nth, isFound] = [0, false]
    } else if (sign === ')') depth--
    else if (sign === ',' && depth === 1) [nth, isFound] = [nth + 1, false]
    else if (sign === "'") {
      const kind = isFound ? undefined : kinds[nth]
      const end = closing(text, at + 1, sign)
      if (end === undefined) return at
      if (kind !== undefined && depth > 0) {
        literalAt(text, at + 1, sign, kind, found)
        isFound = true
      }
      at = end
    } else if (depth === 0 && !/[\s,\\nrt]/.test(sign)) break
    // The text around it ends here, or the statement does.
    if (depth < 0 || (sign === '"' && text[at - 1] !== '\\')) break
  }
  return at
}

const between = /^(?:\\+[nrt]|\s|overriding|system|user|value)*$/i

/** The columns of `insert into t (…) values`; `undefined` where there are none. */
function columnsBefore(text: string, index: number): readonly string[] | undefined {
  const head = text.slice(Math.max(0, index - 48), index)
  const behind = head.length - head.lastIndexOf(')')
  if (behind > head.length || !between.test(head.slice(head.length - behind + 1))) return undefined
  const close = index - behind
  const from = Math.max(0, close - columnsCap)
  const open = from + text.slice(from, close).lastIndexOf('(')
  if (open < from) return undefined
  const said = text.slice(Math.max(0, open - 220), open)
  if (!/\binto\s[^()]*$/i.test(said.slice(Math.max(0, said.toLowerCase().lastIndexOf('into'))))) return undefined
  return text
    .slice(open + 1, close)
    .split(',')
    .map((column) => column.replaceAll(/\\+[nrt]|[\s\\"`[\]]/g, ''))
}
