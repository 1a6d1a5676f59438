/**
 * Which names promise a secret: `password`, `OPENAI_API_KEY`, `clientSecret`, `x-api-key`. A name counts by how it
 * ends, capitals and separators aside. `token` alone does not: models call the pieces of their text that, and
 * page tokens are data.
 */
const endings = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'authorization', 'connectionstring', 'accesssignature'],
  ...['api', 'secret', 'access', 'private', 'encryption', 'signing', 'account', 'subscription', 'master'].map(
    (of) => `${of}key`,
  ),
  ...['access', 'auth', 'refresh', 'session', 'id', 'bearer', 'api', 'security', 'bot'].map((of) => `${of}token`),
]

/** The same, to be found in text: an ending where a word ends. */
const endingsPattern =
  'passw(?:or)?d|pwd|passphrase|secret|authorization|connection[-_ ]?string|access[-_]?signature' +
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

/** The names that promise a secret: the built-in ones and the application's. */
export class SecretNames {
  readonly #extra: ReadonlySet<string>
  readonly #inText: RegExp

  constructor(extra: readonly string[] = []) {
    this.#extra = new Set(extra.map(plain))
    const own = extra.map(
      (name) =>
        `|(?<![A-Za-z0-9])${name.replace(/[^A-Za-z0-9]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}`,
    )
    this.#inText = new RegExp(`(?:${endingsPattern}${own.join('')})(?![A-Za-z0-9_])`, 'gi')
  }

  /** Whether the text value of this object key, header or query name is always secret. */
  isSecret(name: string): boolean {
    const short = plain(name)
    return this.#extra.has(short) || endings.some((ending) => short.endsWith(ending))
  }

  /** As {@link isSecret}, in a query, where `key` and `token` count too if their value looks random. */
  isSecretQuery(name: string, value: string): boolean {
    return this.isSecret(name) || (weakQueryNames.has(plain(name)) && value.length >= 16 && /\d/.test(value))
  }

  /** As {@link isSecret}, for an argument of a command, where `--token` and `--key` count too. */
  isSecretFlag(flag: string): boolean {
    return this.isSecret(flag) || /(?:token|key)$/i.test(flag)
  }

  /** Ends of such names in a text, in order. */
  *endsIn(text: string): Generator<{ readonly start: number; readonly end: number }> {
    for (const match of text.matchAll(this.#inText)) yield { start: match.index, end: match.index + match[0].length }
  }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
