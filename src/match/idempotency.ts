import type { HeaderPair } from '../tape/index.ts'
import type { FoundDrift } from './matcher.ts'

/** Names under which services take such a key. */
export const idempotencyNames: ReadonlySet<string> = new Set(['idempotency-key', 'x-idempotency-key'])

/**
 * Watches the keys of idempotency: they tell a service which requests are one. Their values are made again in each
 * run; which requests share one must stay as recorded, or what was done once is done twice.
 */
export class IdempotencyKeys {
  readonly #liveOf = new Map<string, string>()
  readonly #recordedOf = new Map<string, string>()

  /** Says what is wrong with the key of a live request, if anything is. Both headers are redacted. */
  check(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): readonly FoundDrift[] {
    const was = keyIn(recorded)
    const is = keyIn(live)
    if (was === undefined && is === undefined) return []
    if (is === undefined) return differing('a key', '(absent)')
    const owner = this.#recordedOf.get(is)
    // A key of its own that was added makes nothing worse.
    if (was === undefined) return owner === undefined ? [] : differing('(absent)', 'the key of another request')
    const before = this.#liveOf.get(was)
    if (before !== undefined && before !== is) return differing('the key of the attempt before', 'another key')
    if (owner !== undefined && owner !== was) return differing('a key of its own', 'the key of another request')
    this.#liveOf.set(was, is)
    this.#recordedOf.set(is, was)
    return []
  }
}

/**
 * Of a call of a model only that its key is gone counts: clients draw one for each attempt, and what a model is asked twice
 * it answers twice. A key that a client puts in of itself, as the OpenAI SDK did before version 5, is not the agent's.
 */
export function lostKey(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): readonly FoundDrift[] {
  const was = keyIn(recorded)
  const isOfAgent = was !== undefined && !was.startsWith('stainless-')
  return isOfAgent && !hasKey(live) ? differing('a key', '(absent)') : []
}

/** A service takes requests with one key for one: with another, what was done once may be done twice, or not at all. */
function differing(recorded: string, live: string): readonly FoundDrift[] {
  return [{ class: 'guards', path: 'idempotency-key', recorded, live }]
}

/** Whether a request carries one at all: of one that carries none there is nothing to check. */
export function hasKey(headers: readonly HeaderPair[]): boolean {
  return keyIn(headers) !== undefined
}

function keyIn(headers: readonly HeaderPair[]): string | undefined {
  for (const [name, value] of headers) if (idempotencyNames.has(name)) return value
  return undefined
}
