import type { Socket } from 'node:net'
import { isWebSocket } from '../websocket-frames.ts'
import { hearAhead } from './body-ahead.ts'
import { copyBytes, headerPairs, hearAborts, isOwnDoing, laterHeaders, onChannel } from './channels.ts'
import type { Pairs } from '../pairs.ts'
import { targetUrl } from '../shape.ts'
import { connectedSocket, runHeader } from '../connection.ts'
import {
  currentObserver,
  type ExchangeObserver,
  type ExchangeStart,
  guarded,
  hearRequest,
  type Observer,
  trailersCame,
} from './observer.ts'
import { hearRequestRead } from '../reading.ts'
import { hearSocket, type OpeningSocket, openingSocket } from './websocket.ts'

interface UndiciRequest {
  readonly method: string
  readonly origin: string | URL
  readonly path: string
  /** What its `Host` header says, which is not among the headers. */
  readonly host?: string | null
  readonly headers: unknown
  body?: unknown
  readonly contentLength?: unknown
  /** Protocol the connection is to become, such as `websocket`. */
  readonly upgrade?: unknown
  onBodySent?: (chunk: Uint8Array) => unknown
  onData?: (chunk: Uint8Array) => unknown
  onResponseData?: (...args: unknown[]) => unknown
}

interface About {
  readonly request: UndiciRequest
}

/** A request under way. */
interface Heard {
  readonly exchange: ExchangeObserver
  /** Absent for a WebSocket. */
  readonly start?: Start
  readonly run?: Observer | undefined
  /** Its body was heard before it was sent. */
  isAhead: boolean
}

/** Requests under way. Keyed by object: response events carry the context of whoever opened the connection. */
const underWay = new WeakMap<object, Heard>()
const opening = new WeakMap<object, OpeningSocket>()
const publishesChunks = new WeakMap<object, boolean>()
/** The class of requests that was heard last: a program has one, mostly. */
let lastKind: object | undefined

/** Hears built-in `fetch` and every copy of undici, with any dispatcher, also clients made earlier. */
export function observeUndici(): void {
  hearAborts()
  onChannel<About>('undici', 'undici:request:create', ({ request }) => {
    // A proxy tunnel is not a request of the agent.
    if (request.method === 'CONNECT') return
    const run = currentObserver()
    // Of a run that was not drawn nothing is looked at.
    if (run?.over === true && run.isOpen === true) return
    const { path, origin } = request
    const url = targetUrl(path, String(origin))
    if (request.upgrade) return upgrading(request, url)
    const start = new Start(request, url)
    const exchange = hearRequest(start, run)
    if (!exchange) return
    const heard: Heard = { exchange, start, run, isAhead: false }
    underWay.set(request, heard)
    shadowBodies(request, heard)
    const reading = exchange.reading?.()
    if (reading) hearRequestRead(request, guarded(reading))
    heard.isAhead = hearAhead(request, exchange)
    if (!heard.isAhead) exchange.leaving(false)
  })
  onChannel<About & { socket: Socket }>('undici', 'undici:client:sendHeaders', ({ request, socket }) => {
    const socketOfRun = opening.get(request)
    if (socketOfRun) hearSocket(socket, socketOfRun)
    const heard = underWay.get(request)
    if (heard?.start === undefined) return
    const beside = connectedSocket(socket)
    const added = heard.start.addedTo(request.headers)
    if (beside.length + added.length > 0) heard.exchange.requestHeaders([...heard.start.headers, ...added, ...beside])
  })
  onChannel<About & { chunk: Uint8Array | string }>('undici', 'undici:request:bodyChunkSent', ({ request, chunk }) => {
    const heard = underWay.get(request)
    if (heard?.isAhead === false) heard.exchange.requestChunk(copyBytes(chunk))
  })
  onChannel<About>('undici', 'undici:request:bodySent', ({ request }) => underWay.get(request)?.exchange.leaving(true))
  onChannel<About & { response: { statusCode: number; statusText?: string; headers: unknown } }>(
    'undici',
    'undici:request:headers',
    ({ request, response: { statusCode, statusText = '', headers } }) =>
      underWay.get(request)?.exchange.head(statusCode, statusText, laterHeaders(headers)),
  )
  onChannel<About & { chunk: Uint8Array }>('undici', 'undici:request:bodyChunkReceived', ({ request, chunk }) =>
    underWay.get(request)?.exchange.chunk(copyBytes(chunk)),
  )
  onChannel<About & { trailers: object }>('undici', 'undici:request:trailers', ({ request, trailers }) => {
    const { run, start } = underWay.get(request) ?? {}
    if (start && Object.keys(trailers).length > 0) trailersCame({ run, what: `${start.method} ${start.url}` })
    ended(request)?.end()
  })
  onChannel<About & { error: Error & { code?: string } }>('undici', 'undici:request:error', ({ request, error }) => {
    const exchange = ended(request)
    if (isOwnDoing(error)) exchange?.aborted()
    else exchange?.error(error)
  })
}

