import { withPlainType } from './plain-type.ts'
import { redactedMethod, type Redactor } from '../privacy/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import {
  type Chunk,
  encodeBytes,
  type EncodedBytes,
  type ExchangeEvent,
  joinedBytes,
  type TapeEvent,
} from '../tape/index.ts'
import type { TextPosition } from './refusal.ts'
import { sentUrl, steadyUrl } from './requests.ts'
import { eventsOfLines } from './stdio-lines.ts'
import { eventsOfSteps } from './steps.ts'
import { type ExchangeBoundary, sequenceOf } from './sequence.ts'
import type { ForeignExchange, ForeignRecording } from './types.ts'
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
export function eventsOf(recording: ForeignRecording, redactor: Redactor, file: string): MadeEvents {
  if (recording.steps !== undefined)
    return { ...eventsOfSteps(recording.steps, redactor), bytes: 0, hadEncodings: false }
  if (recording.lines !== undefined) return { ...eventsOfLines(recording.lines, redactor), hadEncodings: false }
  const making = new Making(recording.exchanges, redactor, { file })
  for (const boundary of sequenceOf(recording.exchanges)) making.happened(boundary)
  return making.made
}

class Making {
  readonly #exchanges: readonly ForeignExchange[]
  readonly #redactor: Redactor
  readonly #place: TextPosition
  readonly #events: ExchangeEvent[] = []
  /** By position in the recording: where its event stands. */
  readonly #made = new Map<number, number>()
  #n = 0
  #at = 0
  readonly #unpacking = new Unpacking()

  constructor(exchanges: readonly ForeignExchange[], redactor: Redactor, place: TextPosition) {
    this.#exchanges = exchanges
    this.#redactor = redactor
    this.#place = place
  }

  get made(): MadeEvents {
    const { bytes, hadEncodings } = this.#unpacking
    return { events: this.#events, end: [this.#n, this.#n === 0 ? 0 : this.#at + 1], bytes, hadEncodings }
  }

  happened({ index, is, at }: ExchangeBoundary): void {
    const exchange = this.#exchanges[index]!
    const place = (): TextPosition => ({ ...this.#place, at: `call ${index + 1}` })
    // What no time tells apart did not come in one burst: the agent had its turn in between.
    const next = this.#n === 0 ? 0 : this.#at + apartMs
    if (is === 'request')
      this.#request(exchange, index, at === undefined ? this.#startOf(exchange) : Math.max(next, at), place)
    else this.#answer(exchange, index, at === undefined ? undefined : Math.max(next, at), place)
  }

  /** Of a call that comes after the one before it. */
  #startOf({ startedMs, tookMs }: ForeignExchange): number {
    const first = this.#exchanges[0]?.startedMs
    // Times that run backwards are those of another order: the list decides.
    const known = startedMs === undefined || first === undefined || tookMs === undefined ? 0 : startedMs - first
    return Math.max(this.#n === 0 ? 0 : this.#at + 1, known)
  }

  #request(
    { method, url, requestBody, requestHeaders }: ForeignExchange,
    index: number,
    at: number,
    place: () => TextPosition,
  ): void {
    const [n] = this.#moment(at)
    const asked = requestBody === 'unread' ? undefined : requestBody
    const request = steady(this.#unpacking.of(asked, requestHeaders, place))
    this.#made.set(index, this.#events.length)
    this.#events.push({
      kind: 'exchange',
      n,
      at: this.#at,
      via: 'undici',
      method: redactedMethod(method, this.#redactor),
      url: this.#redactor.url(sentUrl(steadyUrl(url)?.url ?? url)),
      request: {
        headers: this.#redactor.headers(request.headers),
        ...(request.pieces.length === 0 ? {} : { body: this.#body(request.pieces) }),
        ...(request.unsearched && { unsearched: request.unsearched }),
      },
    })
  }

  #answer(
    { response, tookMs = 1 }: ForeignExchange,
    index: number,
    at: number | undefined,
    place: () => TextPosition,
  ): void {
    const position = this.#made.get(index)!
    const event = this.#events[position]!
    if (response === undefined) return
    this.#events[position] = { ...event, response: this.#response(response, at ?? event.at + tookMs, place) }
  }

  #response(
    { status, statusText, headers: given, body }: NonNullable<ForeignExchange['response']>,
    at: number,
    place: () => TextPosition,
  ): NonNullable<ExchangeEvent['response']> {
    const decoded = this.#unpacking.of(body, given, place)
    const moment = this.#moment(at)
    const headers = this.#redactor.headers(withPlainType(decoded.headers, decoded.pieces))
    const chunks = this.#redactor
      .encoded(decoded.pieces)
      .flatMap((piece): Chunk[] => (piece === '' ? [] : [[...this.#moment(at), piece]]))
    return {
      moment,
      status,
      ...(statusText === undefined ? {} : { statusText: this.#redactor.text(statusText) }),
      headers,
      chunks,
      ...(decoded.unsearched && { unsearched: decoded.unsearched }),
      // What was left out of the recording has no end here.
      ...(body === undefined ? {} : { end: this.#moment(at) }),
    }
  }

  #moment(at: number): readonly [n: number, at: number] {
    this.#at = Math.max(this.#at, Math.round(at * 1000) / 1000)
    return [this.#n++, this.#at]
  }

  #body(pieces: readonly Buffer[]): EncodedBytes {
    if (pieces.length === 1) return this.#redactor.encoded(pieces)[0]!
    return encodeBytes(Buffer.concat(this.#redactor.chunks(pieces)))
  }
}

/** The finest a tape tells apart. */
const apartMs = 0.001

/** A request as a recorder writes it: with a boundary that is the same in each run. */
function steady(sent: Readable): Readable {
  const made = steadyBoundary(sent.headers, joinedBytes(sent.pieces))
  return made.headers === sent.headers ? sent : { ...sent, pieces: [made.body], headers: made.headers }
}
