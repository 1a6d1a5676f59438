import type { Endings } from './endings.ts'
import type { TextRange } from './types.ts'

/** Something to look at wherever a text stands. */
export interface Trigger {
  /** What is looked for: two characters at least. */
  readonly text: string
  /** Where the two characters stand by which it is found. Default: the rarest; others where those have a gate. */
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
  /** Its characters beside the pair, which tell most other words apart; 0 where it has none. */
  readonly before: number
  readonly after: number
  /** Number of the trigger, or of the first of its group. */
  readonly nth: number
  readonly behind: Endings | undefined
}

/** Bytes looked at in one go; the last one is the first of the next go, for the pair on the border. */
const blockLength = 1 << 16
/** Bytes at the beginning of a block behind which a name may have begun before it. */
const blockSeen = 128
const bytes = new Uint8Array(blockLength + 1)
const writer = Buffer.from(bytes.buffer, 0, blockLength)
/** Where the second characters of pairs stand that were found in a block. */
const hits = new Uint16Array(blockLength)

/**
 * Notes down where pairs of the table stand in the first bytes of the block. Two characters a step, and nothing is called:
 * in a loop that calls something, the table and the bytes are loaded again for each character.
 *
 * @returns how many
 */
function pairsIn(table: Uint16Array, length: number): number {
  let count = 0
  let before = 0
  // The last step may read one byte more, which is of another text.
  bytes[length] = 0
  for (let at = 0; at < length; at += 2) {
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
  readonly #lists: Entry[][] = [[]]
  /** By number of the list, what all of it have to stand behind. */
  readonly #gates: readonly (Endings | undefined)[]
  readonly #goOn: Float64Array
  #isTouched = false

  constructor(triggers: readonly Trigger[]) {
    this.#goOn = new Float64Array(triggers.length)
    const groups = new Map<string, number>()
    triggers.forEach((trigger, at) => {
      const { text, group, behind, pair: given } = trigger
      const nth = group === undefined ? at : (groups.get(group) ?? at)
      if (group !== undefined) groups.set(group, nth)
      const offset = given ?? rarestPair(text)
      const pair = (text.charCodeAt(offset) & 0xff) | ((text.charCodeAt(offset + 1) & 0xff) << 8)
      if (this.#table[pair] === 0) this.#table[pair] = this.#lists.push([]) - 1
      const [before, after] = [offset === 0 ? 0 : text.charCodeAt(offset - 1), text.charCodeAt(offset + 2) || 0]
      const codes = Uint16Array.from(text, (_, at) => text.charCodeAt(at))
      this.#lists[this.#table[pair]!]!.push({ at: trigger.at, codes, offset, before, after, nth, behind })
    })
    this.#gates = this.#lists.map(([first, ...others]) =>
      others.every(({ behind }) => behind === first?.behind) ? first?.behind : undefined,
    )
  }

  /** Adds to `found` in the order of the text, as far as triggers see it. */
  find(text: string, found: TextRange[]): void {
    if (this.#isTouched) this.#goOn.fill(0)
    this.#isTouched = false
    const table = this.#table
    const gates = this.#gates
    for (let from = 0; from + 1 < text.length; from += blockLength - 1) {
      // Characters beyond a byte are cut down to one: what they then seem to be is looked at again in the text.
      const part = text.length <= blockLength ? text : text.slice(from, from + blockLength)
      const length = writer.write(part, 0, 'latin1')
      const count = pairsIn(table, length)
      for (let nth = 0; nth < count; nth++) {
        const at = hits[nth]!
        const list = table[bytes[at - 1]! | (bytes[at]! << 8)]!
        const gate = gates[list]
        // What stands before the block is not among its bytes.
        if (gate !== undefined && (from === 0 || at > blockSeen) && !gate.mayStand(bytes, at)) continue
        this.#try(text, from + at - 1, list, found)
      }
    }
  }

  #try(text: string, pair: number, list: number, found: TextRange[]): void {
    const entries = this.#lists[list]!
    const [before, after] = [text.charCodeAt(pair - 1), text.charCodeAt(pair + 2)]
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at]!
      if (entry.before !== 0 && entry.before !== before) continue
      if (entry.after !== 0 && entry.after !== after) continue
      const { codes, offset, nth, at: look } = entry
      const index = pair - offset
      if (index < this.#goOn[nth]! || !stands(codes, text, index)) continue
      const next = look(text, index, found)
      if (next === 0) continue
      this.#goOn[nth] = next
      this.#isTouched = true
    }
  }
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
