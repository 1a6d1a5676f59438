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

/** Which words a text may end with: read backwards letter by letter, most are distinguished by two or three looks. */
export class Endings {
  /** By state and letter the state that follows: {@link none} of the words, a {@link whole} one, or one that goes on. */
  readonly #next: Uint32Array
  /** By the two characters a text ends with, the last in the higher byte: 0 where none of the words ends so, 2 for a digit behind. */
  readonly #twoLast = new Uint8Array(1 << 16)

  /** @param words - in lower case, of letters and digits */
  constructor(words: readonly string[]) {
    // Beyond ASCII, a capital is not its small letter by its last bits.
    const all = words.flatMap((word) => (/^[\0-\x7f]*$/.test(word) ? [word] : [word, word.toUpperCase()]))
    const ends = [...new Set(all.map(endOf))].filter((word) => word !== '')
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
    for (let last = 0; last < 256; last++) {
      const state = this.#next[start * letters + letterOf(last)]!
      const isOpen = isAround[last] === 1 || isBetween[last] === 1 || state === whole
      if (state === none && !isOpen) continue
      for (let before = 0; before < 256; before++)
        if (isOpen || isBetween[before] === 1 || this.#next[state * letters + letterOf(before)] !== none)
          this.#twoLast[(last << 8) | before] = 1
    }
    for (let digit = 0; digit < 256; digit++)
      for (let before = 0; isDigit[digit] === 1 && before < 256; before++) {
        const isEnd = isBetween[before] === 1 || this.#next[start * letters + letterOf(before)] !== none
        if (isEnd && isDigit[before] === 0) this.#twoLast[(digit << 8) | before]! |= 2
      }
  }

  /** Whether a word, in capitals or not and with signs between its parts, may end before `end`; quotes may follow it. */
  mayStand(text: Uint8Array, end: number): boolean {
    const next = this.#next
    let at = end - 1
    if (isAround[text[at]!] === 1) at--
    // 0: none; 1: one may stand there; more: behind a digit.
    const look = at > 0 ? this.#twoLast[(text[at]! << 8) | text[at - 1]!]! : 1
    if (look !== 1) return look > 1 && this.#standsNumbered(text, at)
    const first = Math.max(0, at - around)
    const last = Math.max(0, at - longest)
    while (at > first && isAround[text[at]!] === 1) at--
    if (isDigit[text[at]!] === 1) return this.#standsNumbered(text, at)
    let state: number = start
    for (; at >= last; at--) {
      const code = text[at]!
      if (isBetween[code] === 1) continue
      state = next[state * letters + letterOf(code)]!
      if (state <= whole) return state === whole
    }
    return false
  }

  /** One of several: `password2`; or a name of its own that ends so. */
  #standsNumbered(text: Uint8Array, last: number): boolean {
    return this.#ends(text, last - 1) || this.#ends(text, last)
  }

  #ends(text: Uint8Array, from: number): boolean {
    let state: number = start
    for (let at = from; at >= 0 && from - at < longest; at--) {
      const code = text[at]!
      if (isBetween[code] === 1) continue
      state = this.#next[state * letters + letterOf(code)]!
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
