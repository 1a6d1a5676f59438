import { HarvestError } from '../errors/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/types.ts'
import { argsByKey } from './args.ts'
import type { ArgsMode, ExpectedCall, TraceCall } from './types.ts'

/** Names and keys of these characters stand as they are; all others are written as JSON strings. */
const plainName = /^(?! )[A-Za-z0-9_.:/ -]+(?<! )$/
const plainKey = /^(?! )[A-Za-z0-9_.$/ -]+(?<! )$/

/**
 * Reads one call of a baseline: `refund(amount, order_id)`, `search(query: "x", limit: *)`, `lookup(*)`, or `*`.
 *
 * @param where - what to call the place in the error, such as `baseline[2]`
 * @throws HarvestError `HARVEST_BASELINE_CALL` with the place, the text and the column
 */
export function parseCall(text: string, where = 'call'): ExpectedCall {
  const reader = new Reader(text, where)
  reader.skipSpace()
  if (reader.take('*')) {
    reader.expectEnd()
    return { name: '*', args: '*' }
  }
  const name = reader.word(/[^("]/, plainName, 'the name of a tool')
  reader.expect('(', `arguments: '${name}()' for none, '${name}(*)' for any`)
  reader.skipSpace()
  const args = reader.take('*') ? '*' : readArgs(reader)
  reader.skipSpace()
  reader.expect(')', args === '*' ? `')': '*' stands for all arguments and alone` : `',' or ')'`)
  reader.expectEnd()
  return { name, args }
}

function readArgs(reader: Reader): { readonly [key: string]: Json | undefined } {
  const args = new Map<string, Json | undefined>()
  reader.skipSpace()
  if (reader.peek() === ')') return {}
  do {
    reader.skipSpace()
    const key = reader.word(/[^,:()"*]/, plainKey, 'the key of an argument')
    if (args.has(key)) reader.fail(`another key: '${key}' is already there`)
    reader.skipSpace()
    args.set(key, reader.take(':') ? readValue(reader) : undefined)
    reader.skipSpace()
  } while (reader.take(','))
  return Object.fromEntries(args)
}

function readValue(reader: Reader): Json | undefined {
  reader.skipSpace()
  return reader.take('*') ? undefined : reader.json()
}

/** A position in a text, moving forward. */
class Reader {
  readonly #text: string
  readonly #where: string
  #position = 0

  constructor(text: string, where: string) {
    this.#text = text
    this.#where = where
  }

  peek(): string | undefined {
    return this.#text[this.#position]
  }

  take(character: string): boolean {
    if (this.peek() !== character) return false
    this.#position++
    return true
  }

  skipSpace(): void {
    while (/\s/.test(this.peek() ?? '')) this.#position++
  }

  expect(character: string, wanted: string): void {
    if (!this.take(character)) this.fail(wanted)
  }

  expectEnd(): void {
    this.skipSpace()
    if (this.peek() !== undefined) this.fail('nothing more')
  }

  /** A JSON string, or the characters up to one that ends the word, spaces around it left out. */
  word(character: RegExp, plain: RegExp, wanted: string): string {
    if (this.peek() === '"') {
      const quoted = this.json()
      this.skipSpace()
      return quoted as string
    }
    const start = this.#position
    while (character.test(this.peek() ?? '"')) this.#position++
    const word = this.#text.slice(start, this.#position).trim()
    if (plain.test(word)) return word
    this.#position = start
    return this.fail(`${wanted}, in double quotes if it has other characters than letters, digits, _ . / -`)
  }

  /** A JSON value, up to the comma or bracket that ends it. */
  json(): Json {
    const start = this.#position
    let depth = 0
    let quoted = false
    for (let character = this.peek(); character !== undefined; character = this.peek()) {
      if (quoted) {
        if (character === '\\') this.#position++
        else if (character === '"') quoted = false
        if (!quoted && depth === 0) {
          this.#position++
          break
        }
      } else if (character === '"') quoted = true
      else if (character === '[' || character === '{') depth++
      else if (depth > 0 && (character === ']' || character === '}')) depth--
      else if (depth === 0 && (character === ',' || character === ')')) break
      this.#position++
    }
    const source = this.#text.slice(start, this.#position)
    try {
      return JSON.parse(source) as Json
    } catch {
      // Reported below in our words: the parser's position refers to a text that the user never typed.
      this.#position = start
      return this.fail('a JSON value (texts in double quotes), or *')
    }
  }

  fail(wanted: string): never {
    throw new HarvestError('HARVEST_BASELINE_CALL', {
      what: 'Invalid call in the baseline',
      where: { at: this.#where, text: this.#text, column: `${this.#position + 1}`, wanted },
      fix: ['write it like one of: refund(amount, order_id)   search(query: "x", limit: *)   lookup(*)   *'],
    })
  }
}

/**
 * Writes a call the way a baseline has it: `keys` gives sorted keys, `ignore` gives `name(*)`, every other mode keys
 * with their values. Positional arguments are `$1`, `$2`, ….
 *
 * @param keys - the keys that count; by default all
 */
export function renderCall(call: TraceCall, mode: ArgsMode, keys?: ReadonlySet<string>): string {
  if (mode === 'ignore') return renderExpected({ name: call.name, args: '*' })
  const members = Object.entries(argsByKey(call.args)).filter(([key]) => keys === undefined || keys.has(key))
  const args = Object.fromEntries(members.map(([key, value]) => [key, mode === 'keys' ? undefined : value]))
  return renderExpected({ name: call.name, args })
}

/** Writes an expected call; {@link parseCall} reads the same call from it. */
export function renderExpected({ name, args }: ExpectedCall): string {
  if (name === '*' && args === '*') return '*'
  const title = plainName.test(name) ? name : JSON.stringify(name)
  if (args === '*') return `${title}(*)`
  const members = Object.keys(args)
    .sort()
    .map((key) => {
      const value = args[key]
      const label = plainKey.test(key) ? key : JSON.stringify(key)
      return value === undefined ? label : `${label}: ${canonicalJson(value)}`
    })
  return `${title}(${members.join(', ')})`
}
