import type { Redactor } from '../privacy/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import { type Chunk, encodeBytes, type ExchangeEvent, type HeaderPair, type TapeEvent } from '../tape/index.ts'
import { decodeBody } from './body.ts'
import { headerOf } from './headers.ts'
import { bodiesCap, bodyCap, decompressedBodiesCap } from './limits.ts'
import { type Position, refusal } from './refusal.ts'
import { steadyUrl } from './requests.ts'
import { eventsOfLines } from './stdio-lines.ts'
import { eventsOfSteps } from './steps.ts'
import type { ForeignBody, ForeignExchange, Recording } from './types.ts'

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
  #bytes = 0
  /** Of compressed bodies: bytes as they came, and as they are. */
  readonly #packed = { from: 0, to: 0 }
  #hadEncodings = false

  constructor(redactor: Redactor, place: Position) {
    this.#redactor = redactor
    this.#place = place
  }

  get made(): MadeEvents {
    return { events: this.#events, end: [this.#n, this.#at], bytes: this.#bytes, hadEncodings: this.#hadEncodings }
  }

  exchange(exchange: ForeignExchange, index: number, runStartedMs: number | undefined): void {
    const { startedMs, tookMs, method, url, requestBody, response } = exchange
    const place = { ...this.#place, at: `call ${index + 1}` }
    // Times that run backwards are those of another order: the list decides.
    const known = startedMs === undefined || runStartedMs === undefined ? undefined : startedMs - runStartedMs
    const at = Math.max(this.#at, tookMs === undefined ? 0 : (known ?? 0))
    const [n] = this.#moment(at)
    const asked = requestBody === undefined || requestBody === 'unread' ? undefined : requestBody
    const request = steady(this.#body(asked, exchange.requestHeaders, place))
    const event: Omit<ExchangeEvent, 'response'> = {
      kind: 'exchange',
      n,
      at,
      via: 'undici',
      method,
      url: this.#redactor.url(steadyUrl(url)?.url ?? url),
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
    place: Position,
  ): NonNullable<ExchangeEvent['response']> {
    const decoded = this.#body(body, given, place)
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

  /** A body as its client read it, with the headers that are true of that. */
  #body(body: ForeignBody | undefined, headers: readonly HeaderPair[], place: Position): Readable {
    if (body === undefined) return { pieces: [], headers: headers.filter(([name]) => !ofBody.has(name)) }
    const whole = body.pieces.length === 1 ? body.pieces[0]! : Buffer.concat(body.pieces)
    const decoded = decodeBody(whole, headerOf(headers, 'content-encoding') ?? '')
    if (decoded === 'bomb')
      throw refusal('HARVEST_IMPORT_BOMB', place, `a body of ${whole.length} compressed bytes becomes too large`)
    const { bytes, was } = decoded
    this.#bytes += bytes.length
    if (bytes.length > bodyCap || this.#bytes > bodiesCap)
      throw refusal('HARVEST_IMPORT_TOO_LARGE', place, `its bodies have more than ${bodyCap} bytes`)
    if (was === 'encoded') this.#unpacked(whole.length, bytes.length, place)
    return { pieces: was === 'encoded' ? [bytes] : body.pieces, headers: headers.filter(([name]) => !ofBody.has(name)) }
  }

  #unpacked(from: number, to: number, place: Position): void {
    this.#hadEncodings = true
    this.#packed.from += from
    this.#packed.to += to
    if (this.#packed.to > decompressedBodiesCap(this.#packed.from))
      throw refusal('HARVEST_IMPORT_BOMB', place, `bodies of ${this.#packed.from} compressed bytes become too large`)
  }
}

/** A body as its client read it. */
interface Readable {
  readonly pieces: readonly Buffer[]
  readonly headers: readonly HeaderPair[]
}

/** A request as a recorder writes it: with a boundary that is the same in each run. */
function steady({ pieces, headers }: Readable): Readable {
  const made = steadyBoundary(headers, Buffer.concat(pieces))
  return made.headers === headers ? { pieces, headers } : { pieces: [made.body], headers: made.headers }
}

/** Headers about bytes on the wire, which are not what is stored: a client would wait for a length that never comes. */
const ofBody: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding'])
