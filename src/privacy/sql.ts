import { addSecret, codesOf, has } from './edges.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { type NameClass, passes } from './values.ts'
import type { Trigger } from './walk.ts'

/** Keys behind which the parameters of a query stand, right behind its text. */
const keys = ['params', 'values', 'args', 'parameters', 'bindings']
/** Longer ones are made by programs, and their parameters are rows by the thousand. */
const longest = 16_384
const mostParams = 1_024

/**
 * Values of queries whose parameters stand beside the text: `{"sql":"… where password = ?","params":["…"]}`, and
 * `["… where password = $1",["…"]]`. The name is that of the column each is compared with, set to or inserted into.
 */
export function sqlTriggers(names: NameTable): readonly Trigger[] {
  const read = readerOf(names)
  return [
    ...keys.map(
      (key): Trigger => ({ text: key, group, at: (text, index, found) => afterKey(read, key, text, index, found) }),
    ),
    ...[',[', ', [', ',{', ', {'].map(
      // One look tells most lists and objects apart from parameters.
      (head): Trigger => ({
        text: head,
        group,
        only: [-1, '"'],
        at: (text, index, found) => paramsOf(read, text, index, index + head.length - 1, found),
      }),
    ),
  ]
}

/** What a query says of its parameters, as it stands in as many texts of JSON as its quote has escapes. */
type Reader = (raw: string, escapes: number) => ReadonlyMap<string, NameClass> | undefined

const queriesCap = 256
const shortQuery = 1_024

/** The same few queries come again with every call: what was worked out is kept. */
function readerOf(names: NameTable): Reader {
  const known = new Map<string, ReadonlyMap<string, NameClass> | undefined>()
  return (raw, escapes) => {
    const key = `${escapes}${raw}`
    if (known.has(key)) return known.get(key)
    const sql = plainOf(raw, escapes)
    const named = sql === undefined ? undefined : namedParams(names, sql)
    if (known.size >= queriesCap) known.clear()
    if (raw.length <= shortQuery) known.set(key, named)
    return named
  }
}

/** Those in a query that was looked at are not asked. */
const group = 'parameters'

