import type { Attributes, SpanKind } from './spans.ts'

/** What a span says, as far as one convention tells it. */
export interface Meaning {
  readonly kind?: SpanKind | undefined
  readonly name?: string | undefined
  /** Arguments of a tool, or the input of a model. */
  readonly input?: unknown
  /** Beside the input. */
  readonly system?: unknown
  readonly output?: unknown
  /** Calls asked for, where they stand beside the output. */
  readonly calls?: unknown
  readonly callId?: string | undefined
  readonly asked?: string | undefined
  readonly answered?: string | undefined
  readonly provider?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly finish?: string | undefined
}

/** The first meaning, with what only the second one tells. */
export function filledBy(first: Meaning, second: Meaning): Meaning {
  const added = Object.entries(second).filter(
    ([key, value]) => value !== undefined && value !== null && first[key as keyof Meaning] === undefined,
  )
  return { ...first, ...(Object.fromEntries(added) as Meaning) }
}

/** Attributes of a map, by its own members. */
export function attributesOf(fields: unknown): Attributes {
  return new Map(isFields(fields) ? Object.entries(fields) : [])
}

/** Whether a value of a JSON document is a map. */
export function isFields(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members that are there. */
export function defined<T extends object>(fields: T): { readonly [K in keyof T]?: NonNullable<T[K]> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(there) as { [K in keyof T]?: NonNullable<T[K]> }
}
