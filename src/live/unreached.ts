import { askedIn, readModelCall } from '../providers/index.ts'
import { type ExchangeEvent, responseBytes, type Tape, type TapeEvent } from '../tape/index.ts'

/** A model that could not be asked. */
export interface UnreachedModel {
  readonly event: ExchangeEvent
  /** Of the answer; absent: there was none. */
  readonly status?: number
  /** What the provider or the connection said of it, not neutral yet. */
  readonly said?: string
}

const refusals: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429])

/**
 * The model that a run which asks for real could not ask: no connection, no key, no quota, no such model, an outage. What an
 * agent does instead says nothing about it as it is. A request that the provider calls malformed is the agent's own doing, and
 * so is one that the agent gave up. What was asked again, and answered, is got over; and so is, unless it was the last one, what
 * failed like that when it was recorded.
 *
 * @param events - of the run, in any order
 * @param recorded - of the run it is compared with
 */
export function unreachedModel(
  events: readonly TapeEvent[],
  recorded: readonly TapeEvent[],
): UnreachedModel | undefined {
  const calls = callsIn(events)
  const known = new Set(callsIn(recorded).filter(isLost).map(failureOf))
  const event = calls.findLast(
    (one, at) =>
      isLost(one) &&
      (at === calls.length - 1 || (!known.has(failureOf(one)) && !isGotOver(one, calls.slice(at + 1)))),
  )
  if (event === undefined) return undefined
  const status = event.response?.status
  if (status === undefined) return { event, ...(event.error === undefined ? {} : { said: event.error.message }) }
  const said = messageIn(responseBytes(event).toString('utf8'))
  return { event, status, ...(said === undefined ? {} : { said }) }
}

/** Model calls that the agent did not give up, in their order. */
function callsIn(events: readonly TapeEvent[]): readonly ExchangeEvent[] {
  return events
    .filter((one) => one.kind === 'exchange')
    .filter((one) => one.aborted === undefined && readModelCall(one) !== undefined)
    .toSorted((a, b) => a.n - b.n)
}

function isLost({ response }: ExchangeEvent): boolean {
  return response === undefined || refusals.has(response.status) || response.status >= 500
}

function isGotOver(lost: ExchangeEvent, later: readonly ExchangeEvent[]): boolean {
  const question = questionOf(lost)
  return later.some((one) => !isLost(one) && questionOf(one) === question)
}

function failureOf(event: ExchangeEvent): string {
  return `${event.response?.status ?? 'none'} ${questionOf(event)}`
}

function questionOf(event: ExchangeEvent): string {
  return JSON.stringify(askedIn(event) ?? event.url)
}

/**
 * Whether a model kept a run waiting until its time was up: one that never answers says nothing of the agent. An agent that
 * asked more often than the recorded run may ask for ever, and its last question is open whenever its time is up.
 */
export function isKeptWaiting({
  tape,
  events,
  waitsForModel,
}: {
  readonly tape: Pick<Tape, 'events'>
  readonly events: readonly TapeEvent[]
  readonly waitsForModel?: true
}): boolean {
  const asked = (all: readonly TapeEvent[]): number =>
    all.filter((event) => event.kind === 'exchange' && readModelCall(event) !== undefined).length
  return waitsForModel === true && asked(events) <= asked(tape.events)
}

const noModel = 'A model could not be reached'
const refused = 'A model answered with status'
/** Why a run has no grade whose time was up while it waited for a model. */
export const unansweredText = 'A model had not answered when the time of the run was up'

/** Why a run has no grade: without what providers say, which is another text each time. */
export function unreachedText({ status, said }: Pick<UnreachedModel, 'said' | 'status'>): string {
  return status === undefined ? `${noModel}${said === undefined ? '' : `: ${said}`}` : `${refused} ${status}`
}

/** Why a run has no grade whose agent found another world: no key, no file. */
export function threwAtOnceText(error: string): string {
  return `${threwAtOnce}: ${error}`
}

/** What such a run comes to, in each command that meets one. */
export const threwAtOnce = 'The agent threw before it asked anything'

/** Whether a run has no grade because a model could not be asked, or the agent did not even get to it. */
export function isUnreached(because: string): boolean {
  return [noModel, refused, threwAtOnce, unansweredText].some((text) => because.startsWith(text))
}

/** `{"error":{"message":"…"}}` and its kin; other bodies are pages of a proxy. */
function messageIn(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body)
    const { error = value } = value as { readonly error?: unknown }
    const message = typeof error === 'string' ? error : (error as { readonly message?: unknown } | null)?.message
    return typeof message === 'string' ? message : undefined
  } catch {
    // No JSON, or null: there is no message to show.
    return undefined
  }
}
