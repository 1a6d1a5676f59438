/** Something that must not reach a tape. */
export interface SecretFinding {
  readonly kind: string
  /** Where it begins in the text, in UTF-16 units. */
  readonly index: number
  readonly length: number
}

/** A rule of the application's own. */
export interface RedactRule {
  /** Lower-case words and dashes, such as `customer-number`; it becomes part of the placeholder. */
  readonly kind: string
  /**
   * Global. What it matches is replaced, or only the group called `secret` when it has one.
   *
   * Gotchas: it runs over every request and response; a pattern such as `(a+)+$` can take seconds on text an
   * attacker chose.
   */
  readonly pattern: RegExp
  /** Text with one `#`, where the number goes. Default `redacted-<kind>-#`. */
  readonly placeholder?: string
}

/** Tokens of one kind, recognised by how they begin. */
export interface TokenFamily {
  /** How they begin: 2 to 64 characters of ASCII without a space, quote or backslash. */
  readonly head: string
  /** What follows: `word` letters and digits, `url` and `-_`, `base64` and `-_+/=`, `hex`, `lower`, `upper`. */
  readonly of: 'word' | 'alnum' | 'url' | 'dot' | 'base64' | 'hex' | 'lower' | 'upper'
  /** How many characters at least, 8 to 1024. */
  readonly min: number
}

export interface RedactorOptions {
  /** Rules beside the built-in ones. Default none. */
  readonly rules?: readonly RedactRule[]
  /** Object keys and query names whose text value is always secret, beside `password`, `api_key` and the like. Default none. */
  readonly keys?: readonly string[]
  /** Names of headers to keep, beside those a client acts on. Default none. */
  readonly headers?: readonly string[]
  /** Built-in kinds to leave alone, such as `email`. Default none. */
  readonly off?: readonly string[]
  /**
   * More names by what they promise: `random` when the value looks random, `always` unless it stands for one that is not
   * there, `never` no matter what stands there. Default none.
   */
  readonly names?: {
    readonly random?: readonly string[]
    readonly always?: readonly string[]
    readonly never?: readonly string[]
  }
  /**
   * Tokens of the application's own that tell what they are by how they begin: `{ head: 'acme_', of: 'word', min: 32 }`. Found in
   * linear time, no matter what stands there. Default none.
   */
  readonly families?: readonly TokenFamily[]
  /** Built-in kinds that are off unless asked for: `phone`, `ssn`, `ip`. Default none. */
  readonly on?: readonly string[]
  /**
   * What placeholders keep of the value, for code that branches on it: `email-domain`, `card-length`, `card-last4`. Then it
   * stands on the tape. Default nothing.
   */
  readonly keep?: readonly string[]
  /**
   * Whole e-mail addresses, numbers and matches of own rules that are not secret, such as the address of the
   * application's own service: they stay on the tape, and a replay compares them. Default none.
   */
  readonly allow?: readonly string[]
}

/** A value that became a placeholder. */
export interface Replaced {
  readonly kind: string
  readonly placeholder: string
  /** Its keyed fingerprint, where there is a key. */
  readonly print?: string
}

/** A secret found in a text. */
export interface TextRange {
  /** The text is encoded as a whole. */
  readonly encoded?: Encoded
  readonly kind: string
  readonly start: number
  readonly end: number
  /** The secret without its spelling in this place: escapes, spaces between digits, `%40`. */
  readonly value: string
  /** Known by its surroundings only: once seen it is looked for everywhere. */
  readonly contextual?: true
  /** It is a number or a word of JSON, and what stands for it is a text: in these quotes. */
  readonly quote?: string
}

/** A word of base64 that says something secret. */
export interface Encoded {
  /** The same without its secrets; `undefined`: it is to be replaced whole. */
  readonly again: () => string | undefined
  /** What is secret in it. */
  readonly inside: () => readonly Secret[]
}

/** A secret, no matter where it stands. */
export type Secret = Pick<TextRange, 'kind' | 'value' | 'contextual' | 'encoded'>

/** Finds secrets of some kinds in a text. */
export type Finder = (text: string) => readonly TextRange[]
