import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/**
 * Whether `live` is `recorded` with the wording of user messages changed and all data left alone.
 *
 * Data are what a template is filled with: every input value found in the recorded message must stand in the live one
 * verbatim, and all numbers, identifiers, quoted texts, addresses and codes must be the same ones in the same order.
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
  return JSON.stringify(message).match(/"(?:type|toolResult|functionResponse)":?"?[a-z_]*/g)?.join(' ') ?? ''
}

function sameData(recorded: string, live: string, values: readonly string[]): boolean {
  if (recorded === live) return true
  const carried = values.filter((value) => recorded.includes(value))
  if (carried.length === 0) return false
  if (carried.some((value) => count(recorded, value) !== count(live, value))) return false
  return atoms(recorded).join('\n') === atoms(live).join('\n')
}

/** Numbers, identifiers, addresses, quoted texts, and words in capitals, in order. */
export function atoms(text: string): readonly string[] {
  return text.match(/"[^"]*"|'[^']*'|`[^`]*`|\S*[\d@/_\\]\S*|\b\p{Lu}{2,}\b/gu) ?? []
}

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
  return Object.entries(message as Record<string, Json>).flatMap(([key, value]) => (key === 'role' || key === 'type' ? [String(value)] : texts(value)))
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}
