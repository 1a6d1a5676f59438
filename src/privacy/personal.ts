import { afterEscape, beginsToken, codesOf, endsShortEscape, has, isAlphanumeric } from './edges.ts'
import type { Finder, TextRange } from './types.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

/** Finds e-mail addresses, around each `@`. Linear: no character is looked at for two addresses. */
export const findEmails: Finder = (text) => emailsAround(text, '@', 0)

/** As {@link findEmails}, and distinguished from the user of an address that JSON spells `https:\/\/`. */
export const findEmailsNow: Finder = (text) => emailsAround(text, '@', 8)

/** Finds e-mail addresses as URLs spell them, around each `%40`. */
export const findUrlEmails: Finder = (text) => emailsAround(text, '%40', 0)

/** @param escapes - how many backslashes may stand before each slash of `https://` */
function emailsAround(text: string, sign: string, escapes: number): TextRange[] {
  const found: TextRange[] = []
  // Where the last authority before a place ends, and up to where that was looked for.
  let edge = -1
  let seen = 0
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
    let start = at
    while (start > 0 && at - start < 128 && isLocalCode(text.charCodeAt(start - 1))) start--
    work.done += 4 + ((at - start) >> 3)
    start = afterEscape(text, start)
    // Dots and dashes before an address are punctuation.
    while (start < at && !isAlphanumeric(text.charCodeAt(start)) && text.charCodeAt(start) < 0x80) start++
    if (start >= at) continue
    if (sign === '@') {
      const last = lastEdge(text, start, seen)
      if (last !== -1) edge = last
      seen = start
      if (edge >= start - longestAuthority && endsScheme(text, edge, start - longestAuthority, escapes)) continue
    }
    const afterSign = at + sign.length
    domainPattern.lastIndex = afterSign
    if (!domainPattern.test(text)) continue
    const end = domainPattern.lastIndex
    if (isNotAnAddress(text.slice(start, at), text.slice(afterSign, end))) continue
    const value = sign === '@' ? text.slice(start, end) : `${text.slice(start, at)}@${text.slice(afterSign, end)}`
    found.push({ kind: 'email', start, end, value })
  }
  return found
}