/** `"…","params":[`: behind the key and before it, sign by sign, as schemas of tools have such keys by the hundred. */
function afterKey(read: Reader, key: string, text: string, index: number, found: TextRange[]): number {
  if (text.charCodeAt(index - 1) !== quote) return 0
  let open = index + key.length
  while (text.charCodeAt(open) === backslash) open++
  if (text.charCodeAt(open++) !== quote) return 0
  if (isSpace(text, open)) open++
  if (text.charCodeAt(open++) !== colon) return 0
  while (isSpace(text, open)) open++
  if (text[open] !== '[' && text[open] !== '{') return 0
  let comma = index - 2
  while (text.charCodeAt(comma) === backslash) comma--
  while (isSpace(text, comma)) comma--
  if (text[comma] !== ',' || text.charCodeAt(comma - 1) !== quote) return 0
  return paramsOf(read, text, comma, open, found)
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** @param end - behind the quote that ends the query */
function paramsOf(read: Reader, text: string, end: number, open: number, found: TextRange[]): number {
  const escapes = backslashesBefore(text, end - 1)
  const from = openingQuote(text, end - 1 - escapes, escapes)
  // Most texts before a list or an object are no query: a look tells.
  if (from === undefined || !hasParams(text, from, end)) return 0
  const named = read(text.slice(from, end - 1 - escapes), escapes)
  if (named === undefined) return 0
  let last = open + 1
  for (const { key, start, end: stop, value } of paramsFrom(text, open, escapes)) {
    const kind = named.get(key)
    if (kind !== undefined && passes(kind, value, false)) addSecret(found, start, stop, value)
    last = stop
  }
  return last
}

function openingQuote(text: string, end: number, escapes: number): number | undefined {
  const least = Math.max(0, end - longest)
  for (let at = end - 1; at >= least; at--)
    if (text.charCodeAt(at) === quote && backslashesBefore(text, at) <= escapes) return at + 1
  return undefined
}

/** What parameters are named with in a query. */
const isOfParam = codesOf(/[?$:@]/, 128)

function hasParams(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (has(isOfParam, text.charCodeAt(at))) return true
  return false
}

/** The text of a query that stands as JSON in as many texts as its quote has escapes. */
function plainOf(raw: string, escapes: number): string | undefined {
  let plain = raw
  try {
    for (let depth = escapes; ; depth = (depth - 1) / 2) {
      plain = JSON.parse(`"${plain}"`) as string
      if (depth < 1) return plain
    }
  } catch {
    // What is no JSON is no query of one.
    return undefined
  }
}

interface Param {
  /** Its number from 1, or its name. */
  readonly key: string
  readonly start: number
  readonly end: number
  readonly value: string
}

/** The texts of a list or object of parameters; those of a list inside of it belong to its parameter. */
function* paramsFrom(text: string, open: number, escapes: number): Generator<Param> {
  const isList = text[open] === '['
  let [depth, count, key, isKey] = [1, 1, '', !isList]
  for (let at = open + 1; at < text.length && depth > 0 && at - open < longest * 4 && count <= mostParams; at++) {
    const sign = text[at]!
    if (sign === '[' || sign === '{') depth++
    else if (sign === ']' || sign === '}') depth--
    else if (sign === ',' && depth === 1) [count, isKey] = [count + 1, !isList]
    else if (sign === ':' && depth === 1) isKey = false
    else if (sign === '"') {
      const end = closing(text, at + 1, escapes)
      if (end === undefined) return
      const value = plainOf(text.slice(at + 1, end), escapes) ?? ''
      if (isKey && depth === 1) key = value.replace(/^[:@$]/, '')
      else yield { key: isList ? `${count}` : key, start: at + 1, end, value }
      at = end + escapes
    }
  }
}

function closing(text: string, start: number, escapes: number): number | undefined {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    const before = Math.min(backslashesBefore(text, at), at - start)
    if (before === escapes || (escapes === 0 && before % 2 === 0)) return at - escapes
    // The text around this one ends here.
    if (before < escapes) return undefined
  }
  return undefined
}

