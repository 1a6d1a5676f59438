// Over 300 lines: what a placeholder says, how it is numbered and how it is taken back are one state.
import { keyNumber } from './credentials.ts'
import { escapePattern } from './pattern.ts'
import { holdsNeedle, type Needle, needleOf } from './rare.ts'
import type { Replaced } from './types.ts'
import { encodedWords } from './words.ts'

/** Where placeholders stand in a text, in order: as numbers, for there may be millions. */
export interface PlacedPlaceholders {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

interface Shape {
  /** Text of the placeholder with this number, in the place of a value. */
  readonly of: (n: number, value: string) => string
  /** Source of a pattern for it; its only group is the number, which begins as said. */
  readonly source: (group: '(' | '(?:') => string
  /** Its number is the one it is given, and no more needs to be read of it. */
  readonly isUsual?: boolean
}

/** How placeholders look, kind by kind. The same for all runs of a recorder. */
export class PlaceholderShapes {
  readonly kinds: readonly string[]
  /** Any of them. Without a group a match costs a fraction. */
  readonly #any: RegExp
  /** As that, with a group for the number of each kind. */
  readonly #numbered: RegExp
  readonly #shapes: ReadonlyMap<string, Shape>
  readonly #anchors: readonly Needle[]

  /**
   * @param kinds - every kind there is, with the template of those that have one of their own
   * @param kept - what of a value its placeholder keeps
   */
  constructor(kinds: ReadonlyMap<string, string | undefined>, kept: ReadonlySet<string> = new Set()) {
    this.#shapes = new Map([...kinds].map(([kind, template]) => [kind, shapeOf(kind, template, kept)]))
    this.kinds = [...kinds.keys()]
    const sources = (group: '(' | '(?:'): readonly string[] => [
      ...[...this.#shapes.values()].map(({ source }) => source(group)),
      keyNumber,
    ]
    this.#numbered = new RegExp(oneOf(sources('(')), 'g')
    const all = sources('(?:')
    const [usual, others] = [all.filter(isUsual), all.filter((source) => !isUsual(source))]
    // What all of them begin with is looked at once.
    this.#any = new RegExp(`${usualHead}(?:${oneOf(usual.map(withoutHead))})|${oneOf(others)}`, 'g')
    const templates = [...kinds.values()].filter((template) => template !== undefined)
    this.#anchors = [usualHead, '[key', cardStart, ...templates.map((template) => longestPart(template))].map(needleOf)
  }

  /** Text of the placeholder of a kind with this number, in the place of a value. */
  of(kind: string, n: number, value: string): string {
    return this.#shapes.get(kind)!.of(n, value)
  }

  /** Whether that is of this kind and has this number, no matter what the value is. */
  isUsual(kind: string): boolean {
    return this.#shapes.get(kind)!.isUsual === true
  }

  /** All in a text, in order. */
  in(text: string): PlacedPlaceholders {
    if (!this.mayStandIn(text)) return nowhere
    const [starts, ends]: [number[], number[]] = [[], []]
    this.#any.lastIndex = 0
    for (let match = this.#any.exec(text); match !== null; match = this.#any.exec(text)) {
      starts.push(match.index)
      ends.push(this.#any.lastIndex)
    }
    return { starts, ends }
  }

  /** The kind and the number of one that stands here; without a kind it is a key's. */
  at(text: string, start: number): { readonly kind: string | undefined; readonly n: number } {
    this.#numbered.lastIndex = start
    const match = this.#numbered.exec(text)!
    let group = 1
    while (group < match.length && match[group] === undefined) group++
    return { kind: this.kinds[group - 1], n: Number(match[group]) }
  }

  /** Whether a text may hold a placeholder: a search for plain text, many times cheaper than the pattern. */
  mayStandIn(text: string): boolean {
    for (const anchor of this.#anchors) if (holdsNeedle(text, anchor)) return true
    return false
  }
}

/** What a redactor asks of them. */
export type Shapes = Pick<PlaceholderShapes, 'of' | 'isUsual' | 'in' | 'at' | 'kinds' | 'mayStandIn'>

/**
 * Where the numbers of values begin that were named when they stood on the tape already: the number it had, and this. They stand before
 * their turn, and say which number is passed over when it comes.
 */
export const lateFrom = 1_000_000

const usualHead = 'redacted-'
const isUsual = (source: string): boolean => source.startsWith(usualHead)
const withoutHead = (source: string): string => source.slice(usualHead.length)
const oneOf = (sources: readonly string[]): string => sources.map((source) => `(?:${source})`).join('|')

/** What the values of one run are replaced by; numbers go by first appearance. */
export class Placeholders {
  readonly #shapes: Shapes
  /** The number of what each got with that of its kind; of what is on the tape that is replayed, all. */
  readonly #byValue = new Map<string, number | Told>()
  readonly #last = new Map<string, number>()
  /** By kind, numbers that are passed over. */
  readonly #late = new Map<string, Set<number>>()
  /** How often numbers are kept as they are, and what those that grew since were before. */
  #marks = 0
  #trail: { readonly kind: string; readonly before: number }[] = []
  /** How long that was when they were last kept: what they were then is noted down once. */
  #kept = 0
  /** Values that got one since someone asked. */
  #fresh: string[] = []
  /** The placeholder another run gave to a value. */
  readonly #recorded: RecordedPlaceholder
  /** What was served and is not looked through yet: most replays give out no number, and need not know which are taken. */
  #unread: (() => void)[] = []
  readonly #depth: number
  /** Those of the text that was asked for last, where they are many: a text is searched, and noted down when it is clean. */
  #placed: { readonly text: string; readonly all: PlacedPlaceholders } | undefined

  /**
   * @param recorded - the placeholder a value has on the tape that is replayed, where that can be seen
   * @param depth - how many encodings inside of each other may hide placeholders
   */
  constructor(shapes: Shapes, recorded: RecordedPlaceholder = () => undefined, depth = 0) {
    this.#shapes = shapes
    this.#recorded = recorded
    this.#depth = depth
  }

  /** Placeholders that stand in a text already. */
  in(text: string): PlacedPlaceholders {
    if (this.#placed !== undefined && this.#placed.text === text) return this.#placed.all
    const all = this.#shapes.in(text)
    this.#placed = all.starts.length < worthKeeping ? undefined : { text, all }
    return all
  }

  /** Takes note of the numbers in a text that goes to the tape, or comes from it: the next value gets a higher one. */
  observe(text: string, depth = this.#depth): void {
    const { starts, ends } = this.in(text)
    this.#placed = undefined
    const words = depth > 0 ? encodedWords(text) : none
    // None of them has a NUL: read together, they say what each says alone.
    if (words.length > 0) this.observe(words.map(({ plain }) => plain).join('\0'), depth - 1)
    if (starts.length === 0) return
    const seen = new Set<string>()
    let [head, tail, last] = ['', '', '']
    for (let at = 0; at < starts.length; at++) {
      const [start, end] = [starts[at]!, ends[at]!]
      // Most are of one kind: of those only the numbers are read.
      const number = head !== '' && text.startsWith(head, start) ? numberAt(text, start + head.length, end, tail) : -1
      if (number !== -1) {
        this.#note(last, number)
        continue
      }
      const placeholder = text.slice(start, end)
      if (seen.has(placeholder)) continue
      seen.add(placeholder)
      const { kind, n } = this.#shapes.at(text, start)
      if (kind === undefined) continue
      this.#note(kind, n)
      const [, before, digits, behind] = usualNumber.exec(placeholder) ?? []
      if (Number(digits) === n) [head, tail, last] = [before!, behind!, kind]
    }
  }

  /** A number anyone made up must not use up the numbers there are. */
  #note(kind: string, n: number): void {
    if (n >= lateFrom) return this.#passOver(kind, n - lateFrom)
    const before = this.#last.get(kind) ?? 0
    if (n <= before) return
    if (this.#marks > 0 && !this.#isKept(kind)) this.#trail.push({ kind, before })
    this.#last.set(kind, n)
  }

  #isKept(kind: string): boolean {
    for (let at = this.#kept; at < this.#trail.length; at++) if (this.#trail[at]!.kind === kind) return true
    return false
  }

  #passOver(kind: string, n: number): void {
    if (n >= lateFrom) return
    const late = this.#late.get(kind)
    if (late === undefined) this.#late.set(kind, new Set([n]))
    else late.add(n)
  }

  /** As {@link observe}, before the next number is given out. */
  later(observe: () => void): void {
    this.#unread.push(observe)
  }

  #catchUp(): void {
    const unread = this.#unread
    if (unread.length === 0) return
    this.#unread = []
    for (const observe of unread) observe()
  }

  #next(kind: string): number {
    this.#catchUp()
    const late = this.#late.get(kind)
    let n = (this.#last.get(kind) ?? 0) + 1
    while (late?.has(n)) n++
    return n
  }

  /** The placeholder a value has already. */
  known(value: string): string | undefined {
    const given = this.#byValue.get(value)
    return given === undefined ? undefined : this.#shown(given, value).placeholder
  }

  /** Whether a value has one already. */
  has(value: string): boolean {
    return this.#byValue.has(value)
  }

  #shown(given: number | Told, value: string): Told {
    if (typeof given !== 'number') return given
    const { kinds } = this.#shapes
    const kind = kinds[given % kinds.length]!
    return { kind, placeholder: this.#shapes.of(kind, Math.floor(given / kinds.length), value) }
  }

  /** Whether one of the texts stands in a value that has a placeholder. */
  hide(texts: readonly string[]): boolean {
    if (texts.length === 0) return false
    return [...this.#byValue.keys()].some((value) => texts.some((text) => value.includes(text)))
  }

  /** The placeholder of a value: the same for the same value, no matter which kind it was when it first appeared. */
  for(kind: string, value: string): { readonly text: string; readonly isNew: boolean } {
    const known = this.known(value)
    if (known !== undefined) return { text: known, isNew: false }
    const recorded = this.#recorded(kind, value)
    const n = recorded === undefined ? this.#next(kind) : 0
    const text = recorded ?? this.#shapes.of(kind, n, value)
    // What is read most often is known without a look.
    if (recorded === undefined && this.#shapes.isUsual(kind)) this.#note(kind, n)
    else this.observe(text)
    this.#byValue.set(
      value,
      recorded === undefined
        ? n * this.#shapes.kinds.length + this.#shapes.kinds.indexOf(kind)
        : { kind, placeholder: text },
    )
    this.#fresh.push(value)
    return { text, isNew: true }
  }

  /** Gives a value the placeholder it has on the tape that is replayed. @returns its kind */
  give(placeholder: string, value: string): string {
    const { kind = 'secret' } = this.#shapes.at(placeholder, 0)
    this.#byValue.set(value, { kind, placeholder, isLate: true })
    this.#fresh.push(value)
    return kind
  }

  /** The values that were replaced since this was asked before, in the order of their first appearance. */
  takeFresh(): readonly Given[] {
    if (this.#fresh.length === 0) return none
    const all = this.#fresh.map((value): Given => ({ ...this.#shown(this.#byValue.get(value)!, value), value }))
    this.#fresh = []
    // Two values may have one on the tape.
    return [...new Map(all.map((given) => [given.placeholder, given])).values()]
  }

  /** Keeps numbers as they are for {@link restore}, until {@link release}. */
  mark(): number {
    this.#catchUp()
    this.#marks++
    this.#kept = this.#trail.length
    return this.#kept
  }

  release(): void {
    if (--this.#marks > 0) return
    this.#trail = []
    this.#kept = 0
  }

  /** Takes back the numbers given out since, and forgets these values. */
  restore(mark: number, forget: readonly string[]): void {
    for (const { kind, before } of this.#trail.splice(mark).reverse()) this.#last.set(kind, before)
    this.#kept = Math.min(this.#kept, mark)
    // All there are: a text that goes beyond its work has most of those of its run.
    if (forget.length === this.#byValue.size) this.#byValue.clear()
    else for (const value of forget) this.#byValue.delete(value)
    this.#fresh = this.#fresh.filter((value) => this.#byValue.has(value))
  }
}

const worthKeeping = 64
const usualNumber = new RegExp(`^(${usualHead}[a-z-]*)(\\d+)(.*)$`)

/** The number that stands here before a text that goes to the end; -1: it is no such number. */
function numberAt(text: string, start: number, end: number, tail: string): number {
  const last = end - tail.length
  if (last <= start || !text.startsWith(tail, last)) return -1
  let number = 0
  for (let at = start; at < last; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

type Told = Replaced & { readonly isLate?: true }
type Given = Told & { readonly value: string }
type RecordedPlaceholder = (kind: string, value: string) => string | undefined
const none: readonly never[] = []
const nowhere: PlacedPlaceholders = { starts: none, ends: none }

// No issuer's number begins like this, and one of the usual 16 digits fits a JSON number exactly: it need not be quoted.
const cardStart = '8000'
const cardDigits = 16
/** A domain as the finder of addresses reads one. */
const domain = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?\\.[A-Za-z]{2,24}(?![A-Za-z0-9_])'

function shapeOf(kind: string, template: string | undefined, kept: ReadonlySet<string>): Shape {
  if (template !== undefined) {
    const [before = '', after = ''] = template.split('#')
    return {
      of: (n) => `${before}${n}${after}`,
      source: (group) => `${escapePattern(before)}${group}\\d{1,9})${escapePattern(after)}`,
    }
  }
  if (kind === 'email') {
    const isKept = kept.has('email-domain')
    const domainOf = (value: string): string =>
      isKept ? value.slice(value.lastIndexOf('@') + 1).toLowerCase() : 'email.invalid'
    return {
      of: (n, value) => `redacted-${n}@${domainOf(value)}`,
      isUsual: !isKept,
      // With any domain, so that a tape that keeps them can be searched by whoever does not know that.
      source: (group) => `${usualHead}${group}\\d{1,9})(?:@|%40)(?:email\\.invalid|${domain})`,
    }
  }
  if (kind === 'card') return cardShape(kept)
  const head = `${usualHead}${kind}-`
  return { of: (n) => head + n, source: (group) => `${head}${group}\\d{1,9})`, isUsual: true }
}

/** `8`, zeros, five digits of the number, and the last four of the card where they are kept. */
function cardShape(kept: ReadonlySet<string>): Shape {
  const last = kept.has('card-last4') ? 4 : 0
  // The issuers' numbers have 13 to 19 digits.
  const [least, most] = kept.has('card-length') ? [13, 19] : [cardDigits, cardDigits]
  const zeros = (digits: number): number => digits - 1 - 5 - last
  return {
    of: (n, value) => {
      const digits = kept.has('card-length') ? value.length : cardDigits
      const number = `${n % 100_000}`.padStart(5, '0')
      return `8${'0'.repeat(zeros(digits))}${number}${last === 0 ? '' : value.slice(-last)}`
    },
    source: (group) => `(?<!\\d)80{${zeros(least)},${zeros(most)}}${group}\\d{5})\\d{${last}}(?!\\d)`,
  }
}

function longestPart(template: string): string {
  return template.split('#').reduce((longest, part) => (part.length > longest.length ? part : longest), '')
}
