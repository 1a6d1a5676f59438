import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/**
 * Whether `live` is `recorded` with the wording of user messages changed and all data left alone.
 *
 * Data are what a template is filled with: every input value found in the recorded message must stand in the live one
 * verbatim and as often, and all {@link atoms} must be the same ones in the same order.
 * Without a recorded input nobody can tell data from wording, and the answer is no.
 */
export function isRewording(recorded: readonly Json[], live: readonly Json[], input: Json | undefined): boolean {
  if (input === undefined || recorded.length !== live.length) return false
  const values = leaves(input)
  if (values.length === 0) return false
  return recorded.every((message, i) => isRewordedMessage(message, live[i] ?? null, values))
}

function isRewordedMessage(recorded: Json, live: Json, values: readonly string[]): boolean {
  if (canonicalJson(recorded) === canonicalJson(live)) return true
  if (!isPrompt(recorded) || !isPrompt(live)) return false
  const [before, now] = [texts(recorded), texts(live)]
  return before.length === now.length && before.every((text, i) => sameData(text, now[i] ?? '', values))
}

/** Only what the agent's own code writes is a template: user messages and bare prompts. */
function isPrompt(message: Json): boolean {
  if (typeof message === 'string') return true
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return false
  return (message as { readonly role?: Json }).role === 'user' && !/tool|function/.test(kindsOf(message))
}

function kindsOf(message: Json): string {
  return (
    JSON.stringify(message)
      .match(/"(?:type|toolResult|functionResponse)":?"?[a-z_]*/g)
      ?.join(' ') ?? ''
  )
}

function sameData(recorded: string, live: string, values: readonly string[]): boolean {
  if (recorded === live) return true
  const carried = values.filter((value) => count(recorded, value) > 0)
  // One or two letters stand in any text; they show nothing.
  if (!carried.some((value) => value.length > 2)) return false
  if (carried.some((value) => count(recorded, value) !== count(live, value))) return false
  return atoms(recorded).join('\n') === atoms(live).join('\n')
}

/**
 * What must survive a rewording, in order: numbers, identifiers, addresses, quoted texts, words in capitals, names, and
 * words that turn a sentence round (negations, number words, currencies).
 */
export function atoms(text: string): readonly string[] {
  return [...text.matchAll(pieces)].flatMap(([piece, word], i, all) => {
    if (word === undefined) return [piece]
    const before = text.slice(0, all[i]?.index ?? 0)
    return isTelling(word, before) ? [word] : []
  })
}

// Quoted text, a run with a digit or a sign of an address in it, a currency sign, or a plain word (the one group).
const pieces = /"[^"]*"|“[^”]*”|`[^`]*`|(?<!\p{L})'[^']*'(?!\p{L})|\S*[\d@/_\\]\S*|\p{Sc}|(\p{L}[\p{L}'’]*)/gu

function isTelling(word: string, before: string): boolean {
  // A capital inside a sentence begins a name.
  const isName = /^\p{Lu}\p{Ll}/u.test(word) && /[\p{Ll}\p{N},;:)]\s$/u.test(before.slice(-3))
  return isName || /^\p{Lu}{2,}$/u.test(word) || turning.has(word.toLowerCase()) || /n['’]t$/i.test(word)
}

const turning = new Set(
  [
    'not no never none nobody nothing neither nor without except unless cannot only',
    'one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million billion half double twice',
    'dollar dollars euro euros pound pounds franc francs peso pesos rupee rupees crown crowns cent cents yen yuan usd eur gbp jpy chf cny',
  ]
    .join(' ')
    .split(' '),
)

/** Text values of the input; whole messages are told from words by nothing but their presence. */
function leaves(value: Json): readonly string[] {
  if (typeof value === 'string') return value.trim().length > 0 ? [value.trim()] : []
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value as Record<string, Json>).flatMap(leaves)
}

function texts(message: Json): readonly string[] {
  if (typeof message === 'string') return [message]
  if (typeof message !== 'object' || message === null) return [JSON.stringify(message)]
  return Object.entries(message as Record<string, Json>).flatMap(([key, value]) =>
    key === 'role' || key === 'type' ? [String(value)] : texts(value),
  )
}

/** How often a value stands in a text, not counting where it is a piece of a longer word. */
function count(text: string, value: string): number {
  let found = 0
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + value.length] ?? ' ']
    if (!(isLetter(before) && isLetter(value[0] ?? '')) && !(isLetter(after) && isLetter(value.at(-1) ?? ''))) found++
  }
  return found
}

function isLetter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}
