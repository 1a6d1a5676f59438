/** Longer texts are left alone: frameworks cut what they write that way long before. */
const lengthCap = 1024 * 1024
const depthCap = 64

/**
 * The value of a text that is a Python dict, list or tuple as `repr` writes it: `{'city': 'Paris', 'days': None}`. Some
 * frameworks put arguments into traces like that.
 *
 * @returns `undefined` for every other text: names of classes, sets, bytes and numbers beyond JavaScript's among them
 */
export function pythonValue(text: string): unknown {
  if (text.length > lengthCap || !/^\s*[[{(]/.test(text)) return undefined
  const reader = new Reader(text)
  const value = reader.value(0)
  return value === undefined || !reader.isAtEnd() ? undefined : value.is
}

/** A value that was read; absent when there was none to read. */
type Read = { readonly is: unknown } | undefined

const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['None', null],
  ['True', true],
  ['False', false],
])

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' }

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#skip()
    return this.#at === this.#text.length
  }

  value(depth: number): Read {
    this.#skip()
    if (depth > depthCap) return undefined
    switch (this.#text[this.#at]) {
      case '{':
        return this.#dict(depth)
      case '[':
        return this.#list(']', depth)
      case '(':
        return this.#list(')', depth)
      case "'":
      case '"':
        return this.#string()
      default:
        return this.#word()
    }
  }

  #skip(): void {
    while (' \n\t'.includes(this.#text[this.#at] ?? 'x')) this.#at++
  }

  #take(character: string): boolean {
    this.#skip()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #dict(depth: number): Read {
    const entries: [string, unknown][] = []
    this.#at++
    while (!this.#take('}')) {
      if (entries.length > 0 && !this.#take(',')) return undefined
      if (this.#take('}')) break
      this.#skip()
      const key = this.#string()
      const value = key !== undefined && this.#take(':') ? this.value(depth + 1) : undefined
      if (key === undefined || value === undefined) return undefined
      entries.push([key.is, value.is])
    }
    return { is: Object.fromEntries(entries) }
  }

  #list(end: ']' | ')', depth: number): Read {
    const items: unknown[] = []
    this.#at++
    while (!this.#take(end)) {
      if (items.length > 0 && !this.#take(',')) return undefined
      if (this.#take(end)) break
      const item = this.value(depth + 1)
      if (item === undefined) return undefined
      items.push(item.is)
    }
    return { is: items }
  }

  #string(): { readonly is: string } | undefined {
    const quote = this.#text[this.#at]
    if (quote !== "'" && quote !== '"') return undefined
    let text = ''
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const character = this.#text[at]!
      if (character === quote) {
        this.#at = at + 1
        return { is: text }
      }
      if (character !== '\\') {
        text += character
        continue
      }
      const hex = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))/.exec(this.#text.slice(at + 1, at + 10))
      const code = hex === null ? undefined : Number.parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16)
      const plain = escapes[this.#text[at + 1] ?? '']
      if (code === undefined ? plain === undefined : code > 0x10ffff) return undefined
      text += code === undefined ? plain! : String.fromCodePoint(code)
      at += code === undefined ? 1 : hex![0].length
    }
    return undefined
  }

  #word(): Read {
    const [word = ''] = /^[A-Za-z0-9.+-]{1,40}/.exec(this.#text.slice(this.#at, this.#at + 40)) ?? []
    this.#at += word.length
    if (words.has(word)) return { is: words.get(word) }
    const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(word) ? Number(word) : Number.NaN
    const isHeld = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number)
    return isHeld ? { is: number } : undefined
  }
}
