import { codesOf, has } from './edges.ts'

/**
 * What the search of texts has cost, in units of about fifty nanoseconds: characters that are walked over, places that
 * are looked at, secrets that are found, words that are decoded. It is counted and not measured: one text costs the same
 * everywhere and always, so that a recorder, a replay and `check` give up on the same texts.
 */
export const work = { done: 0, most: Number.POSITIVE_INFINITY }

/**
 * Which walk of a text is under way. What was seen of a text is kept by this: to compare the text itself takes as long as it is
 * where an equal one is another string, and would keep it in memory.
 */
export const walking = { nth: 0 }

/** What it costs to find something, and to replace it. */
export const [perFind, perSecret] = [4, 20]
/** What a word of base64 costs, beside the search of what it says. */
export const perWord = 12
/** What a text may cost beyond {@link workFor}: a short one may be full of secrets. */
export const spareWork = 1 << 18
const perCharacter = 4

/** What all searches of a text of a length may cost: some times what they cost where people or programs wrote it. */
export function workFor(length: number): number {
  return length * perCharacter
}

/** Whether the search under way has cost more than it may: what it found is not all there is. */
export function isOverworked(): boolean {
  return work.done > work.most
}

/** Runs a search that other texts decide about as well, and that no text pays for. */
export function uncounted<T>(search: () => T): T {
  const { done, most } = work
  work.most = Number.POSITIVE_INFINITY
  try {
    return search()
  } finally {
    work.done = done
    work.most = most
  }
}

const [star, backslash, percent, lowerU] = [0x2a, 0x5c, 0x25, 0x75]
/** A number of JSON or one of its words; at the beginning of a line, the name of a field of an event. */
const standing =
  /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?![\w-])|(?<=^|\n)(?:data|event|id|retry)(?=:)/y
const [mayStand, joins] = [codesOf(/[-\dtfndeir]/, 128), codesOf(/[\w.+-]/, 128)]
const [isAlphanumeric, isHex, isEscape] = [/[A-Za-z\d]/, /[\dA-Fa-f]/, /[bfnrt]/].map((of) => codesOf(of, 128)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

/**
 * A text without anything that may be secret, for one that costs more than it may: each letter and digit is
 * a star. It is as long as it was, and JSON if it was.
 */
export function masked(text: string): string {
  // What is left is ASCII.
  const codes = new Uint8Array(text.length)
  let at = 0
  let before = 0
  const put = (said: string): void => {
    for (let nth = 0; nth < said.length; nth++) codes[at++] = said.charCodeAt(nth)
  }
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (before === backslash && code === lowerU && areHex(text, at + 1, 4)) put('u002a')
    else if (code === percent && areHex(text, at + 1, 2)) put('%2a')
    else if (has(mayStand, code) && before !== backslash && !(before > 127 || has(joins, before)) && stands(text, at))
      put(zeroed(text.slice(at, standing.lastIndex)))
    else {
      const isKept = before === backslash && has(isEscape, code)
      codes[at++] = !isKept && (code > 127 || has(isAlphanumeric, code)) ? star : code
      before = code
      continue
    }
    before = text.charCodeAt(at - 1)
  }
  return Buffer.from(codes.buffer).toString('latin1')
}

function stands(text: string, at: number): boolean {
  standing.lastIndex = at
  return standing.test(text)
}

function areHex(text: string, start: number, count: number): boolean {
  for (let at = start; at < start + count; at++) if (!has(isHex, text.charCodeAt(at))) return false
  return true
}

/** A number of as many digits that says nothing; words as they are. */
function zeroed(said: string): string {
  if (!/\d/.test(said)) return said
  const zeros = said.replaceAll(/\d/g, '0')
  // No number of JSON begins with a zero before other digits.
  return zeros.replace(/^(-?)0(?=0)/, '$11')
}
