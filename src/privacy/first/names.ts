import type { SecretNames } from '../names.ts'
import { escapePattern } from '../pattern.ts'

/**
 * Which names promise a secret: `password`, `OPENAI_API_KEY`, `clientSecret`, `x-api-key`. A name counts by how it
 * ends, capitals and separators aside. `token` alone does not: models call the pieces of their text that, and
 * page tokens are data.
 */
const endings = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'authorization', 'connectionstring', 'accesssignature'],
  ...['authorizationcode', 'devicecode', 'codeverifier'],
  ...['api', 'secret', 'access', 'private', 'encryption', 'signing', 'account', 'subscription', 'master'].map(
    (of) => `${of}key`,
  ),
  ...['access', 'auth', 'refresh', 'session', 'id', 'bearer', 'api', 'security', 'bot'].map((of) => `${of}token`),
]

/** The same, as they stand in text. */
const endingsPattern =
  'passw(?:or)?d|pwd|passphrase|secret|authorization|connection[-_ ]?string|access[-_]?signature|cookie' +
  '|(?:authorization|device)[-_]?code|code[-_]?verifier' +
  '|(?:api|secret|access|private|encryption|signing|account|subscription|master)[-_ ]?key' +
  '|(?:access|auth|refresh|session|id|bearer|api|security|bot)[-_ ]?token'

/** Names of query parameters that are secret only when the value looks random. */
const weakQueryNames = new Set([
  'key',
  'token',
  'sig',
  'signature',
  'auth',
  'code',
  'hash',
  'xamzsignature',
  'xamzcredential',
  'xgoogsignature',
])

const namesCap = 1024

/** The names that promise a secret: the built-in ones and the application's. */
export class FirstNames implements SecretNames {
  readonly #extra: ReadonlySet<string>
  readonly #inText: RegExp
  /** As {@link #inText}, looking back from where it stands: whether there is a name, not where it begins. */
  readonly #behind: RegExp
  /** Last characters of all names, so that most signs need no more than a look. */
  readonly #lastCodes: ReadonlySet<number>
  readonly #longest: number
  readonly #promises = new Map<string, 'secret' | 'cookie' | 'nothing'>()

  constructor(extra: readonly string[] = []) {
    this.#extra = new Set(extra.map(plain))
    const own = extra.map((name) => `|(?<![A-Za-z0-9])${escapePattern(name)}`)
    this.#inText = new RegExp(`(?:${endingsPattern}${own.join('')})$`, 'i')
    this.#behind = new RegExp(`(?<=${endingsPattern}${own.join('')})`, 'iy')
    const last = [...endings, 'cookie', ...extra].map((name) => name.at(-1) ?? '')
    this.#lastCodes = new Set(
      last.flatMap((letter) => [letter.toLowerCase(), letter.toUpperCase()].map((one) => one.charCodeAt(0))),
    )
    this.#longest = Math.max(24, ...extra.map((name) => name.length + 1))
  }

  /** Whether the text value of this object key, header or query name is secret: always, but a cookie only when it is one. */
  isSecret(name: string, value: unknown): boolean {
    const promised = this.#promiseOf(name)
    if (promised !== 'cookie') return promised === 'secret'
    return typeof value === 'string' && /(?:=|%3D)[^;\s]/i.test(value)
  }

  promise(name: string, value: unknown): ((text: string) => boolean) | undefined {
    return this.isSecret(name, value) ? () => true : undefined
  }

  /** The same few names come with every call: what was worked out is kept. */
  #promiseOf(name: string): 'secret' | 'cookie' | 'nothing' {
    const known = this.#promises.get(name)
    if (known !== undefined) return known
    const short = plain(name)
    const isSecret = this.#extra.has(short) || endings.some((ending) => short.endsWith(ending))
    const promised = isSecret ? 'secret' : isCookie(name) ? 'cookie' : 'nothing'
    if (this.#promises.size >= namesCap) this.#promises.clear()
    if (name.length <= 64) this.#promises.set(name, promised)
    return promised
  }

  /** As {@link isSecret}, in a query, where `key` and `token` count too if their value looks random. */
  isSecretQuery(name: string, value: string): boolean {
    return this.isSecret(name, value) || (weakQueryNames.has(plain(name)) && value.length >= 16 && /\d/.test(value))
  }

  /** As {@link isSecret}, for an argument of a command, where `--token` and `--key` count too. */
  isSecretFlag(flag: string): boolean {
    return this.isSecret(flag, '') || /(?:token|key|cookie)$/i.test(flag)
  }

  /** Where such a name begins in a text that ends at `end`, or `undefined` when none does. */
  startBefore(text: string, end: number): number | undefined {
    if (!this.#lastCodes.has(text.charCodeAt(end - 1))) return undefined
    this.#behind.lastIndex = end
    if (!this.#behind.test(text)) return undefined
    const from = Math.max(0, end - this.#longest)
    const at = this.#inText.exec(text.slice(from, end))?.index
    return at === undefined ? undefined : from + at
  }
}

/** Whether a name is that of a cookie, which is secret when it has a value of its own: `sid=…`. */
export function isCookie(name: string): boolean {
  return /cookie$/i.test(name)
}

/** The scheme before credentials, such as `Bearer `: in a text only what follows is the secret, so in a field as well. */
export function firstSchemeOf(value: string): string {
  return /^(?:bearer|basic|token)\s{1,8}(?=\S+$)/i.exec(value)?.[0] ?? ''
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
