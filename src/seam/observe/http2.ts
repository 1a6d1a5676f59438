import type http2 from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { isOfUndici } from '../http-clients.ts'
import { connectedSocket } from '../connection.ts'
import type { Pairs } from '../pairs.ts'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { trailersPair } from '../shape.ts'
import { copyBytes, headerPairs, onChannel, readHeaders } from './channels.ts'
import { type ExchangeObserver, guarded, hearRequest } from './observer.ts'
import { hearReading } from '../reading.ts'

const underWay = new WeakMap<object, ExchangeObserver>()
/** What came of answers whose heads come in a later tick, as the end of one without a body. */
const beforeHead = new WeakMap<object, (() => void)[]>()

interface StreamMessage {
  readonly stream: ClientHttp2Stream
  readonly headers: Readonly<Record<string, unknown>>
}

/** Hears `node:http2` clients: the AWS SDK's default handler, got and axios over HTTP/2. */
export function observeHttp2(): void {
  if (isWithoutChannels(process.versions.node)) return hearSessions()
  onChannel('http2', 'http2.client.stream.created', created)
  onChannel('http2', 'http2.client.stream.finish', answered)
}

function created({ stream, headers }: StreamMessage): void {
  // undici's own sessions are heard on undici's channels.
  if (isOfUndici(new Error('via'))) return
  const exchange = hearRequest({
    via: 'http2',
    method: String(headers[':method'] ?? 'GET'),
    url: urlOf(stream, headers),
    headers: headerPairs(headers),
  })
  if (!exchange) return
  underWay.set(stream, exchange)
  shadowStream(stream, exchange)
  const { sendTrailers } = stream
  const trailing = guarded((given: object) => add(stream, exchange, headers, [trailersPair(Object.keys(given))]))
  Object.assign(stream, {
    sendTrailers(this: ClientHttp2Stream, given: object) {
      trailing(given)
      Reflect.apply(sendTrailers, this, [given])
    },
  })
  if (stream.writableEnded) exchange.leaving(true)
}

function answered({ stream, headers }: StreamMessage): void {
  const exchange = underWay.get(stream)
  if (!exchange) return
  const { session, sentHeaders } = stream
  const socket = session?.destroyed === false ? session.socket : undefined
  const found = connectedSocket(socket)
  if (found.length > 0) add(stream, exchange, sentHeaders, found)
  exchange.head(Number(headers[':status']), '', readHeaders(headers))
  const reading = exchange.reading?.()
  if (reading) hearReading(stream, guarded(reading))
}

/** Node 22.15, 22.16, 24.0 and 24.1 say nothing of a stream, or nothing of its answer. */
function isWithoutChannels(version: string): boolean {
  const [major, minor] = version.split('.').map(Number) as [number, number]
  return (major === 22 && minor < 17) || (major === 24 && minor < 2)
}

/** Hears what later versions say on channels. */
function hearSessions(): void {
  const hearCreated = guarded(created)
  const hearAnswered = guarded(answered)
  const opened = (session: ClientHttp2Session): void => {
    const shared = Object.getPrototypeOf(session) as Pick<ClientHttp2Session, 'request'>
    patchProperty(
      shared,
      'request',
      (request) =>
        function (this: ClientHttp2Session, ...args) {
          const stream = Reflect.apply(request, this, args) as ClientHttp2Stream
          hearCreated({ stream, headers: stream.sentHeaders })
          const due: (() => void)[] = []
          beforeHead.set(stream, due)
          const { emit } = stream
          Object.assign(stream, {
            emit(this: ClientHttp2Stream, ...said: unknown[]) {
              if (said[0] === 'response') {
                hearAnswered({ stream, headers: said[1] as StreamMessage['headers'] })
                beforeHead.delete(stream)
                for (const hear of due.splice(0)) hear()
              }
              return Reflect.apply(emit, this, said) as boolean
            },
          })
          return stream
        },
      'observe',
    )
  }
  const hear = (connect: typeof http2.connect): typeof http2.connect => {
    const connected = function (this: unknown, ...args: unknown[]): ClientHttp2Session {
      const session = Reflect.apply(connect, this, args) as ClientHttp2Session
      opened(session)
      return session
    }
    return connected as typeof connect
  }
  patchProperty(process.getBuiltinModule('node:http2'), 'connect', hear, 'observe')
  syncBuiltins()
}

/** What stands beside the headers of a request. */
const beside = new WeakMap<object, Pairs>()

function add(stream: object, exchange: ExchangeObserver, headers: object, found: Pairs): void {
  const all = [...(beside.get(stream) ?? []), ...found]
  beside.set(stream, all)
  exchange.requestHeaders([...headerPairs(headers), ...all])
}

function shadowStream(stream: ClientHttp2Stream, exchange: ExchangeObserver): void {
  const { push, _destroy, write, end } = stream
  let complete = false
  // As it is written, and not as it is sent: a session that connects sends later.
  const body = guarded((chunk: unknown, encoding: unknown, isWhole: boolean) => {
    if (chunk !== null && chunk !== undefined && typeof chunk !== 'function')
      exchange.requestChunk(copyBytes(chunk, encoding))
    exchange.leaving(isWhole)
  })
  const received = guarded((chunk: unknown, encoding: unknown) => {
    if (chunk !== null) return exchange.chunk(copyBytes(chunk, encoding))
    complete = true
    exchange.end()
  })
  const destroyed = guarded((error: (Error & { code?: string }) | null) => {
    if (complete) return
    if (error && error.name !== 'AbortError') exchange.error(error)
    else exchange.aborted()
  })
  Object.assign(stream, {
    write(this: ClientHttp2Stream, ...args: unknown[]) {
      body(args[0], args[1], false)
      return Reflect.apply(write, this, args) as boolean
    },
    end(this: ClientHttp2Stream, ...args: unknown[]) {
      body(args[0], args[1], true)
      return Reflect.apply(end, this, args) as ClientHttp2Stream
    },
    push(this: ClientHttp2Stream, ...args: unknown[]) {
      const due = beforeHead.get(stream)
      if (due === undefined) received(args[0], args[1])
      else due.push(() => received(args[0], args[1]))
      return Reflect.apply(push, this, args) as boolean
    },
    _destroy(this: ClientHttp2Stream, ...args: Parameters<typeof _destroy>) {
      destroyed(args[0])
      Reflect.apply(_destroy, this, args)
    },
  })
}

function urlOf(stream: ClientHttp2Stream, headers: Readonly<Record<string, unknown>>): string {
  const { session } = stream
  const scheme = String(headers[':scheme'] ?? (session?.encrypted ? 'https' : 'http'))
  const socket = session?.socket as { _host?: string; remoteAddress?: string; remotePort?: number } | undefined
  const authority =
    headers[':authority'] ??
    headers['host'] ??
    `${socket?._host ?? socket?.remoteAddress ?? '?'}:${socket?.remotePort ?? '?'}`
  return `${scheme}://${String(authority)}${String(headers[':path'])}`
}
