import type { HeaderPair, RecordedResponse } from '../tape/index.ts'
import type { FoundDrift } from './matcher.ts'

/** The header in which a client of a WebSocket offers subprotocols, and its server answers which one it takes. */
export const subprotocolHeader = 'sec-websocket-protocol'

/**
 * A WebSocket whose recorded server took a subprotocol that the agent does not offer now. What it does offer may be a key: of
 * the live side it is said only that the taken one is gone.
 */
export function subprotocolDrift(
  response: RecordedResponse | undefined,
  live: readonly HeaderPair[],
): FoundDrift | undefined {
  const taken = valueOf(response?.headers ?? [])
  if (response?.status !== 101 || taken === undefined) return undefined
  const offered = valueOf(live)?.split(',') ?? []
  if (offered.some((one) => one.trim() === taken)) return undefined
  const now = offered.length === 0 ? '(none offered)' : '(others offered)'
  return { class: 'guards', path: subprotocolHeader, part: 'WebSocket subprotocol', recorded: taken, live: now }
}

function valueOf(pairs: readonly HeaderPair[]): string | undefined {
  return pairs.find(([name]) => name.toLowerCase() === subprotocolHeader)?.[1]
}
