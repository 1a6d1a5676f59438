import { changed, codesOf } from './edges.ts'
import { work } from './work.ts'
import { keyShown, placeholderShown, scopeWords } from './credentials.ts'

/** The version of finders that records. */
export const versionNow = 14
/** Which finders look just now: those before the fourth, fifth or tenth version look as they always did. */
export const looking = { asBefore: false, isSinceFifth: true, isSinceTenth: true, inBytes: false }

/** Searches bytes that are no text, a character for each. */
export function lookingInBytes<T>(search: () => T): T {
  looking.inBytes = true
  try {
    return search()
  } finally {
    looking.inBytes = false
  }
}

/** Runs a search of finders of an earlier version; nothing waits in one. */
export function lookingAs<T>(version: number, search: () => T): T {
  const { asBefore, isSinceFifth, isSinceTenth } = looking
  looking.asBefore = version < 4
  looking.isSinceFifth = version >= 5
  looking.isSinceTenth = version >= 10
  try {
    return search()
  } finally {
    looking.asBefore = asBefore
    looking.isSinceFifth = isSinceFifth
    looking.isSinceTenth = isSinceTenth
  }
}

/** What the finders since the fourth version look for, or what those before did. */
export function ofVersion<T>(now: T, before: T): T {
  return looking.asBefore ? before : now
}

/** What the finders of now look for, what the fourth did, or those before. */
export function lately<T>(now: T, fourth: T, before = fourth): T {
  if (looking.isSinceFifth) return now
  return looking.asBefore ? before : fourth
}

/** What a name promises about its value; see {@link passes}. */
export type NameClass =
  | 'own'
  | 'always'
  | 'foreign'
  | 'random'
  | 'key'
  | 'nested'
  | 'session'
  | 'signature'
  | 'pass'
  | 'typed'
  | 'code'
  | 'entry'
  | 'phrase'
  | 'cookie'

/** Text that stands where a secret will: `${API_KEY}`, `<password>`, `{{ token }}`, `process.env.KEY`. */
const placeholder =
  /^(?:\$\{[^}]*\}?|\$[A-Za-z_]\w*|\$\([^)]*\)?|\{\{?[^}]*\}?\}?|<[^<>]*>?|%[A-Z_]+%|(?:process\.env|os\.environ|import\.meta)\b.*|(?:your|my|the|some)[-_ ].*|x{3,}|\.{3,}|\*+)$/i
/** Words that say whether or how there is one. */
const stateFourth =
  /^(?:none|null|undefined|true|false|yes|no|str|string|required|optional|(?:bearer|basic|digest|token)\s?|include|omit|same-origin|changeme|redacted)$/i
/** Also a manager of passwords, and what one must be: `siehe1Password`, `required8`, `min-8`. */
const state = changed(
  stateFourth,
  '(?:none',
  String.raw`(?:(?:see|siehe)?1password|(?:required|min|at-?least)-?\d{1,2}|none`,
)
/** As the finders before the fourth version knew them. */
const stateBefore = changed(stateFourth, String.raw`(?:bearer|basic|digest|token)\s?`, 'bearer|basic|digest')
const redacted = /^\[redacted\]$/i

/** Whether a text stands for a secret that is not there. */
export function isStandIn(value: string): boolean {
  return (
    (value.startsWith('redacted-') && usual.test(value)) ||
    (value.length <= longestState && lately(state, stateFourth, stateBefore).test(value)) ||
    (mayBegin[value.charCodeAt(0)] === 1 && placeholder.test(value)) ||
    (value.length === '[redacted]'.length && redacted.test(value)) ||
    (value.length <= longestExample && mayBeExample(value) && example.test(value)) ||
    isNumbered(value)
  )
}

const longestExample = 32
/** What an {@link example} ends with, if it does not begin with a dash: few values do. */
const mayEndExample = codesOf(/[.*x]/i)

function mayBeExample(value: string): boolean {
  const last = value.charCodeAt(value.length - 1)
  return last > 255 || mayEndExample[last] === 1 || value.startsWith('--')
}

