import type { ClientRequest, IncomingMessage } from 'node:http'
import { isWebSocket } from '../websocket-frames.ts'
import { copyBytes, headerPairs, isOwnDoing, onChannel, readHeaders } from './channels.ts'
import type { Pairs } from '../pairs.ts'
import { asTargeted, sentToOf, statedHost, targetUrl, trailersPair } from '../shape.ts'
import { heldSocket, socketName, statedSocket } from '../connection.ts'
import { type AskedBy, currentObserver, type ExchangeObserver, guarded, hearRequest, trailersCame } from './observer.ts'
import { hearReading } from '../reading.ts'
import { limitByRun } from '../socket-limits.ts'
import { hearUpgrade, openingSocket } from './websocket.ts'

const underWay = new WeakMap<object, ExchangeObserver>()
const asked = new WeakMap<object, AskedBy>()
/** What stands beside the headers of a request, but for where it was sent. */
const beside = new WeakMap<object, Pairs>()

/**
 * Hears `node:http` and `node:https`. No `'response'` or `'data'` listener is added: that would change whether a
 * response that is not read is dumped. Methods are shadowed on the one instance instead.
 */
export function observeHttp(): void {
  onChannel<{ request: ClientRequest }>('http', 'http.client.request.created', ({ request }) => {
    const host = statedHost(request)
    const path = targetUrl(request.path, `${request.protocol}//${host}`)
    const upgrade = request.getHeader('upgrade')
    if (upgrade !== undefined) return upgrading(request, String(upgrade), path)
    const exchange = hearRequest({ via: 'http', method: request.method, url: path })
    if (!exchange) return
    underWay.set(request, exchange)
    asked.set(request, { run: currentObserver(), what: `${request.method} ${path}` })
    beside.set(request, statedSocket(request))
    hearClient(request, exchange)
    limitByRun(request)
  })
  onChannel<{ request: ClientRequest; error: Error & { code?: string } }>(
    'http',
    'http.client.request.error',
    ({ request, error }) => {
      const exchange = underWay.get(request)
      if (isOwnDoing(error)) exchange?.aborted()
      else exchange?.error(error)
    },
  )
  onChannel<{ request: ClientRequest; response: IncomingMessage }>(
    'http',
    'http.client.response.finish',
    ({ request, response }) => {
      const exchange = underWay.get(request)
      if (!exchange) return
      foundSocket(request, exchange)
      exchange.head(response.statusCode ?? 0, response.statusMessage ?? '', readHeaders(response.rawHeaders))
      shadowResponse(request, response, exchange)
      const reading = exchange.reading?.()
      if (reading) hearReading(response, guarded(reading))
    },
  )
}

function upgrading(request: ClientRequest, upgrade: string, path: string): void {
  const run = currentObserver()
  if (!run) return
  if (!isWebSocket(upgrade)) return run.unrecorded(`${upgrade} ${path}`)
  const opening = openingSocket(run, path, [...headerPairs(request.getHeaders()), ...statedSocket(request)])
  if (!opening) return
  // An answer that is no WebSocket is heard as any other.
  underWay.set(request, opening.exchange)
  hearUpgrade(request, opening)
}

/** Where a connection leads that the code opened is seen once it is there. */
function foundSocket(request: ClientRequest, exchange: ExchangeObserver): void {
  const noted = beside.get(request)
  if (noted === undefined || noted.some(([name]) => name === socketName)) return
  const found = heldSocket(request)
  if (found.length > 0) exchange.requestHeaders([...sentBy(request), ...found])
}

/** Its headers, and what stands beside them: they may be set until it leaves, and a flat list of them is written at once. */
function sentBy(request: ClientRequest): Pairs {
  const targeted = asTargeted(request.path, setHeaders(request))
  return [...targeted, ...sentToOf(request, statedHost(request)), ...(beside.get(request) ?? [])]
}

/** The headers that were set so far. */
export function setHeaders(request: ClientRequest): Pairs {
  const { _header: written } = request as { readonly _header?: string | null }
  const set = headerPairs(request.getHeaders())
  return set.length > 0 ? set : headerPairs(written?.slice(written.indexOf('\r\n') + 2))
}

/** Hears what a client sends, and that it gives up. */
export function hearClient(request: ClientRequest, exchange: ExchangeObserver): void {
  const { write, end, destroy, addTrailers } = request
  const body = guarded((chunk: unknown, encoding: unknown) => {
    if (chunk !== null && chunk !== undefined && typeof chunk !== 'function') {
      exchange.requestChunk(copyBytes(chunk, encoding))
    }
  })
  const leaving = guarded((isWhole: boolean) => {
    exchange.requestHeaders(sentBy(request))
    exchange.leaving(isWhole)
  })
  const gaveUp = guarded(() => exchange.aborted())
  const trailing = guarded((given: unknown) => {
    const names = headerPairs(given).map(([name]) => name)
    beside.set(request, [...(beside.get(request) ?? []), trailersPair(names)])
  })
  Object.assign(request, {
    addTrailers(this: ClientRequest, given: unknown) {
      trailing(given)
      Reflect.apply(addTrailers, this, [given])
    },
    write(this: ClientRequest, ...args: unknown[]) {
      body(args[0], args[1])
      leaving(false)
      return Reflect.apply(write, this, args) as boolean
    },
    end(this: ClientRequest, ...args: unknown[]) {
      body(args[0], args[1])
      leaving(true)
      return Reflect.apply(end, this, args) as ClientRequest
    },
    // Only the client calls destroy before an answer came; what the network does ends in the error channel.
    destroy(this: ClientRequest, ...args: unknown[]) {
      if (!(this as { res?: unknown }).res && !this.destroyed) gaveUp()
      return Reflect.apply(destroy, this, args) as ClientRequest
    },
  })
}

function shadowResponse(request: ClientRequest, response: IncomingMessage, exchange: ExchangeObserver): void {
  const { push, _destroy } = response
  const received = guarded((chunk: unknown, encoding: unknown) => {
    if (chunk === null) {
      if (response.rawTrailers.length > 0) trailersCame(asked.get(request))
      exchange.end()
    } else exchange.chunk(copyBytes(chunk, encoding))
  })
  const destroyed = guarded((error: (Error & { code?: string }) | null) => {
    if (response.complete) return
    // Node itself destroys a cut response with exactly this error; any other way out is the client's.
    if (error?.code === 'ECONNRESET') exchange.error(error)
    else exchange.aborted()
  })
  Object.assign(response, {
    push(this: IncomingMessage, ...args: unknown[]) {
      received(args[0], args[1])
      return Reflect.apply(push, this, args) as boolean
    },
    _destroy(this: IncomingMessage, ...args: Parameters<typeof _destroy>) {
      destroyed(args[0])
      Reflect.apply(_destroy, this, args)
    },
  })
}
