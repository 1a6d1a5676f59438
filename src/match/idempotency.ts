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

  /**
   * Says what is wrong with the key of a live request, if anything is. Both headers are redacted.
   *
   * @param isWhole - a key that the tape does not have was not sent
   */
  check(recorded: readonly HeaderPair[], live: readonly HeaderPair[], isWhole: boolean): readonly FoundDrift[] {
    const [was, is] = [keyIn(recorded)?.value, keyIn(live)?.value]
    const owner = is === undefined ? undefined : this.#recordedOf.get(is)
    if (was === undefined && owner !== undefined) return differing('(absent)', 'the key of another request')
    const other = otherPresence(recorded, live, isWhole)
    if (other.length > 0 || was === undefined || is === undefined) return other
    const before = this.#liveOf.get(was)
    if (before !== undefined && before !== is) return differing('the key of the attempt before', 'another key')
    if (owner !== undefined && owner !== was) return differing('a key of its own', 'the key of another request')
    this.#liveOf.set(was, is)
    this.#recordedOf.set(is, was)
    return []
  }
}

/**
 * Of a call of a model only whether it has a key counts: clients draw one for each attempt, and what a model is asked twice
 * it answers twice. One that its client put in of itself may be gone, as since version 5 of the SDK of OpenAI.
 */
export function otherKeyOfCall(
  recorded: readonly HeaderPair[],
  live: readonly HeaderPair[],
  isWhole: boolean,
): readonly FoundDrift[] {
  return !hasKey(live) && isOfClient(keyIn(recorded)) ? [] : otherPresence(recorded, live, isWhole)
}

/** A key that is gone, new or under another name. One that a client puts in of itself is not the agent's, and makes nothing worse. */
function otherPresence(
  recorded: readonly HeaderPair[],
  live: readonly HeaderPair[],
  isWhole: boolean,
): readonly FoundDrift[] {
  const [was, is] = [keyIn(recorded), keyIn(live)]
  if (was?.name === is?.name || (was === undefined && (!isWhole || isOfClient(is)))) return []
  if (was === undefined) return differing('(absent)', 'a key')
  if (is === undefined) return differing('a key', '(absent)')
  return differing(was.name, is.name)
}

interface Key {
  readonly name: string
  readonly value: string
}

/** Clients say so in keys that they make: `stainless-node-retry-…`, `stripe-node-retry-…`. */
function isOfClient(key: Key | undefined): boolean {
  return key !== undefined && /^[a-z]+-node-retry-/.test(key.value)
}

/** A service takes requests with one key for one: with another, what was done once may be done twice, or not at all. */
function differing(recorded: string, live: string): readonly FoundDrift[] {
  return [{ class: 'guards', path: 'idempotency-key', recorded, live }]
}

/** Whether a request carries one at all: of one that carries none there is nothing to check. */
export function hasKey(headers: readonly HeaderPair[]): boolean {
  return keyIn(headers) !== undefined
}

function keyIn(headers: readonly HeaderPair[]): Key | undefined {
  for (const [name, value] of headers) if (idempotencyNames.has(name)) return { name, value }
  return undefined
}
