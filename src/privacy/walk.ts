import type { Endings } from './endings.ts'
import type { TextRange } from './types.ts'
import { walking, work } from './work.ts'

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
  /** A character of ASCII without which it is not looked at, and how far from its beginning that stands. */
  readonly only?: readonly [distance: number, character: string]
  /**
   * Looks at one place where it stands, and adds what it finds there.
   *
   * @returns where to go on: the same trigger is not asked at places before; 0 for the next one
   */
  readonly at: (text: string, index: number, found: TextRange[]) => number
}

/** A trigger by the pair it is found by. */
interface Entry {
  readonly at: Trigger['at']
  readonly text: string
  /** Its characters before and behind the pair, and which of the two it has. */
  readonly beside: number
  readonly mask: number
  /** Where in its text the pair stands. */
  readonly offset: number
  /** Number of the trigger, or of its group. */
  readonly nth: number
  /** How far from its beginning another character has to stand, and which; 0 where none has to. */
  readonly distance: number
  readonly other: number
}

/**
 * Of each entry these numbers stand side by side, so that one look at memory fetches all of them: what stands beside its pair,
 * and which of that it has; where in its text the pair stands; its number; where its characters begin and end; and which other
 * character it needs how far away.
 */
const perEntry = 8

/** Characters looked at in one go: an even number, for two are looked at a step. */
const blockLength = 1 << 16
/** Characters before a block that are among its bytes, and those behind it. */
const [margin, behindBlock] = [2, 1]
/** Bytes at the beginning of a block behind which a name may have begun before it. */
const blockSeen = 128
const bytes = new Uint8Array(margin + blockLength + behindBlock)
const writer = Buffer.from(bytes.buffer, margin, blockLength)
/** Where the second characters of pairs stand that were found in a block. */
const hits = new Uint32Array(blockLength + 2)

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
 * Notes down where pairs of the table stand that end in the block. Two characters a step; nothing is called, and nothing is
 * decided: in a loop that calls something, the table and the bytes are loaded again for each character, and a processor that
 * guesses wrong at each place waits longer than it takes to write what is written over by the next.
 *
 * @returns how many
 */
function pairsIn(isPair: Uint8Array, length: number): number {
  let count = 0
  let before = bytes[margin - 1]!
  for (let at = margin; at < margin + length; at += 2) {
    const one = bytes[at]!
    const two = bytes[at + 1]!
    hits[count] = at
    count += isPair[before | (one << 8)]!
    hits[count] = at + 1
    count += isPair[one | (two << 8)]!
    before = two
  }
  return count
}

/** What may be of a pair: one that stands anywhere, one behind what an ending may be, or both. */
const [anywhere, behindEnding] = [1, 2]
/** In a hit: only those that stand anywhere are asked. And in what stands beside one. Below it is the place, above it the list. */
const [shut, listBits] = [1 << 17, 18]

/**
 * Finds all triggers in one pass: each is recognised by its rarest pair of neighbouring characters, one look at a table per
 * character regardless of the number of triggers. What most looks touch are small tables of numbers: they stay close to the
 * processor where objects would not, least of all on a machine that others use too.
 */
export class Walk {
  /** By pair, the second character in the higher byte, whether it is one. */
  readonly #isPair = new Uint8Array(1 << 16)
  /** And the number of its list. */
  readonly #listOf = new Uint16Array(1 << 16)
  /** Of each list, what stands in it, and where its entries begin. */
  readonly #has: Uint8Array
  readonly #first: Uint16Array
  /**
   * Of each entry what is asked of it, {@link perEntry}. First its characters before and behind the pair, the second in the higher
   * byte, which tell most other words apart, and which of the two it has. One behind an ending also has that it is not {@link shut}.
   */
  readonly #table: Int32Array
  /** The characters of all, for a look that calls nothing. */
  readonly #codes: Uint16Array
  readonly #looks: readonly Trigger['at'][]
  /** What those that stand behind something stand behind. */
  readonly #gate: Endings | undefined
  readonly #goOn: Float64Array
  /** Which of these are not zero, as many as {@link #touches}: most texts change few. */
  readonly #touched: Uint16Array
  #touches = 0

