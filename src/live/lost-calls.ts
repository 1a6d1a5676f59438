import { isMap } from '../json/canonical.ts'
import type { CallEvent, Json, TapeEvent } from '../tape/index.ts'

/** A call of a wrapped function that runs for real, and found its database or another server down, as it did not when recorded. */
export function lostCallIn(
  events: readonly TapeEvent[],
  recorded: readonly TapeEvent[],
): { readonly event: CallEvent; readonly said: string } | undefined {
  const ofTape = new Set<TapeEvent>(recorded)
  const known = new Set(callsOf(recorded).flatMap((event) => (unconnectedIn(event) === undefined ? [] : [event.name])))
  const calls = callsOf(events)
  const asked = (event: CallEvent): string => JSON.stringify([event.name, event.args])
  const answered = new Set(calls.flatMap((event) => (event.error === undefined ? [asked(event)] : [])))
  for (const event of calls.toReversed()) {
    const error = unconnectedIn(event)
    if (error === undefined || ofTape.has(event) || known.has(event.name) || answered.has(asked(event))) continue
    return { event, said: error }
  }
  return undefined
}

function callsOf(events: readonly TapeEvent[]): readonly CallEvent[] {
  return events.filter(
    (one): one is CallEvent => one.kind === 'tool' || one.kind === 'retrieval' || one.kind === 'value',
  )
}

/** What Node and undici say of a connection that is not there, or broke. */
const ofConnection: ReadonlySet<Json | undefined> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT'],
])

/** What the error of a call says, where that or one behind it is about a connection. */
function unconnectedIn({ error }: CallEvent): string | undefined {
  const codeIn = (json: Json | undefined): string | undefined => {
    if (typeof json !== 'object' || json === null) return undefined
    if (isMap(json) && ofConnection.has(json['code'])) return json['code'] as string
    return Object.values(json).reduce((found: string | undefined, item: Json) => found ?? codeIn(item), undefined)
  }
  const code = codeIn(error)
  const said = isMap(error) ? error['message'] : undefined
  return code !== undefined && typeof said === 'string' && said !== '' ? said : code
}
