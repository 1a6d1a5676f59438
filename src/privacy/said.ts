import { addSecret, beginsToken, closingQuote, codesOf, sticky } from './edges.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { isInPieces, passes } from './values.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

/** Ends of the words for a password, as they are written where no sign stands behind them. */
const passwords =
  'assword ASSWORD asswort ennwort assphrase asscode de_passe ontraseña senha 密码 密碼 パスワード 비밀번호 пароль Пароль'
/** Words for a code of digits; whole. */
const codes = 'PIN OTP verification_code one-time_code'
/** Others that stand above columns. */
const columns = 'ecret oken pi_key piKey asswd'

/**
 * Secrets behind a name without a sign between them: `the password is …`, `password "…"`, `fill('#password', '…')`,
 * `<td>Password</td><td>…</td>`, and in the column below it. There a value is one that no word and no name looks like.
 */
export function saidTriggers(names: NameTable): readonly Trigger[] {
  const beginOf = lineBegins()
  const words = (all: string): string[] => all.split(' ').map((word) => word.replaceAll('_', ' '))
  return [
    ...words(passwords).map((word): Trigger => {
      const isWhole = word === 'senha'
      return {
        text: word,
        group: 'said',
        at: (text, index, found) =>
          (isWhole && !beginsToken(text, index)) || isFlag(text, index)
            ? 0
            : saidBehind(names, text, index + word.length, found),
      }
    }),
    ...words(codes).map((text): Trigger => ({ text, group: 'said', at: (...place) => codeBehind(text, ...place) })),
    ...[...words(passwords), ...columns.split(' ')].map(
      (text): Trigger => ({
        text,
        group: 'columns',
        at: (within, index, found) => belowHeader(names, beginOf, within, index + text.length, found),
      }),
    ),
  ]
}

