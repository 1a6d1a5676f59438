// Placeholders are numbered by first appearance: what a tape gives or passes over counts as it did when it was recorded.
import type { CallState, ExchangeState } from '../match/step.ts'
import type { Redactor } from '../privacy/index.ts'
import { decodeBody } from '../providers/index.ts'
import {
  type CallEvent,
  type Chunk,
  decodeBytes,
  type ExchangeEvent,
  type Json,
  type PushEvent,
  type Tape,
  type TapeEvent,
} from '../tape/index.ts'

/** Takes note of the placeholders in an answer when the recorder did: once it is settled, and as the client reads it. */
export function observe(
  { redactor }: { readonly redactor: Redactor },
  { event }: { readonly event: ExchangeEvent },
): void {
  redactor.observeLater(() => observeNow(redactor, event))
}

/** As {@link observe}, for values of a tape: a result, an error with its causes and properties, a piece, a command. */
export function observeValues({ redactor }: Redacting, ...values: readonly unknown[]): void {
  redactor.observeLater(() => redactor.observe(JSON.stringify(values)))
}

/** As {@link observe}, for what a peer says by itself. */
export function observePush({ redactor }: Redacting, push: Pushed): void {
  redactor.observeLater(() => pushNow(redactor, push))
}

function pushNow(redactor: Redactor, { text, frame }: Pushed): void {
  redactor.observe(
    frame === undefined || frame === 'close' || frame === 'end'
      ? text
      : `${text} ${Buffer.from(text, 'base64').toString()}`,
  )
}

type Pushed = Pick<PushEvent, 'text'> & { readonly frame?: PushEvent['frame'] | undefined }

interface Redacting {
  readonly redactor: Redactor
}

/** Whose steps are served, those inside of the body of another among them. */
interface Serving extends Redacting {
  readonly tape: Tape
  readonly steps: readonly (ExchangeState | CallState)[]
}

/**
 * Takes note of what the body of a call did that does not run. Calls beside it are numbered between: of what the recorder heard after
 * the step that is due, nothing counts yet.
 */
export function observeInside(run: Serving, outer: CallState): void {
  const { n, settled } = outer.event
  let left: readonly Part[] | undefined
  const look = (): void => {
    left ??= partsInside(run.tape, n)
    const due = run.steps.find(({ taken }) => !taken)?.event.n ?? Number.POSITIVE_INFINITY
    const until = outer.answered ? Math.max(due, settled?.[0] ?? 0) : due
    for (const part of left) if (part.n < until) part.observe(run.redactor)
    left = left.filter((part) => part.n >= until)
    if (left.length > 0) run.redactor.observeLater(look)
  }
  run.redactor.observeLater(look)
}

/** What a recorder redacted at once, and when. */
interface Part {
  readonly n: number
  readonly observe: (redactor: Redactor) => void
}

function partsInside({ events }: Tape, n: number): readonly Part[] {
  const inside = new Set([n])
  return events.flatMap((event): readonly Part[] => {
    if (!('in' in event) || event.in === undefined || !inside.has(event.in)) return []
    inside.add(event.n)
    return partsOf(event)
  })
}

function partsOf(event: TapeEvent): readonly Part[] {
  switch (event.kind) {
    case 'exchange': {
      const { n, url, request, response, error, aborted } = event
      const end = response?.end ?? error?.moment ?? aborted
      return [
        { n, observe: (redactor) => redactor.observe(JSON.stringify([url, request])) },
        ...(end === undefined ? [] : [{ n: end[0], observe: (redactor: Redactor) => observeNow(redactor, event) }]),
      ]
    }
    case 'tool':
    case 'retrieval':
    case 'value': {
      const { settled, yields = [], result = null, error = null } = event as CallEvent
      const part = (at: number, value: Json): Part => ({
        n: at,
        observe: (redactor) => redactor.observe(JSON.stringify(value)),
      })
      return [
        part(event.n, event.args),
        ...yields.map(([at, , value]) => part(at, value)),
        ...(settled === undefined ? [] : [part(settled[0], [result, error])]),
      ]
    }
    case 'push':
      return [{ n: event.n, observe: (redactor) => pushNow(redactor, event) }]
    default:
      return [{ n: event.n, observe: (redactor) => redactor.observe(JSON.stringify(event)) }]
  }
}

function observeNow(redactor: Redactor, { response, error }: ExchangeEvent): void {
  if (error) redactor.observe(JSON.stringify(error))
  if (!response) return
  redactor.observe(JSON.stringify([response.statusText, response.headers]))
  const encoding = response.headers.find(([name]) => name === 'content-encoding')?.[1]
  const text = encoding ? undefined : textOf(response.chunks)
  if (text !== undefined) {
    redactor.observeBody(text)
    return
  }
  const pieces = response.chunks.map(([, , bytes]) => decodeBytes(bytes))
  redactor.observeChunks(encoding ? [Buffer.from(decodeBody(Buffer.concat(pieces), encoding))] : pieces)
}

/** The text of a body the tape has as text. */
function textOf(chunks: readonly Chunk[]): string | undefined {
  let text = ''
  for (const [, , bytes] of chunks) {
    if (typeof bytes !== 'string') return undefined
    text += bytes
  }
  return text
}
