import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/** Errors are the same when name, message and code are; the rest, such as a stack or a request object, may not be. */
export function isSameError(recorded: Json, live: Json): boolean {
  const facts = (json: Json): string => {
    const { $type, name, message, fields } = (json ?? {}) as { readonly [key: string]: Json }
    // Anything can be thrown; what is not an error is compared as a value.
    if ($type !== 'error') return canonicalJson(json)
    const { code } = (fields ?? {}) as { readonly code?: Json }
    return JSON.stringify([name ?? null, message ?? null, code ?? null])
  }
  return facts(recorded) === facts(live)
}
