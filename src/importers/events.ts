import type { Redactor } from '../privacy/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import { type Chunk, encodeBytes, type ExchangeEvent, type TapeEvent } from '../tape/index.ts'
import type { Position } from './refusal.ts'
import { sentUrl, steadyUrl } from './requests.ts'
import { eventsOfLines } from './stdio-lines.ts'
import { eventsOfSteps } from './steps.ts'
import type { ForeignExchange, Recording } from './types.ts'
import { type Readable, Unpacking } from './unpacking.ts'

/** The events of a tape and what was seen on the way to them. */
export interface MadeEvents {
  readonly events: readonly TapeEvent[]
  /** The next free number, and the time behind the last event. */
  readonly end: readonly [n: number, at: number]
  /** Bytes of all bodies, decoded. */
  readonly bytes: number
  /** Whether bodies were compressed; they are stored as their client read them. */
  readonly hadEncodings: boolean
}

/**
 * Makes events of a recording, redacted in the order a recorder would: each request before its answer.
 *
 * Known times are kept. Where the recording has none, moments are one millisecond apart: they tell the order of the list
 * and nothing else.
 *
 * @throws HarvestError `HARVEST_IMPORT_BOMB`, `HARVEST_IMPORT_TOO_LARGE`
 */
export function eventsOf(recording: Recording, redactor: Redactor, file: string): MadeEvents {
  if (recording.steps !== undefined)
    return { ...eventsOfSteps(recording.steps, redactor), bytes: 0, hadEncodings: false }
  if (recording.lines !== undefined) return { ...eventsOfLines(recording.lines, redactor), hadEncodings: false }
  const making = new Making(redactor, { file })
  const startedMs = recording.exchanges[0]?.startedMs
  for (const [index, exchange] of recording.exchanges.entries()) making.exchange(exchange, index, startedMs)
  return making.made
}

class Making {
  readonly #redactor: Redactor
  readonly #place: Position
  readonly #events: TapeEvent[] = []
  #n = 0
  #at = 0
  readonly #unpacking = new Unpacking()

  constructor(redactor: Redactor, place: Position) {
    this.#redactor = redactor
    this.#place = place
  }

  get made(): MadeEvents {
    const { bytes, hadEncodings } = this.#unpacking
    return { events: this.#events, end: [this.#n, this.#at], bytes, hadEncodings }
  }

  exchange(exchange: ForeignExchange, index: number, runStartedMs: number | undefined): void {
    const { startedMs, tookMs, method, url, requestBody, response } = exchange
    const place = (): Position => ({ ...this.#place, at: `call ${index + 1}` })
    // Times that run backwards are those of another order: the list decides.
    const known = startedMs === undefined || runStartedMs === undefined ? undefined : startedMs - runStartedMs
    const at = Math.max(this.#at, tookMs === undefined ? 0 : (known ?? 0))
    const [n] = this.#moment(at)
    const asked = requestBody === 'unread' ? undefined : requestBody
    const request = steady(this.#unpacking.of(asked, exchange.requestHeaders, place))
    const event: Omit<ExchangeEvent, 'response'> = {
      kind: 'exchange',
      n,
      at,
      via: 'undici',
      method,
      url: this.#redactor.url(sentUrl(steadyUrl(url)?.url ?? url)),
      request: {
        headers: this.#redactor.headers(request.headers),
        ...(request.pieces.length === 0 ? {} : { body: encodeBytes(Buffer.concat(this.#redacted(request.pieces))) }),
      },
    }
    this.#events.push(
      response === undefined ? event : { ...event, response: this.#response(response, at + (tookMs ?? 1), place) },
    )
    this.#at += 1
  }

  #response(
    { status, statusText, headers: given, body }: NonNullable<ForeignExchange['response']>,
    at: number,
    place: () => Position,
  ): NonNullable<ExchangeEvent['response']> {
    const decoded = this.#unpacking.of(body, given, place)
    const moment = this.#moment(at)
    const headers = this.#redactor.headers(decoded.headers)
    const chunks = this.#redacted(decoded.pieces).flatMap((piece): Chunk[] =>
      piece.length === 0 ? [] : [[...this.#moment(at), encodeBytes(piece)]],
    )
    return {
      moment,
      status,
      ...(statusText === undefined ? {} : { statusText: this.#redactor.text(statusText) }),
      headers,
      chunks,
      // What was left out of the recording never came to an end here.
      ...(body === undefined ? {} : { end: this.#moment(at) }),
    }
  }

  #moment(at: number): readonly [n: number, at: number] {
    this.#at = Math.max(this.#at, at)
    return [this.#n++, this.#at]
  }

  #redacted(pieces: readonly Buffer[]): readonly Buffer[] {
    return this.#redactor.chunks(pieces)
  }
}

/** A request as a recorder writes it: with a boundary that is the same in each run. */
function steady({ pieces, headers }: Readable): Readable {
  const made = steadyBoundary(headers, Buffer.concat(pieces))
  return made.headers === headers ? { pieces, headers } : { pieces: [made.body], headers: made.headers }
}
