import type { Json } from './types.ts'

/** Roughly what a value takes in memory, in bytes. */
export function jsonSize(value: Json): number {
  if (typeof value === 'string') return 24 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let size = 32
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) size += jsonSize(item)
    return size
  }
  for (const [key, item] of Object.entries(value)) size += 24 + key.length + jsonSize(item)
  return size
}
