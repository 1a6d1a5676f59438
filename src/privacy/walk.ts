import type { Endings } from './endings.ts'
import type { TextRange } from './types.ts'
import { work } from './work.ts'

/** Something to look at wherever a text stands. */
export interface Trigger {
  /** What is looked for: two characters at least. */
  readonly text: string
  /** Where the two characters stand by which it is found. Default: the rarest; others where texts like it are found anyway. */
  readonly pair?: number
  /** Triggers of one group go on together. Default: each by itself. */
  readonly group?: string
  /** Of a text of two characters: it need not be looked at where none of these ends with the first one, or before it. */
  readonly behind?: Endings
  /**
   * Looks at one place where it stands, and adds what it finds there.
   *
   * @returns where to go on: the same trigger is not asked at places before; 0 for the next one
   */
  readonly at: (text: string, index: number, found: TextRange[]) => number
}

interface Entry {
  readonly at: Trigger['at']
  /** Its characters, for a look that calls nothing. */
  readonly codes: Uint16Array
  /** Where in its text the pair stands by which it is found. */
  readonly offset: number
  /** Its characters before and behind the pair, the second in the higher byte, which tell most other words apart. */
  readonly beside: number
  /** Which of the two it has. */
  readonly mask: number
  /** Number of the trigger, or of its group. */
  readonly nth: number
  readonly behind: Endings | undefined
}

/** Those found by one pair. */
interface Entries {
  readonly all: readonly Entry[]
  /** What those that stand behind something stand behind. */
  readonly gate: Endings | undefined
  /** Those that stand behind anything, where others do not. */
  readonly anywhere: readonly Entry[]
}

/** Characters looked at in one go: an even number, for two are looked at a step. */
const blockLength = 1 << 16
/** Characters before a block that are among its bytes, and those behind it. */
const [margin, behindBlock] = [2, 1]
/** Bytes at the beginning of a block behind which a name may have begun before it. */
const blockSeen = 128
const bytes = new Uint8Array(margin + blockLength + behindBlock)
const writer = Buffer.from(bytes.buffer, margin, blockLength)
/** Where the second characters of pairs stand that were found in a block. */
const hits = new Uint32Array(blockLength)

/** To write a text there takes a call, and to ask it for its characters takes less where they are few. */
const worthWriting = 64

function copied(text: string): number {
  for (let at = 0; at < text.length; at++) bytes[margin + at] = text.charCodeAt(at)
  return text.length
}

function written(text: string, from: number): number {
  return writer.write(text.length <= blockLength ? text : text.slice(from, from + blockLength), 0, 'latin1')
}

/**
 * Notes down where pairs of the table stand that end in the block. Two characters a step, and nothing is called: in a loop
 * that calls something, the table and the bytes are loaded again for each character.
 *
 * @returns how many
 */
function pairsIn(table: Uint16Array, length: number): number {
  let count = 0
  let before = bytes[margin - 1]!
  for (let at = margin; at < margin + length; at += 2) {
    const one = bytes[at]!
    const two = bytes[at + 1]!
    const first = table[before | (one << 8)]!
    const second = table[one | (two << 8)]!
    before = two
    if ((first | second) === 0) continue
    if (first !== 0) hits[count++] = at
    if (second !== 0) hits[count++] = at + 1
  }
  return count
}

/**
 * Finds all triggers in one pass: each is recognised by its rarest pair of neighbouring characters, one look at a table per
 * character regardless of the number of triggers.
 */
export class Walk {
  /** By pair, the second character in the higher byte, the number of its list. */
  readonly #table = new Uint16Array(1 << 16)
  readonly #lists: readonly Entries[]
  readonly #goOn: Float64Array
  /** Which of these are not zero, as many as {@link #touches}: most texts change few. */
  readonly #touched: Uint16Array
  #touches = 0

