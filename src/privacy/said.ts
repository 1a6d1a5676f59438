import { addSecret, beginsToken, closingQuote, codesOf, has, sticky } from './edges.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { isInPieces, passes } from './values.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

/** Ends of the words for a password, as they are written where no sign stands behind them. */
export const passwords =
  'assword ASSWORD asswort ennwort assphrase asscode de_passe ontraseña senha 密码 密碼 パスワード 비밀번호 пароль Пароль'
/** Words for a code of digits; whole. */
const codes = 'PIN OTP verification_code one-time_code'

/**
 * Secrets behind a name without a sign between them: `the password is …`, `password "…"`, `fill('#password', '…')`,
 * `<td>Password</td><td>…</td>`. There a value is one that no word and no name looks like.
 */
export function saidTriggers(names: NameTable): readonly Trigger[] {
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
  ]
}

/** Words with blanks between them, written with `_`. */
export function words(all: string): string[] {
  return all.split(' ').map((word) => word.replaceAll('_', ' '))
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
/** What it costs to try one of them. */
const perPattern = 12
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

/** What may stand right behind a name of ASCII where {@link inWords} or {@link inCode} fits; the others have looks of their own. */
const mayFollow = codesOf(/[\w \t*|([{`"'\\\])},.:=<]/, 128)

function saidBehind(names: NameTable, text: string, end: number, found: TextRange[]): number {
  const code = text.charCodeAt(end)
  if (!(code > 127) && !has(mayFollow, code) && text.charCodeAt(end - 1) < 128) {
    work.done += 2 * perPattern
    return 0
  }
  if (isReplaced(text, end)) return 0
  for (const pattern of patternsAt(text, end)) {
    work.done += perPattern
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