const longestAuthority = 256
const endsAuthority = codesOf(/[\s/?#"'<>\\]/)
const wideSpace = /\s/
const [colon, slash, backslash] = [0x3a, 0x2f, 0x5c]

/** Where the last sign stands before `end` that is in no authority; -1: none from `first` on. */
function lastEdge(text: string, end: number, first: number): number {
  for (let at = end - 1; at >= first; at--) {
    const code = text.charCodeAt(at)
    if (code < 256 ? endsAuthority[code] === 1 : code > lastLetter && wideSpace.test(text[at]!)) return at
  }
  return -1
}

/** Below it, no character of two bytes is a space. */
const lastLetter = 0x167f

/** In `https://user:password@host` the `@` makes no address. */
function endsScheme(text: string, end: number, first: number, escapes: number): boolean {
  let at = end
  for (let slashes = 0; slashes < 2; slashes++) {
    if (at < first || text.charCodeAt(at) !== slash) return false
    at--
    for (let skipped = 0; skipped < escapes && text.charCodeAt(at) === backslash; skipped++) at--
  }
  return at >= Math.max(0, first) && text.charCodeAt(at) === colon
}

const domainPattern =
  /[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,8}\.[A-Za-z]{2,24}(?![A-Za-z0-9_])/y
const fileEndings =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|js|mjs|cjs|jsx|tsx?|css|html?|json|ya?ml|md|py|txt|pdf|gz|zip|whl)$/i

/** `git@github.com:owner/repo` names a repository; `logo@2x.png` and `name@1.0.0-rc.tar.gz` are files. */
function isNotAnAddress(local: string, domain: string): boolean {
  return local === 'git' || fileEndings.test(domain)
}

/** What an address may have before its `@`: letters (Latin ones with accents too), digits and `._+-`. */
function isLocalCode(code: number): boolean {
  if (isAlphanumeric(code) || code === 0x2e || code === 0x5f || code === 0x2b || code === 0x2d) return true
  return code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7
}

// Digits no card begins with are passed over by the first pattern, which is many times cheaper than the second.
const cardStart = /[2-6]\d{3}[ -]?\d{4}/g
const cardPattern = /\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{5}/y

/**
 * Finds payment card numbers: the digits of an issuer, in a length it issues, with the check digit right. Of 13 digits, those
 * are a barcode (GTIN-13) whose check digit is right for one: each tenth of these is right for a card as well.
 */
export const findCards: Finder = (text) => {
  const found = findCardsBefore(text)
  return found.length === 0 ? found : found.filter(({ value }) => !isBarcode(value))
}

/** As the finders before the fourteenth version do. */
export const findCardsBefore: Finder = (text) => {
  const found: TextRange[] = []
  cardStart.lastIndex = 0
  for (let match = cardStart.exec(text); match !== null; match = cardStart.exec(text)) {
    work.done += 8
    const start = match.index
    cardPattern.lastIndex = start
    const written = cardPattern.exec(text)?.[0]
    // Four other digits may stand before a card number.
    cardStart.lastIndex = start + 4
    if (written === undefined || !standsApart(text, start, start + written.length)) continue
    const value = written.replace(/\D/g, '')
    if (!issuers.test(value) || !passesLuhn(value)) continue
    found.push({ kind: 'card', start, end: start + written.length, value })
    cardStart.lastIndex = start + written.length
  }
  return found
}

/** Not inside a decimal number, a UUID, a word or a longer number. */
function standsApart(text: string, start: number, end: number): boolean {
  return (
    beginsToken(text, start) &&
    !/[.+]$/.test(text.slice(Math.max(0, start - 1), start)) &&
    !/^(?:\w|[.-]\d)/.test(text.slice(end, end + 2))
  )
}

// Visa, Mastercard (two ranges), American Express, Discover, JCB, Diners Club, UnionPay.
const issuers =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17})$/

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = at % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** The check digit of GTIN-13 is one that weighs its digits by 1 and 3 in turn. */
function isBarcode(digits: string): boolean {
  if (digits.length !== 13) return false
  const sum = [...digits].reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 1 : 3), 0)
  return sum % 10 === 0
}

const ibanStart = /[A-Z]{2}\d{2}(?= ?[A-Z0-9]{4})/g

/** Finds IBANs: a country's length, and the checksum (ISO 7064, mod 97) right. */
export const findIbans: Finder = (text) => {
  const found: TextRange[] = []
  ibanStart.lastIndex = 0
  while (ibanStart.test(text)) {
    const start = ibanStart.lastIndex - 4
    if (isAlphanumeric(text.charCodeAt(start - 1)) && !endsShortEscape(text, start)) continue
    const length = ibanLengths.get(text.slice(start, start + 2))
    if (length === undefined) continue
    const end = endOfGroups(text, start, length)
    if (end === undefined || !passesMod97(text, start, end)) continue
    found.push({ kind: 'iban', start, end, value: text.slice(start, end).replaceAll(' ', '') })
  }
  return found
}

/** As {@link findIbans}, in one pass with others: each is looked for by the last letter of its country and a digit. */
export function ibanTriggers(allowed: ReadonlySet<string>): readonly Trigger[] {
  const lastLetters = new Set([...ibanLengths.keys()].map((country) => country[1]!))
  return [...lastLetters].flatMap((letter) =>
    [...'0123456789'].map((digit): Trigger => ({ text: letter + digit, at: (...place) => ibanAt(allowed, ...place) })),
  )
}

