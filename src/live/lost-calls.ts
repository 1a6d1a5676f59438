import { errorMonitor, type EventEmitter } from 'node:events'
import { isMap } from '../json/canonical.ts'
import { hearSockets } from '../seam/intercept/index.ts'
import type { CallEvent, Json, TapeEvent } from '../tape/index.ts'
import { isGiven } from './given.ts'

/** Calls that returned, and the server that they had not reached. */
const swallowed = new WeakMap<TapeEvent, string>()

/** The sockets that a call opens, by itself or by its driver: an error that it catches says nothing of the agent either. */
export class CallSockets {
  readonly #lost = new Map<string, string>()

  /** @param view - the run as the code inside the call sees it */
  constructor(view: object) {
    hearSockets(view, (socket: EventEmitter, target) => {
      socket.once('connect', () => this.#lost.delete(target))
      // Hears what others handle, or leave unhandled.
      socket.once(errorMonitor, ({ code, message }: NodeJS.ErrnoException) => {
        if (ofConnection.has(code)) this.#lost.set(target, message)
      })
    })
  }

  /** Once the call has ended. */
  endedAs(event: TapeEvent): void {
    const said = [...this.#lost.values()].at(-1)
    if (said !== undefined) swallowed.set(event, said)
  }
}

/** What is known of a call besides its event is known of the one in its place, which says less. */
export function replacesCall(event: TapeEvent, was: TapeEvent): void {
  const said = swallowed.get(was)
  if (said !== undefined) swallowed.set(event, said)
}

/** A call of a wrapped function that runs for real, and found its database or another server down, as it did not when recorded. */
export function lostCallIn(
  events: readonly TapeEvent[],
  recorded: readonly TapeEvent[],
): { readonly event: CallEvent; readonly said: string } | undefined {
  const ofTape = new Set<TapeEvent>(recorded)
  const known = new Set(callsOf(recorded).flatMap((event) => (unconnectedIn(event) === undefined ? [] : [event.name])))
  const calls = callsOf(events)
  const asked = (event: CallEvent): string => JSON.stringify([event.name, event.args])
  const answered = new Set(calls.flatMap((event) => (isAnswered(event) ? [asked(event)] : [])))
  for (const event of calls.toReversed()) {
    const error = unconnectedIn(event)
    if (error === undefined || ofTape.has(event) || isGiven(event)) continue
    if (known.has(event.name) || answered.has(asked(event))) continue
    return { event, said: error }
  }
  return undefined
}

function isAnswered(event: CallEvent): boolean {
  return event.error === undefined && !swallowed.has(event)
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

/** What the error of a call says, where that or one behind it is about a connection, or one that the call caught. */
function unconnectedIn(event: CallEvent): string | undefined {
  const { error } = event
  const codeIn = (json: Json | undefined): string | undefined => {
    if (typeof json !== 'object' || json === null) return undefined
    if (isMap(json) && ofConnection.has(json['code'])) return json['code'] as string
    return Object.values(json).reduce((found: string | undefined, item: Json) => found ?? codeIn(item), undefined)
  }
  const code = codeIn(error)
  const said = isMap(error) ? error['message'] : undefined
  return code === undefined ? swallowed.get(event) : typeof said === 'string' && said !== '' ? said : code
}
