import { copyBytes } from './channels.ts'
import { type ExchangeObserver, guarded } from './observer.ts'

/** A body longer than this is heard while it is sent. */
const mostAhead = 4 * 1024 * 1024

interface Sending {
  body?: unknown
  /** Bytes of the body, when the client knows. */
  readonly contentLength?: unknown
}

/**
 * Hears the body of a request of undici before its first byte is sent, so that what is asked can be on the tape by then.
 *
 * `fetch` hands over every body as a generator, also one whose text it has: of those, and of no upload in pieces, all is
 * asked for at once and handed on as it was.
 *
 * @returns whether all of it is heard so: nothing more of it is to be heard
 */
export function hearAhead(request: Sending, exchange: ExchangeObserver): boolean {
  const { body, contentLength } = request
  if (body === null || body === undefined) {
    whole(exchange)
    return true
  }
  if (Buffer.isBuffer(body)) {
    heard(exchange, body)
    whole(exchange)
    return true
  }
  if (typeof contentLength !== 'number' || contentLength > mostAhead || !isGenerator(body)) return false
  if (contentLength === 0) {
    whole(exchange)
    return true
  }
  coming(exchange)
  request.body = new Ahead(body, contentLength, exchange)
  return true
}

const heard = guarded((exchange: ExchangeObserver, bytes: Uint8Array) => exchange.requestChunk(copyBytes(bytes)))
const whole = guarded((exchange: ExchangeObserver) => exchange.leaving(true))
const coming = guarded((exchange: ExchangeObserver) => exchange.coming?.())

type Pieces = AsyncGenerator<Uint8Array, unknown, undefined>
type Piece = IteratorResult<Uint8Array, unknown>

/**
 * Hears what a generator yields before it is handed on, and stands in its place: each generator of `fetch` has a shape of its
 * own, and its sender would meet a new one each time. A body is one piece, as a rule: more is made only for others.
 */
class Ahead implements AsyncIterableIterator<Uint8Array, unknown, undefined> {
  readonly #body: Pieces
  readonly #length: number
  /** Until all is heard: whoever sends the body holds this for longer. */
  #exchange: ExchangeObserver | undefined
  readonly #first: Promise<Piece>
  /** The first piece, when all of them were heard. */
  readonly #ahead: Promise<Piece>
  #rest: Promise<Piece>[] | undefined
  #bytes = 0
  #isAsked = false
  #hasFailed = false

  constructor(body: Pieces, length: number, exchange: ExchangeObserver) {
    this.#body = body
    this.#length = length
    this.#exchange = exchange
    this.#first = body.next()
    this.#ahead = this.#first.then(
      (piece) => (this.#isLast(piece) ? piece : this.#takeRest(piece)),
      () => this.#failed(),
    )
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** As whoever sends the body asks for its pieces. */
  next(): Promise<Piece> {
    if (this.#isAsked) return this.#rest?.shift() ?? this.#body.next()
    this.#isAsked = true
    return this.#hasFailed ? this.#first : this.#ahead
  }

  return(value?: unknown): Promise<Piece> {
    return this.#body.return(value)
  }

  throw(error: unknown): Promise<Piece> {
    return this.#body.throw(error)
  }

  #isLast(piece: Piece): boolean {
    if (piece.done === true) return true
    const exchange = this.#exchange
    if (exchange === undefined) return true
    this.#bytes += Buffer.byteLength(piece.value)
    heard(exchange, piece.value)
    if (this.#bytes < this.#length) return false
    whole(exchange)
    this.#exchange = undefined
    return true
  }

  async #takeRest(first: Piece): Promise<Piece> {
    this.#rest = []
    for (;;) {
      const piece = this.#body.next()
      this.#rest.push(piece)
      // A body that fails does so where it is sent.
      const result = await piece.catch(() => undefined)
      if (result === undefined || this.#isLast(result)) return first
    }
  }

  /** Its sender may not have asked yet: a rejection that no one hears of ends the process. */
  #failed(): Promise<Piece> {
    this.#hasFailed = true
    this.#exchange = undefined
    return this.#isAsked ? this.#first : nothing
  }
}

const nothing = Promise.resolve<Piece>({ done: true, value: undefined })

function isGenerator(body: object): body is Pieces {
  return (body as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'AsyncGenerator'
}
