import type { Pairs } from '../seam/intercept/index.ts'
import type { Tape } from '../tape/index.ts'

/** Names in a user agent that say where a client runs, not which client it is. */
const surroundings = /^(?:node(?:\.?js)?|undici|os|ua|lang|md|api|exec-env|runtime|Mozilla|m|cfg|app)$/i

/**
 * Which SDKs asked when a run was recorded, and which ask now: another version often explains a request that differs.
 *
 * Read from `user-agent`, which the recorder keeps: `OpenAI/JS 7.55.0`, `ai/7.0.173 ai-sdk-provider-utils/5.0.81`.
 */
export class Clients {
  readonly #tape: Tape
  readonly #seen = new Set<string>()
  /** Most requests have the headers of the one before. */
  #last: Pairs | undefined

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /** Takes note of a request of this replay. */
  met(headers: Pairs): void {
    if (headers === this.#last) return
    this.#last = headers
    const agent = userAgent(headers)
    if (agent !== undefined) this.#seen.add(agent)
  }

  /** `OpenAI/JS 4.1.0 → 5.0.2`, for every client that asked then and asks now, in other versions only. */
  get changes(): readonly string[] {
    const [recorded, now] = [versionsIn(agentsOn(this.#tape)), versionsIn(this.#seen)]
    return [...now].flatMap(([name, versions]) => {
      const before = recorded.get(name)
      if (before === undefined || [...versions].some((version) => before.has(version))) return []
      return [`${name} ${[...before].join(', ')} → ${[...versions].join(', ')}`]
    })
  }
}

/** Each once: a long run has the same one at every step. */
function agentsOn({ events }: Tape): ReadonlySet<string> {
  const agents = new Set<string>()
  for (const event of events) {
    const agent = event.kind === 'exchange' ? userAgent(event.request.headers) : undefined
    if (agent !== undefined) agents.add(agent)
  }
  return agents
}

function userAgent(headers: Pairs): string | undefined {
  for (let i = 0; i < headers.length; i++) if (headers[i]![0] === 'user-agent') return headers[i]![1]
  return undefined
}

function versionsIn(agents: Iterable<string>): ReadonlyMap<string, ReadonlySet<string>> {
  const versions = new Map<string, Set<string>>()
  for (const agent of agents) {
    for (const [name, version] of productsOf(agent)) {
      const known = versions.get(name)
      if (known) known.add(version)
      else versions.set(name, new Set([version]))
    }
  }
  return versions
}

/** `Name/JS 1.2.3` as the SDKs of Stainless write it, or products of RFC 9110: `name/1.2.3`. */
function productsOf(agent: string): readonly (readonly [name: string, version: string])[] {
  const [, name, version] = /^([\w.@-]+(?:\/[A-Za-z]\w*)?) (\d+\.[\w.+-]+)$/.exec(agent) ?? []
  if (name !== undefined && version !== undefined) return [[name, version]]
  return Array.from(
    agent.matchAll(/(?:^|\s)([\w.@-]+)\/v?(\d+\.[\w.+-]+)/g),
    ([, product = '', of = '']) => [product, of] as const,
  ).filter(([product]) => !surroundings.test(product))
}
