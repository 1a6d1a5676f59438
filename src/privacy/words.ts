/** A word of base64 whose bytes are text. */
export interface EncodedWord {
  readonly start: number
  readonly end: number
  /** What it says. */
  readonly plain: string
}

/** Shorter ones hold no secret and the name that tells it. */
const least = 24

/** Of each character, whether it is a letter of base64; in addresses `-_` stand for `+/`. */
const isLetter = new Uint8Array(1 << 16)
/** The six bits of each letter. */
const bits = new Uint8Array(128)
for (const signs of ['+/', '-_']) {
  const letters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${signs}`
  for (let at = 0; at < letters.length; at++) {
    isLetter[letters.charCodeAt(at)] = 1
    bits[letters.charCodeAt(at)] = at
  }
}

/**
 * The words of base64 in a text that say text, in order. One character in {@link least} is looked at, and a word is read
 * whole only when it begins like text: images, archives, keys and what providers sign do not.
 */
export function encodedWords(text: string): readonly EncodedWord[] {
  if (text.length < least) return none
  const memo = text.length > worthAlone ? long : short
  if (text === memo.text) return memo.words
  memo.words = text.length < worthCopying ? inShort(text) : inLong(text)
  memo.text = text.length <= memoLength ? text : ''
  return memo.words
}

interface Memo {
  text: string
  words: readonly EncodedWord[]
}

/** A text is searched and then noted down: what it holds is worked out once; that of a long one is kept while its words are read. */
const [long, short]: [Memo, Memo] = [
  { text: '', words: [] },
  { text: '', words: [] },
]
const [worthAlone, memoLength] = [4_096, 1 << 20]

/** To ask codes for a character takes a fifth of asking a text; to copy a text there takes a call. */
const worthCopying = 128
/** The codes of a part of a text. */
const block = new Uint16Array(1 << 16)
const writer = Buffer.from(block.buffer)

/** Copies what begins there, as far as there is room; where it ends. */
function copied(text: string, from: number): number {
  const part = text.slice(from, from + block.length)
  return from + writer.write(part, 0, 'utf16le') / 2
}

function inShort(text: string): readonly EncodedWord[] {
  let found: EncodedWord[] | undefined
  for (let at = least - 1; at < text.length; at += least) {
    if (isLetter[text.charCodeAt(at)] !== 1) continue
    let start = at
    while (start > 0 && at - start < least && isLetter[text.charCodeAt(start - 1)] === 1) start--
    let end = at + 1
    while (end < text.length && isLetter[text.charCodeAt(end)] === 1) end++
    at = end
    if (isEscape(text, start)) start++
    if (end - start < least) continue
    for (let nth = start; nth < end; nth++) block[nth] = text.charCodeAt(nth)
    const word = read(text, start, end, 0)
    if (word !== undefined) (found ??= []).push(word)
  }
  return found ?? none
}

function inLong(text: string): readonly EncodedWord[] {
  let found: EncodedWord[] | undefined
  let from = 0
  let to = copied(text, from)
  for (let at = least - 1; at < text.length; at += least) {
    if (at >= to) {
      from = at - least
      to = copied(text, from)
    }
    if (isLetter[block[at - from]!] !== 1) continue
    let start = at
    while (start > from && at - start < least && isLetter[block[start - 1 - from]!] === 1) start--
    let end = at + 1
    while (end < to && isLetter[block[end - from]!] === 1) end++
    if (end === to && end < text.length) {
      from = start
      to = copied(text, from)
      while (end < to && isLetter[block[end - from]!] === 1) end++
      // Longer than the room for codes.
      if (end === to) while (end < text.length && isLetter[text.charCodeAt(end)] === 1) end++
    }
    at = end
    if (isEscape(text, start)) start++
    if (end - start < least) continue
    const word = read(text, start, end, from)
    if (word !== undefined) (found ??= []).push(word)
  }
  return found ?? none
}

/** `\n` before a word belongs to JSON, and a path or an address has few letters between its slashes. */
function isEscape(text: string, start: number): boolean {
  return text.charCodeAt(start - 1) === backslash
}

const backslash = 0x5c
const none: readonly EncodedWord[] = []
const printable = /^[\t\n\r\x20-\x7e\u00a0-\ufffc]+$/

/** Whether a word of letters ends as an encoder ends one: what is beyond the last byte is zero. */
function isWhole(letters: number, last: number): boolean {
  const rest = letters % 4
  return rest === 0 || (rest === 2 && (last & 15) === 0) || (rest === 3 && (last & 3) === 0)
}

/** The word that stands there, its codes in the block, where that of the text at `from` is the first. */
function read(text: string, start: number, end: number, from: number): EncodedWord | undefined {
  const begin = start - from
  if (!isWhole(end - start, bits[text.charCodeAt(end - 1)]!)) return undefined
  const isLong = end - start > room.length
  const plain = isLong ? saidByMany(text, start, end, begin) : said(begin, end - from)
  if (plain === undefined) return undefined
  let padded = end
  while (text[padded] === '=' && padded - end < 2) padded++
  return { start, end: padded, plain }
}

/** Room for the bytes of one word: a buffer for each costs more than to read it. */
const room = Buffer.alloc(1 << 12)

/** What letters in the block say; `undefined` where that is no text. */
function said(begin: number, end: number): string | undefined {
  const length = decoded(begin, end)
  if (length >= 0) return length === 0 ? undefined : room.toString('latin1', 0, length)
  return asText(room.toString('utf8', 0, -length))
}

/** As {@link said}, where there is no room for it. */
function saidByMany(text: string, start: number, end: number, begin: number): string | undefined {
  return decoded(begin, begin + least - 4) === 0
    ? undefined
    : asText(Buffer.from(text.slice(start, end), 'base64').toString())
}

function asText(plain: string): string | undefined {
  return printable.test(plain) ? plain : undefined
}

/**
 * Decodes letters in the block.
 *
 * @returns how many bytes they are, less than zero where some are beyond ASCII; zero for a control among them: most words have
 *   one, and most of those at their beginning
 */
function decoded(begin: number, end: number): number {
  let length = 0
  let all = 0
  let at = begin
  for (; at + 4 <= end; at += 4) {
    const four =
      (bits[block[at]!]! << 18) | (bits[block[at + 1]!]! << 12) | (bits[block[at + 2]!]! << 6) | bits[block[at + 3]!]!
    const [one, two, three] = [four >> 16, (four >> 8) & 0xff, four & 0xff]
    if ((isControl[one]! | isControl[two]! | isControl[three]!) !== 0) return 0
    room[length] = one
    room[length + 1] = two
    room[length + 2] = three
    length += 3
    all |= four
  }
  for (let shift = 2; at + 1 < end; at++, shift += 2) {
    const byte = ((bits[block[at]!]! << shift) | (bits[block[at + 1]!]! >> (6 - shift))) & 0xff
    if (isControl[byte] === 1) return 0
    room[length++] = byte
    all |= byte
  }
  return (all & 0x808080) === 0 ? length : -length
}

const isControl = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 ? Number(byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) : Number(byte === 0x7f),
)

/** Another text, written the way a word of a text is. */
export function encodedAs(text: string, { start, end }: EncodedWord, plain: string): string {
  const word = text.slice(start, end)
  const isOfUrls = /[_-]/.test(word)
  const isPadded = word.endsWith('=') || (!isOfUrls && word.length % 4 === 0)
  const again = encoded(plain)
  const spelled = isOfUrls ? again.replaceAll('+', '-').replaceAll('/', '_') : again
  return isPadded || !spelled.endsWith('=') ? spelled : spelled.replace(/=+$/, '')
}

function encoded(text: string): string {
  // Of a character there are three bytes at most.
  return text.length * 3 > room.length
    ? Buffer.from(text).toString('base64')
    : room.toString('base64', 0, room.write(text))
}
