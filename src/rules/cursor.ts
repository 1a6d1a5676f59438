import { nearestWord } from '../errors/index.ts'
import { lex, plainName, type RuleToken, words } from './lexer.ts'
import type { RuleComparison, Operand, Pattern, RuleProblem, Scalar, Window } from './types.ts'

/** Ends the reading of a rule; the parser turns it into its problem. */
export class Unreadable extends Error {
  readonly problem: RuleProblem

  constructor(problem: RuleProblem) {
    super(`expected ${problem.expected}`)
    this.problem = problem
  }
}

const comparisons: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>='])
/** Operators and brackets of one rule: what reads, prints and watches a rule goes as deep. */
const partCap = 500
const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The words of a rule, and the place in them; reads what many forms share: names, values, patterns, windows. */
export class RuleCursor {
  readonly #text: string
  readonly #tokens: readonly RuleToken[]
  #index = 0
  #parts = 0

  constructor(text: string) {
    const tokens = lex(text)
    if (!('length' in tokens)) throw new Unreadable(tokens)
    this.#text = text
    this.#tokens = tokens
  }

  get token(): RuleToken {
    return this.#tokens[this.#index]!
  }

  get next(): RuleToken {
    return this.#tokens[Math.min(this.#index + 1, this.#tokens.length - 1)]!
  }

  skip(): RuleToken {
    const { token } = this
    if (token.kind !== 'end') this.#index++
    return token
  }

  /** Counts an operator or bracket. */
  part(): void {
    this.#parts += 1
    if (this.#parts > partCap) this.fail(`at most ${partCap} operators and brackets`)
  }

  is(text: string): boolean {
    return (this.token.kind === 'word' || this.token.kind === 'sign') && this.token.text === text
  }

  take(text: string): boolean {
    if (!this.is(text)) return false
    this.#index++
    return true
  }

  need(text: string, expected = `'${text}'`): void {
    if (!this.take(text)) this.fail(expected)
  }

  fail(
    expected: string,
    { token = this.token, hint = this.#meant(token) }: Readonly<{ token?: RuleToken; hint?: string | undefined }> = {},
  ): never {
    const got = token.kind === 'end' ? token.text : `'${token.text}'`
    throw new Unreadable({ text: this.#text, column: token.at, expected, got, ...(hint === undefined ? {} : { hint }) })
  }

  #meant({ kind, text }: RuleToken): string | undefined {
    const word = kind === 'name' && text.length > 2 ? nearestWord(text, words) : undefined
    return word === undefined ? undefined : `did you mean '${word}'?`
  }

  /** A whole number from 0. */
  count(expected: string): number {
    const { kind, text } = this.token
    if (kind !== 'number' || !/^\d+$/.test(text) || !Number.isSafeInteger(Number(text))) this.fail(expected)
    return Number(this.skip().text)
  }

  /** A time such as `30s`, in milliseconds. */
  duration(expected: string): number {
    if (this.token.kind !== 'duration') this.fail(expected)
    return msOf(this.skip().text)
  }

  window(): Window | undefined {
    if (!this.take('within')) return undefined
    if (this.token.kind === 'duration') return { ms: msOf(this.skip().text) }
    const steps = this.count("'5 steps' or a time such as 30s")
    if (!this.take('steps') && !this.take('step')) this.fail("'steps', or a time such as 30s")
    return { steps }
  }

  /** A name of a tool, agent or mark: plain, or in quotes. */
  name(expected: string): string {
    if (this.token.kind === 'name') return this.skip().text
    return this.token.kind === 'text' ? this.quoted() : this.fail(expected)
  }

  quoted(): string {
    try {
      return JSON.parse(this.token.text) as string
    } catch {
      // The JSON reader speaks of places in a fragment; ours is the place in the rule.
      return this.fail('text in "…" as JSON writes it', {
        hint: String.raw`a backslash is written \\, a line break \n`,
      })
    } finally {
      this.skip()
    }
  }

  comparison(): RuleComparison {
    if (this.token.kind !== 'sign' || !comparisons.has(this.token.text)) this.fail('a comparison: = != < <= > >=')
    const op = this.skip().text as RuleComparison
    if (op === '=' && this.is('=')) this.fail('a value', { hint: "write '=' once" })
    return op
  }

  atComparison(): boolean {
    return this.token.kind === 'sign' && comparisons.has(this.token.text)
  }

  /** What stands behind a comparison; larger and smaller need a number. */
  operand(op: RuleComparison): Operand {
    if (this.token.kind === 'variable') return { variable: this.skip().text.slice(1) }
    const { token } = this
    const literal = this.scalar()
    if (op !== '=' && op !== '!=' && typeof literal !== 'number')
      this.fail(`a number or $name behind '${op}'`, { token, hint: undefined })
    return { literal }
  }

  scalar(): Scalar {
    const { kind, text } = this.token
    switch (kind) {
      case 'number':
        // One zero: -0 would print as 0.
        return Number(this.skip().text) + 0
      case 'duration':
        return msOf(this.skip().text)
      case 'text':
        return this.quoted()
      case 'name':
      case 'word': {
        if (text.includes('*')) this.fail('a value without *: text in "…" or a pattern behind ~')
        this.skip()
        return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : text
      }
      default:
        return this.fail('a value: text in "…", a number, a word, or $name')
    }
  }

  pattern(): Pattern {
    const { token } = this
    if (token.kind === 'text') return { contained: this.quoted() }
    if (token.kind !== 'pattern') this.fail('a pattern /…/ or a text "…"')
    this.skip()
    const end = token.text.lastIndexOf('/')
    const flags = token.text.slice(end + 1)
    if (flags !== '' && flags !== 'i')
      this.fail("a pattern with no flag, or with 'i'", { token: { ...token, text: flags, at: token.at + end + 1 } })
    return { source: token.text.slice(1, end), flags }
  }

  /** `a.b.c`; parts that are no plain words stand in quotes, places in a list are numbers. */
  path(): readonly string[] {
    const path: string[] = []
    do {
      const { kind, text } = this.token
      if (kind === 'text') path.push(this.quoted())
      else if (kind === 'number' && /^\d+$/.test(text)) path.push(this.skip().text)
      else if ((kind === 'name' && plainName.test(text) && !text.includes('*')) || kind === 'word')
        path.push(...this.skip().text.split('.'))
      else this.fail("the name of an argument, or ')'")
    } while (this.take('.'))
    return path
  }
}

function msOf(text: string): number {
  const [, amount = '', unit = ''] = /^([\d.]+)(ms|s|m|h)$/.exec(text) ?? []
  // A hundredth of a second times 1000 leaves digits that were not written.
  return Number((Number(amount) * msOfUnit[unit]!).toPrecision(15))
}
