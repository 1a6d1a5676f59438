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

const namesCap = 1024

/** Which headers may be recorded. The same few names come with every call: what was worked out is kept. */
export class KeptHeaders {
  readonly #own: ReadonlySet<string>
  readonly #known = new Map<string, string | undefined>()

  /** @param own - names the application wants kept besides */
  constructor(own: readonly string[] = []) {
    this.#own = new Set(own.map((name) => name.toLowerCase()))
  }

  /** The name in lower case, or `undefined` when headers of this name are dropped. */
  find(name: string): string | undefined {
    if (this.#known.has(name)) return this.#known.get(name)
    const lower = name.toLowerCase()
    const isKept = kept.has(lower) || this.#own.has(lower) || keptFamilies.some((family) => lower.startsWith(family))
    const found = isKept ? lower : undefined
    if (this.#known.size >= namesCap) this.#known.clear()
    if (name.length <= 64) this.#known.set(name, found)
    return found
  }
}
