import type { Pairs } from '../seam/intercept/index.ts'

/** Redaction may have changed the length of a complete body; a client would wait for the difference. */
export function fitted(headers: Pairs, chunks: readonly Buffer[], complete: boolean): Pairs {
  if (!complete) return headers
  let length = 0
  for (const chunk of chunks) length += chunk.length
  const stated = String(length)
  if (length === 0 || headers.every(([name, value]) => name !== 'content-length' || value === stated)) return headers
  return headers.map(([name, value]) => [name, name === 'content-length' ? stated : value] as const)
}
