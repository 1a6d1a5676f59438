/**
 * How a credential of a request stands on a tape: its scheme, and which of the run's keys it is, numbered by first
 * appearance. `Bearer [key-1]`, `AWS4-HMAC-SHA256 [key-2]/eu-west-1/s3/aws4_request`, `sid=[key-3]`. Nothing is kept that
 * the value follows from.
 */

/** In the place of a key of which it is unknown whether it is one of the others. */
export const someKey = '[key]'
/** Source of a pattern for the number of a key, as {@link KeyNumbers} writes it, or {@link someKey}. */
export const keyNumber = String.raw`\[key(?:-\d{1,9})?\]`
const wholeNumber = new RegExp(`^${keyNumber}$`)
const numberInQuery = new RegExp(`=${keyNumber}`, 'g')
/** A key that stood elsewhere before a request had it: what the tape serves for it has a placeholder of its own. */
export const lateInQuery =
  /(?<=[?&])((?:x[-_]?)?(?:(?:api|access|auth|subscription)[-_]?)?(?:key|token))=(redacted-[a-z-]{1,40}-[12]\d{6})(?!\d)/gi
/** Source of a pattern for the placeholder of a secret. */
export const placeholderShown = String.raw`redacted-[a-z-]{1,40}-\d{1,9}`
/** Source of a pattern for what stands in the place of a key. */
export const keyShown = `(?:${keyNumber}|${placeholderShown})`
const parts = new RegExp(keyShown, 'g')

/** Whether a text is the number of a key and nothing else. */
export function isKeyNumber(text: string): boolean {
  return text.startsWith('[key') && wholeNumber.test(text)
}

/** An address without the numbers of the keys in it: which key it is, is compared for itself. */
export function withoutKeyNumbers(url: string): string {
  const without = url.includes('=[key') ? url.replace(numberInQuery, '=[key]') : url
  return without.includes('=redacted-') ? without.replace(lateInQuery, '$1=[key]') : without
}

/** The numbers of keys, and placeholders of secrets known from elsewhere, in a credential as a tape has it. */
export function keysIn(shown: string): readonly string[] {
  return shown.match(parts) ?? []
}

/** A credential as a tape has it, without its keys: scheme, names of cookies. Schemes are the same in any case, names are not. */
export function credentialForm(shown: string): string {
  return shown.replace(parts, '[key]').replace(/^[\w-]+(?= )/, (scheme) => scheme.toLowerCase())
}

/**
 * Whether two credentials as tapes have them have one form. A recorder that kept no scope of signed requests says nothing
 * of it, nor one that found no name in a signature.
 */
export function sameForm(recorded: string, live: string): boolean {
  const [before, now] = [credentialForm(recorded), credentialForm(live)]
  return before === now || before === now.replace(scopeShown, '[key]') || before === now.replace(/\[key\]$/, signed)
}

/** What a signed request is signed for, as a tape has it: `eu-west-1`, `s3`, `aws4_request`. */
export function signedFor(shown: string): readonly string[] {
  return scopeShown.exec(credentialForm(shown))?.[1]?.split('/').slice(1) ?? []
}

/** Numbers the keys of one run by first appearance. */
export class KeyNumbers {
  readonly #numbers = new Map<string, number>()

  of(key: string): string {
    const known = this.#numbers.get(key)
    const number = known ?? this.#numbers.size + 1
    if (known === undefined) this.#numbers.set(key, number)
    return `[key-${number}]`
  }

  /** The number of a key that has one. */
  known(key: string): string | undefined {
    return this.#numbers.has(key) ? this.of(key) : undefined
  }
}

/**
 * A credential as it may stand on a tape.
 *
 * @param name - of the header, in lower case
 * @param numbered - what stands in the place of a key
 * @param numberedOnly - as that, of what may be no secret: who signed, what a client offers to speak
 */
export function shownCredential(
  name: string,
  value: string,
  numbered: (key: string) => string,
  numberedOnly = numbered,
): string {
  const given = value.trim()
  if (given === '') return ''
  if (name === 'cookie') return shownCookies(given, numbered)
  if (name === 'sec-websocket-protocol') return shownOffer(given, numberedOnly)
  const [, scheme, rest] = withScheme.exec(given) ?? []
  if (scheme === undefined || rest === undefined) return numbered(given)
  // The first word of a secret in several words is no scheme.
  const shown = schemes.has(scheme.toLowerCase()) ? scheme : numbered(scheme)
  const [, again, scopeAgain = ''] = shownAgain.exec(rest) ?? []
  if (again !== undefined) return `${shown} ${numbered(again)}${scopeAgain}`
  const who = rest === signed ? 'nobody named' : whoSigned(scheme.toLowerCase(), rest)
  if (who === rest) return `${shown} ${numbered(who)}`
  return `${shown} ${who === 'nobody named' ? signed : numberedOnly(who) + (signedScope.exec(rest)?.[1] ?? '')}`
}

/** The secret in a credential of the scheme `Basic`: the password, or the name of the user where it has no password. */
export function basicSecret(value: string): string | undefined {
  const [, word] = /^\s*basic[ \t]+([\w+/-]+={0,2})\s*$/i.exec(value) ?? []
  if (word === undefined) return undefined
  const plain = Buffer.from(word, 'base64').toString('utf8')
  const sign = plain.indexOf(':')
  return sign === -1 ? undefined : plain.slice(sign + 1) || plain.slice(0, sign)
}

