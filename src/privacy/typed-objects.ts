// Over 300 lines: members of objects and lines beside one another are read by one set of patterns.
import { addSecret, closingQuote, codesOf, has, sticky } from './edges.ts'
import { looksNamed, pointer, schemeLength, unescaped, vague } from './named.ts'
import { type NameTable, wordsOf } from './names.ts'
import type { Finder, TextRange } from './types.ts'
import { isMixed, isStandIn, type NameClass, passes } from './values.ts'
import { valueBefore } from './value-first.ts'
import type { Trigger } from './walk.ts'
import { walking, work } from './work.ts'

/** What tells what an object is: `"type":"api_key"`, `auth_type: bearer`. */
const told = ['type', 'Type', 'kind', 'Kind', 'scheme', 'Scheme']
/** What may stand behind the quote of a text that tells it. */
const behindQuote = [...',} \t\n\r\\"\'']

/**
 * Secrets by what the object is that they stand in: `{"type":"api_key","key":"…"}`. Also in lines of YAML. Each part of a schema
 * has a `"type":`, so a text in quotes is looked at where it ends like the name of a secret; what has none, behind its sign.
 */
export function typedTriggers(names: NameTable): readonly Trigger[] {
  const look = inTyped(names)
  const before = names.version >= 11 ? valueBefore(names) : undefined
  const atAnd: Trigger['at'] = (text, index, found) => look(text, nameOfText(text, index), found)
  const atQuote: Trigger['at'] = (text, index, found) => {
    before?.(text, index, found)
    return atAnd(text, index, found)
  }
  return [
    ...(names.version >= 10 ? [{ text: 'kty', at: inKey() }] : []),
    ...['"', "'"].flatMap((quote) =>
      behindQuote.map((next): Trigger => ({ text: quote + next, behind: names.endings, at: atQuote })),
    ),
    // The first of two may be the one that promises something: `key_and_key_id`.
    ...['_and_', '-and-'].map((text): Trigger => ({ text, at: atAnd })),
    ...told.flatMap((name) =>
      [':', '='].map(
        (sign): Trigger => ({
          text: name + sign,
          pair: name.length - 1,
          at: (text, index, found) => look(text, nameOfPlain(text, index + name.length), found),
        }),
      ),
    ),
    ...[' :', ' =', '":', "':"].map(
      (text): Trigger => ({
        text: `${text} `,
        pair: 1,
        at: (within, index, found) => look(within, nameOfPlain(within, index + 1), found),
      }),
    ),
  ]
}

/** As the triggers, where the text ends behind the quote. */
export function typedAtEnd(names: NameTable): Finder {
  const look = inTyped(names)
  const before = names.version >= 11 ? valueBefore(names) : undefined
  return (text) => {
    const last = text.charCodeAt(text.length - 1)
    if (last !== doubleQuote && last !== singleQuote) return []
    const found: TextRange[] = []
    before?.(text, text.length - 1, found)
    look(text, nameOfText(text, text.length - 1), found)
    return found
  }
}

interface Member {
  readonly name: string
  readonly nameEnd: number
  readonly start: number
  /** Where it starts for what is no text. */
  readonly end: number
  /** Absent: it has none. */
  readonly quote: string | undefined
}

/** What an object that says what it is promises of its members. */
interface Promised {
  readonly kind: NameClass
  /** Whether that may be something else. */
  readonly isVague: boolean
  /** The last word of what it is: `key` of `api_key`. */
  readonly word: string
}

