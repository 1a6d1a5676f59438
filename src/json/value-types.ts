import type { Json } from './types.ts'

/** As people call it. */
export function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value
}

/** The same in other types, where it can be written in them. */
export function ofType(value: Json, types: readonly string[]): readonly Json[] {
  return types.flatMap((type) => {
    if (type === 'string' && ['number', 'boolean'].includes(typeof value)) return [String(value)]
    const read = typeof value === 'string' ? jsonIn(value) : undefined
    return read !== undefined && typeOf(read) === type && ['number', 'boolean'].includes(type) ? [read] : []
  })
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // A text, and nothing else.
    return undefined
  }
}
