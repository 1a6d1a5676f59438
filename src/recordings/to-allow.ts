import { kindsOff, kindsOn } from '../privacy/index.ts'

/** The options that allow what was found, and what was allowed before; none where something has no kind to be allowed by. */
export function toAllow(
  found: readonly { readonly kind?: string }[],
  allowed: readonly string[] = [],
): readonly string[] {
  const kinds = found.flatMap(({ kind }) =>
    kind !== undefined && [...kindsOn, ...kindsOff].includes(kind) ? [kind] : [],
  )
  if (kinds.length < found.length) return []
  return [[...new Set([...allowed, ...kinds])].map((kind) => `--allow-secret ${kind}`).join(' ')]
}
