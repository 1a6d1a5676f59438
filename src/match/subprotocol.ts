import { shownCredential } from '../privacy/credentials.ts'
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

/**
 * Whether a WebSocket offers a name that no tape holds, because it may be a key, and that reads as none: words without a version.
 * Which name it was when the run was recorded is unknown, unless the recorded server took it.
 */
export function offersUnknown(response: RecordedResponse | undefined, live: readonly HeaderPair[]): boolean {
  const taken = valueOf(response?.headers ?? [])
  const offered =
    valueOf(live)
      ?.split(',')
      .map((one) => one.trim()) ?? []
  return offered.some(
    (one) => one !== taken && words.test(one) && shownCredential(subprotocolHeader, one, () => '') === '',
  )
}

const words = /^[a-z]{2,24}(?:[._-][a-z]{2,24}){0,4}$/i

function valueOf(pairs: readonly HeaderPair[]): string | undefined {
  return pairs.find(([name]) => name.toLowerCase() === subprotocolHeader)?.[1]
}