const white = String.raw`(?:\s|\\{1,8}[nrt]){0,64}`
const typePattern = /(?:\\*["'])?\s{0,8}[:=]\s{0,8}(\\*["'])?(\w[\w .+-]{1,63})/y
const memberPattern = sticky`${white}(\\*["'])?([\w$.-]{1,64})(\\*["'])?${white}[:=]${white}(\\*["'])?`
const afterMember = sticky`${white}(?:(,)|\}|$)`
const scalar = /[^\s,{}[\]"'\\]{1,64}/y
const bracket = /\\*["']|[{}[\]]/g
const [longestBefore, longestBehind, mostObjects, mostMembers, mostBrackets] = [2_048, 8_192, 8, 64, 256]

const [isOfValue, isWhite] = [codesOf(/\w/, 128), codesOf(/\s/)]
const [space, doubleQuote, singleQuote, colon, equals, backslash] = [0x20, 0x22, 0x27, 0x3a, 0x3d, 0x5c]
/** With the quote before it and backslashes behind it. */
const longestSaid = 80

/** Where the name ends of what a text in quotes tells that ends here, or goes on; 0: it is no such name. */
function nameOfText(text: string, index: number): number {
  work.done++
  const from = Math.max(0, index - longestSaid)
  const said = text.slice(from, index)
  const open = Math.max(said.lastIndexOf('"'), said.lastIndexOf("'"))
  if (open === -1) return 0
  let at = from + open
  while (text.charCodeAt(at - 1) === backslash) at--
  at = withoutSpaces(text, at)
  const sign = text.charCodeAt(at - 1)
  return sign === colon || sign === equals ? nameBefore(text, at - 1) : 0
}

/** As that, of what has no quotes and stands behind a sign. */
function nameOfPlain(text: string, sign: number): number {
  work.done++
  let at = sign + 1
  while (at - sign < 8 && text.charCodeAt(at) === space) at++
  return has(isOfValue, text.charCodeAt(at)) ? nameBefore(text, sign) : 0
}

/** Where a name that tells what an object is ends before a sign; 0: none does. */
function nameBefore(text: string, sign: number): number {
  let at = withoutSpaces(text, sign)
  const code = text.charCodeAt(at - 1)
  if (code === doubleQuote || code === singleQuote) at--
  while (text.charCodeAt(at - 1) === backslash) at--
  return told.some((name) => text.endsWith(name, at)) ? at : 0
}

function withoutSpaces(text: string, end: number): number {
  let at = end
  while (end - at < 8 && has(isWhite, text.charCodeAt(at - 1))) at--
  return at
}

function inTyped(names: NameTable): (text: string, nameEnd: number, found: TextRange[]) => number {
  const around = objects()
  return (text, nameEnd, found) => {
    if (nameEnd === 0) return 0
    typePattern.lastIndex = nameEnd
    const [head, quote, said = ''] = typePattern.exec(text) ?? []
    if (head === undefined || (quote !== undefined && !text.startsWith(quote, nameEnd + head.length))) return 0
    work.done += 4
    const promised = promiseOf(names, said.trim())
    if (promised === undefined) return 0
    for (const member of around(text, nameEnd, longestBefore) ?? linesAround(text, nameEnd))
      add(names, text, member, promised, found)
    return 0
  }
}

/** The members of the object that has one whose name ends there. An object may say many times what it is: it is read once. */
function objects(): (text: string, nameEnd: number, longest: number) => readonly Member[] | undefined {
  let last: { walk: number; at: number; open: number; members: readonly Member[] } = {
    walk: 0,
    at: 0,
    open: -1,
    members: [],
  }
  return (text, nameEnd, longest) => {
    const from = Math.max(0, nameEnd - longest)
    const upTo = text.slice(from, nameEnd)
    let open = upTo.lastIndexOf('{')
    for (let count = 0; open !== -1 && count < mostObjects; count++) {
      // What stands before is of another search of the same text: it costs as much.
      if (last.open !== from + open || last.at >= nameEnd || last.walk !== walking.nth)
        last = { walk: walking.nth, at: nameEnd, open: from + open, members: membersFrom(text, from + open + 1) }
      if (last.members.some((member) => member.nameEnd === nameEnd)) return last.members
      open = open === 0 ? -1 : upTo.lastIndexOf('{', open - 1)
    }
    return undefined
  }
}

/** Members of a private key as JSON (RFC 7518), and the one of a key that is shared. */
const [privateMember, sharedMember] = [/^(?:d|p|q|dp|dq|qi)$/, /^k$/]
const keyBytes = /^[\w-]{16,}$/

/** What is private in a key that says its type: `{"kty":"EC","d":"…"}`. */
function inKey(): Trigger['at'] {
  const around = objects()
  return (text, index, found) => {
    const nameEnd = index + 'kty'.length
    const members = around(text, nameEnd, longestBehind)
    const type = members?.find((member) => member.nameEnd === nameEnd && member.name === 'kty')
    if (members === undefined || type === undefined) return 0
    const secret = text.slice(type.start, type.end) === 'oct' ? sharedMember : privateMember
    for (const { name, start, end } of members) {
      const value = text.slice(start, end)
      if (secret.test(name) && keyBytes.test(value) && !isStandIn(value)) addSecret(found, start, end, value)
    }
    return 0
  }
}

const scheme = /(?:^|[^a-z])(?:bearer|basic|digest|ssws)$/i
const several = /[_\s-]and[_\s-]/i

function promiseOf(names: NameTable, said: string): Promised | undefined {
  for (const one of said.split(several)) {
    const kind = scheme.test(one) ? 'random' : names.classOfFlag(one)
    if (kind !== undefined && kind !== 'code') return { kind, isVague: vague.test(one), word: lastWord(one) }
  }
  return undefined
}

function lastWord(name: string): string {
  return wordsOf(name, false).at(-1) ?? ''
}

/** Last words of names of members that hold what the object is. */
const holder = /^(?:key|value|val|token|secret|credentials?)$/

function add(names: NameTable, text: string, member: Member, promised: Promised, found: TextRange[]): void {
  const { kind, word } = promised
  const last = lastWord(member.name)
  if ((last !== word && !holder.test(last)) || names.isData(member.name)) return
  const { end, quote } = member
  const start = member.start + schemeLength(text, member.start, end)
  const value = unescaped(text.slice(start, end), quote ?? '')
  if (!passes(kind, value, quote === undefined) || looksNamed(names, value)) return
  if (kind !== 'own' && kind !== 'phrase' && !isCredential(value, promised, last)) return
  addSecret(found, start, end, value)
}

const hex = /^[\da-f]{32,}$/i
/** What a field is called: `addressLine2`. */
const camel = /^[a-z]+\d{0,2}(?:[A-Z][a-z]+\d{0,2})+$/

/** Whether a value is one that the object promises, and no name of a field, of a token of code or of a sentence. */
function isCredential(value: string, { kind, isVague, word }: Promised, last: string): boolean {
  if (pointer.test(value)) return false
  const isKey = passes('key', value, false) && !camel.test(value)
  if (isVague) return isKey && value.length >= 20 && isMixed(value)
  // `{"type":"password","key":"…"}` is a field of a form; in `{"type":"api_key","key":"…"}` it says so once more.
  const isAgain = last === 'key' && word.endsWith(last)
  if ((kind !== 'always' && kind !== 'foreign') || (last === 'key' && !isAgain)) return isKey || hex.test(value)
  if (isAgain) return passes('random', value, false)
  return /[\d=]/.test(value) && (!/\s/.test(value) || value.includes('='))
}

/** The members of an object that begins here, as far as they can be read. */
function membersFrom(text: string, open: number): readonly Member[] {
  const members: Member[] = []
  let at = open
  while (members.length < mostMembers && at - open < longestBehind) {
    work.done += 8
    memberPattern.lastIndex = at
    const [head, before, name = '', behind, quote] = memberPattern.exec(text) ?? []
    if (head === undefined || before !== behind) return members
    const nameEnd = text.indexOf(name, at + (before?.length ?? 0)) + name.length
    const start = at + head.length
    const end = quote === undefined ? plainEnd(text, start) : closingQuote(text, start, quote)
    if (end === undefined || end === text.length) return members
    work.done += (end - at) >> 4
    // Where names have quotes, all texts do; a number or a list that is replaced would be no JSON.
    const isText = quote !== undefined || (before === undefined && !/[{[]/.test(text[start]!))
    members.push({ name, nameEnd, start, end: isText ? end : start, quote })
    afterMember.lastIndex = end + (quote?.length ?? 0)
    const [, comma] = afterMember.exec(text) ?? []
    if (comma === undefined) return members
    at = afterMember.lastIndex
  }
  return members
}

/** Where a value without quotes ends: a number, a word, an object or a list. */
function plainEnd(text: string, start: number): number | undefined {
  if (text[start] !== '{' && text[start] !== '[') {
    scalar.lastIndex = start
    return scalar.test(text) ? scalar.lastIndex : undefined
  }
  let depth = 0
  bracket.lastIndex = start
  for (let count = 0; count < mostBrackets; count++) {
    const sign = bracket.exec(text)?.[0]
    if (sign === undefined || bracket.lastIndex - start > longestBehind) return undefined
    work.done += 4
    if (sign === '{' || sign === '[') depth++
    else if (sign === '}' || sign === ']') depth--
    else bracket.lastIndex = closingQuote(text, bracket.lastIndex, sign) + sign.length
    if (depth === 0) return bracket.lastIndex
  }
  return undefined
}

const lineEnd = /\r?\n|(?:\\{1,8}r)?\\{1,8}n/g
const quoteOrNone = String.raw`(\\{0,8}["']|)`
const lineName = String.raw`[\w$.-]{1,64}`
/** `- "key": !!str "…"`, with a comment behind it or a quote that ends the text it stands in. */
const linePattern = new RegExp(
  String.raw`^([ \t]*(?:- {1,4})?${quoteOrNone}(${lineName})\2)( {0,8}[:=] {0,8}(?:!{1,2}[\w.-]{0,32} {1,4})?${quoteOrNone})([^\s"'\\{}[\],]{1,512})\5 {0,8}(?:$|(\\*["'])| #)`,
)
/** A blank, a comment, or a name with another value: words, a list, a block. */
const otherLine = new RegExp(String.raw`^[ \t]*(?:$|#|(?:- {1,4})?${quoteOrNone}${lineName}\1 {0,8}[:=](?: |$))`)
/** What stands before the first line of a text in quotes. */
const beforeText = new RegExp(
  String.raw`^.{0,512}[^\w\\]\\*["'](?=[ \t]{0,32}(?:- {1,4})?(\\{1,8}"|\\{0,8}'|)${lineName}\1 {0,8}[:=] )`,
)
/** What says that the value stands in the next line, which is all of it. */
const blockHead = /^[|>][-+\d]{0,2}$/
const blockLine = /^[ \t]+([^\s"'\\{}[\],]{1,512}) {0,8}(?:$|\\*["'])/
/** No text in JSON. */
const jsonScalar = /^(?:-?\d[\d.]*(?:[eE][+-]?\d+)?|true|false|null)$/
const longestLines = 512

/** The lines beside one that says what they are, as far as they are indented as it is. */
function linesAround(text: string, nameEnd: number): readonly Member[] {
  const from = Math.max(0, nameEnd - longestLines)
  const near = text.slice(from, nameEnd + longestLines)
  work.done += 2 * near.length
  const lines: { said: string; start: number }[] = []
  let begin = 0
  const add = (end: number): void => {
    const skipped = beforeText.exec(near.slice(begin, end))?.[0].length ?? 0
    lines.push({ said: near.slice(begin + skipped, end), start: from + begin + skipped })
  }
  for (const { 0: sign, index } of near.matchAll(lineEnd)) {
    add(index)
    begin = index + sign.length
  }
  add(near.length)
  const own = lines.findLastIndex(({ start }) => start < nameEnd)
  if (own === -1) return []
  const indent = indentOf(lines[own]!.said)
  const members: Member[] = []
  // Up to the first line of the item, and down to the next one.
  for (let at = own; at >= 0 && readLine(lines, at, indent, members); at--)
    if (isItem(lines[at]!, indent) || (at > 0 && endsQuoted(lines[at - 1]!))) break
  for (let at = own + 1; at < lines.length && !isItem(lines[at]!, indent) && !endsQuoted(lines[at - 1]!); at++)
    if (!readLine(lines, at, indent, members)) break
  return members
}

interface Line {
  readonly said: string
  readonly start: number
}

/** @returns whether the lines go on */
function readLine(lines: readonly Line[], at: number, indent: number, members: Member[]): boolean {
  const { said, start: lineStart } = lines[at]!
  const depth = indentOf(said)
  const [, head = '', nameQuote = '', name = '', gap = '', quote = '', value = ''] = linePattern.exec(said) ?? []
  if (name === '' && otherLine.test(said) && (depth >= indent || /^\s*(?:$|#)/.test(said))) return true
  if (depth < indent || (depth === indent && name === '')) return false
  if (depth > indent || (nameQuote !== '' && quote === '' && jsonScalar.test(value))) return true
  const nameEnd = lineStart + head.length - nameQuote.length
  const next = blockHead.test(value) ? lines[at + 1] : undefined
  const [block, below = ''] = (next !== undefined && indentOf(next.said) > depth && blockLine.exec(next.said)) || []
  const isBelow = next !== undefined && block !== undefined
  const start = isBelow ? next.start + next.said.indexOf(below) : lineStart + head.length + gap.length
  const end = start + (isBelow ? below : value).length
  members.push({ name, nameEnd, start, end, quote: quote === '' ? undefined : quote })
  return true
}

/** Whether a text in quotes ends in the line: the next one is of another. */
function endsQuoted({ said }: Line): boolean {
  return linePattern.exec(said)?.at(7) !== undefined
}

function isItem({ said }: Line, indent: number): boolean {
  return /^[ \t]*- /.test(said) && indentOf(said) === indent
}

function indentOf(line: string): number {
  return /^[ \t]*(?:- {1,4})?/.exec(line)![0].length
}
