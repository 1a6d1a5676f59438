import type { HeaderPair } from '../tape/index.ts'

/**
 * Watches the keys of idempotency: they tell a service which requests are one. Their values are drawn anew in each
 * run; which requests share one must stay as recorded, or what was done once is done twice.
 */
export class IdempotencyKeys {
  readonly #liveOf = new Map<string, string>()
  readonly #recordedOf = new Map<string, string>()

  /** Says what is wrong with the key of a live request, if anything is. Both headers are redacted. */
  check(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): string | undefined {
    const was = keyIn(recorded)
    const is = keyIn(live)
    // A key that was added makes nothing worse.
    if (was === undefined) return undefined
    if (is === undefined) return 'it carries none any more'
    const [before, owner] = [this.#liveOf.get(was), this.#recordedOf.get(is)]
    if (before !== undefined && before !== is) return 'a repeated attempt carries another one'
    if (owner !== undefined && owner !== was) return 'it carries that of another request'
    this.#liveOf.set(was, is)
    this.#recordedOf.set(is, was)
    return undefined
  }
}

/** Whether a request carries one at all: of one that carries none there is nothing to check. */
export function hasKey(headers: readonly HeaderPair[]): boolean {
  return keyIn(headers) !== undefined
}

function keyIn(headers: readonly HeaderPair[]): string | undefined {
  for (const [name, value] of headers) if (name === 'idempotency-key') return value
  return undefined
}
