import type { Json } from '../tape/index.ts'
import { atoms } from './rewording.ts'

/**
 * Whether two argument values differ in wording only: the same structure, and wherever texts differ both are prose of
 * at least three words carrying the same numbers, identifiers, quotations and codes in the same order.
 */
export function sameProse(recorded: Json, live: Json): boolean {
  if (typeof recorded === 'string' && typeof live === 'string') {
    return (
      recorded === live || (isProse(recorded) && isProse(live) && atoms(recorded).join('\n') === atoms(live).join('\n'))
    )
  }
  if (Array.isArray(recorded) && Array.isArray(live)) {
    return (
      recorded.length === live.length &&
      recorded.every((item: Json, i) => sameProse(item, (live as readonly Json[])[i] ?? null))
    )
  }
  if (isMap(recorded) && isMap(live)) {
    const keys = Object.keys(recorded)
    return (
      keys.length === Object.keys(live).length &&
      keys.every((key) => Object.hasOwn(live, key) && sameProse(recorded[key] ?? null, live[key] ?? null))
    )
  }
  return recorded === live
}

function isProse(text: string): boolean {
  return text.trim().split(/\s+/).length >= 3
}

function isMap(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
