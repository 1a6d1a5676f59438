/** A word of base64 whose bytes are text. */
export interface EncodedWord {
  readonly start: number
  readonly end: number
  /** What it says. */
  readonly plain: string
  /** The same way to write another text. */
  readonly encode: (plain: string) => string
}

/** Shorter ones hold no secret and the name that tells it. */
const least = 24

const isLetter = new Uint8Array(256)
for (let code = 0; code < 128; code++) if (/[\w+/-]/.test(String.fromCharCode(code))) isLetter[code] = 1

/**
 * The words of base64 in a text that say text, in order. One character in {@link least} is looked at, and a word is read
 * whole only when it begins like text: images, archives, keys and what providers sign do not.
 */
export function encodedWords(text: string): readonly EncodedWord[] {
  if (text.length < least) return none
  const memo = text.length > worthAlone ? long : short
  if (text === memo.text) return memo.words
  memo.words = wordsIn(text)
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

function wordsIn(text: string): readonly EncodedWord[] {
  let found: EncodedWord[] | undefined
  const hasBytes = text.length >= worthCopying && text.length <= blockLength && !wide.test(text)
  if (hasBytes) writer.write(text, 0, 'latin1')
  for (let at = least - 1; at < text.length; at += least) {
    let start = at
    let end = at + 1
    if (hasBytes) {
      if (isLetter[block[at]!] !== 1) continue
      while (start > 0 && at - start < least && isLetter[block[start - 1]!] === 1) start--
      while (end < text.length && isLetter[block[end]!] === 1) end++
    } else {
      if (isLetter[text.charCodeAt(at)] !== 1) continue
      while (start > 0 && at - start < least && isLetter[text.charCodeAt(start - 1)] === 1) start--
      while (isLetter[text.charCodeAt(end)] === 1) end++
    }
    at = end
    // `\n` before a word belongs to JSON, and a path or an address has few letters between its slashes.
    if (text[start - 1] === '\\') start++
    if (end - start < least) continue
    const word = read(text, start, end)
    if (word !== undefined) (found ??= []).push(word)
  }
  return found ?? none
}

/** To ask bytes for a character takes a fifth of asking a text; to copy a text there takes a call. */
const worthCopying = 128
const blockLength = 1 << 18
const block = new Uint8Array(blockLength)
const writer = Buffer.from(block.buffer)
/** Characters that one byte does not hold. */
const wide = /[^\0-\xff]/

const none: readonly EncodedWord[] = []
const printable = /^[\t\n\r\x20-\x7e\u00a0-\ufffc]+$/

/** The six bits of each letter. */
const bits = new Uint8Array(128)
'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  .split('')
  .forEach((letter, at) => (bits[letter.charCodeAt(0)] = at))
bits['-'.charCodeAt(0)] = 62
bits['_'.charCodeAt(0)] = 63

/** Whether the first characters of a word say text: most words are not, and most of those are recognised at a glance. */
function beginsText(text: string, start: number): boolean {
  for (let at = start; at < start + least - 4; at += 4) {
    const [a, b] = [bits[text.charCodeAt(at)]!, bits[text.charCodeAt(at + 1)]!]
    const [c, d] = [bits[text.charCodeAt(at + 2)]!, bits[text.charCodeAt(at + 3)]!]
    if (isControl((a << 2) | (b >> 4)) || isControl(((b & 15) << 4) | (c >> 2)) || isControl(((c & 3) << 6) | d))
      return false
  }
  return true
}

/** Whether a word of letters of base64 ends as an encoder ends one: what is beyond the last byte is zero. */
function isWhole(text: string, start: number, end: number): boolean {
  const rest = (end - start) % 4
  const last = bits[text.charCodeAt(end - 1)]!
  return rest === 0 || (rest === 2 && (last & 15) === 0) || (rest === 3 && (last & 3) === 0)
}

function isControl(byte: number): boolean {
  return byte < 0x20 ? byte !== 0x0a && byte !== 0x09 && byte !== 0x0d : byte === 0x7f
}

/** Room for the bytes of one word: a buffer for each costs more than to read it. */
const room = Buffer.alloc(1 << 12)

function decoded(word: string, alphabet: 'base64' | 'base64url'): string {
  if (word.length > room.length) return Buffer.from(word, alphabet).toString('utf8')
  return room.toString('utf8', 0, room.write(word, alphabet))
}

function read(text: string, start: number, end: number): EncodedWord | undefined {
  if (!beginsText(text, start) || !isWhole(text, start, end)) return undefined
  const word = text.slice(start, end)
  const alphabet = /[_-]/.test(word) ? 'base64url' : 'base64'
  const plain = decoded(word, alphabet)
  if (!printable.test(plain)) return undefined
  let padded = end
  while (text[padded] === '=' && padded - end < 2) padded++
  const isPadded = padded > end || (alphabet === 'base64' && word.length % 4 === 0)
  return {
    start,
    end: padded,
    plain,
    encode(other) {
      const again = Buffer.from(other).toString(alphabet === 'base64' || isPadded ? 'base64' : 'base64url')
      const spelled = alphabet === 'base64url' ? again.replaceAll('+', '-').replaceAll('/', '_') : again
      return isPadded ? spelled : spelled.replace(/=+$/, '')
    },
  }
}
