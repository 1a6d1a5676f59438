import { kindsOff, kindsOn } from '../privacy/index.ts'

/** The options that allow what was found, and what was allowed before; none where something has no kind to be allowed by. */
export function toAllow(places: readonly string[], allowed: readonly string[] = []): readonly string[] {
  const kinds = places.map((place) => place.slice(place.lastIndexOf(': ') + 2))
  if (!kinds.every((kind) => [...kindsOn, ...kindsOff].includes(kind))) return []
  return [[...new Set([...allowed, ...kinds])].map((kind) => `--allow-secret ${kind}`).join(' ')]
}