function ibanAt(allowed: ReadonlySet<string>, text: string, index: number, found: TextRange[]): number {
  // In base64 most of these are no such number: the second digit tells.
  if (!isDecimal(text.charCodeAt(index + 2))) return 0
  work.done += 4
  const start = index - 1
  const length = ibanLengths.get(text.slice(start, start + 2))
  if (length === undefined || !/^\d ?[A-Z0-9]{4}/.test(text.slice(index + 2, index + 8))) return 0
  if (isAlphanumeric(text.charCodeAt(start - 1)) && !endsShortEscape(text, start)) return 0
  const end = endOfGroups(text, start, length)
  if (end === undefined || !passesMod97(text, start, end)) return 0
  const value = text.slice(start, end).replaceAll(' ', '')
  if (!allowed.has(value)) found.push({ kind: 'iban', start, end, value })
  return 0
}

function isDecimal(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const isOfIban = codesOf(/[A-Z0-9]/, 128)
const space = 0x20

/** Where `length` capitals and digits end that are written together or in groups of four. */
function endOfGroups(text: string, start: number, length: number): number | undefined {
  const grouped = text.charCodeAt(start + 4) === space
  let at = start
  for (let taken = 0; taken < length; taken++, at++) {
    if (grouped && taken > 0 && taken % 4 === 0 && text.charCodeAt(at++) !== space) return undefined
    if (!has(isOfIban, text.charCodeAt(at))) return undefined
  }
  return isAlphanumeric(text.charCodeAt(at)) ? undefined : at
}

/** The country and the check digits count last. */
function passesMod97(text: string, start: number, end: number): boolean {
  return restOf(text, start, start + 4, restOf(text, start + 4, end, 0)) === 1
}

/** What is left of a number of which something is left before; a letter stands for two digits. */
function restOf(text: string, start: number, end: number, before: number): number {
  let rest = before
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === space) continue
    rest = (isDecimal(code) ? rest * 10 + code - 0x30 : rest * 100 + code - 0x37) % 97
  }
  return rest
}

// SWIFT IBAN registry.
const ibanLengths = new Map<string, number>(
  [
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24',
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21',
    'LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22',
    'RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
  ]
    .join(' ')
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
)

const phonePattern = /\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,4}\)?){2,6}(?!\d)/g

/** Finds phone numbers in the international form, `+` and 8 to 15 digits. Off unless asked for: too many numbers look like one. */
export const findPhones: Finder = (text) => {
  const found: TextRange[] = []
  for (const match of text.matchAll(phonePattern)) {
    const value = match[0].replace(/[^\d+]/g, '')
    if (value.length < 9 || value.length > 16 || !beginsToken(text, match.index)) continue
    found.push({ kind: 'phone', start: match.index, end: match.index + match[0].length, value })
  }
  return found
}

const ssnPattern = /\d{3}-\d{2}-\d{4}/g

/** Finds social security numbers of the United States, where area, group and serial are given out. Off unless asked for. */
export const findSsns: Finder = (text) => {
  const found: TextRange[] = []
  for (const { 0: value, index } of text.matchAll(ssnPattern)) {
    const isGiven = !/^(?:000|666|9)|-00-|-0000$/.test(value)
    if (isGiven && standsApart(text, index, index + value.length))
      found.push({ kind: 'ssn', start: index, end: index + value.length, value })
  }
  return found
}

const ipPattern = /(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}/g
/** Private, loopback, link-local, documentation and other addresses that belong to no one. */
const nobody =
  /^(?:0\.|10\.|127\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|192\.168\.|192\.0\.[02]\.|198\.1[89]\.|198\.51\.100\.|203\.0\.113\.|22[4-9]\.|2[3-5]\d\.)/

/** Finds IPv4 addresses of the public network. Off unless asked for: versions look like one. */
export const findIps: Finder = (text) => {
  const found: TextRange[] = []
  for (const { 0: value, index } of text.matchAll(ipPattern)) {
    const end = index + value.length
    const isVersion = /[\w.+-]/.test(text[index - 1] ?? '') || /^(?:\w|[.-][\w])/.test(text.slice(end, end + 2))
    if (!isVersion && !nobody.test(value)) found.push({ kind: 'ip', start: index, end, value })
  }
  return found
}
