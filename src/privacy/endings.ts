/** What may stand between the parts of a name. */
const isBetween = flags('_-. ')
/** What may stand between a name and its sign: quotes, Markdown and spaces. */
const isAround = flags(' \t\n\r*`"\'\\]')
const isDigit = flags('0123456789')

/** Characters that are looked at, and those that may stand between a name and its sign. */
const [longest, around] = [64, 16]
/** No more of a word is looked at: few words share as much with one that is not. */
const most = 8
const letters = 32
const [none, whole, start] = [0, 1, 2]
/** A word may stand before a digit. */
const numbered = 0xffff
const space = 0x20

/** Which words a text may end with: read backwards letter by letter, most are distinguished by two or three looks. */
export class Endings {
  /** By state and letter the state that follows: {@link none} of the words, a {@link whole} one, or one that goes on. */
  readonly #next: Uint32Array
  /**
   * By the two characters a text ends with, the last in the higher byte, the state behind them; {@link start} where a sign is
   * among them, {@link numbered}.
   */
  readonly #twoLast = new Uint16Array(1 << 16)
  /** Digits that words end with. */
  readonly #digits: ReadonlySet<number>

  readonly #mostDigits: number

  /**
   * @param words - in lower case, of letters and digits
   * @param options - how many digits may stand behind one, and whether letters beyond ASCII may have the last bits of a digit
   */
  constructor(words: readonly string[], { mostDigits, isWide }: { mostDigits: number; isWide: boolean }) {
    this.#mostDigits = mostDigits
    // Beyond ASCII, a capital is not its small letter by its last bits, and an accent may be a character of its own.
    const all = words.flatMap((word) =>
      /^[\0-\x7f]*$/.test(word) ? [word] : [word, word.toUpperCase()].flatMap((one) => [one, one.normalize('NFD')]),
    )
    const ends = [...new Set(all.map(endOf))].filter((word) => word !== '')
    this.#digits = new Set(
      ends
        .map((word) => word.charCodeAt(word.length - 1) & (isWide ? 0xff : 0xffff))
        .filter((code) => isDigit[code] === 1),
    )
    const next = new Uint32Array(ends.reduce((sum, { length }) => sum + length, start + 1) * letters)
    let states = start + 1
    for (const word of ends) {
      let state = start
      for (let at = word.length - 1; at >= 0 && state !== whole; at--) {
        const place = state * letters + letterOf(word.charCodeAt(at))
        if (at === 0) next[place] = whole
        else if (next[place] === none) next[place] = states++
        state = next[place]!
      }
    }
    this.#next = next.slice(0, states * letters)
    for (let last = 0; last < 256; last++)
      if (isAround[last] === 1 || isBetween[last] === 1 || isDigit[last] === 1 || this.#after(start, last) !== none)
        for (let before = 0; before < 256; before++) this.#twoLast[(last << 8) | before] = this.#behind(before, last)
  }

  #behind(before: number, last: number): number {
    if (isAround[last] === 1 || isBetween[last] === 1) return start
    const isSign = isBetween[before] === 1
    if (isDigit[last] === 1) {
      const isName =
        isDigit[before] === 1
          ? this.#mostDigits > 1
          : before !== space && (isSign || this.#after(start, before) !== none)
      if (isName || !this.#digits.has(last)) return isName ? numbered : none
    }
    const state = this.#after(start, last)
    if (state <= whole) return state
    const next = isSign ? start : this.#after(state, before)
    // What has no room is read once more from the end.
    return next < numbered ? next : start
  }

  #after(state: number, code: number): number {
    return this.#next[state * letters + letterOf(code)]!
  }

  /** Whether a word, in capitals or not and with signs between its parts, may end before `end`; quotes may follow it. */
  mayStand(text: Uint8Array, end: number): boolean {
    let at = end - 1
    if (isAround[text[at]!] === 1) at--
    const state = at > 0 ? this.#twoLast[(text[at]! << 8) | text[at - 1]!]! : start
    if (state <= whole) return state === whole
    if (state !== start && state !== numbered) return this.#goesOn(text, at - 2, state)
    const first = Math.max(0, at - around)
    while (at > first && isAround[text[at]!] === 1) at--
    // One of several, `password2`; or a name of its own that ends so.
    if (isDigit[text[at]!] === 0) return this.#goesOn(text, at, start)
    const before = this.#mostDigits > 1 && isDigit[text[at - 1]!] === 1 ? at - 2 : at - 1
    return this.#goesOn(text, before, start) || this.#goesOn(text, at, start)
  }

  /** Whether a word goes on before its end, of which a state is known. */
  #goesOn(text: Uint8Array, from: number, known: number): boolean {
    const next = this.#next
    const last = Math.max(0, from - longest)
    let state = known
    for (let at = from; at >= last; at--) {
      const code = text[at]!
      if (isBetween[code] === 1) continue
      state = next[state * letters + letterOf(code)]!
      if (state <= whole) return state === whole
    }
    return false
  }
}

/** The end of a word, without what is skipped between its letters when only the last byte of each is looked at. */
function endOf(word: string): string {
  return [...word.slice(-most)].filter((letter) => isBetween[letter.charCodeAt(0) & 0xff] === 0).join('')
}

/** Capitals and small letters are the same in their last five bits; some digits and signs are taken for letters. */
function letterOf(code: number): number {
  return code & (letters - 1)
}

function flags(characters: string): Uint8Array {
  const all = new Uint8Array(256)
  for (const character of characters) all[character.charCodeAt(0)] = 1
  return all
}
