// Over 300 lines: how values are looked for, whole and in parts, shares their spellings.
import { beginsToken, isAlphanumeric } from './edges.ts'
import type { TextRange } from './types.ts'

/** How many spellings are looked for. */
const usualCap = 1 << 13
/** As many, for tapes of earlier finders. */
export const earlierCap = 256
const none: readonly never[] = []

/**
 * Secrets known by the name that stood before them once. Without that name nothing tells them, so they are looked
 * for as they are: a password of one answer must not stand in the next question.
 */
export class KnownSecrets {
  readonly #bySpelling = new Map<string, Known>()
  readonly #short = new ShortTexts()
  /** Spellings that are looked for one by one: those that are too short for that. */
  readonly #others = new Map<string, Search>()
  /** Long ones by their beginning, which is looked for with the short ones. */
  readonly #long = new Map<string, string[]>()
  readonly #cap: number
  readonly #identifiers: Identifiers | undefined

  /** Values that were named when there was no room for them any more. */
  left = 0

  /** @param identifiers - whether a part of a text names something by what it is: there only what is kept is a secret */
  constructor(cap = usualCap, identifiers?: Identifiers) {
    this.#cap = cap
    this.#identifiers = identifiers
  }

  /** @param value - {@link isDistinctive} */
  remember(kind: string, value: string): void {
    if (!this.isFull) this.#add({ kind, value })
    else if (!this.#bySpelling.has(value)) this.left++
  }

  /** What is remembered now is not looked for. */
  get isFull(): boolean {
    return this.size >= this.#cap
  }

  /** How many spellings are looked for: it grows with each. */
  get size(): number {
    return this.#bySpelling.size
  }

  /** Each value once, in the order in which they became known. */
  get all(): readonly Known[] {
    return [...new Map([...this.#bySpelling.values()].map((known) => [known.value, known])).values()]
  }

  /** Looks for a value that is secret no matter what it looks like, and where it stands. */
  keep(kind: string, value: string): void {
    if (value.length >= shortestKept) this.#add({ kind, value, isKept: true })
  }

  /** As {@link remember}, no matter how many there are. */
  rememberAll(values: readonly string[]): void {
    for (const value of values) if (value.length >= shortestKept) this.#add({ kind: 'secret', value })
  }

  #add(known: Known): void {
    const { value } = known
    for (const spelling of spellingsOf(value)) {
      if (this.#bySpelling.has(spelling)) continue
      this.#bySpelling.set(spelling, known)
      if (spelling.length < window) this.#others.set(spelling, searchOf(spelling))
      else if (spelling.length <= longest) this.#short.add(spelling)
      else this.#addLong(spelling)
    }
  }

  #addLong(spelling: string): void {
    const begin = spelling.slice(0, longest)
    const alike = this.#long.get(begin)
    if (alike === undefined) {
      this.#short.add(begin)
      this.#long.set(begin, [spelling])
    } else alike.push(spelling)
  }

  /** The longest part of a value that a text ends with: its rest was cut off. */
  begunAtEnd(text: string): PartOfKnown | undefined {
    return this.#longestPart((spelling) => sharedBorder(spelling, text))
  }

  /** As {@link begunAtEnd}, of the ends of values that a text begins with. */
  endedAtStart(text: string): PartOfKnown | undefined {
    const beginning = reversed(text.slice(0, this.#longestSpelling))
    return this.#longestPart((spelling) => sharedBorder(reversed(spelling), beginning))
  }

  get #longestSpelling(): number {
    let longest = 0
    for (const { length } of this.#bySpelling.keys()) longest = Math.max(longest, length)
    return longest
  }

  #longestPart(lengthOf: (spelling: string) => number): PartOfKnown | undefined {
    let longest: PartOfKnown | undefined
    for (const [spelling, { value }] of this.#bySpelling) {
      const length = lengthOf(spelling)
      if (length >= shortestPart && length > (longest?.length ?? 0)) longest = { length, value }
    }
    return longest
  }

  find(text: string): readonly TextRange[] {
    if (this.#bySpelling.size === 0) return none
    let found: TextRange[] | undefined
    let isIdentifier: ReturnType<Identifiers> | undefined
    const note = (start: number, spelling: string): void => {
      const end = start + spelling.length
      const goesOn = isAlphanumeric(text.charCodeAt(end)) && isAlphanumeric(text.charCodeAt(end - 1))
      if (goesOn || !beginsToken(text, start)) return
      const { kind, value, isKept } = this.#bySpelling.get(spelling)!
      isIdentifier ??= this.#identifiers?.(text)
      if (isKept !== true && isIdentifier?.(start, end)) return
      ;(found ??= []).push({ kind, value, start, end })
    }
    let begun: Map<string, number> | undefined
    this.#short.find(text, (start, spelling) => {
      if (this.#bySpelling.has(spelling)) note(start, spelling)
      if (this.#long.has(spelling) && begun?.has(spelling) !== true) (begun ??= new Map()).set(spelling, start)
    })
    for (const [begin, from] of begun ?? none)
      for (const spelling of this.#long.get(begin)!) {
        const indexIn = searchOf(spelling)
        for (let at = indexIn(text, from); at !== -1; at = indexIn(text, at + spelling.length)) note(at, spelling)
      }
    for (const [spelling, indexIn] of this.#others)
      for (let at = indexIn(text, 0); at !== -1; at = indexIn(text, at + spelling.length)) note(at, spelling)
    return found ?? none
  }
}

/** What is shorter is no part of a secret more likely than of anything else. */
const shortestPart = 3

/** How many characters of the beginning of `spelling` a text ends with: not all of it. */
function sharedBorder(spelling: string, text: string): number {
  const borders = bordersOf(spelling)
  let same = 0
  for (let at = Math.max(0, text.length - spelling.length + 1); at < text.length; at++) {
    while (same > 0 && text[at] !== spelling[same]) same = borders[same - 1]!
    if (text[at] === spelling[same]) same++
  }
  return same
}

function reversed(text: string): string {
  return text.split('').reverse().join('')
}

/** How a value is written where it stands alone, in JSON and in a URL; most have no sign that is written otherwise. */
function spellingsOf(value: string): readonly string[] {
  if (writtenAlike.test(value)) return [value]
  // Half of a pair of surrogates stands in no bytes and in no URL.
  const sent = value.toWellFormed()
  return [value, sent, JSON.stringify(value).slice(1, -1), encodeURIComponent(sent)]
}

const writtenAlike = /^[\w.~!*'()-]*$/

/** A part of a value that is known. */
interface PartOfKnown {
  readonly length: number
  readonly value: string
}

interface Known {
  readonly kind: string
  readonly value: string
  readonly isKept?: true
}

type Identifiers = (text: string) => (start: number, end: number) => boolean

/** Of a text that all are looked for by: characters at its beginning, those at the end of these, and values of their hash. */
const [window, block, hashes] = [8, 3, 1 << 15]

/** Characters by which a text is known from the others. */
const longest = 256

/**
 * Texts of 8 to 256 characters that are looked for in one pass, no matter how many they are: most characters are skipped, and
 * where one may begin, those that do are found by their order.
 *
 * @see Wu and Manber, A fast algorithm for multi-pattern searching (1994)
 */
class ShortTexts {
  /** Of the hash of a block, how far a text may begin at the earliest behind where one ends with it. */
  #skips: Uint8Array | undefined
  /** Of the hash of a window, whether a text begins with one. */
  #begins: Uint8Array | undefined
  /** By their windows, in order. */
  readonly #texts = new Map<string, string[]>()
  /** Of each, the longest of the others that it begins with. */
  readonly #within = new Map<string, string>()

  add(text: string): void {
    const begun = text.slice(0, window)
    const sorted = this.#texts.get(begun) ?? []
    if (sorted.length === 0) this.#texts.set(begun, sorted)
    const at = upTo(sorted, text)
    if (sorted[at - 1] === text) return
    const skips = (this.#skips ??= new Uint8Array(hashes).fill(window - block + 1))
    const begins = (this.#begins ??= new Uint8Array(hashes))
    for (let end = block; end <= window; end++) {
      const hash = hashOf(text, end)
      skips[hash] = Math.min(skips[hash]!, window - end)
    }
    begins[begunAs(text, 0)] = 1
    sorted.splice(at, 0, text)
    for (let nth = at; nth < sorted.length; nth++) {
      const one = sorted[nth]!
      if (!one.startsWith(text)) break
      const known = this.#within.get(one) ?? ''
      if (nth > at && known.length < text.length) this.#within.set(one, text)
    }
    let before = sorted[at - 1]
    while (before !== undefined && !text.startsWith(before)) before = this.#within.get(before)
    if (before !== undefined) this.#within.set(text, before)
  }

  find(text: string, note: (start: number, found: string) => void): void {
    const [skips, begins] = [this.#skips, this.#begins]
    if (skips === undefined || begins === undefined) return
    for (let end = window; end <= text.length; ) {
      const skip = skips[hashOf(text, end)]!
      if (skip > 0) {
        end += skip
        continue
      }
      const start = end - window
      end++
      if (begins[begunAs(text, start)] === 0) continue
      const sorted = this.#texts.get(text.slice(start, start + window))
      if (sorted === undefined) continue
      const begun = text.slice(start, start + longest)
      for (let one = sorted[upTo(sorted, begun) - 1]; one !== undefined; one = this.#within.get(one))
        if (begun.startsWith(one)) note(start, one)
    }
  }
}

/** How many of these, which are in order, are no greater. */
function upTo(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! <= text) low = middle + 1
    else high = middle
  }
  return low
}

/** Of the block that ends here. */
function hashOf(text: string, end: number): number {
  return (text.charCodeAt(end - 1) ^ (text.charCodeAt(end - 2) << 5) ^ (text.charCodeAt(end - 3) << 10)) & (hashes - 1)
}

/** Of the window that begins here. */
function begunAs(text: string, start: number): number {
  let hash = 0
  for (let at = start; at < start + window; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  return (hash ^ (hash >>> 15)) & (hashes - 1)
}

type Search = (text: string, from: number) => number

/** Characters of a spelling that are looked for before the rest of it is. */
const head = 32

/**
 * As `indexOf`, whose time is the product of both lengths where a text repeats what a long spelling repeats: behind its head,
 * no character is looked at again.
 *
 * @see Knuth, Morris and Pratt, SIAM J. Comput. 6 (1977) 323–350
 */
function searchOf(spelling: string): Search {
  if (spelling.length <= 2 * head) return (text, from) => text.indexOf(spelling, from)
  const begin = spelling.slice(0, head)
  let borders: Uint32Array | undefined
  return (text, from) => {
    let start = text.indexOf(begin, from)
    let same = head
    while (start !== -1) {
      while (same < spelling.length && text.charCodeAt(start + same) === spelling.charCodeAt(same)) same++
      if (same === spelling.length) return start
      const border = (borders ??= bordersOf(spelling))[same - 1]!
      start += same - border
      if (border < head) start = text.indexOf(begin, start)
      same = Math.max(border, head)
    }
    return -1
  }
}

/** Of each beginning of a text, how many characters at its end are those it begins with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  for (let at = 1, same = 0; at < text.length; at++) {
    while (same > 0 && text.charCodeAt(at) !== text.charCodeAt(same)) same = borders[same - 1]!
    if (text.charCodeAt(at) === text.charCodeAt(same)) same++
    borders[at] = same
  }
  return borders
}

/** What is shorter is never looked for by itself. */
export const shortestKnown = 8
/** Nor is what is shorter than this, though the application says that it is secret: it would be found in any word. */
export const shortestKept = 4

/** A password may be an ordinary word or a date; those stay where nothing says that they are secret. */
export function isDistinctive(value: string): boolean {
  return (
    value.length >= shortestKnown &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !/^\d{4}-\d\d-\d\d/.test(value) &&
    !value.startsWith('redacted-')
  )
}

const wordsJoined = /^\p{L}{2,}(?<sign>[._-])\p{L}{2,}(?:\k<sign>\p{L}{2,})+$/u
const wordsOfWallet = /^[a-z]{3,8}(?: [a-z]{3,8}){11,24}$/
const shortestPhrase = 12

/** Three words and more that no sentence has so, or those of a wallet. With blanks between few of them, they may be a message. */
export function isDistinctivePhrase(value: string): boolean {
  return (value.length >= shortestPhrase && wordsJoined.test(value)) || wordsOfWallet.test(value)
}
