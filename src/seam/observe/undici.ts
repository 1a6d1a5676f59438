import type { Socket } from 'node:net'
import { isWebSocket } from '../websocket-frames.ts'
import { hearAhead } from './body-ahead.ts'
import { copyBytes, headerPairs, isOwnDoing, onChannel } from './channels.ts'
import type { Pairs } from '../pairs.ts'
import { currentObserver, type ExchangeObserver, type ExchangeStart, guarded, hearRequest } from './observer.ts'
import { hearSocket, type OpeningSocket, openingSocket } from './websocket.ts'

interface UndiciRequest {
  readonly method: string
  readonly origin: string | URL
  readonly path: string
  /** What its `Host` header says, which is not among the headers. */
  readonly host?: string | null
  readonly headers: unknown
  readonly body?: unknown
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

/** Requests under way. Keyed by object: response events carry the context of whoever opened the connection. */
const underWay = new WeakMap<object, ExchangeObserver>()
/** Requests whose body was heard before it was sent. */
const heardAhead = new WeakSet<object>()
const opening = new WeakMap<object, OpeningSocket>()
const publishesChunks = new WeakMap<object, boolean>()

/** Hears built-in `fetch` and every copy of undici, with any dispatcher, also clients made earlier. */
export function observeUndici(): void {
  onChannel<About>('undici', 'undici:request:create', ({ request }) => {
    // A proxy tunnel is not a request of the agent.
    if (request.method === 'CONNECT') return
    // Through an HTTP proxy the path is the absolute URL.
    const url = /^https?:/.test(request.path) ? request.path : String(request.origin) + request.path
    if (request.upgrade) return upgrading(request, url)
    const exchange = hearRequest(new Start(request, url))
    if (!exchange) return
    underWay.set(request, exchange)
    shadowBodies(request, exchange)
    const isAhead = hearAhead(
      request,
      guarded((bytes) => exchange.requestChunk(copyBytes(bytes))),
      guarded(() => exchange.leaving(true)),
    )
    if (isAhead) heardAhead.add(request)
    else exchange.leaving(false)
  })
  onChannel<About & { socket: Socket }>('undici', 'undici:client:sendHeaders', ({ request, socket }) => {
    const socketOfRun = opening.get(request)
    if (socketOfRun) hearSocket(socket, socketOfRun)
  })
  onChannel<About & { chunk: Uint8Array | string }>('undici', 'undici:request:bodyChunkSent', ({ request, chunk }) => {
    if (!heardAhead.has(request)) underWay.get(request)?.requestChunk(copyBytes(chunk))
  })
  onChannel<About>('undici', 'undici:request:bodySent', ({ request }) => underWay.get(request)?.leaving(true))
  onChannel<About & { response: { statusCode: number; statusText?: string; headers: unknown } }>(
    'undici',
    'undici:request:headers',
    ({ request, response }) =>
      underWay.get(request)?.head(response.statusCode, response.statusText ?? '', headerPairs(response.headers)),
  )
  onChannel<About & { chunk: Uint8Array }>('undici', 'undici:request:bodyChunkReceived', ({ request, chunk }) =>
    underWay.get(request)?.chunk(copyBytes(chunk)),
  )
  onChannel<About>('undici', 'undici:request:trailers', ({ request }) => underWay.get(request)?.end())
  onChannel<About & { error: Error & { code?: string } }>('undici', 'undici:request:error', ({ request, error }) => {
    const exchange = underWay.get(request)
    if (isOwnDoing(error)) exchange?.aborted()
    else exchange?.error(error)
  })
}

/** A request that begins. Its headers are read on request: those of a run that is not kept never are. */
class Start implements ExchangeStart {
  readonly via = 'undici'
  readonly method: string
  readonly url: string
  readonly #given: readonly unknown[] | undefined
  readonly #host: Pairs
  #headers: Pairs | undefined

  constructor({ method, headers, host }: UndiciRequest, url: string) {
    this.method = method
    this.url = url
    this.#host = typeof host === 'string' ? [['host', host]] : []
    // Another subscriber may add some of its own: those it adds now are not of the agent.
    if (Array.isArray(headers)) this.#given = headers.slice()
    else this.#headers = [...this.#host, ...headerPairs(headers)]
  }

  get headers(): Pairs {
    return (this.#headers ??= [...this.#host, ...headerPairs(this.#given)])
  }
}

function upgrading(request: UndiciRequest, url: string): void {
  const run = currentObserver()
  if (!run) return
  if (!isWebSocket(request.upgrade)) return run.unrecorded(`${String(request.upgrade)} ${url}`)
  const socket = openingSocket(run, url, headerPairs(request.headers))
  if (!socket) return
  opening.set(request, socket)
  underWay.set(request, socket.exchange)
}

/**
 * undici 6 (Node 22) has no channels for body chunks; the request object is handed out, so its two data methods are
 * shadowed on that one instance. Remove when the floor is Node 24.
 */
function shadowBodies(request: UndiciRequest, exchange: ExchangeObserver): void {
  const kind = (request as object).constructor
  let publishes = publishesChunks.get(kind)
  if (publishes === undefined) {
    publishes = /chunkReceived/i.test(String(request.onData ?? request.onResponseData ?? ''))
    publishesChunks.set(kind, publishes)
  }
  if (publishes || !request.onData || !request.onBodySent) return
  const { onBodySent, onData } = request
  const sent = guarded((chunk: Uint8Array) => {
    if (!heardAhead.has(request)) exchange.requestChunk(copyBytes(chunk))
  })
  const received = guarded((chunk: Uint8Array) => exchange.chunk(copyBytes(chunk)))
  request.onBodySent = function (chunk) {
    sent(chunk)
    return onBodySent.call(this, chunk)
  }
  request.onData = function (chunk) {
    received(chunk)
    return onData.call(this, chunk)
  }
}
