import type { HeaderPair } from '../tape/index.ts'

/**
 * Headers that reach a tape: everything a client may act on, and what tells requests apart. All others are dropped
 * with their names: an unknown header is more likely to carry a credential than a meaning.
 */
const kept = new Set(
  [
    'accept accept-encoding accept-language accept-ranges age allow cache-control connection content-disposition',
    'content-encoding content-language content-length content-range content-type date etag expect expires keep-alive',
    'last-event-id last-modified link location prefer range retry-after retry-after-ms server te trailer',
    'transfer-encoding upgrade user-agent vary via www-authenticate x-accel-buffering x-request-id x-should-retry',
    'request-id anthropic-version anthropic-beta mcp-session-id mcp-protocol-version x-amzn-requestid',
    'x-amzn-errortype x-amz-target idempotency-key',
  ]
    .join(' ')
    .split(' '),
)

const keptFamilies = [
  'x-stainless-',
  'openai-',
  'x-ratelimit-',
  'ratelimit',
  'anthropic-ratelimit-',
  'x-amzn-bedrock-',
  'x-vercel-ai-',
]

/** The headers that may be recorded, values redacted, in order. */
export function keepHeaders(
  pairs: readonly HeaderPair[],
  own: ReadonlySet<string>,
  redact: (value: string, name: string) => string,
): HeaderPair[] {
  const result: HeaderPair[] = []
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase()
    if (kept.has(lower) || own.has(lower) || keptFamilies.some((family) => lower.startsWith(family)))
      result.push([name, redact(value, lower)])
  }
  return result
}
