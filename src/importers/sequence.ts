import type { ForeignExchange } from './types.ts'

/** A request, or its whole answer, in its place among the others of a recording. */
export interface ExchangeBoundary {
  /** Position of its exchange in the list. */
  readonly index: number
  readonly is: 'request' | 'answer'
  /** Ms since the first request, as far as the recording tells. */
  readonly at?: number
}

/**
 * Requests and answers of a recording in the order in which they happened, as far as it tells.
 *
 * Where each call has a start and a duration, and they are listed by their start, calls that were under way at once stand so:
 * a request may come before the answer to an earlier one. Otherwise each is answered before the next is made.
 *
 * Starts are cut to whole milliseconds, and durations rounded: two calls overlap only when they do by more than that can
 * hide. Calls made one after the other are never taken for concurrent.
 */
export function sequenceOf(exchanges: readonly ForeignExchange[]): readonly ExchangeBoundary[] {
  const started = startsOf(exchanges)
  if (started === undefined) return exchanges.flatMap((exchange, index) => bothOf(exchange, index))
  return exchanges
    .flatMap(({ tookMs = 0, response }, index): Placed[] => {
      const at = started[index]!
      const place = at + uncertainMs
      const answeredAt = at + tookMs
      const request: Placed = { index, is: 'request', at, place, isShort: true }
      if (response === undefined) return [request]
      const isShort = answeredAt <= place
      return [request, { index, is: 'answer', at: answeredAt, place: isShort ? place : answeredAt, isShort }]
    })
    .sort(inOrder)
}

/** What a start cut to milliseconds and a rounded duration can be off together. */
const uncertainMs = 2

interface Placed extends ExchangeBoundary {
  /** What it is ordered by: requests as late as they can have been. */
  readonly place: number
  /** It stays with its request: it is unknown what came between. */
  readonly isShort: boolean
}

/** In doubt an answer comes before the request of another call. */
function inOrder(a: Placed, b: Placed): number {
  if (a.place !== b.place) return a.place - b.place
  if (a.isShort !== b.isShort) return a.isShort ? 1 : -1
  return a.index - b.index || (a.is === b.is ? 0 : a.is === 'request' ? -1 : 1)
}

/** When each began, in ms since the first; `undefined` where one does not say, or how long it took, or where they run backwards. */
function startsOf(exchanges: readonly ForeignExchange[]): readonly number[] | undefined {
  const first = exchanges[0]?.startedMs
  if (first === undefined) return undefined
  const starts: number[] = []
  for (const { startedMs, tookMs } of exchanges) {
    if (startedMs === undefined || tookMs === undefined) return undefined
    const at = startedMs - first
    // Times of another order than that of the list: the list decides.
    if (at < (starts.at(-1) ?? 0)) return undefined
    starts.push(at)
  }
  return starts
}

function bothOf({ response }: ForeignExchange, index: number): readonly ExchangeBoundary[] {
  const request = { index, is: 'request' } as const
  return response === undefined ? [request] : [request, { index, is: 'answer' }]
}
