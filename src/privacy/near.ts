import { beginsToken, sticky } from './edges.ts'
import type { TextRange } from './types.ts'
import { isInPieces, isStandIn, looking, looksRandom, passes } from './values.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

/** A secret that what stands before it tells. */
export interface Near {
  readonly kind?: string
  readonly anchor: string
  /** As in a trigger. */
  readonly pair?: number
  /** Sticky from the anchor; the secret is group 1, or all of it. Every repetition is bounded. */
  readonly pattern: RegExp
  readonly holds?: (secret: string) => boolean
  /** The anchor stands inside of a word. */
  readonly isInside?: true
  /** Characters in which a second anchor is not tried after a miss. */
  readonly skip?: number
}

function mixed(secret: string): boolean {
  return /\d/.test(secret) && /[A-Za-z]/.test(secret)
}
export const noWord = (secret: string): boolean => !/^(?:password|pass|pwd|secret|token|[a-z]+)$/i.test(secret)

const table: readonly Near[] = [
  { anchor: 'pass:', pattern: /pass:([^\s"'$<{\\]{6,128})/y, holds: mixed },
  {
    anchor: 'machine ',
    pattern: /machine\s{1,4}[\w.-]{1,128}\s{1,8}login\s{1,4}\S{1,128}\s{1,8}password\s{1,4}([^\s"'\\]{4,256})/y,
    holds: noWord,
    skip: 64,
  },
  { anchor: ':5432:', pattern: /:5432:[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s:"'\\*]{6,256})/y, holds: (s) => /\d/.test(s) },
  ...['a', 'b', 'y'].map((version) => ({
    anchor: `$2${version}$`,
    pattern: /\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}/y,
  })),
  {
    anchor: '$argon2',
    pattern: /\$argon2(?:id|i|d)\$v=\d{1,4}\$m=\d{1,9},t=\d{1,4},p=\d{1,4}\$?[A-Za-z0-9+/$]{22,256}/y,
  },
  { anchor: '$scrypt$', pattern: /\$scrypt\$ln=\d{1,4},r=\d{1,4},p=\d{1,4}\$?[A-Za-z0-9+/$]{22,256}/y },
  ...['5', '6'].map((version) => ({
    anchor: `$${version}$`,
    pattern: /\$[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{8,16}\$?[./A-Za-z0-9]{43,90}/y,
  })),
  { anchor: '$apr1$', pattern: /\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}/y },
  { anchor: '$y$', pattern: /\$y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}/y },
  { anchor: 'response=', pattern: /response=\\*"?([0-9a-f]{32,64})(?![\w])/y },
  { anchor: 'Hawk id=', pattern: /Hawk id=[^\r\n]{1,400}?\bmac=\\*"([\w+/=-]{20,128})/y, skip: 400 },
  { anchor: 'Signature=', pattern: /Signature=([0-9a-f]{64,1024})/y },
  { anchor: 'WIFI:', pattern: /WIFI:[^\r\n"]{0,200}?P:([^;\r\n"\\]{6,128})/y, skip: 64 },
  { anchor: 'otpauth:', pattern: /otpauth:[^\s"']{0,256}?secret=([A-Z2-7]{16,128})/y, skip: 64 },
  {
    anchor: 'Private-Lines',
    pattern: /Private-Lines: \d{1,4}(?:\\{1,8}[rn]|\s){1,8}([\w+/=\\\s]{40,8192}[\w+/=])/y,
  },
  {
    kind: 'url-password',
    anchor: '://',
    // User and password end at the last `@` before the path. Most addresses have none, which a class of ASCII tells sooner.
    pattern: /:\/\/(?=[^\t-\r "#'/<>?@\\]{0,513}@)[^\s/?#@"'<>\\:]{0,256}:([^\s/?#"'<>\\]{1,256})@/y,
    holds: (secret) => !/^[$<{]/.test(secret),
  },
  {
    kind: 'url-password',
    anchor: '://',
    pattern: /:\/\/(?=[^\t-\r "#'/<>?@\\]{0,513}@)([^\s/?#@"'<>\\:]{16,256})@/y,
    holds: looksRandom,
  },
]

/** A password that was typed or made, and no name of something. */
function typed(secret: string): boolean {
  return mixed(secret) && !isInPieces(secret)
}
/** Where a line begins, or a text it is the first of. */
const lineBegin = String.raw`(?<=(?:^|[\n\r"'\`]|\\[nr])`

/** Lines of .pgpass by their ports. */
function pgpass(user: string, ...anchors: readonly string[]): readonly Near[] {
  const pattern = sticky`${lineBegin}[\w.-]{0,128})(?:\*:\*|:\d{4,5}):[\w*.-]{1,64}:${user}{1,64}:([^\s:"'\\*]{6,256})`
  return anchors.map((anchor) => ({ anchor, pattern, holds: typed }))
}

/** Ends of functions that take a password behind a user, or a key behind what it is for. */
const callees =
  'BasicAuth( asic_auth serPassword( redential( redentials( wordAuthentication( getConnection( reateUser( reate_user( uthenticate( login( PDO( mysqli_connect( set_password( createHmac( jwt.sign('
const argument = String.raw`(?:\\*["'][^"'\\\r\n]{1,64}\\*["']|[\w.$]{1,32}),\s{0,4}`
const called = sticky`[\w.]{1,24}[( ]\s{0,2}${argument}(?:${argument})?(?:\w{1,8}\()?\\*["']([^\s"'\\$]{6,128})\\*["']`

function isMade(secret: string): boolean {
  return passes('typed', secret, true) && !/:\/\/|^[/.-]/.test(secret)
}

/** Since the fifth version: ports a container is reached by, and users of a domain. */
export const nearLately: readonly Near[] = [
  ...pgpass('[\\w*.@-]', ':5432:', ':5434:', ':15432:', ':54320:', ':54321:'),
  ...callees.split(' ').map((anchor): Near => ({ anchor, pattern: called, isInside: true, holds: isMade })),
]

/** Since the fourth version. */
export const nearSince: readonly Near[] = [
  // By the ports of Postgres, its poolers and its hosts.
  ...pgpass('[\\w*.-]', ':5433:', ':6432:', ':6543:', '*:*:'),
  // Settings of servers and switches, one a line; found by pairs of letters that are rare, or looked for anyway.
  {
    anchor: 'password ',
    pair: 0,
    pattern: /password (?:7 (?=[0-9A-F]{6,64}(?![\w-]))|0 )([^\s"'\\;]{6,128})(?=[\s"'\\;]|$)/y,
    holds: typed,
  },
  // Of a word whose rarest letters stand in every schema, its end.
  {
    anchor: 'epass ',
    pattern: /(?<=\brequir)epass {1,32}\\*"?([^\s"'\\;]{6,128})(?=[\s"'\\;]|$)/y,
    isInside: true,
    holds: mixed,
  },
  {
    anchor: 'Access Key [',
    pattern: /Access Key \[[^\]\r\n]{0,32}\]: {0,4}([\w+/]{40})(?![\w+/])/y,
    holds: looksRandom,
  },
  {
    anchor: 'ConvertTo-SecureString ',
    pattern: /ConvertTo-SecureString (?:-String )?\\*["']([^"'\\$\r\n]{4,128})\\*["']/y,
  },
]

const longWord = 128
const rest = /[\w+/=.~-]+/y

/** Where a word ends that a pattern read as far as it may: what is left of it would be read again behind a placeholder. */
function wordEnd(text: string, start: number, end: number): number {
  rest.lastIndex = end
  return !looking.asBefore && end - start >= longWord && rest.test(text) ? rest.lastIndex : end
}

/** Secrets by what stands around them: files of passwords, hashes of them, addresses. */
export function nearTriggers(isOn: (kind: string) => boolean, rows = table): readonly Trigger[] {
  return rows.filter(({ kind = 'secret' }) => isOn(kind)).map(triggerOf)
}

function triggerOf({ kind = 'secret', anchor, pair, pattern, isInside, holds, skip = 0 }: Near): Trigger {
  const isWord = isInside !== true && /^[a-z]/.test(anchor)
  return {
    text: anchor,
    ...(pair !== undefined && { pair }),
    at(text, index, found: TextRange[]) {
      if (isWord && !beginsToken(text, index)) return 0
      work.done += 10
      pattern.lastIndex = index
      const match = pattern.exec(text)
      if (match === null) return skip === 0 ? 0 : index + skip
      const said = match[1] ?? match[0]
      const start = match[1] === undefined ? index : index + match[0].lastIndexOf(said)
      const behind = index + match[0].length
      const end = start + said.length === behind ? wordEnd(text, start, behind) : behind
      const secret = end > behind ? text.slice(start, end) : said
      if ((!secret.startsWith('$') && isStandIn(secret)) || holds?.(secret) === false) return end - secret.length
      found.push({ kind, start, end: start + secret.length, value: secret, contextual: true })
      return Math.max(end - 64, index + 1)
    },
  }
}