const spaces = String.raw`[ \t]{1,12}`
const quote = String.raw`\\*["'\x60]`
/** What stands behind a name, and between the words that follow it. */
const first = String.raw`(?:${spaces}(?:[-–—→|<>?({[&*]{1,3}[ \t]{0,4})?|[|([{「『“（][ \t]{0,4})`
const next = String.raw`(?:${spaces}(?:[-–—→|:=<>?({[*]{1,3}[ \t]{0,4})?|[:：|(（「『“=] {0,4}|\)[:：]?[ \t]{1,4})`
const particle = String.raw`[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{0,4}[「『“：]?`
/** At most three words of letters: `is`, `was changed to`, `lautet`. */
const inWords = new RegExp(
  String.raw`(?:\*\*)?(?:${particle}(?<![a-z]))?(${first}|(?<=[\u3040-\uffff]))((?:[\p{L}']{1,16}${next}){0,3})(${quote}|\*\*)?`,
  'yu',
)
/** Code: `password', '…'`, `password.equals("…")`, `password[] = "…"`, `"password" -> "…"`. */
const inCode = new RegExp(
  String.raw`(?:\\*["'\x60])?[\])}]{0,3}(?:, {0,4}|\w{0,16}\)?\.\w{1,16}\(|\(\)[ \t]{1,4}(?:=> )?(?:\{ return )?|\[\] = |\} = |[({] {0,2}| (?:->|to|\?\?|\|\||<-) |[:=] {0,4}[\w.&[\]]{1,24}\((?:\w{1,12} ?= ?)?|: \(\) => )(${quote})`,
  'y',
)
const tag = String.raw`(?:\s|\\n){0,16}<\/?[A-Za-z][^<>\r\n]{0,48}>`
/** Elements: `Password:</b> …`, `password</th><td>…`, `"password"><value>…`. */
const inElements = sticky`(?:\\*["']>|[:：])?(?:${tag}){1,4}[ \t]{0,4}()()(${quote})?`
/** As far as a value without quotes goes. */
const bare = /[\w!#$@^~*+](?:[\w!#$%*+./:=?@^~-]|&(?!\w{1,32}=)){5,127}/y

/** No word, number or name of something, no address, date or id. */
function isMade(names: NameTable, value: string, hasWords: boolean): boolean {
  return (
    passes('typed', value, true) &&
    !notMade.test(value) &&
    // Behind several words, what has small letters and digits alone may be an id.
    (!hasWords || /[A-Z!#$%&*+=?@^~]/.test(value)) &&
    names.classOf(value) === undefined
  )
}

const notMade =
  /^-|:\/\/|^\.{0,2}\/|^\d{4}-\d\d-\d\d|^[\da-f]{8}-(?:[\da-f]{4}-){3}|^[A-Za-z_]\w*[.:=]|=$|redacted-|^(?:sha|md)\d|%[\dA-F]{2}/

/** Which patterns fit what stands right behind a name; behind a sign, the value is read by its name. */
function patternsAt(text: string, end: number): readonly RegExp[] {
  const code = text.charCodeAt(end)
  if (code === 0x20 || code === 0x09) return [inWords, inCode]
  if (code === 0x3c || code === 0x3a) return text.charCodeAt(end + 1) === quoteSign ? none : [inCode, inElements]
  if (code > 0x7f) return code === 0xff1a || code === 0xff1d ? none : [inWords]
  if (code === 0x3d) return /[\w&[]/.test(text[end + 1] ?? '') ? [inCode] : none
  if (code === quoteSign) return text.charCodeAt(end + 1) === 0x3a ? none : [inCode, inElements]
  return code === 0x5c || code === 0x27 ? [inCode, inElements] : [inWords, inCode]
}

/** `--password x`: it is read as the option it is. */
function isFlag(text: string, index: number): boolean {
  let at = index
  while (index - at < 16 && nameSign[text.charCodeAt(at - 1)] === 1) at--
  return text.startsWith('--', at)
}

const nameSign = codesOf(/[\w-]/)
const quoteSign = 0x22
const none: readonly RegExp[] = []

/** Whether a placeholder stands behind the particle of a sentence: `密码是redacted-secret-1`. */
function isReplaced(text: string, end: number): boolean {
  let at = end
  while (at - end < 4 && isOfParticle(text.charCodeAt(at))) at++
  return at > end && text.startsWith('redacted-', at)
}

function isOfParticle(code: number): boolean {
  return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af)
}

function saidBehind(names: NameTable, text: string, end: number, found: TextRange[]): number {
  if (isReplaced(text, end)) return 0
  for (const pattern of patternsAt(text, end)) {
    work.done += 12
    pattern.lastIndex = end
    const match = pattern.exec(text)
    if (match === null) continue
    const [whole, sign = '', said = ''] = match
    const open = pattern === inCode ? sign : match[3]
    const start = end + whole.length
    const hasWords = pattern === inWords && /\S\s+\S/.test(said.trim())
    if (open !== undefined && open !== '**') {
      const close = closingQuote(text, start, open)
      const value = close - start > 128 ? '' : text.slice(start, close)
      const isDirect = pattern === inWords && said === '' && /^\s/.test(sign)
      const isValue = isDirect ? isQuoted(names, value) : /^[!-~]+$/.test(value) && isMade(names, value, hasWords)
      if (close < text.length && isValue) addSecret(found, start, close, value)
      if (isValue) return close
      continue
    }
    // `password(x)`, `password[x]`: names of code.
    if (/^[([{]/.test(sign)) continue
    bare.lastIndex = start
    const value = (bare.exec(text)?.[0] ?? '').replace(/[.?:*!]{1,8}$/, '')
    if (
      value === '' ||
      value.startsWith('redacted-') ||
      text[start + value.length] === '(' ||
      !isMade(names, value, hasWords)
    )
      continue
    addSecret(found, start, start + value.length, value)
    return start + value.length
  }
  return 0
}

function isQuoted(names: NameTable, value: string): boolean {
  return (
    /^[!-~]{4,128}$/.test(value) &&
    /\d/.test(value) &&
    !value.includes('\\') &&
    passes('pass', value, true) &&
    !notMade.test(value) &&
    !isInPieces(value) &&
    names.classOf(value) === undefined
  )
}

const digits = new RegExp(
  String.raw`${first}(?:[\p{L}']{1,16}${next}){0,2}(?:\*\*|${quote})?(\d{4,8})(?![\w%]|[-.,:/]\d)`,
  'yu',
)

/** `the PIN is 4711`; a year is no code. */
function codeBehind(word: string, text: string, index: number, found: TextRange[]): number {
  if (!beginsToken(text, index)) return 0
  work.done += 8
  digits.lastIndex = index + word.length
  const value = digits.exec(text)?.[1]
  if (value === undefined || /^(?:19|20)\d\d$/.test(value)) return 0
  const end = digits.lastIndex
  addSecret(found, end - value.length, end, value)
  return end
}

const beforeNextCell = /["`*]{0,2} {0,40}(?:[,;\t|]|\r?\n|(?:\\{1,8}r)?\\{1,8}n|\\{1,8}t)/y
const [longestLine, mostRows] = [1_024, 4_096]
const lineBreak = /\n|(?:\\{1,8}r)?\\{1,8}n/y
/** Behind a line of a text of JSON, and at the beginning and the end of that text. */
const [beginsLine, afterText] = [/\\n$|:\\{0,7}"$/, /^\\{0,8}"\s?[,}\]]/]
const headerCell = /^[\p{L}\p{N} ._#-]{0,48}$/u
const ruled = /^[\s|+:=-]*$/

/** Rows below a line of names: CSV, Markdown, what databases print; as they are, and in a text of JSON. */
function belowHeader(names: NameTable, beginOf: LineBegins, text: string, end: number, found: TextRange[]): number {
  beforeNextCell.lastIndex = end
  if (!beforeNextCell.test(text)) return 0
  work.done += 20
  const start = beginOf(text, end)
  if (end - start > longestLine) return 0
  const stop = lineEnd(text, start, true)
  const isEscaped = text[stop] === '\\'
  const last = isEscaped ? stop : lineEnd(text, start, false)
  const header = text.slice(start, last)
  work.done += header.length
  const delimiter = /\||\t|\\+t|;|,/.exec(header)?.[0]
  if (header.length >= longestLine || delimiter === undefined) return last
  const cells = header.split(delimiter).map(plain)
  // A list in lines is no head.
  if (delimiter !== '|' && (/^\s/.test(header) || cells.includes(''))) return last
  const kinds = cells.every((cell) => headerCell.test(cell)) ? cells.map((cell) => names.classOf(cell)) : []
  if (!kinds.some((kind) => kind !== undefined)) return last
  let from = last
  for (let row = 0; row < mostRows; row++) {
    lineBreak.lastIndex = from
    if (!lineBreak.test(text)) break
    from = lineBreak.lastIndex
    const to = lineEnd(text, from, isEscaped)
    const line = text.slice(from, to)
    const values = line.split(delimiter)
    work.done += 20 + line.length + 10 * values.length
    if (line !== '' && !ruled.test(line)) {
      if (values.length !== kinds.length) break
      let at = from
      values.forEach((cell, nth) => {
        const [kind, value] = [kinds[nth], plain(cell)]
        const begin = at + cell.indexOf(value)
        at += cell.length + delimiter.length
        const isPassword = kind === 'always' || kind === 'foreign'
        if (
          kind !== undefined &&
          /^[!-~]+$/.test(value) &&
          !/[\\(){}<>]/.test(value) &&
          passes(isPassword ? 'pass' : kind, value, true)
        )
          addSecret(found, begin, begin + value.length, value)
      })
    } else if (line === '') break
    from = to
  }
  return from
}

type LineBegins = (text: string, end: number) => number

/** Where a line begins, or the text of JSON that it is the first of. No character is looked at twice. */
function lineBegins(): LineBegins {
  let [seen, upTo, begin] = ['', 0, 0]
  return (text, end) => {
    if (text !== seen || end < upTo) [seen, upTo, begin] = [text, 0, 0]
    for (let at = end; at > upTo; at--) {
      const last = text.charCodeAt(at - 1)
      if (last !== 0x0a && last !== 0x6e && last !== quoteSign) continue
      if (last !== 0x0a && !beginsLine.test(text.slice(Math.max(0, at - 9), at))) continue
      begin = at
      break
    }
    upTo = end
    return begin
  }
}

/** Where a line ends; one of a text of JSON where that does, at the latest. */
function lineEnd(text: string, start: number, isEscaped: boolean): number {
  const most = Math.min(text.length, start + longestLine)
  for (let at = start; at < most; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) return at
    if (!isEscaped) continue
    lineBreak.lastIndex = at
    if (code === 0x5c && (lineBreak.test(text) || afterText.test(text.slice(at, at + 12)))) return at
    if (code === quoteSign && at > start && afterText.test(text.slice(at, at + 4))) return at
  }
  return most
}

/** A cell without its spaces, quotes and Markdown. */
function plain(cell: string): string {
  return cell.trim().replace(/^(?:["`]|\*\*)|(?:["`]|\*\*|\r)$/g, '')
}