/**
 * Who hears a request that is over. undici holds its requests for a while, and they would hold what hears them, which the
 * garbage collector would copy. A body that is still being sent is heard to its end.
 */
function ended(request: UndiciRequest): ExchangeObserver | undefined {
  const heard = underWay.get(request)
  if (heard?.isAhead === true) underWay.delete(request)
  return heard?.exchange
}

const none: Pairs = []

/** A request that begins. Its headers are read on request: those of a run that is not kept never are. */
class Start implements ExchangeStart {
  readonly via = 'undici'
  readonly method: string
  readonly url: string
  readonly #host: Pairs
  #given: readonly unknown[] | undefined
  #headers: Pairs | undefined
  readonly #count: number | undefined

  constructor({ method, headers, host }: UndiciRequest, url: string) {
    this.method = method
    this.url = url
    this.#host = typeof host === 'string' ? [['host', host]] : none
    this.#count = Array.isArray(headers) ? headers.length : undefined
    // Another subscriber may add some of its own.
    if (Array.isArray(headers)) this.#given = headers.slice()
    else this.#headers = [...this.#host, ...headerPairs(headers)]
  }

  get headers(): Pairs {
    if (this.#headers === undefined) {
      this.#headers = [...this.#host, ...headerPairs(this.#given)]
      this.#given = undefined
    }
    return this.#headers
  }

  /** What subscribers after us added, as tracing does: it is sent, but for our own mark, which stays in the process. */
  addedTo(headers: unknown): Pairs {
    if (!Array.isArray(headers) || this.#count === undefined || headers.length === this.#count) return none
    return headerPairs(headers.slice(this.#count)).filter(([name]) => name !== runHeader)
  }
}

function upgrading(request: UndiciRequest, url: string): void {
  const run = currentObserver()
  if (!run) return
  if (!isWebSocket(request.upgrade)) return run.unrecorded(`${String(request.upgrade)} ${url}`)
  const socket = openingSocket(run, url, headerPairs(request.headers))
  if (!socket) return
  opening.set(request, socket)
  underWay.set(request, { exchange: socket.exchange, isAhead: false })
}

/**
 * undici 6 (Node 22) has no channels for body chunks; the request object is handed out, so its two data methods are
 * shadowed on that one instance. Remove when the floor is Node 24.
 */
function shadowBodies(request: UndiciRequest, heard: Heard): void {
  const kind = (request as object).constructor
  if (kind === lastKind) return
  let publishes = publishesChunks.get(kind)
  if (publishes === undefined) {
    publishes = /chunkReceived/i.test(String(request.onData ?? request.onResponseData ?? ''))
    publishesChunks.set(kind, publishes)
  }
  if (publishes) lastKind = kind
  if (publishes || !request.onData || !request.onBodySent) return
  const { onBodySent, onData } = request
  const sent = guarded((chunk: Uint8Array) => {
    if (!heard.isAhead) heard.exchange.requestChunk(copyBytes(chunk))
  })
  const received = guarded((chunk: Uint8Array) => heard.exchange.chunk(copyBytes(chunk)))
  Object.assign(request, {
    onBodySent(this: UndiciRequest, chunk: Uint8Array) {
      sent(chunk)
      return onBodySent.call(this, chunk)
    },
    onData(this: UndiciRequest, chunk: Uint8Array) {
      received(chunk)
      return onData.call(this, chunk)
    },
  })
}
