// Over 300 lines: the finders by name share one alphabet of names and signs.
import {
  addSecret,
  beginsToken,
  closingQuote,
  changed,
  endInText,
  endsShortEscape,
  has,
  codesOf,
  isBehindText,
  isPlainComma,
  overLines,
  optionEnd,
  sticky,
  withoutLast,
  withoutWhite,
} from './edges.ts'
import { placeholderShown } from './credentials.ts'
import { isMessage } from './messages.ts'
import type { NameTable } from './names.ts'
import { nestedName } from './nested.ts'
import { passwords, words } from './said.ts'
import type { TextRange } from './types.ts'
import {
  isInPieces,
  isInWords,
  isMixed,
  looking,
  looksRandom,
  type NameClass,
  ofVersion,
  lately,
  passes,
} from './values.ts'
import type { Trigger } from './walk.ts'
import { walking, work } from './work.ts'

/** Secrets by the name before them: `"password": "…"`, `api_key=…`, `?session=…`, `--token …`, `["x-api-key", "…"]`. */
export function namedTriggers(names: NameTable): readonly Trigger[] {
  const behind = names.endings
  const between = ['"', "'", '`', '*', ' ', '\t', '\n', '\r', ']', '\\']
  const { isBefore } = names
  const isSinceFifth = names.version >= 5
  const letters = [...names.lastLetters].filter((letter) => !isBefore || /^[\0-\x7f]+$/.test(letter))
  const digits = isBefore ? '' : '0123456789'
  const signs = isBefore ? [':', '='] : [':', '=', '：', '＝']
  const signed = [...letters, ...between, ...digits].flatMap((letter) =>
    signs.map((sign): Trigger => ({ text: letter + sign, group: 'signs', behind, at: afterSign(names) })),
  )
  const inPair = afterComma(names)
  const pairs = [
    ...['"', "'"].map((quote): Trigger => ({ text: `${quote},`, group: 'pairs', behind, at: inPair })),
    ...(names.version >= 11 ? [' ,', '\t,', '\n,'] : []).map(
      (text): Trigger => ({
        text,
        at(within, index, found) {
          const quote = withoutWhite(within, index + 1) - 1
          return has(isQuote, within.charCodeAt(quote)) ? inPair(within, quote, found) : 0
        },
      }),
    ),
  ]
  return [
    ...signed,
    ...pairs,
    ...(isBefore ? [] : letters).map(
      (letter): Trigger => ({ text: `${letter}(`, group: 'calls', behind, at: inCall(names) }),
    ),
    ...(isBefore
      ? []
      : [
          'value: ',
          ...(isSinceFifth ? ['Value: ', 'Value=', 'value = ', 'default '] : ['default = ']),
          ...(names.version >= 11 ? ['&value='] : []),
        ]
    ).map((text): Trigger => ({ text, at: belowName(names, text) })),
    ...(isSinceFifth ? ['??=', '||=', '!='] : []).map((text): Trigger => {
      const at = afterSign(names)
      return { text, at: (within, index, found) => at(within, index + text.length - 2, found) }
    }),
    { text: '--', at: afterFlag(names) },
    ...['set -', 'setenv ', 'ENV '].map((text): Trigger => ({ text, at: afterVariable(names) })),
    { text: '</', at: inElement(names) },
    ...[' value=', ' content=', ...(names.version >= 11 ? [' value =', ' content ='] : [])].map(
      (text): Trigger => ({ text, at: inAttribute(names, text.length) }),
    ),
    { text: 'form-data', at: inPart(names) },
  ]
}

const isBetween = codesOf(/[ \t\n\r*`"'\\\]]/, 128)
const isLetter = codesOf(/[A-Za-z]/, 128)
/** What stands before a sign: `??=`, `||=`, `!=`. */
const isOperator = codesOf(/[?|!]/)
const [isName, isQueryName] = [codesOf(/[\w.-]/, 128), codesOf(/[\w.[\]-]/, 128)]

/** Beyond ASCII, all but signs: quotes, dashes, and those of Chinese and Japanese. */
function isOfName(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return isName[code] === 1
  if (looking.asBefore) return false
  if (code < 0x2000) return code >= 0xc0
  if (code < 0x3040) return code >= 0x2070 && code < 0x3000
  return code < 0xff00 || (code > 0xff0f && code < 0xff1a) || (code > 0xff20 && code < 0xfffd)
}

const [dash, dot, backslash, space, dollar, equals] = [0x2d, 0x2e, 0x5c, 0x20, 0x24, 0x3d]
const [doubleQuote, bracket, colon, wideColon] = [0x22, 0x5b, 0x3a, 0xff1a]

/** What it costs to read what stands behind a name. */
const perName = 20

interface Named {
  readonly kind: NameClass
  readonly name: string
  readonly start: number
  readonly end: number
}

/** Where a name before a sign would end: quotes, Markdown and spaces may stand between them. */
function nameEnd(text: string, sign: number): number {
  let end = sign
  while (looking.isSinceFifth && sign - end < 2 && has(isOperator, text.charCodeAt(end - 1))) end--
  while (end > 0 && sign - end < 16 && has(isBetween, text.charCodeAt(end - 1))) end--
  return end
}

/** A letter of a sentence. */
function isOfWords(text: string, at: number): boolean {
  return has(isLetter, text.charCodeAt(at)) || (looking.isSinceFifth && text.charCodeAt(at) > 127 && isOfName(text, at))
}

/** The name that ends here. */
export function nameUpTo(names: NameTable, text: string, end: number): Named | undefined {
  let start = end
  while (start > 0 && end - start < 64 && isOfName(text, start - 1)) start--
  if (names.version >= 8) work.done += (end - start) >> 1
  // In JSON text the `n` of `\n` belongs to the escape.
  if (text.charCodeAt(start - 1) === backslash && /[nrtbf]/.test(text[start] ?? '') && end - start > 1) start++
  const isFlag = text.charCodeAt(start) === dash
  while (start < end && (text.charCodeAt(start) === dash || text.charCodeAt(start) === dot)) start++
  const name = text.slice(start, end)
  const kind = isFlag ? names.classOfFlag(name) : names.classOf(name)
  if (text.charCodeAt(start - 1) === space && kind !== 'always') {
    // "API key: …": two words of a sentence.
    let words = name
    for (let [from, count] = [start, 0]; count < lately(2, 1) && text.charCodeAt(from - 1) === space; count++) {
      const last = from - 1
      from = last
      while (last - from < 16 && isOfWords(text, from - 1)) from--
      const before = text.slice(from, last)
      words = `${before}_${words}`
      const whole = before.length < 2 ? undefined : names.classOf(words)
      if (whole === 'always' || (kind === undefined && whole !== undefined))
        return { kind: whole, name: text.slice(from, end), start, end }
    }
  }
  if (kind !== undefined) return { kind, name, start, end }
  const nested = names.version < 8 ? undefined : nestedName(text, start, name)
  return nested === undefined || names.classOf(nested) === undefined || names.isData(name)
    ? undefined
    : { kind: 'nested', name, start, end }
}

// The quote that ends the name, the sign, the quote that begins the value; Markdown may stand around the sign.
const betweenFourth = /(\\*["'`])?\]?(?:\*\*|`)?\s{0,4}(?:=>|:=|={2,3}|[:=：＝])(?:\*\*)?(\s{0,8})(?:\*\*)?(\\*["'`])?/y
const betweenPattern = changed(betweenFourth, String.raw`4}(?:`, String.raw`12}(?:(?:\?\?|\|\||!=?)=|`)
/** Also of a field whose name ends with spaces. */
const betweenNinth = changed(betweenPattern, String.raw`(\\*["'`, String.raw`(?:\s{0,8}(?=\\*["']))?(\\*["'`)
/** Also of emphasis with one sign: `*Password:* …`, `*Password*: …`. */
const betweenTenth = changed(
  changed(betweenNinth, '(?:\\*\\*|`)?', '(?:\\*{1,2}|`)?'),
  '(?:\\*\\*)?(\\s',
  '\\*{0,2}(\\s',
)
const betweenBefore = changed(betweenFourth, '={2,3}|[:=：＝]', '[:=]')