  constructor(triggers: readonly Trigger[]) {
    const groups = new Map<string, number>()
    const lists: Entry[][] = [[]]
    let count = 0
    for (const trigger of triggers) {
      const { text, group, behind, pair: given } = trigger
      const nth = groups.get(group ?? '') ?? count++
      if (group !== undefined) groups.set(group, nth)
      const offset = given ?? rarestPair(text)
      const pair = (text.charCodeAt(offset) & 0xff) | ((text.charCodeAt(offset + 1) & 0xff) << 8)
      if (this.#table[pair] === 0) this.#table[pair] = lists.push([]) - 1
      const [before, after] = [offset > 0, offset + 2 < text.length]
      const mask = (before ? 0xff : 0) | (after ? 0xff00 : 0)
      const beside =
        (before ? text.charCodeAt(offset - 1) & 0xff : 0) | (after ? (text.charCodeAt(offset + 2) & 0xff) << 8 : 0)
      const codes = Uint16Array.from(text, (_, at) => text.charCodeAt(at))
      lists[this.#table[pair]!]!.push({ at: trigger.at, codes, offset, beside, mask, nth, behind })
    }
    this.#goOn = new Float64Array(count)
    this.#touched = new Uint16Array(count)
    this.#lists = lists.map(entriesOf)
  }

  /** Adds to `found` in the order of the text, as far as triggers see it. */
  find(text: string, found: TextRange[]): void {
    for (let nth = 0; nth < this.#touches; nth++) this.#goOn[this.#touched[nth]!] = 0
    this.#touches = 0
    for (let from = 0; from < text.length && work.done <= work.most; from += blockLength) {
      // Characters beyond a byte are cut down to one: what they then seem to be is looked at again in the text.
      const length = text.length < worthWriting ? copied(text) : written(text, from)
      bytes[0] = text.charCodeAt(from - 2)
      bytes[1] = text.charCodeAt(from - 1)
      bytes[margin + length] = text.charCodeAt(from + length)
      const count = pairsIn(this.#table, length)
      if (count > 0) this.#ask(text, from, count, found)
    }
  }

  /** Asks those whose pairs were found in the block that begins at `from`. */
  #ask(text: string, from: number, count: number, found: TextRange[]): void {
    const table = this.#table
    const lists = this.#lists
    for (let nth = 0; nth < count && work.done <= work.most; nth++) {
      const at = hits[nth]!
      const { all, gate, anywhere } = lists[table[bytes[at - 1]! | (bytes[at]! << 8)]!]!
      // What stands long before the block is not among its bytes.
      const isShut = gate !== undefined && (from === 0 || at > blockSeen) && !gate.mayStand(bytes, at)
      if (isShut && anywhere.length === 0) continue
      const beside = bytes[at - 2]! | (bytes[at + 1]! << 8)
      this.#try(text, from + at - margin - 1, beside, isShut ? anywhere : all, found)
    }
  }

  #try(text: string, pair: number, beside: number, entries: readonly Entry[], found: TextRange[]): void {
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at]!
      if ((beside & entry.mask) !== entry.beside) continue
      const { codes, offset, nth, at: look } = entry
      const index = pair - offset
      if (index < this.#goOn[nth]! || !stands(codes, text, index)) continue
      work.done++
      const next = look(text, index, found)
      if (next === 0) continue
      if (this.#goOn[nth] === 0) this.#touched[this.#touches++] = nth
      this.#goOn[nth] = next
    }
  }
}

function entriesOf(all: readonly Entry[]): Entries {
  const [gate, ...others] = new Set(all.flatMap(({ behind }) => behind ?? []))
  if (others.length > 0) return { all, gate: undefined, anywhere: [] }
  return { all, gate, anywhere: all.filter(({ behind }) => behind === undefined) }
}

function stands(codes: Uint16Array, text: string, index: number): boolean {
  for (let at = 0; at < codes.length; at++) if (text.charCodeAt(index + at) !== codes[at]) return false
  return true
}

/** Characters of text and JSON, most frequent first; what is not among them is rarer. */
const frequent = ' etaoinshrdlucmfwypvbgkxjqz0123456789",:{}.-_/[]ETAOINSHRDLUCMFWYPVBGKXJQZ'

function rarestPair(text: string): number {
  const rank = (at: number): number => {
    const found = frequent.indexOf(text[at] ?? '')
    return found === -1 ? frequent.length : found
  }
  let best = 0
  for (let at = 1; at < text.length - 1; at++) if (rank(at) + rank(at + 1) > rank(best) + rank(best + 1)) best = at
  return best
}