  constructor(triggers: readonly Trigger[]) {
    const gates = new Set(triggers.flatMap(({ behind }) => behind ?? []))
    if (gates.size > 1) throw new RangeError(`triggers stand behind ${gates.size} kinds of endings, expected one`)
    this.#gate = [...gates][0]
    const groups = new Map<string, number>()
    const lists: Entry[][] = [[]]
    let count = 0
    for (const trigger of triggers) {
      const { text, group, behind, pair: given } = trigger
      const nth = groups.get(group ?? '') ?? count++
      if (group !== undefined) groups.set(group, nth)
      const offset = given ?? rarestPair(text)
      const pair = (text.charCodeAt(offset) & 0xff) | ((text.charCodeAt(offset + 1) & 0xff) << 8)
      if (this.#listOf[pair] === 0) this.#listOf[pair] = lists.push([]) - 1
      this.#isPair[pair] = 1
      const [before, after] = [offset > 0, offset + 2 < text.length]
      const mask = (before ? 0xff : 0) | (after ? 0xff00 : 0) | (behind === undefined ? 0 : shut)
      const beside =
        (before ? text.charCodeAt(offset - 1) & 0xff : 0) | (after ? (text.charCodeAt(offset + 2) & 0xff) << 8 : 0)
      const [distance, character] = trigger.only ?? [0, '']
      lists[this.#listOf[pair]!]!.push({
        at: trigger.at,
        text,
        beside,
        mask,
        offset,
        nth,
        distance,
        other: character.charCodeAt(0),
      })
    }
    this.#goOn = new Float64Array(count)
    this.#touched = new Uint16Array(count)
    const all = lists.flat()
    this.#has = Uint8Array.from(lists, (entries) =>
      entries.reduce((kinds, { mask }) => kinds | (mask < shut ? anywhere : behindEnding), 0),
    )
    let next = 0
    this.#first = Uint16Array.from([...lists, []], ({ length }) => (next += length) - length)
    let codes = ''
    this.#table = Int32Array.from(
      all.flatMap(({ text, beside, mask, offset, nth, distance, other }) => {
        const begin = codes.length
        codes += text
        return [beside, mask, offset, nth, begin, codes.length, distance, other]
      }),
    )
    this.#codes = Uint16Array.from({ length: codes.length }, (_, at) => codes.charCodeAt(at))
    this.#looks = all.map(({ at }) => at)
  }

  /** Adds to `found` in the order of the text, as far as triggers see it. */
  find(text: string, found: TextRange[]): void {
    for (let nth = 0; nth < this.#touches; nth++) this.#goOn[this.#touched[nth]!] = 0
    this.#touches = 0
    walking.nth++
    for (let from = 0; from < text.length && work.done <= work.most; from += blockLength) {
      // Characters beyond a byte are cut down to one: what they then seem to be is looked at again in the text.
      const length = text.length < worthWriting ? copied(text) : written(text, from)
      bytes[0] = from === 0 ? 0 : text.charCodeAt(from - 2)
      bytes[1] = from === 0 ? 0 : text.charCodeAt(from - 1)
      bytes[margin + length] = from + length < text.length ? text.charCodeAt(from + length) : 0
      const count = this.#open(from, pairsIn(this.#isPair, length))
      if (count > 0) this.#ask(text, from, count, found)
    }
  }

  /**
   * Drops the pairs of the block at which none is to be asked, as they stand behind no ending, and adds their lists to the others.
   */
  #open(from: number, count: number): number {
    const gate = this.#gate
    const [listOf, has] = [this.#listOf, this.#has]
    // What stands long before the block is not among its bytes.
    const seen = from === 0 ? 0 : blockSeen
    let open = 0
    for (let nth = 0; nth < count; nth++) {
      const at = hits[nth]!
      const list = listOf[bytes[at - 1]! | (bytes[at]! << 8)]!
      const kinds = has[list]!
      const hit = (list << listBits) | at
      if (kinds === anywhere || at <= seen || gate?.mayStand(bytes, at)) hits[open++] = hit
      else if (kinds !== behindEnding) hits[open++] = hit | shut
    }
    return open
  }

  /** Asks those whose pairs were found in the block that begins at `from`. */
  #ask(text: string, from: number, count: number, found: TextRange[]): void {
    const [first, table] = [this.#first, this.#table]
    for (let nth = 0; nth < count; nth++) {
      const hit = hits[nth]!
      const at = hit & (shut - 1)
      const list = hit >>> listBits
      const beside = bytes[at - 2]! | (bytes[at + 1]! << 8) | (hit & shut)
      const last = first[list + 1]!
      for (let entry = first[list]!; entry < last; entry++)
        if ((beside & table[entry * perEntry + 1]!) === table[entry * perEntry])
          this.#try(text, from + at - margin - 1, entry, found)
      if (work.done > work.most) return
    }
  }

  #try(text: string, pair: number, entry: number, found: TextRange[]): void {
    const table = this.#table
    const at = entry * perEntry
    const index = pair - table[at + 2]!
    const nth = table[at + 3]!
    if (index < this.#goOn[nth]! || !stands(this.#codes, table[at + 4]!, table[at + 5]!, text, index)) return
    work.done++
    const distance = table[at + 6]!
    if (distance !== 0 && text.charCodeAt(index + distance) !== table[at + 7]) return
    const next = this.#looks[entry]!(text, index, found)
    if (next === 0) return
    if (this.#goOn[nth] === 0) this.#touched[this.#touches++] = nth
    this.#goOn[nth] = next
  }
}

function stands(codes: Uint16Array, begin: number, end: number, text: string, index: number): boolean {
  for (let at = begin; at < end; at++) if (text.charCodeAt(index + at - begin) !== codes[at]) return false
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