/** A scheme, or the number that a tape has in the place of a word that may be none. */
const withScheme = new RegExp(String.raw`^([A-Za-z][\w-]{1,40}|${keyNumber})[ \t]+(\S.*)$`, 's')

/** Names are kept, because without them it is unknown which one is gone; in one order, for a client may keep another. */
function shownCookies(value: string, numbered: (key: string) => string): string {
  return value
    .split(/;[ \t]*/)
    .filter((pair) => pair !== '')
    .map((pair): readonly [string, string] => {
      const sign = pair.indexOf('=')
      const [cookie, kept] = [pair.slice(0, sign), pair.slice(sign + 1)]
      return sign > 0 && isCookieName(cookie) && !/^=*$/.test(kept) ? [cookie, numbered(kept)] : ['', numbered(pair)]
    })
    .map(([cookie, shown]) => (cookie === '' ? shown : `${cookie}=${shown}`))
    .sort()
    .join('; ')
}

/** What a client of a WebSocket offers to speak, each by itself: keys stand among it. */
function shownOffer(value: string, numbered: (key: string) => string): string {
  const offered = value.split(',').map((one) => one.trim())
  return offered.map((one) => (isProtocol(one) ? one : numbered(one))).join(', ')
}

/** A registered name, or words with a version behind them. Any other may be the secret. */
function isProtocol(text: string): boolean {
  return (
    protocols.has(text) ||
    /^(?=.{1,64}$)[a-z]{1,20}(?:[.-][a-z]{1,20}){0,3}(?:[.-]?v\d{1,2}|\d{1,2}\.\d{1,2})$/.test(text)
  )
}

/** @see https://www.iana.org/assignments/websocket, the registry of subprotocol names */
const protocols: ReadonlySet<string> = new Set(
  'amqp coap graphql-transport-ws graphql-ws jsonrpc mqtt msrp realtime sip soap wamp xmpp'.split(' '),
)

/** A name someone gave; one with digits in it may be the secret, or name who has it. */
function isCookieName(text: string): boolean {
  return /^[A-Za-z_.-]{1,40}\d{0,2}$/.test(text)
}

/** `sid=…; Path=/; HttpOnly`: the name and what a client acts on. */
export function shownSetCookie(value: string, secret: (value: string) => string): string {
  const [, before, kept, after] = /^([^=;]*=)([^;]*)(.*)$/s.exec(value) ?? []
  if (before === undefined || kept === undefined || after === undefined) return secret(value)
  return `${before}${kept === '' ? '' : secret(kept)}${after}`
}

/**
 * Schemes of the registry of HTTP, and of well-known services.
 *
 * @see https://www.iana.org/assignments/http-authschemes
 */
const schemes: ReadonlySet<string> = new Set(
  [
    'basic bearer concealed digest dpop gnap hoba mutual negotiate oauth privatetoken scram-sha-1 scram-sha-256 vapid',
    'api-key apikey aws aws4-ecdsa-p256-sha256 aws4-hmac-sha256 bot client-id deepl-auth-key geniekey',
    'goog4-rsa-sha256 hawk hmac hmac-sha256 jwt key klaviyo-api-key ntlm sharedaccesssignature sharedkey sharedkeylite',
    'signature splunk ssws tc3-hmac-sha256 token zoho-oauthtoken',
  ]
    .join(' ')
    .split(' '),
)

/** Schemes that write `who:signature`. */
const signedPairs: ReadonlySet<string> = new Set(['aws', 'sharedkey', 'sharedkeylite'])
/** In the place of a signature that does not name who signed. */
const signed = '[signed]'
const named =
  /(?:^|[\s,&])(?:credential|username|keyid|id|oauth_token|oauth_consumer_key|skn|token|access_token|key|api_?key)="?([^",&\s/]+)/i

/**
 * `Credential=who/date/region/service/aws4_request`: of what it is signed for the words are kept, behind a date alone, and
 * without it. No word has more than three digits, and only at its end: it is no key.
 */
export const scopeWords = String.raw`(?:\/[a-z]{1,20}\d{0,3}(?:[-_][a-z]{0,20}\d{0,3}){0,5}){1,4}`
const signedScope = new RegExp(
  String.raw`(?:^|[\s,])credential="?[^",&\s]{1,256}?\/(?:\d{8}|\d{4}-\d\d-\d\d)(${scopeWords})(?=[",\s]|$)`,
  'i',
)
const scopeShown = new RegExp(String.raw`\[key\](${scopeWords})$`, 'i')
/** What a tape has already. */
const shownAgain = new RegExp(`^(${keyShown})(${scopeWords})$`, 'i')

/** Of a signed request only who signed it is a key: the signature is another one each time. */
function whoSigned(scheme: string, rest: string): string {
  if (signedPairs.has(scheme) && rest.includes(':')) return rest.slice(0, rest.indexOf(':'))
  // `k=v, k=v`; padding at the end of a token makes no parameter.
  if (!/^[\w-]+=(?!=*$)/.test(rest)) return rest
  return named.exec(rest)?.[1] ?? 'nobody named'
}