const mayBegin = codesOf(/[^=>*\s"'`\\]/, 128)

/** Whether a value without quotes begins with this character right behind a sign; spaces are no such characters. */
function beginsValue(code: number): boolean {
  return code < 128 ? mayBegin[code] === 1 : code > 0x3000 && code !== 0xfeff
}

function isColon(code: number): boolean {
  return code === colon || code === wideColon
}

/** `?next=https://…?token=…`: so many names are read inside of one value that is longer than this. */
const mostNested = 16
const longQuery = 256

function afterSign(names: NameTable): Trigger['at'] {
  let outer = { walk: 0, end: 0, nested: 0 }
  const closes = closingBy(names)
  return (text, index, found) => {
    const sign = index + 1
    const inQuery = queryName(text, sign)
    const isNested = inQuery !== undefined && sign < outer.end && outer.walk === walking.nth
    if (inQuery !== undefined && !(isNested && ++outer.nested > mostNested)) {
      const end = queryValueEnd(text, sign + 1)
      if (end === undefined) return 0
      work.done += 8 + ((end - sign) >> 5)
      const value = text.slice(sign + 1, end)
      if (names.isSecret(inQuery, value) || (names.isKeyInQuery(inQuery, value) && looksRandom(value))) {
        addSecret(found, sign + 1, end, value)
        return end
      }
      if (!isNested && value.length > longQuery) outer = { walk: walking.nth, end, nested: 0 }
    }
    const named = nameUpTo(names, text, nameEnd(text, sign))
    if (named === undefined) return 0
    work.done += perName
    // What the secret is called, not what it says.
    if (
      !names.isBefore &&
      text.charCodeAt(named.start - 1) === colon &&
      resource.test(text.slice(Math.max(0, named.start - 96), named.start))
    )
      return 0
    const inJson = jsonValue(text, named.end, sign)
    if (inJson !== 0) return quoted(text, inJson, '"', named.kind, found)
    const isApart = text.charCodeAt(sign + 1) === space
    const begin = isApart ? sign + 2 : sign + 1
    if (sign === named.end && beginsValue(text.charCodeAt(begin))) {
      const placed = placedEnd(text, begin, named.kind)
      if (placed > 0) return Math.max(0, placed - overlap)
      const isLoose = isApart || isColon(text.charCodeAt(sign))
      return valueWithin(names, text, begin, named, found) ?? bare(names, text, begin, isLoose, named, found)
    }
    const pattern =
      names.version >= 10
        ? betweenTenth
        : names.version >= 9
          ? betweenNinth
          : lately(betweenPattern, betweenFourth, betweenBefore)
    pattern.lastIndex = named.end
    const between = pattern.exec(text)
    if (between === null || named.end + between[0].length <= sign) return 0
    const [whole, nameQuote, gap = '', valueQuote] = between
    const start = named.end + whole.length
    if (names.version >= 6 && valueQuote === undefined && nameQuote !== undefined && text.startsWith('[', start))
      return inList(names, text, start, named.kind, found)
    const within = valueQuote === undefined ? valueWithin(names, text, start, named, found) : undefined
    if (within !== undefined) return within
    // A quote behind which the text of a list or object goes on ends the text the name stands in.
    if (valueQuote !== undefined && nameQuote !== valueQuote && endsText(text, start))
      return names.version < 9 ? 0 : ofField(text, start, valueQuote, named.kind, found)
    if (valueQuote !== undefined && nameQuote === undefined && closes(text, named.start, start, valueQuote)) return 0
    if (
      valueQuote !== undefined &&
      !looking.asBefore &&
      (whole.includes('==') || (looking.isSinceFifth && /[!?|]=/.test(whole)))
    ) {
      const isCompared = names.version >= 9 && (whole.includes('==') || whole.includes('!='))
      return inCode(names, text, start, valueQuote, named.kind, found, isCompared && saysPassword(named.name))
    }
    if (valueQuote !== undefined) return quoted(text, start, valueQuote, named.kind, found)
    if (nameQuote !== undefined && nameQuote !== '`') return 0
    return bare(names, text, start, gap !== '' || /[:：]/.test(whole), named, found)
  }
}

/** A placeholder behind which neither the value goes on nor code does: `redacted-secret-1 ?? '…'`. */
const placed = new RegExp(`${placeholderShown}(?=[\\n"'&,;}\\]\uff0c\u3002]| (?![\\s?|=o])|$)`, 'y')

/** Where a placeholder ends that is all of a value of one word; 0 where none begins. */
function placedEnd(text: string, start: number, kind: NameClass): number {
  placed.lastIndex = start
  const isOneWord = kind !== 'own' && kind !== 'cookie' && kind !== 'phrase'
  const isPlaced = isOneWord && !looking.asBefore && text.startsWith('redacted-', start) && placed.test(text)
  return isPlaced ? placed.lastIndex : 0
}

/** What stands before the kind of a resource of AWS: `arn:aws:secretsmanager:eu-west-1:123456789012:`. */
const resource = /arn:[\w-]{1,16}:[\w-]{1,32}:[\w-]{0,32}:\d{0,12}:$/

/** Where the value begins behind `"name":"` and `"name": "`, which most are written as; 0 where it is written otherwise. */
function jsonValue(text: string, nameEnd: number, sign: number): number {
  if (sign !== nameEnd + 1 || text.charCodeAt(nameEnd) !== doubleQuote || text.charCodeAt(sign) !== colon) return 0
  const at = text.charCodeAt(sign + 1) === space ? sign + 2 : sign + 1
  return text.charCodeAt(at) === doubleQuote ? at + 1 : 0
}

/** The tag or anchor of a value in YAML, the head of a block, or the letters before the quote of a literal. */
const headPattern =
  /(?:(?:!{1,2}[\w.-]{0,32}|&[\w-]{1,32}) {1,4})?(?:[|>][-+]?\d? {0,4}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n) {1,64}|(?:[bfnu]|rb?|[$@]|(?:Some|Just|String::from)\()(?=\\*["']))?(\\*["'])?/iy
const headBefore = changed(headPattern, '[bfnu]', '[bfu]')
const textOf = String.raw`\\*["'][\w.\-/]{0,96}\\*["']`
/** What the name of a variable, a field, a function or a type begins with, its other characters, and what follows it. */
const [beginsCode, isCode, endsCode] = [
  codesOf(/[A-Za-z_$]/, 128),
  codesOf(/[\w$.:?>-]/, 128),
  codesOf(/[ ([<!)]/, 128),
]
const isQuote = codesOf(/["']/, 128)
const beforeCode = codesOf(/[&?(]/, 128)
const longestCode = 96
/** What stands behind it before the text for want of another one: `env.P ?? '…'`. */
const or = String.raw`\s{1,8}(?:\?\?|\|\||\?:|or)\s{0,8}`
const otherwiseFourth = sticky`(?:[([]\s{0,2}(?:${textOf})?\s{0,2}[)\]])?!?\)?${or}(?=\\*["'])`
const opens = '(?=\\\\*["\'`])'
const access = String.raw`(?:<\w{1,32}>)?(?:[([{]\s{0,2}(?:${textOf}|\w{1,64})?\s{0,2}[)\]}])?!?\)?`
const other = String.raw`\$?[\w.]{1,64}${access}`
/** `env.P ?? env.Q ?? '…'`, `c ? env.P : '…'`, `env("P").unwrap_or("…")`. */
const otherwiseTail = sticky`${access}(?:(?:${or}${other}){0,3}${or}|\s{1,4}\?\s{1,8}${other}\s{1,4}:\s{1,8}|\.(?:unwrap_or|orElse|getOrElse)\(\s{0,4})${opens}`
/** `os.environ.get('P', '…')`. */
const defaultFourth = sticky`\(\s{0,8}${textOf}\s{0,2},(?:\s{0,8}default\s{0,2}=)?\s{0,8}(?=\\*["'])`
const defaultTail = changed(defaultFourth, '\\(', '(?:<\\w{1,32}>)?\\(')
const getterFourth =
  /(?:^|[.:>])(?:get|getenv|env|fetch|getOrDefault|get_or_default|getProperty|config|lookup|environ|str|string)$/i
const getter = changed(getterFourth, 'getenv', 'get_?env|setdefault')
/** `password: string = '…'`. */
const typeTail = /(?:<[\w, ]{1,32}>|\[[\w, ]{1,32}\])?\??(?: \| \w{1,16})? = (?=\\*["'])/y
/** As that, before more code: `password: str = os.environ.get('P', '…')`. */
const typeGap = changed(typeTail, String.raw`(?=\\*["'])`, '(?=[A-Za-z_$])')
const mayBeCode = codesOf(/[A-Za-z_$(&?]/, 128)
/** What heads, texts of Lua, lists and objects begin with. */
const mayBeHead = codesOf(/[!&|>bfnursj$@\\"'[{]/i, 128)
/** What goes on behind the first letter of those. */
const mayFollowHead = codesOf(/["'\\bout]/i, 128)
/** What stands behind the space behind code: another sign tells that no text follows. */
const mayFollowCode = codesOf(/[\s?|=o]/, 128)
/** A text of Lua. */
const longPattern = /\[\[([^\s"'\\[\],]{4,256})\]\]/y
/** What stands elsewhere in a template of CloudFormation. */
const reference = /^!(?:Ref|GetAtt|ImportValue)\s/
/** Fields that may stand before the one with the value. */
const field = String.raw`(?:\\*["'][\w$-]{1,32}\\*["']\s{0,4}:\s{0,4}(?:\\*["'][^"'\\\r\n]{0,64}\\*["']|[\w.]{1,16})\s{0,4},\s{0,16}){0,3}`
export const valueFields = String.raw`value|val|Value|ParameterValue|defaultValue|default|stringValue|content|text|S|\$eq`
const valueField = String.raw`\\*["'](?:${valueFields})\\*["']\s{0,4}:\s{0,4}`
const valueFieldBefore = valueField.replace(/\|(?:ParameterValue|defaultValue|default|stringValue|S|\\\$eq)\b/g, '')
/** `["…", "…"]`, `{"value":"…"}`. */
const holderPattern = sticky`(?:\[|\{\s{0,16}${field}${valueField})\s{0,16}(\\*["'])`
const holderBefore = changed(holderPattern, valueField, valueFieldBefore)
const nextItem = /\\*["']\s{0,16},\s{0,16}(\\*["'])/y
const mostItems = 64

/**
 * A value that does not begin right behind the sign: `password: |` with the value in the next line, `b'…'`, `["…"]`,
 * `{"value":"…"}`. `undefined`: it has no such form.
 */
function valueWithin(
  names: NameTable,
  text: string,
  start: number,
  named: Named,
  found: TextRange[],
): number | undefined {
  const first = text.charCodeAt(start)
  const code = named.kind !== 'code' && has(mayBeCode, first) ? lengthOfCode(text, start) : 0
  if (code > 0) {
    const open = /\\*["'`]/y
    open.lastIndex = start + code
    const quote = open.exec(text)![0]
    const begin = start + code + quote.length
    // A quote that ends the text around the code.
    if (endsText(text, begin) || closesLiteral(text, named.start, begin, quote)) return 0
    return inCode(names, text, begin, quote, named.kind, found)
  }
  if (!has(mayBeHead, first)) return undefined
  if (has(isLetter, first) && !has(mayFollowHead, text.charCodeAt(start + 1))) return undefined
  const pattern = ofVersion(headPattern, headBefore)
  pattern.lastIndex = start
  const [head = '', quote] = pattern.exec(text) ?? []
  const begin = start + head.length
  if (reference.test(head)) return begin
  if (quote !== undefined && names.version >= 8 && (endsText(text, begin) || isBehindText(text, begin))) return 0
  if (quote !== undefined) return quoted(text, begin, quote, named.kind, found)
  if (head !== '') return bare(names, text, begin, true, named, found)
  longPattern.lastIndex = start
  const [whole = '', long] = longPattern.exec(text) ?? []
  if (long !== undefined) {
    const end = start + whole.length - 2
    const isValue = passes(named.kind, long, true) && !(named.kind === 'always' && word.test(long))
    if (isValue) addSecret(found, start + 2, end, long)
    return end
  }
  if (names.version >= 9 && first === bracket) {
    const end = flowList(names, text, start, named, found)
    if (end > 0) return end
  }
  const items = ofVersion(holderPattern, holderBefore)
  items.lastIndex = start
  const [holder, open] = items.exec(text) ?? []
  if (holder === undefined || open === undefined) return undefined
  let at = start + holder.length
  for (let count = 0; count < mostItems; count++) {
    work.done += perName
    const end = closingQuote(text, at, open)
    if (end === text.length) return Math.max(0, end - overlap)
    // As bare values: what is shorter is a number or a letter.
    const isLong = end - at >= 4 || named.kind === 'code' || named.kind === 'own'
    if (isLong) listed(names, text, at, end, open, named.kind, found)
    nextItem.lastIndex = end
    const [between, again] = text[start] === '[' ? (nextItem.exec(text) ?? []) : []
    if (between === undefined || again !== open) return end
    at = end + between.length
  }
  return at
}

const flowPattern = /\[([^"'\\\r\n<>(){}[\]`|;$]{4,512})\]/y

/**
 * `password: [Sommer2024!]` of YAML; 0 where no such list begins. In a list of code stand names: what could be one is a value only
 * in a line of its own, where all others could be values too.
 */
function flowList(names: NameTable, text: string, start: number, named: Named, found: TextRange[]): number {
  const list = matched(flowPattern, text, start)
  if (list === undefined) return 0
  work.done += list.length >> 3
  const isOfWords = (value: string): boolean => saysPassword(named.name) && isPhrase(names, value)
  const items = list.slice(1, -1).split(',')
  const isAlone =
    isLine(text, named, start + list.length) &&
    items.map((item) => item.trim()).every((value) => !word.test(value) || isOfWords(value))
  let at = start + 1
  for (const item of items) {
    const value = item.trim()
    const begin = at + item.indexOf(value)
    at += item.length + 1
    if (value.length < 4 || /\s/.test(value) || looksNamed(names, value) || !passes(named.kind, value, true)) continue
    if (isAlone || passes('typed', value, true)) addSecret(found, begin, begin + value.length, value)
  }
  return start + list.length
}

/** How much code stands before a text that is the value; 0: none does. */
function lengthOfCode(text: string, start: number, isTyped = false): number {
  if (looking.asBefore) return 0
  let begin = start
  while (begin < start + 2 && has(beforeCode, text.charCodeAt(begin))) begin++
  if (!has(beginsCode, text.charCodeAt(begin))) return 0
  let end = begin + 1
  while (end < begin + longestCode && has(isCode, text.charCodeAt(end))) end++
  if (looking.isSinceFifth && text.startsWith('().', end))
    for (end += 2; end < begin + longestCode && has(isCode, text.charCodeAt(end)); ) end++
  if (!has(endsCode, text.charCodeAt(end))) return 0
  const code = text.slice(start, end)
  if (text.charCodeAt(end) === space && !has(mayFollowCode, text.charCodeAt(end + 1))) return 0
  const tails = [lately(otherwiseTail, otherwiseFourth), typeTail]
  if (lately(getter, getterFourth).test(code)) tails.push(lately(defaultTail, defaultFourth))
  for (const tail of tails) {
    tail.lastIndex = end
    if (tail.test(text)) return tail.lastIndex - start
  }
  typeGap.lastIndex = end
  if (isTyped || !looking.isSinceFifth || !typeGap.test(text)) return 0
  const more = typeGap.lastIndex
  const length = lengthOfCode(text, more, true)
  return length === 0 ? 0 : more - start + length
}

/** `${DB_PASSWORD:-…}`: what stands there for want of another value. */
const templateFourth = /\$\{[\w.]{1,64}(?::?[-=]|:(?![-=?+]))([^\s"'\\{}$]{4,256})\}/y

const templatePattern = changed(templateFourth, '([^', String.raw`(?:\$\{[\w.]{1,64}:?-){0,2}'?([^`)

function otherwise(text: string, start: number, kind: NameClass, found: TextRange[]): number {
  if (looking.asBefore) return 0
  const pattern = lately(templatePattern, templateFourth)
  pattern.lastIndex = start
  const [whole, value] = text.charCodeAt(start) === dollar ? (pattern.exec(text) ?? []) : []
  if (whole === undefined || value === undefined) return 0
  const end = start + whole.lastIndexOf(value) + value.length
  if (passes(kind, value, true) && !word.test(value)) addSecret(found, end - value.length, end, value)
  return end
}

/** One of several texts: what is secret has a digit or a sign and is no name itself, or words enough. */
export function listed(
  names: NameTable,
  text: string,
  start: number,
  end: number,
  quote: string,
  kind: NameClass,
  found: TextRange[],
): boolean {
  const last = found.at(-1)
  const isAgain = last !== undefined && last === listedLast.span && listedLast.kind === kind
  if (isAgain && last.start === start && last.end === end && listedLast.quote === quote) return true
  const from = start + schemeLength(text, start, end)
  const value = unescaped(text.slice(from, end), quote)
  const isValue = kind === 'phrase' || /[\d=]/.test(value)
  if (!isValue || !passes(kind, value, false) || looksNamed(names, value)) return false
  addSecret(found, from, end, value)
  listedLast = { span: found.at(-1), kind, quote }
  return true
}

const nameLike = /^(?:[\p{L}\p{M}_.$-]+|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+)$/u

/** Whether a value is what a secret is called: `apiKey`, `DB_PASSWORD_2`; of `SuperPass1` only the end is. */
export function looksNamed(names: NameTable, value: string): boolean {
  return (names.version < 8 || nameLike.test(value)) && names.classOf(value) !== undefined
}

/** What was found last: behind an option in a list, a value is looked at for the option and for the comma. */
let listedLast: { span?: TextRange | undefined; kind?: NameClass; quote?: string } = {}

/** So many texts of a list are looked at. */
const mostListed = 256
const listedItem = /(?:\[|["'],)(?:\s|\\n){0,64}(\\*["'])/y

/** The texts of a list that a name stands before: `"backup_codes":["…","…"]`. */
function inList(names: NameTable, text: string, start: number, kind: NameClass, found: TextRange[]): number {
  let at = start
  for (let count = 0; count < mostListed; count++) {
    listedItem.lastIndex = at
    const [whole, quote] = listedItem.exec(text) ?? []
    if (whole === undefined || quote === undefined) return at
    work.done += perName
    const begin = at + whole.length
    const end = closingQuote(text, begin, quote)
    // A text with blanks says what is wrong with a value.
    if (kind === 'phrase' || !/\s/.test(text.slice(begin, end))) listed(names, text, begin, end, quote, kind, found)
    if (!text.startsWith(quote, end)) return end
    // The last quote is looked at again, with the comma behind it.
    at = end + quote.length - 1
  }
  return at
}

/** A text in code: one with blanks is a message, one of words what a field or a user is called. */
function inCode(
  names: NameTable,
  text: string,
  start: number,
  quote: string,
  kind: NameClass,
  found: TextRange[],
  isOfPassword = false,
): number {
  const end = closingQuote(text, start, quote)
  const said = text.slice(start, end)
  if (isOfPassword && isPhrase(names, said) && passes('always', said, false)) {
    addSecret(found, start, end, said)
    return end
  }
  const isValue =
    !/\s|\\n/.test(said) &&
    !(looking.isSinceFifth && said.includes('${')) &&
    !isInPieces(said) &&
    !(names.version >= 8 && fieldName.test(said) && names.classOf(said) !== undefined) &&
    listed(names, text, start, end, quote, kind, found)
  return isValue ? end : Math.max(0, end - overlap)
}

/** What a field is called: `password1`. */
const fieldName = /^[a-z_]+\d{1,2}$/
const afterText = /\s{0,16}(?:[,}\]:](?!\w)|$)/y
const fieldSign = /\s{0,16}:\s{0,16}(\\*["'])/y

/** The value of a field whose name ends with the sign behind a name, and the quote before `start`: `{"Password: ":"…"}`. */
function ofField(text: string, start: number, quote: string, kind: NameClass, found: TextRange[]): number {
  fieldSign.lastIndex = start
  const [sign, open] = fieldSign.exec(text) ?? []
  return sign === undefined || open !== quote ? 0 : quoted(text, start + sign.length, quote, kind, found)
}

function endsText(text: string, start: number): boolean {
  afterText.lastIndex = start
  return afterText.test(text)
}

const mostBefore = 256
const isOfWord = codesOf(/\w/, 128)
/** What follows a literal, and no value begins with: ` or`, `)`, `,`, `.format(`, `+ name`; `)par99` is a value. */
const beforeValue = /[\s,+\\]|[:;|<>)\]}&?%*-](?!\w)|\.(?=[A-Za-z_]\w{0,64}\(|\W)/y
/** Letters that stand before the quote of a literal: `f"…"`. */
const literalLetters = /(?:^|[^\w\\])(?:[bfu]|rb?|br|[$@])$/i

/**
 * Whether a quote behind a name and its sign ends a literal that began before them: `prompt("Password: ")`.
 *
 * @param from - where none is open
 */
export function closesLiteral(text: string, name: number, start: number, quote: string, from = 0): boolean {
  beforeValue.lastIndex = start
  if (!beforeValue.test(text)) return false
  const before = text.slice(Math.max(from, name - mostBefore), name)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  let isOpen = false
  work.done += perName
  for (let at = line.indexOf(quote); at !== -1; at = line.indexOf(quote, at + quote.length)) {
    work.done += 5
    const last = line.charCodeAt(at - 1)
    if (last === backslash) continue
    const isBehindWord = has(isOfWord, last) && !endsShortEscape(line, at)
    // An apostrophe, or inches: `don't`, `5" wide`.
    const isSign =
      isBehindWord &&
      (isOpen
        ? has(isOfWord, line.charCodeAt(at + quote.length))
        : !literalLetters.test(line.slice(Math.max(0, at - 3), at)))
    if (!isSign) isOpen = !isOpen
  }
  return isOpen
}

/**
 * As {@link closesLiteral}, one after the other: behind a value that was read no literal is open, however much stands before.
 * Otherwise what is replaced would move the beginning of what is looked at, and lay bare the next ones bit by bit.
 */
function closingBy(names: NameTable): typeof closesLiteral {
  if (names.isBefore) return closesLiteral
  let read = { walk: 0, end: 0, quote: '' }
  return (text, name, start, quote) => {
    const isKnown = read.quote === quote && read.end <= name && read.walk === walking.nth
    if (closesLiteral(text, name, start, quote, isKnown ? read.end : 0)) return true
    const end = closingQuote(text, start, quote)
    if (end < text.length) read = { walk: walking.nth, end: end + quote.length, quote }
    return false
  }
}

/** The name of a query or form that ends at a sign: behind `?` or `&`, or at the beginning of the text. */
function queryName(text: string, sign: number): string | undefined {
  if (text[sign] !== '=') return undefined
  let start = sign
  while (start > 0 && sign - start < 64 && has(isQueryName, text.charCodeAt(start - 1))) start--
  const before = text[start - 1]
  if (start === sign || (before !== '?' && before !== '&')) return undefined
  return text.slice(start, sign)
}

const queryValue = /[^&#\s"'<>\\`]{1,8192}/y

function queryValueEnd(text: string, start: number): number | undefined {
  queryValue.lastIndex = start
  return queryValue.test(text) ? queryValue.lastIndex : undefined
}

/** Whoever looked at so much and found nothing goes on near its end. */
const overlap = 64

/** The value up to the same quote: in JSON inside JSON a quote has as many backslashes before it as the one that began. */
export function quoted(text: string, given: number, quote: string, kind: NameClass, found: TextRange[]): number {
  // Three quotes begin and end a text of several lines.
  const isTriple = text.startsWith(quote, given) && text.startsWith(quote, given + quote.length)
  const start = isTriple ? given + 2 * quote.length : given
  const triple = isTriple ? text.indexOf(quote.repeat(3), start) : -1
  const end = triple === -1 ? closingQuote(text, start, quote) : Math.min(triple, outerEnd(text, start, triple, quote))
  const from = start + schemeLength(text, start, end)
  const value = unescaped(text.slice(from, end), quote)
  if (otherwise(text, from, kind, found) > 0) return end
  if (!passes(kind, value, false)) return Math.max(0, end - overlap)
  addSecret(found, from, end, value)
  return end
}

const scheme = /(?:bearer|basic|token|bot|apikey|ssws|digest)\s{1,8}(?=\S{1,8192}$)/iy
const mayBeScheme = codesOf(/[abdst]/i, 128)
/** Three letters and a space before what it is for. */
const shortestScheme = 5

export function schemeLength(text: string, start: number, end: number): number {
  if (end - start < shortestScheme || !has(mayBeScheme, text.charCodeAt(start))) return 0
  const head = text.slice(start, Math.min(end, start + 9_000))
  scheme.lastIndex = 0
  return scheme.exec(head)?.[0].length ?? 0
}

/** Where the text ends that a value of several lines stands in, before `end`. */
function outerEnd(text: string, start: number, end: number, quote: string): number {
  if (!quote.endsWith('"')) return endInText(text, start, end)
  const said = text.slice(start, end)
  for (let at = said.indexOf('"'); at !== -1; at = said.indexOf('"', at + 1)) {
    let backslashes = 0
    while (backslashes < quote.length && said[at - backslashes - 1] === '\\') backslashes++
    if (backslashes < quote.length - 1) return start + at - backslashes
  }
  return end
}

/** What is said in a text of JSON, where it is one. */
export function unescaped(raw: string, quote: string): string {
  if (quote !== '"' || !raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // Not JSON after all: the text as it stands is its own name.
    return raw
  }
}

// `theme=dark; sid=…` goes on to the end of its line.
const cookiePattern = /[^\s"'\\`=\x1b]{1,256}=[^\r\n"'\\`\x1b]{1,4096}/y
const phrasePattern = /[a-z]{3,8}(?: [a-z]{3,8}){11,24}(?![a-z])/y
/** What ends a value, and what does so in Chinese and Japanese. */
const mayGoOn = codesOf(/[^\s"'\\&,;<>(){}[\]`|\x1b]/)
const [wideEnd, wideEndBefore] = [/[\s\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]/, /\s/]
const longestBefore = 4_096
const anyScheme = /[A-Za-z][\w-]{1,24}\s{1,4}(?=[\w+/=.~-]{16})/y
/** Code that names where the value is: `user.password1`, `settings.DB_PASS2`. */
const path = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*){1,8}$/
const [letters, lettersBefore] = [/^[\p{L}_$][\p{L}\p{M}_$.-]*$/u, /^[A-Za-z_$][A-Za-z_$.-]*$/]
export const word = { test: (value: string): boolean => ofVersion(letters, lettersBefore).test(value) }
/** Letters of another script than Latin: a sentence goes on, and no password is typed so. */
const spoken = /[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufaff]/

/**
 * A value without quotes. `password=letmein` of a form is one; of `password: string`, `secret = load()` and
 * "the secret: patience" only what looks like no word is.
 */
function bare(
  names: NameTable,
  text: string,
  given: number,
  isLoose: boolean,
  named: Named,
  found: TextRange[],
): number {
  const { kind, name } = named
  let start = given
  const template = otherwise(text, start, kind, found)
  if (template > 0) return template
  if (kind === 'always' && name.length >= 13 && /authorization$/i.test(name)) {
    anyScheme.lastIndex = start
    start += anyScheme.exec(text)?.[0].length ?? 0
  }
  if (kind === 'cookie') {
    const items = cookiesBelow(text, start, found)
    if (items > start) return items
  }
  let value = kind === 'cookie' ? matched(cookiePattern, text, start) : undefined
  if (kind === 'cookie' && names.version >= 8) work.done += perName + ((value?.length ?? 0) >> 4)
  if (kind === 'phrase') value = matched(phrasePattern, text, start)
  else value ??= bareWord(text, start)
  if (value === undefined || value === '' || text[start + value.length] === '(') return 0
  const end = start + value.length
  const after = Math.max(0, end - overlap)
  if (value.length === name.length && value.toLowerCase() === name.toLowerCase()) return after
  const isWords = names.version >= 9 && saysPassword(name) && isPhrase(names, value) && isLine(text, named, end)
  if (isWords && passes('always', value, true)) {
    addSecret(found, start, end, value)
    return end
  }
  if (!passes(kind, value, true)) return after
  if (value.length < 4 && kind !== 'code' && kind !== 'own') return after
  if (value.includes('.') && path.test(value)) {
    // In Terraform, `random_password.db1.result`.
    const resource = looking.isSinceFifth ? value.split('.')[0]! : ''
    if ((names.classOf(value.replace(/\d{1,4}$/, '')) ?? names.classOf(resource)) !== undefined) return after
  }
  if (isLoose && names.version >= 9 && typeName.test(value) && isTyped(text, named.start)) return after
  if (isLoose && !names.isBefore && spoken.test(value)) return after
  // A variable of the environment is set to a text: there, dots join no names.
  const isText = names.version >= 9 && setting.test(text.slice(named.start, given))
  if (kind === 'always' && names.version >= 10 && isVariable(text, named, given, value) && isLine(text, named, end)) {
    addSecret(found, start, end, value)
    return end
  }
  const isToken = names.version >= 14 && value.length >= 16 && isMixed(value)
  if (kind === 'always' && !isToken && word.test(value) && (isLoose || (value.includes('.') && !isText))) return after
  addSecret(found, start, end, value)
  return end
}

const passwordName = new RegExp(String.raw`(?:${words(passwords).join('|')}|pwd|passwd)\d{0,2}$`, 'i')

function saysPassword(name: string): boolean {
  return passwordName.test(name)
}

const ofPhrase = String.raw`(?!\p{L}(?!\p{L}))(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\d+)`
/** Words with one sign between them: three, or two that are long. A part of a name in code has a capital or a sign inside. */
const phrase = new RegExp(String.raw`^${ofPhrase}(?:(?<sign>[._-])${ofPhrase})(?:\k<sign>${ofPhrase})*$`, 'u')
/** What a reference begins with: in Terraform, and in code. */
const beginsReference = /^(?:var|local|data|module|each|count|path|terraform|self|this|super)\./
const shortestPair = 12

/** Words that make up a password, and neither name where it is nor say something about it: `correct.horse.battery`. */
function isPhrase(names: NameTable, value: string): boolean {
  if (value.length < 8 || value.length > 128 || !phrase.test(value) || beginsReference.test(value)) return false
  const parts = value.split(/[._-]/)
  // `must-be-set` has three words as well, `not-set` and `user.name` have two.
  const isLong = parts.length > 2 || (value.length >= shortestPair && value.includes('.'))
  // `user.token` says where it is, and `password_too_short` what is wrong with it.
  return isLong && names.classOf(parts.at(-1)!) === undefined && !parts.some(saysPassword)
}

const longestIndent = 64
/** Where a line begins, or a text of JSON or code, and what stands there before a name. */
const lineBegins = /(?:^|[\n\r"'`]|\\[nr])[ \t]{0,32}(?:[-*>#] {1,4})?(?:\\*["'`]|\*\*)?$/
/** Where it ends: code goes on with a sign. */
const lineEnds = /[.!?]?(?:\*\*)?[ \t]{0,32}(?:#[^\r\n"]{0,256})?(?:$|[\n\r]|\\{1,8}[nr]|\\*["'`](?!\w)|<\/)/y

/** Whether a name and its value are all of a line. */
function isLine(text: string, named: Named, end: number): boolean {
  work.done += perName
  lineEnds.lastIndex = end
  return lineEnds.test(text) && lineBegins.test(text.slice(Math.max(0, named.start - longestIndent), named.start))
}

/** `DB_PASSWORD=`. */
const setting = /^[A-Z][A-Z\d_]*=$/
const variable = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+: $/
const typed = /^(?:secret)?(?:str|string|text|bytes)$|^(?:number|boolean|unknown|object)$/i

/** `POSTGRES_PASSWORD: lemontart`, as files of Compose set variables of the environment; in code a type stands there. */
function isVariable(text: string, named: Named, given: number, value: string): boolean {
  const head = text.slice(named.start, given)
  return variable.test(head) && saysPassword(head.slice(0, -': '.length)) && !typed.test(value)
}

/** A type of GraphQL: `String!`. Names of types have digits seldom, and passwords often. */
const typeName = /^[A-Z][A-Za-z]*!$/
/** What stands before the brace of fields with such types. */
const typeHead = /\b(?:type|input|interface)\s{1,8}\w[^{}"'\n]{0,96}$/

/** Whether fields or arguments with a type stand here: the last bracket is open, and behind the name of what has them. */
function isTyped(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 512), start)
  work.done += before.length >> 3
  const [round, curly] = [before.lastIndexOf('('), before.lastIndexOf('{')]
  if (round > curly) return round > before.lastIndexOf(')') && has(isOfWord, before.charCodeAt(round - 1))
  return curly > before.lastIndexOf('}') && typeHead.test(before.slice(Math.max(0, curly - 128), curly))
}

const item = /\s{0,64}-\s{1,4}(?:\\*["'])?([\w.-]{1,128}=[^\s;"'\\]{4,4096})/y

/** `Set-Cookie:` with a list below it, as YAML writes headers: each item has a cookie. */
function cookiesBelow(text: string, start: number, found: TextRange[]): number {
  let end = start
  for (let count = 0; count < 64; count++) {
    item.lastIndex = end
    const [whole, cookie] = item.exec(text) ?? []
    if (whole === undefined || cookie === undefined) break
    const from = end + whole.length - cookie.length
    end += whole.length
    if (passes('cookie', cookie, false)) addSecret(found, from, end, cookie)
    // What follows in the line, to the next item.
    const line = text.indexOf('\n', end)
    if (line === -1 || line - end > 1_024) break
    end = line
  }
  return end
}

function matched(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start
  // No list of groups is made, which takes longer than to look.
  return pattern.test(text) ? text.slice(start, pattern.lastIndex) : undefined
}

/** A word without what ends a sentence; what goes on in dots was cut short by whoever wrote it. */
function bareWord(text: string, start: number): string {
  const last = looking.asBefore ? Math.min(text.length, start + longestBefore) : text.length
  let end = start
  while (end < last && isOfBare(text, end)) end++
  if (end - start < 3 || (text.charCodeAt(end - 1) === dot && text.startsWith('..', end - 3))) return ''
  return withoutLast('.?:*', text.slice(start, end))
}

function isOfBare(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 256) return mayGoOn[code] === 1
  // Between these no sign stands, and no space.
  if (code < 0x1680 || (code > 0x303f && code < 0xfeff)) return true
  return !ofVersion(wideEnd, wideEndBefore).test(text[at]!)
}

const pairPattern = sticky`(\\*["'])\s{0,4},\s{0,16}(?:${field}${valueField})?(\\*["'])`
const pairBefore = changed(pairPattern, valueField, valueFieldBefore)
const pairEleventh = overLines(pairPattern)

/** `["x-api-key","…"]`, `{"name":"password","value":"…"}`, `"--token","…"`: the second of two texts. */
function afterComma(names: NameTable): Trigger['at'] {
  return (text, index, found) => {
    const named = nameUpTo(names, text, nameEnd(text, index + 1))
    if (named === undefined) return 0
    work.done += perName
    let open = named.start
    while (text[open - 1] === '-') open--
    if (!/["']/.test(text[open - 1] ?? '')) return 0
    if (names.version >= 8 && isMessage(text, open, named.end, names.version)) return 0
    let [start, quote] = [named.end + 3, '"']
    if (!isPlainComma(text, named.end)) {
      const pair = names.version >= 11 ? pairEleventh : ofVersion(pairPattern, pairBefore)
      pair.lastIndex = named.end
      const [head, nameQuote, valueQuote] = pair.exec(text) ?? []
      if (head === undefined || nameQuote !== valueQuote || valueQuote === undefined) return 0
      start = named.end + head.length
      quote = valueQuote
    }
    const end = closingQuote(text, start, quote)
    if (names.version >= 8 && named.kind !== 'own' && isOther(text, open, text.slice(start, end), named))
      return Math.max(0, end - overlap)
    return listed(names, text, start, end, quote, named.kind, found) ? end : Math.max(0, end - overlap)
  }
}

const behindType = /(?:type|kind|scheme)\\{0,8}["']?\s{0,4}:\s{0,4}\\{0,8}["']$/i
const numbers = /[_-]?\d{1,2}$/
/** Where a secret is, and what a variable is called that holds it: `op://vault/item1`, `env.API_KEY_2`. */
export const pointer =
  /^(?:[a-z][\w+.-]{0,16}:\/\/|arn:|projects\/|(?:[a-z]\w{0,16}\.)?[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$|[Xx](?:-[A-Za-z\d]{1,12})+$)/

/** What else an object may say that it is: a token is also one of a text or of a design. */
export const vague = /^(?:token|key|session|basic)$/i

/**
 * Whether the second of two texts is no value of the first: that one says what an object is, or both are names of
 * fields.
 */
export function isOther(text: string, open: number, value: string, named: Named): boolean {
  if (behindType.test(text.slice(Math.max(0, open - 40), open))) return vague.test(named.name) || pointer.test(value)
  return open === named.start && named.name.toLowerCase().replace(numbers, '').endsWith(value.replace(numbers, ''))
}

const callFourth = sticky`\(\s{0,4}(\\*["'])`
const callPattern = changed(callFourth, "']", "'`]")
/** Of other verbs it is for whom: `resetPassword('ada7')`. */
const setterFourth = /^(?:set|with|use)[_A-Z]/
const setter = /^(?:[Ss]et|[Ww]ith|use)[_A-Z]/
const method =
  /^(?:password|passwd|passphrase|secret|token|api_?key|secret_?key|access_?key|access_?token|auth_?token)$/i
const afterFourth = /\\*["']\s{0,4}[),]/y
const afterCall = /\\*["'`](?:\.to\w{1,16}\(\))?\s{0,4}[),]/y

/** `setPassword('…')`, `.password('…')`. */
function inCall(names: NameTable): Trigger['at'] {
  return (text, index, found) => {
    const named = nameUpTo(names, text, index + 1)
    if (named === undefined) return 0
    work.done += perName
    const last = named.name.slice(named.name.lastIndexOf('.') + 1)
    const isMethod = (last.length < named.name.length || text.charCodeAt(named.start - 1) === dot) && method.test(last)
    if (!isMethod && !lately(setter, setterFourth).test(last)) return 0
    const call = lately(callPattern, callFourth)
    call.lastIndex = named.end
    const [head, quote] = call.exec(text) ?? []
    if (head === undefined || quote === undefined) return 0
    const start = named.end + head.length
    const end = closingQuote(text, start, quote)
    const after = lately(afterCall, afterFourth)
    after.lastIndex = end
    if (!after.test(text)) return Math.max(0, end - overlap)
    // A field of a form is called so as well: `form.password('field1')`.
    if (isMethod && isInWords(text.slice(start, end))) return Math.max(0, end - overlap)
    return inCode(names, text, start, quote, named.kind, found)
  }
}

const lineEnd = String.raw`(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)`
/** `- name: DB_PASSWORD`, the line before; `variable "db_password" {`, before the field. */
const nameAbove = String.raw`\\*["']?([\w.-]{2,64})\\*["']?`
const quotedName = nameAbove.replaceAll('?', '')
const variableAbove = String.raw`\bvariable {1,4}${quotedName} {0,4}\{[^{}]{0,160}`
const aboveFourth = new RegExp(String.raw`\bname: {1,4}${nameAbove}${lineEnd} {1,32}$|${variableAbove}$`)
/** Also `{name: DB_PASSWORD, value: …}`, `ParameterKey=DBPassword,ParameterValue=…` and `name = "db_password"`. */
const namedAbove = new RegExp(
  String.raw`\b(?:[Nn]ame|[Kk]ey|ParameterKey)[:=] {0,4}${nameAbove}(?:,? {0,4}|(?: {1,4}#[^\\\n]{0,64})?${lineEnd} {1,32}(?:\w{1,16}: {1,4}[\w.]{1,32}${lineEnd} {1,32})?)(?:Parameter)?$|(?:${variableAbove}|\bname {1,8}= {1,4}${quotedName},?(?:${lineEnd})? {1,32})$`,
)
const defaultSign = / {0,24}= {0,4}/y

/** The value of a field whose name stands in the line above, as in manifests of Kubernetes and variables of Terraform. */
function belowName(names: NameTable, sign: string): Trigger['at'] {
  return (text, index, found) => {
    work.done += 2 * perName
    let start = index + sign.length
    if (sign === 'default ') {
      defaultSign.lastIndex = start
      if (!defaultSign.test(text)) return 0
      start = defaultSign.lastIndex
    }
    const [, inYaml, variable, field] =
      lately(namedAbove, aboveFourth).exec(text.slice(Math.max(0, index - 256), index)) ?? []
    const inTerraform = variable ?? field
    const name = inYaml ?? inTerraform
    const kind = name === undefined ? undefined : names.classOf(name)
    if (name === undefined || kind === undefined) return 0
    const quote = /^\\{0,64}["']/.exec(text.slice(start, start + 65))?.[0]
    if (looking.isSinceFifth && reference.test(text.slice(start, start + 16))) return 0
    // Nothing was written there yet: the text ends that the name stands in.
    if (quote !== undefined && names.version >= 8 && isBehindText(text, start + quote.length)) return 0
    // In Terraform, what has no quotes is an expression.
    if (inTerraform !== undefined)
      return quote === undefined ? 0 : inCode(names, text, start + quote.length, quote, kind, found)
    if (quote !== undefined && names.version >= 8 && endsText(text, start + quote.length)) return 0
    if (quote !== undefined) return quoted(text, start + quote.length, quote, kind, found)
    return bare(names, text, start, true, { kind, name, start: index, end: start }, found)
  }
}

const flagPattern = /--([A-Za-z][\w.-]{1,63})(?:=|\s{1,4})(\\*["'])?(?!-)/y

/** Where the secret of a build is: `docker build --secret id=npmrc,src=.npmrc`. */
const fieldPattern = /(?:id|type|src|source|env|target|required|mode|uid|gid)=/y

/** `--token X`, `--password=X`; `--set db.password=X` is found by its sign. */
function afterFlag(names: NameTable): Trigger['at'] {
  const closes = closingBy(names)
  return (text, index, found) => {
    const after = text.charCodeAt(optionEnd(text, index + 2))
    // Neither a sign nor a space, which may be beyond ASCII.
    if (after > space && after < 128 && after !== equals) return 0
    work.done += 8
    flagPattern.lastIndex = index
    const [head, name = '', quote] = flagPattern.exec(text) ?? []
    const kind = names.classOfFlag(name)
    if (head === undefined || kind === undefined) return 0
    const start = index + head.length
    fieldPattern.lastIndex = start
    if (name === 'secret' && !names.isBefore && fieldPattern.test(text)) return 0
    if (quote !== undefined && closes(text, index, start, quote)) return 0
    if (quote !== undefined) return quoted(text, start, quote, kind, found)
    return bare(names, text, start, true, { kind, name, start: index + 2, end: index + 2 + name.length }, found)
  }
}

const variablePattern =
  /(?:set(?: --?\w{1,16}){1,4}|setenv|ENV)[ \t]{1,4}([A-Za-z_]\w{1,63})[ \t]{1,4}(\\*["'])?(?![-=])/y

/** `set -x DB_PASSWORD X` of fish, `setenv DB_PASSWORD X` of csh, `ENV DB_PASSWORD X` of a Dockerfile. */
function afterVariable(names: NameTable): Trigger['at'] {
  return (text, index, found) => {
    if (!beginsToken(text, index)) return 0
    variablePattern.lastIndex = index
    const [head, name = '', quote] = variablePattern.exec(text) ?? []
    const kind = names.classOf(name)
    if (head === undefined || kind === undefined) return 0
    const start = index + head.length
    if (quote !== undefined && names.version >= 8 && (endsText(text, start) || isBehindText(text, start))) return 0
    if (quote !== undefined) return quoted(text, start, quote, kind, found)
    return bare(names, text, start, true, { kind, name, start: index, end: start }, found)
  }
}

const elementPattern = /^<([\w:.-]{2,64})(\s[^<>]{0,512})?>\s{0,64}(?:<!\[CDATA\[)?([^<>]{3,4096})((?:\]\]>)?)$/
const nameTenth = /\s(?:name|key|id|property)=\\*["']([\w:.-]{2,64})\\*["']/
const nameAttribute = changed(nameTenth, '=', String.raw`\s{0,4}=\s{0,4}`)

/** What an element is called by its attributes. */
function classIn(names: NameTable, attributes: string): NameClass | undefined {
  return names.classOf((names.version >= 11 ? nameAttribute : nameTenth).exec(attributes)?.[1] ?? '')
}

/** `<password>…</password>`, `<entry key="password">…</entry>`. What looks like a word is left alone, as behind a colon. */
function inElement(names: NameTable): Trigger['at'] {
  return (text, index, found) => {
    const least = Math.max(0, index - longestElement)
    let open = lastOpening(text, index, least)
    if (text.startsWith('<![CDATA[', open)) open = lastOpening(text, open, least)
    if (open < least) return 0
    work.done += perName + ((index - open) >> 4)
    const [, tag = '', attributes = '', said = '', close = ''] = elementPattern.exec(text.slice(open, index)) ?? []
    const value = withoutSpaces(said)
    const kind = value === '' ? undefined : (names.classOf(tag) ?? classIn(names, attributes))
    const isAny = kind === 'always' || kind === 'foreign'
    if (kind === undefined || !passes(kind, value, isAny)) return 0
    if (isAny && (!/\d/.test(value) || value.length < 6)) return 0
    const start = index - close.length - said.length
    if (endInText(text, start, start + value.length) < start + value.length) return 0
    addSecret(found, start, start + value.length, value)
    return index
  }
}

const longestElement = 4_800
const less = 0x3c

/** Where the last `<` stands before `end`, or at the beginning of the text; less than `least` without one. */
function lastOpening(text: string, end: number, least: number): number {
  let at = Math.max(0, end - 1)
  while (at >= least && text.charCodeAt(at) !== less) at--
  return at
}

/** Without white space at its end, as it stands there or as JSON spells it. */
function withoutSpaces(said: string): string {
  for (let text = said; ; ) {
    const trimmed = text.trimEnd()
    if (!/[nrt]/.test(trimmed.at(-1) ?? '') || trimmed.at(-2) !== '\\') return trimmed
    text = withoutLast('\\', trimmed.slice(0, -1))
  }
}

/** The attributes up to the end of a tag: a sign in quotes ends none. */
const restOfTag = /^(?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*/

/** `<property name="password" value="…"/>`, `<meta name="csrf-token" content="…">`. */
function inAttribute(names: NameTable, length: number): Trigger['at'] {
  return (text, index, found) => {
    const [gap, quote] =
      /^(\s{0,4})(\\{0,64}["'])/.exec(text.slice(index + length, index + length + 69))?.slice(1) ?? []
    const tag = quote === undefined ? '' : text.slice(Math.max(0, index - 512), index)
    work.done += perName
    const open = tag.lastIndexOf('<')
    if (open === -1 || quote === undefined || (gap !== '' && names.version < 11)) return 0
    const start = index + length + gap!.length + quote.length
    const before = classIn(names, tag.slice(open))
    if (before === undefined && names.version < 11) return 0
    const end = closingQuote(text, start, quote)
    const kind = before ?? classIn(names, restOfTag.exec(text.slice(end + quote.length, end + 512))![0])
    if (kind === undefined) return Math.max(0, end - overlap)
    return listed(names, text, start, end, quote, kind, found) ? end : 0
  }
}

const partHead = /form-data;[^\r\n]{0,64}?\bname="([^"\r\n]{1,128})"[^\r\n]{0,512}\r\n(?:[^\r\n]{1,512}\r\n){0,4}\r\n/y

/** Secret fields of multipart forms: the name stands in the head of the part, the value is its body. */
function inPart(names: NameTable): Trigger['at'] {
  return (text, index, found) => {
    work.done += perName
    partHead.lastIndex = index
    const [head, name = ''] = partHead.exec(text) ?? []
    if (head === undefined) return 0
    const start = index + head.length
    const next = text.indexOf('\r\n--', start)
    const end = next === -1 ? text.length : next
    const value = text.slice(start, end)
    if (value !== '' && (names.isSecretQuery(name, value) || (names.classOf(name) === 'phrase' && looksRandom(value))))
      addSecret(found, start, end, value)
    return end
  }
}
