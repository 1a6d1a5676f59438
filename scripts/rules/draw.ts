import { numbers } from '../../bench/secrets/draw.ts'

/**
 * A string that a pattern matches: letters and digits where a class allows them, the least of what repeats without a bound
 * that is worth it. `undefined` for a pattern this cannot read, or whose string it does not match after all.
 */
export function drawn(pattern: string, seed: number): string | undefined {
  const { source, flags } = withoutFlags(pattern)
  try {
    const parser = new Drawing(source, numbers(seed))
    const text = parser.alternatives()
    return parser.isDone && new RegExp(source, flags).test(text) ? text : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** RE2 writes flags inside of the pattern: `(?i)`, and `(?i:…)` or `(?-i:…)` for a part; here they hold for all of it. */
function withoutFlags(pattern: string): { readonly source: string; readonly flags: string } {
  const isLoose = /\(\?[a-z]*i/.test(pattern)
  return {
    source: pattern
      .replace(/\(\?[a-z]*(?:-[a-z]+)?\)/g, '')
      .replace(/\(\?[a-z]*(?:-[a-z]+)?:/g, '(?:')
      .replaceAll('(?P<', '(?<')
      .replaceAll('[[:alnum:]]', '[A-Za-z0-9]')
      .replaceAll('\\z', '$')
      .replaceAll('\\A', '^')
      .replace(/\\x\{([0-9a-fA-F]{2})\}/g, '\\x$1'),
    flags: isLoose ? 'i' : '',
  }
}

const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))

class Drawing {
  #at = 0
  readonly #source: string
  readonly #next: () => number

  constructor(source: string, next: () => number) {
    this.#source = source
    this.#next = next
  }

  get isDone(): boolean {
    return this.#at >= this.#source.length
  }

  alternatives(): string {
    const all = [this.#sequence()]
    while (this.#take('|')) all.push(this.#sequence())
    // The longest says most; an empty one is the end of a word.
    return all.reduce((longest, one) => (one.length > longest.length ? one : longest))
  }

  #sequence(): string {
    let text = ''
    while (!this.isDone && !/[|)]/.test(this.#source[this.#at]!)) text += this.#repeated()
    return text
  }

  #repeated(): string {
    const begin = this.#at
    const first = this.#atom()
    const end = this.#at
    const [least, most] = this.#bounds()
    if (least === 1 && most === 1) return first
    const count = least > 0 ? least : most >= 8 ? 0 : Math.min(most, 1)
    let text = count > 0 ? first : ''
    const after = this.#at
    for (let n = 1; n < count; n++) {
      this.#at = begin
      text += this.#atom()
    }
    this.#at = Math.max(after, end)
    return text
  }

  #bounds(): readonly [least: number, most: number] {
    const rest = this.#source.slice(this.#at)
    const found = /^(?:\{(\d+)(,?)(\d*)\}|[*+?])\??/.exec(rest)
    if (found === null) return [1, 1]
    this.#at += found[0].length
    if (found[0][0] === '*') return [0, 64]
    if (found[0][0] === '+') return [1, 64]
    if (found[0][0] === '?') return [0, 1]
    const least = Number(found[1])
    return [least, found[2] === '' ? least : found[3] === '' ? 64 : Number(found[3])]
  }

  #atom(): string {
    const character = this.#source[this.#at++]!
    if (character === '(') return this.#group()
    if (character === '[') return this.#one(this.#class())
    if (character === '.') return this.#one(printable)
    if (character === '^' || character === '$') return ''
    if (character !== '\\') return character
    const escaped = this.#source[this.#at++] ?? ''
    if (/[bB]/.test(escaped)) return ''
    return this.#one(this.#escape(escaped))
  }

  #group(): string {
    const head = /^\?(?::|<\w+>|=|!|<=|<!)/.exec(this.#source.slice(this.#at))?.[0] ?? ''
    this.#at += head.length
    const inside = this.alternatives()
    if (!this.#take(')')) throw new SyntaxError('a group without an end')
    return /[=!]$/.test(head) ? '' : inside
  }

  #class(): readonly string[] {
    const isNot = this.#take('^')
    const allowed = new Set<string>()
    for (let first = true; first || this.#source[this.#at] !== ']'; first = false) {
      if (this.isDone) throw new SyntaxError('a class without an end')
      const from = this.#member()
      if (from.length === 1 && this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']') {
        this.#at++
        const [to = ''] = this.#member()
        for (const one of printable) if (one >= from[0]! && one <= to) allowed.add(one)
      } else for (const one of from) allowed.add(one)
    }
    this.#at++
    return isNot ? printable.filter((one) => !allowed.has(one)) : [...allowed]
  }

  #member(): readonly string[] {
    const character = this.#source[this.#at++]!
    return character === '\\' ? this.#escape(this.#source[this.#at++] ?? '') : [character]
  }

  #escape(letter: string): readonly string[] {
    const named: Readonly<Record<string, RegExp>> = { d: /\d/, w: /\w/, s: / /, D: /\D/, W: /\W/, S: /\S/ }
    if (letter in named) return printable.filter((one) => named[letter]!.test(one))
    if (letter === 'x') {
      const code = this.#source.slice(this.#at, this.#at + 2)
      this.#at += 2
      return [String.fromCharCode(Number.parseInt(code, 16))]
    }
    return [{ n: '\n', r: '\r', t: '\t' }[letter] ?? letter]
  }

  /** A letter or digit before a sign: the keys of vendors have more of them. */
  #one(from: readonly string[]): string {
    const plain = from.filter((one) => /[A-Za-z0-9]/.test(one))
    const some = plain.length > 0 ? plain : from
    return some[Math.floor(this.#next() * some.length)] ?? ''
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false
    this.#at++
    return true
  }
}
