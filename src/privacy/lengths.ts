import { looking } from './values.ts'
import { walking, work } from './work.ts'

/** What no text has: in bytes also white space and what is beyond ASCII. */
function isNoText(code: number): boolean {
  if (looking.inBytes) return code < 0x20 || code > 0x7e
  return code < 0x20 && (code < 0x08 || code > 0x0d) && code !== 0x1b
}

let last = { walk: 0, has: false }

/** Whether a text may be bytes that happen to be UTF-8: it has a control character, or what stands there has a tag and a length before it. */
function mayBeBytes(text: string, start: number): boolean {
  if (looking.inBytes || start === 1 || start === 2 || text.charCodeAt(0) < 0x20) return true
  if (last.walk !== walking.nth) last = { walk: walking.nth, has: /[\0-\x07\x0e-\x1a\x1c-\x1f]/.test(text) }
  return last.has
}

/** Whether a token may begin here behind a byte that belongs to none: the last one of a number, or a length behind a tag. */
export function isBehindByte(text: string, start: number): boolean {
  // What needs no look at the whole text comes first.
  return looking.isSinceTenth && start > 1 && isNoText(text.charCodeAt(start - 2)) && mayBeBytes(text, start)
}

const longest = 16_384

/**
 * How long a token is that begins here, in bytes that say so before it: protobuf, MessagePack, Thrift, CBOR, Avro, BSON. Or
 * it begins a text whose length they say.
 *
 * @param lengthIn - how long the token is that a text begins with; 0 where none does
 * @returns 0 where they say none
 */
export function countedLength(text: string, start: number, lengthIn: (said: string) => number): number {
  if (!looking.isSinceTenth || start === 0 || !mayBeBytes(text, start)) return 0
  const one = text.charCodeAt(start - 1)
  const two = text.charCodeAt(start - 2)
  const small = one & 0x1f
  for (const length of [
    one,
    // Zigzag, as Avro has it.
    one >> 1,
    // With a type in the upper bits, as CBOR and Smile have it.
    small < 24 && one >= 0x40 && one < 0x80 ? small : 0,
    one - 0x3f,
    // Of two bytes, either one first, or with seven bits each.
    (two << 8) | one,
    two >= 0x80 ? (one << 7) | (two & 0x7f) : 0,
    two >= 0x80 ? ((one << 7) | (two & 0x7f)) >> 1 : 0,
    // Of four, the lowest first.
    one === 0 && two === 0 ? text.charCodeAt(start - 4) | (text.charCodeAt(start - 3) << 8) : 0,
  ]) {
    if (length < shortest || length > longest || start + length > text.length) continue
    work.done += 4 + (length >> 3)
    const found = lengthIn(text.slice(start, start + length))
    if (found === 0) continue
    if (found === length || start + length === text.length || isNoText(text.charCodeAt(start + length))) return found
  }
  return 0
}

/** No token is shorter. */
const shortest = 8
