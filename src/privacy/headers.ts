import { type HeaderMeaning, headerMeaning } from './meaning.ts'
import type { SecretNames } from './names.ts'
import type { Redactor } from './redactor.ts'

/**
 * Headers that reach a tape no matter which side they are of: everything a client may act on, and what tells requests apart. Of
 * requests, those that mean something are kept as well, see {@link headerMeaning}. All others are dropped: an unknown
 * header is more likely to carry a credential than a meaning.
 */
const kept = new Set(
  [
    'accept accept-encoding accept-language accept-ranges age allow cache-control connection content-disposition',
    'content-encoding content-language content-length content-range content-type date etag expect expires keep-alive',
    'last-event-id last-modified link location prefer range retry-after retry-after-ms server te trailer',
    'transfer-encoding upgrade user-agent vary via www-authenticate x-accel-buffering x-request-id x-should-retry',
    'request-id anthropic-version anthropic-beta mcp-session-id mcp-protocol-version x-amzn-requestid',
    'x-amzn-errortype x-amz-target idempotency-key sec-websocket-protocol',
    // Whether a gateway gave an answer again.
    'cache-status x-cache x-cache-status cf-cache-status cf-aig-cache-status helicone-cache x-portkey-cache-status',
    'x-litellm-cache-hit x-openrouter-cache-status x-bt-cached x-cached x-cache-hit x-semantic-cache x-vercel-cache',
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

/**
 * Headers of requests that tell about the connection, the client or its tracing and nothing about what is asked: no one
 * needs to hear that they were dropped.
 */
const aboutTheClient =
  /^(?::.*|host|origin|referer|pragma|dnt|priority|baggage|b3|traceparent|tracestate|uber-trace-id|forwarded|http2-settings|upgrade-insecure-requests|keep-alive|proxy-.*|sec-.*|x-b3-.*|x-datadog-.*|sentry-.*|x-cloud-trace-context|x-forwarded-.*|x-real-ip|amz-sdk-.*|x-amz-(?:date|content-sha256|user-agent|security-token|checksum-.*|sdk-.*)|x-goog-(?:api-client|gcs-.*)|x-client-.*|x-requested-with)$/

/** Whether someone who looks for a missing header should hear that this one was dropped from a request. */
export function isWorthNaming(lower: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(lower) && !aboutTheClient.test(lower)
}

/** Which headers may be recorded. The same few names come with every call: what was worked out is kept. */
export class KeptHeaders {
  readonly #own: ReadonlySet<string>
  readonly #names: SecretNames
  readonly #known = new Map<string, string | undefined>()
  readonly #meanings = new Map<string, HeaderMeaning | undefined>()

  /** @param own - names the application wants kept besides */
  constructor(own: readonly string[] = [], names: SecretNames) {
    this.#own = new Set(own.map((name) => name.toLowerCase()))
    this.#names = names
  }

  /** What a header of a request means, by its name in lower case. */
  meaning(lower: string): HeaderMeaning | undefined {
    if (this.#meanings.has(lower)) return this.#meanings.get(lower)
    const meaning = headerMeaning(lower, this.#names)
    if (this.#meanings.size >= namesCap) this.#meanings.clear()
    if (lower.length <= 64) this.#meanings.set(lower, meaning)
    return meaning
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

/** The method of a request, which its client may name as it likes. Most are a word that hides nothing. */
export function redactedMethod(method: string, redactor: Pick<Redactor, 'name'>): string {
  return /^[A-Z-]{1,16}$/.test(method) ? method : redactor.name(method)
}
