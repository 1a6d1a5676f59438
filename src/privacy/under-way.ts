import { farthest } from './commands.ts'
import { closingQuote } from './edges.ts'
import { isStream, streamedTexts } from './events.ts'
import { valueFields } from './named.ts'

/** Characters at the end of a text in which a secret may have begun that cannot be seen yet. */
const heldBack = 256
/** As they stand in the bytes, where a character may be spelled in six. */
const heldBackRaw = 512
/** What no secret of one word has in it. */
const breaks = /[\s"'<>{}()[\],;`\\]/
/** Words and nothing else: without a digit or a sign no secret has begun, but perhaps in the last word. */
const prose = /^[\p{L}\p{M}\s.,!?']*$/u

/**
 * How much of the beginning of a body is what it will be when more has come, as far as its end goes: where a secret may
 * have begun, it ends.
 *
 * Of a stream the texts that are read together count: `jane@exam` may be all there is of an address.
 */
export function settledEnd(text: string, version: number): number {
  if (!isStream(text, version)) return settledIn(text, heldBackRaw, version)
  // Of a line that is not whole it is unknown what it says.
  const lines = text.lastIndexOf('\n') + 1
  let end = endsInEvents(text.slice(0, lines)) ? lines : Math.min(lines, settledIn(text, heldBackRaw, version))
  for (const pieces of streamedTexts(text, version)) {
    let open = pieces.reduce((sum, piece) => sum + piece.text.length, 0)
    const settled = settledIn(pieces.map((piece) => piece.text).join(''), heldBack, version)
    let first = pieces.length
    while (first > 0 && open > settled) open -= pieces[--first]!.text.length
    // Looked for once: a line may have many pieces.
    if (first < pieces.length) end = Math.min(end, text.lastIndexOf('\n', pieces[first]!.start) + 1)
  }
  return end
}

/** Whether the last lines are events of JSON each: no value goes on in the next one. */
function endsInEvents(text: string): boolean {
  const from = text.lastIndexOf('\n', Math.max(0, text.length - heldBackRaw)) + 1
  return text
    .slice(from)
    .split('\n')
    .every((line) => event.test(line))
}

const event = /^(?:(?:data: ?)?\{.*\}|event: ?[\w.-]{1,80}|)\r?$/

/** An option in quotes, or as an item of YAML: the program it is for may follow its list. */
const listedOption = /["'>]-[A-Za-z]|- -\w/

const valueField = new RegExp(String.raw`\b(?:${valueFields})\\*["']?\s{0,8}[:=]\s{0,8}(\\*["'])`, 'g')

/** Where a value begins whose name may stand behind it: it has not ended, or a little before the end. Longer ones have none. */
function openValue(text: string): number {
  let from = (valueField.lastIndex = 0)
  for (let match = valueField.exec(text); match !== null; match = valueField.exec(text)) {
    const end = closingQuote(text, valueField.lastIndex, match[1]!)
    const start = beforeQuote(text, match.index, from)
    if (end > text.length - heldBackRaw && text.length - start <= farthest) return start
    valueField.lastIndex = from = end
  }
  return text.length
}

/** Where the quote before a name begins, with its backslashes, which a pattern would count again from each of them. */
function beforeQuote(text: string, name: number, from: number): number {
  let start = name > from && /["']/.test(text[name - 1]!) ? name - 1 : name
  while (start > from && text[start - 1] === '\\') start--
  return start
}

/** How much of a text is settled that is read as one. */
function settledIn(text: string, most: number, version: number): number {
  return version < 11 ? cut(text, most) : Math.min(cut(text, most), openValue(text))
}

function cut(text: string, most: number): number {
  const far = Math.max(0, text.length - farthest)
  const option = text.slice(far).search(listedOption)
  return Math.min(cutAtWord(text, most), option === -1 ? text.length : far + option)
}

function cutAtWord(text: string, most: number): number {
  const tail = text.slice(-most)
  const [stop, from] = prose.test(tail) ? [/\s/, text.length] : [breaks, Math.max(0, text.length - most)]
  let end = from
  while (end > 0 && !stop.test(text[end - 1]!)) end--
  return end
}
