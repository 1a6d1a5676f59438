import { addSecret, closingQuote, endInText } from './edges.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { looking, type NameClass, passes } from './values.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

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
  return [
    ...spelled(named).flatMap(([word, kind]) =>
      [" '", "('"].map(
        (head): Trigger => ({
          text: word + head,
          at: (text, index, found) =>
            isInStatement(text, index) ? literalAt(text, index + word.length + 2, "'", names.classOf(kind), found) : 0,
        }),
      ),
    ),
    ...[...spelled(['identified']), ...spelled(['password for'])].map(
      ([word]): Trigger => ({ text: `${word} `, at: (text, index, found) => afterWords(text, index, found) }),
    ),
    ...spelled(['values']).map(
      ([word]): Trigger => ({
        text: word,
        group: 'rows',
        at: (...place) => insertedRows(names, word.length, ...place),
      }),
    ),
  ]
}

/** Options of statements that a secret follows without a sign between. */
const named = ['password', 'secret', 'secret_key', 'token']

function spelled(words: readonly string[]): readonly (readonly [spelling: string, word: string])[] {
  return words.flatMap((word) =>
    [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)].map((spelling) => [spelling, word] as const),
  )
}

const statement = /\b(?:create|alter|grant|set|attach|copy|unload|identified)\b/i

function isInStatement(text: string, index: number): boolean {
  work.done += 24
  const said = text.slice(Math.max(0, index - before), index)
  // Of code: `setPassword('…')`.
  if (!looking.asBefore && /[A-Za-z]$/.test(said)) return false
  return statement.test(said.slice(said.lastIndexOf(';') + 1))
}

// As many backslashes before its quote as there are texts of JSON around it.
const identified =
  /identified\s{1,8}(?:(?:with|via)\s{1,8}\S{1,64}\s{1,8})?(?:by|as|using)(?:\s{1,8}password)?[\s(]{0,8}(\\{0,64}["'])/iy
const setFor = /password\s{1,8}for\s[^;=]{1,160}(?:=|to)\s{0,8}(?:password[\s(]{0,8})?(\\{0,64}["'])/iy

function afterWords(text: string, index: number, found: TextRange[]): number {
  for (const form of [identified, setFor]) {
    work.done += 8
    form.lastIndex = index
    const quote = form.exec(text)?.[1]
    if (quote !== undefined) return literalAt(text, form.lastIndex, quote, 'always', found)
  }
  return 0
}

/** @param open - behind the opening quote. Returns where to go on; 0 when it is not closed. */
function literalAt(text: string, open: number, sign: string, kind: NameClass | undefined, found: TextRange[]): number {
  const end = kind === undefined ? undefined : closing(text, open, sign)
  if (kind === undefined || end === undefined) return 0
  const value = text.slice(open, end).replaceAll("''", "'")
  if (passes(kind, value, false)) addSecret(found, open, end, value)
  return end + sign.length
}

function closing(text: string, open: number, sign: string): number | undefined {
  if (sign !== "'") {
    const end = closingQuote(text, open, sign)
    return end < text.length && end - open <= literalCap ? end : undefined
  }
  for (let at = text.indexOf(sign, open); at !== -1 && at - open <= literalCap; at = text.indexOf(sign, at + 1)) {
    // Doubled, or behind a backslash, it belongs to the literal.
    if (text[at + 1] === "'") at++
    else if (text[at - 1] !== '\\' || at === open) return endInText(text, open, at)
  }
  return undefined
}

function insertedRows(names: NameTable, length: number, text: string, index: number, found: TextRange[]): number {
  const kinds = columnsBefore(text, index)?.map((column) => names.classOf(column))
  if (kinds?.some((kind) => kind !== undefined) !== true) return 0
  let [at, nth, depth] = [index + length, 0, 0]
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

/** The columns of `insert into t (…) values`; `undefined` without one. */
function columnsBefore(text: string, index: number): readonly string[] | undefined {
  work.done += 20
  const head = text.slice(Math.max(0, index - 48), index)
  const behind = head.length - head.lastIndexOf(')')
  if (behind > head.length || !between.test(head.slice(head.length - behind + 1))) return undefined
  const close = index - behind
  const from = Math.max(0, close - columnsCap)
  const open = from + text.slice(from, close).lastIndexOf('(')
  if (open < from) return undefined
  const said = text.slice(Math.max(0, open - 220), open)
  if (!/\binto\s[^()]*$/i.test(said.slice(Math.max(0, said.toLowerCase().lastIndexOf('into'))))) return undefined
  work.done += close - open
  return text
    .slice(open + 1, close)
    .split(',')
    .map((column) => column.replaceAll(/\\+[nrt]|[\s\\"`[\]]/g, ''))
}