/** `sk-...`, `--password`: how one begins, and the option that takes it. */
const example = /^(?:(?:[a-z]{2,8}[-_]){1,3}(?:\.{3}|…|\*{3,}|x{3,})|--[a-z]{2,}(?:-[a-z]+)*)$/i
/** Longer than any of the words for a state. */
const longestState = 16
/** What {@link placeholder} may begin with: most values do not. */
const mayBegin = codesOf(/[${<%.*pioymtsx]/i)

const attribute = /;\s?(?:path|domain|expires|max-age|httponly|secure|samesite|priority|partitioned)(?:=[^;]*)?/gi
const usual = new RegExp(`^${placeholderShown}$`)
const numbered = new RegExp(String.raw`^(?:[\w.-]{1,64}[= ])?(?:(?:${keyShown}|\[signed\]) ?){0,64}$`)
/** A signed request with what it is signed for. */
const signed = new RegExp(String.raw`^[\w-]{1,64} ${keyShown}${scopeWords}$`, 'i')

/** Whether a credential has numbers in the place of its keys already: `Bearer [key-1]`, `sid=[key-2]; Path=/`. */
function isNumbered(value: string): boolean {
  if (!value.includes('[') && !value.includes('redacted-')) return false
  if (!/\[key|\[signed\]|redacted-/.test(value)) return false
  if (!value.includes(';')) return numbered.test(value) || signed.test(value)
  return value
    .replace(attribute, '')
    .split(/;\s?/)
    .every((part) => numbered.test(part))
}

/** What {@link bareStandIn} may begin with, or has: most values have neither. */
const mayStandIn = codesOf(/[$%<{*/~?]/)
const bareStandIn =
  /^[$%<{*/~]|^\?[a-z ]*$|^(?:aws4-hmac-sha256|token|[a-z]+:\/\/[^@?]*|process\.env.*|os\.environ.*|import\.meta.*)$/i

function isBareStandIn(value: string): boolean {
  const isOne =
    mayStandIn[value.charCodeAt(0)] === 1 || value.length === 5 || /[-.:]/.test(value) ? bareStandIn.test(value) : false
  if (!isOne || !looking.isSinceTenth || !value.startsWith('/'))
    return isOne && !(looking.asBefore && value.startsWith('?'))
  return isPath(value)
}

/** What a segment of a path is: words and numbers, or what stands for one, with a dot before it or an ending. */
const segment =
  /^(?:[.~@_-]{0,2}(?:\p{L}+\d{0,4}|\d+)(?:[-_.+@ ](?:\p{L}+\d{0,4}|\d+))*|[:$*].*|\.{1,2}|v\d+\w*|[A-Za-z]:|[{<[].*|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})?$/iu
/** Capitals inside of a word, more than one that begins it: `qKlwrB`, and not `MyApp`, `README`. */
const unnamed = /\p{Ll}\p{Lu}(?:\p{Lu}|\p{Ll}(?!\p{Ll}))|\p{Lu}{2}\p{Ll}\p{Lu}/u

/** Whether a text that begins with a slash is a path: its segments look like names. */
function isPath(value: string): boolean {
  return value
    .replace(/[?#].*$/s, '')
    .split('/')
    .every((part) => segment.test(part) && !unnamed.test(part))
}

/**
 * Whether a value is what its name promises.
 *
 * @param isBare - it stands without quotes, where a word of a sentence or of code might stand
 */
export function passes(kind: NameClass, value: string, isBare: boolean): boolean {
  if (kind === 'own') return value !== ''
  if (value === '' || isStandIn(value)) return false
  if (isBare && kind !== 'phrase' && isBareStandIn(value)) return false
  switch (kind) {
    case 'always':
      return !isBare || value.length >= 4
    // In the language of its name, a word says what the field is for.
    case 'foreign':
      return !isBare || (value.length >= 4 && (/\d/.test(value) || !speaks.test(value)) && !isInPieces(value))
    // Names that also mean something else.
    case 'typed':
      return isTyped(value) && /\d/.test(value) && !isInWords(value)
    case 'key':
      return looksRandom(value) && /^[\w+/=.~-]*$/.test(value) && !isInWords(value) && !joinsCalls.test(value)
    // What the names of several objects or lines say together may be a part of anything.
    case 'nested':
      return passes('key', value, isBare) && isMixed(value)
    case 'random':
      return looksRandom(value) || (looking.isSinceTenth && saysLogin(value))
    // In the traffic of agents a session is a UUID that joins calls, or the `sid` of Twilio, and a signature is the model's own: both are sent back.
    case 'session':
      return looksRandom(value) && !joinsCalls.test(value) && (looking.asBefore || !twilioSid.test(value))
    case 'signature':
      return /^[0-9a-f]{40,1024}$/i.test(value)
    case 'pass':
      return isTyped(value)
    case 'code':
      return /^\d{3,8}$/.test(value)
    case 'entry':
      return /^\d{3,8}$/.test(value) || (isTyped(value) && /\d/.test(value) && !isInWords(value))
    case 'phrase':
      return /^[a-z]{3,8}(?: [a-z]{3,8}){11,24}$/.test(value)
    case 'cookie':
      return /(?:=|%3D)[^;\s]/i.test(value) || looksRandom(value)
  }
}

const base64 = /^[A-Za-z0-9+/]{8,1024}={0,2}$/
const login = /^[^\s:]+:[\x20-\x7e]+$/

/** Whether a value is base64 of a user and a password: `"auth": "YWRhOmxlbW9udGFydA=="` of Docker, `_auth` of npm. */
function saysLogin(value: string): boolean {
  if (!base64.test(value)) return false
  const bytes = Buffer.from(value, 'base64')
  const said = bytes.toString('latin1')
  return (
    login.test(said) && /^[\x20-\x7e]+$/.test(said) && bytes.toString('base64').startsWith(value.replace(/=+$/, ''))
  )
}

const ofWords = /[A-Z]?[a-z]{3,}/g

/** Letters of both cases, and few of them in words. */
export function isMixed(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && 2 * value.replace(ofWords, '').length > value.length
}

function isTyped(value: string): boolean {
  return value.length >= 6 && /[A-Za-z]/.test(value) && /[\d!-/:-@]/.test(value) && !/\s/.test(value)
}

const joinsCalls = /^(?:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})$/i
const twilioSid = /^[A-Z]{2}[0-9a-f]{32}$/i
const address = /^(?:https?:|\/|\.{1,2}\/|data:|arn:|projects\/|s3:|gs:|0x[0-9a-f]{40}$)/i
const addressBefore = changed(address, '|0x[0-9a-f]{40}$', '')
const date = /^\d{4}-\d\d-\d\d(?:[T ]|$)/
const inWords = /^[a-z]+(?:[-_.:/][a-z]+){2,}[-_.]?v?\d{0,4}$/

/** Words with numbers behind them or before them, and what stands between such. */
const inPieces = /^[./:]?(?:\p{L}+\d*|\d+\p{L}*)(?:[-_.:/+@]{1,2}(?:\p{L}+\d*|\d+\p{L}*))*[.:/]?$/u
/** `min8chars`, in any language that says it so. */
const bounds = /^m(?:in|ax)\p{L}{0,6}\.?\d/iu
/** Letters alone, as a question or not. */
const speaks = /^[¿¡]?[\p{L}\p{M}_$.-]+[?!]*$/u

/** Whether words and numbers make up a value: `user17`, `ISO-9001`, `2024-W12`, `prod/db2`; in `tr33house` one stands in the other. */
export function isInWords(value: string): boolean {
  work.done += 10
  return inPieces.test(value) || bounds.test(value)
}

/** As {@link isInWords}, of several: `user-17` and not `user17`. */
export function isInPieces(value: string): boolean {
  return /[-_.:/+@]/.test(value) ? isInWords(value) : bounds.test(value)
}

/** Sixteen characters and more without a space, letters and digits, and no address, date or name in words. */
export function looksRandom(value: string): boolean {
  return (
    value.length >= 16 &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !/\s/.test(value) &&
    !date.test(value) &&
    !isAddress(value) &&
    !inWords.test(value) &&
    entropy(value.slice(0, 256)) >= 3
  )
}

function isAddress(value: string): boolean {
  if (looking.isSinceTenth && value.startsWith('/')) return isPath(value)
  return ofVersion(address, addressBefore).test(value)
}

/** Bits per character. */
export function entropy(text: string): number {
  const counts = new Map<number, number>()
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  let bits = 0
  for (const n of counts.values()) bits -= (n / text.length) * Math.log2(n / text.length)
  return bits
}