// Text, comments, names in quotes, parameters, words, and signs. What is not closed goes on to the end.
const sqlToken =
  /[A-Za-z_][\w$]*|[(),.]|'(?:[^']|'')*(?:'|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[\w+\]|\?\d{0,4}|[$:@][A-Za-z_]\w{0,63}|\$\d{1,4}|::\s?\w+|<=>|==|<>|!=|:=|\S/g

interface Token {
  readonly text: string
  /** Which parameter it is. */
  readonly param?: string
}

/** Which of its parameters a query gives to columns whose names promise a secret. */
function namedParams(names: NameTable, sql: string): ReadonlyMap<string, NameClass> | undefined {
  const tokens = tokensOf(sql)
  const named = new Map<string, NameClass>()
  const note = (param: string, column: string | undefined): void => {
    const kind = column === undefined ? undefined : names.classOf(column)
    if (kind !== undefined) named.set(param, kind)
  }
  compared(tokens, note)
  for (const [columns, rows] of tuples(tokens))
    for (const row of rows) row.forEach((params, nth) => params.forEach((param) => note(param, columns[nth])))
  return named.size === 0 ? undefined : named
}

function tokensOf(sql: string): readonly Token[] {
  const tokens: Token[] = []
  let count = 0
  for (const [text] of sql.matchAll(sqlToken)) {
    if (text === '?') tokens.push({ text, param: `${++count}` })
    else if (/^(?:[$:@]\w|\?)/.test(text)) tokens.push({ text, param: text.slice(1) })
    else if (!/^(?:--|\/\*|::)/.test(text)) tokens.push({ text })
  }
  return tokens
}

const sign = /^(?:=|==|<>|!=|<=>|:=)$/
const operator = /^(?:=|==|<>|!=|<=>|:=|is|not|like|ilike|in)$/i

/** `password = ?`, `password in (?, ?)`, `password = crypt(?, …)`, `? = password`. */
function compared(tokens: readonly Token[], note: (param: string, column: string | undefined) => void): void {
  let column: string | undefined
  let isList = false
  tokens.forEach(({ text, param }, at) => {
    const next = tokens[at + 1]?.text ?? ''
    if (param !== undefined) {
      note(param, column)
      if (sign.test(next)) note(param, columnFrom(tokens, at + 2))
    } else if (operator.test(next) && nameOf(text) !== undefined && !operator.test(text)) {
      column = nameOf(text)
      isList = false
    } else if (/^in$/i.test(text)) isList = true
    else if (/^(?:and|or|where|returning|;)$/i.test(text) || (text === ',' && !isList) || (text === ')' && isList))
      column = undefined
  })
}

function columnFrom(tokens: readonly Token[], start: number): string | undefined {
  let at = start
  while (tokens[at + 1]?.text === '.') at += 2
  return nameOf(tokens[at]?.text)
}

/** By its place in a list, the parameters of an item. */
type Row = readonly (readonly string[])[]

/** A query has one or two; each may be read to its end. */
const tuplesCap = 8

type Tuples = readonly [columns: readonly string[], rows: readonly Row[]]

/** `(name, password) values (?, ?), (?, ?)`, and the same with `=`, `in` or `select` between them. */
function tuples(tokens: readonly Token[]): readonly Tuples[] {
  let count = 0
  return tokens.flatMap(({ text }, at): readonly Tuples[] => {
    if (count >= tuplesCap || !/^(?:values?|=|in|select)$/i.test(text)) return []
    const columns = columnsUpTo(tokens, at)
    if (columns === undefined) return []
    count++
    if (/^select$/i.test(text)) return [[columns, [rowFrom(tokens, at + 1).row]]]
    const rows: Row[] = []
    // `in ((?, ?), (?, ?))`.
    let next = tokens[at + 1]?.text === '(' && tokens[at + 2]?.text === '(' ? at + 2 : at + 1
    while (tokens[next]?.text === '(') {
      const { row, end } = rowFrom(tokens, next + 1)
      rows.push(row)
      next = tokens[end + 1]?.text === ',' ? end + 2 : tokens.length
    }
    return [[columns, rows]]
  })
}

function columnsUpTo(tokens: readonly Token[], at: number): readonly string[] | undefined {
  let close = at - 1
  while (/^(?:overriding|system|user|value)$/i.test(tokens[close]?.text ?? '')) close--
  if (tokens[close]?.text !== ')') return undefined
  const columns: string[] = []
  for (let open = close - 1; open >= 0; open--) {
    const { text } = tokens[open]!
    if (text === '(') return columns.reverse()
    const name = nameOf(text)
    if (name !== undefined) columns.push(name)
    else if (text !== ',') return undefined
  }
  return undefined
}

/** The items of a row, to the parenthesis that ends it. */
function rowFrom(tokens: readonly Token[], start: number): { readonly row: Row; readonly end: number } {
  const row: string[][] = [[]]
  let [depth, at] = [0, start]
  for (; at < tokens.length; at++) {
    const { text, param } = tokens[at]!
    if (text === '(') depth++
    else if (text === ')' && depth-- === 0) break
    else if (depth === 0 && text === ',') row.push([])
    else if (depth === 0 && /^from$/i.test(text)) break
    if (param !== undefined) row.at(-1)!.push(param)
  }
  return { row, end: at }
}

/** A column without its quotes. */
function nameOf(text = ''): string | undefined {
  if (/^[A-Za-z_]/.test(text)) return text
  return /^(?:"[^"]+"|`[^`]+`|\[\w+\])$/.test(text) ? text.slice(1, -1) : undefined
}

function backslashesBefore(text: string, at: number): number {
  let count = 0
  while (count < 64 && text.charCodeAt(at - 1 - count) === backslash) count++
  return count
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]
