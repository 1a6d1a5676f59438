import { trailersPair } from '../shape.ts'
import { type Pairs } from '../pairs.ts'
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type Duplex, duplexPair } from 'node:stream'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { outsideRuns, seamState } from '../source.ts'
import { runHeader, socketName, socketPlace, unknownSocket } from '../connection.ts'
import { besideOf, noteOf, runOf, stackOf, tagFor } from './attribution.ts'
import { currentResponder, type ExchangeControl, type LiveRequest, type Responder } from './responder.ts'
import { type BodyUse, hearReading } from '../reading.ts'

/**
 * Serves `node:http2` clients from a real HTTP/2 server at the other end of an in-memory pipe: the client's own
 * framing, flow control and errors stay in play.
 */
export function interceptHttp2(): void {
  const realConnect = http2.connect
  const memory = new MemorySessions(realConnect)
  const patched = patchProperty(http2, 'connect', () => {
    function connect(this: unknown, ...args: unknown[]): ClientHttp2Session {
      const [authority, second, third] = args
      if (!currentResponder()) return Reflect.apply(realConnect, this, args) as ClientHttp2Session
      const [options, listener] = typeof second === 'function' ? [{}, second] : [second ?? {}, third]
      return memory.open(new URL(String(authority)).origin, options as object, listener as (() => void) | undefined)
    }
    return connect as unknown as typeof realConnect
  })
  if (!patched) return
  const session = memory.open('http://session.invalid', {})
  const prototype = Object.getPrototypeOf(session) as ClientHttp2Session
  // A session opened before the run (or outside it) must not carry its requests out of the process.
  patchProperty(prototype, 'request', (original) => {
    return function request(this: ClientHttp2Session, headers, options): ClientHttp2Stream {
      const run = currentResponder()
      if (!run) return original.call(this, headers, options)
      const origin = memory.originOf(this) ?? this.originSet?.[0] ?? 'http://unknown.invalid'
      const target = memory.originOf(this) === undefined ? memory.shared(origin) : this
      // undici tags its own, and has a connection for it.
      const { [runHeader]: tagOfUndici } = (headers ?? {}) as Readonly<Record<string, unknown>>
      if (typeof tagOfUndici === 'string') noteOf(tagOfUndici)?.unsent?.arrived()
      const tag = tagFor(run)
      // It is made now, and reaches the other end of the pipe in a while.
      const note = noteOf(tag)
      const arrived = run.begins?.(() => undefined)
      if (note) {
        note.socket = memory.socketOf(this)
        if (arrived) note.arrived = arrived
      }
      const stream = original.call(
        target,
        {
          ...(headers as Record<string, string>),
          ':scheme': new URL(origin).protocol.slice(0, -1),
          ':authority': (headers as Record<string, string> | undefined)?.[':authority'] ?? new URL(origin).host,
          [runHeader]: tag,
        },
        options,
      )
      // Of undici's own the body is another stream.
      if (note && typeof tagOfUndici !== 'string') note.stream = stream
      return stream
    }
  })
  session.unref()
  syncBuiltins()
}

class MemorySessions {
  readonly #realConnect: typeof http2.connect
  readonly #server = http2.createServer()
  readonly #origins = new WeakMap<ClientHttp2Session, string>()
  readonly #sockets = new WeakMap<ClientHttp2Session, Pairs>()
  readonly #shared = new Map<string, ClientHttp2Session>()

  constructor(realConnect: typeof http2.connect) {
    this.#realConnect = realConnect
    this.#server.on('stream', serve)
    // A client that goes away ends its own session; the pipe has no other trouble to report.
    this.#server.on('sessionError', () => undefined)
  }

  open(origin: string, options: object, listener?: () => void): ClientHttp2Session {
    const [near, far] = duplexPair()
    this.#server.emit('connection', far)
    const createConnection = (): Duplex => near
    // Outside any run: the session may outlive the run that happened to open it.
    const session = outsideRuns(() =>
      this.#realConnect(`http://${new URL(origin).host}`, { ...options, createConnection }, listener),
    )
    this.#origins.set(session, origin)
    const { path, createConnection: own } = options as { readonly path?: unknown; readonly createConnection?: unknown }
    const place = own !== undefined ? unknownSocket : typeof path === 'string' ? socketPlace(path) : undefined
    if (place !== undefined) this.#sockets.set(session, [[socketName, place]])
    session.on('error', () => undefined)
    return session
  }

  originOf(session: ClientHttp2Session): string | undefined {
    return this.#origins.get(session)
  }

  /** The socket it would lead to: a connection of the code itself is not opened. */
  socketOf(session: ClientHttp2Session): Pairs {
    return this.#sockets.get(session) ?? []
  }

  shared(origin: string): ClientHttp2Session {
    const known = this.#shared.get(origin)
    if (known && !known.destroyed && !known.closed) return known
    const fresh = this.open(origin, {})
    fresh.unref()
    this.#shared.set(origin, fresh)
    return fresh
  }
}

/** Answers one stream at the far end of the pipe. */
function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const run = runOf(String(headers[runHeader]))
  const body: Buffer[] = []
  let beside = besideOf(String(headers[runHeader]))
  stream.on('trailers', (trailers) => {
    beside = [...beside, trailersPair(Object.keys(trailers))]
  })
  stream.on('data', (chunk: Buffer) => body.push(chunk))
  // The close handler below does what there is to do about a client that gave up.
  stream.on('error', () => undefined)
  if (!run) return
  const tag = String(headers[runHeader])
  if (run.over) {
    const { method, url, madeAt } = requestOf(headers, nothing)
    return run.requestedLate?.(method, url, madeAt)
  }
  let control: ExchangeControl | undefined
  let isAsked = false
  const ask = (open?: LiveRequest['open']): void => {
    if (isAsked || run.over) return
    isAsked = true
    endBegun?.()
    const answered = seamState().runs.run(run, () => {
      try {
        const live = requestOf(headers, Buffer.concat(body))
        const client = noteOf(tag)?.stream
        const sink = sinkOf(stream, client, (how) => control?.reading?.(how))
        control = run.exchange({ ...live, beside, ...(open && { open }) }, sink)
        return true
      } catch {
        // The run has noted the divergence; the client sees its stream refused.
        return false
      }
    })
    if (!answered) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
  }
  const endBegun = run.begins?.(() => ask('left'))
  noteOf(tag)?.arrived?.()
  stream.on('end', () => ask())
  stream.on('close', () => {
    if (endBegun) ask('given up')
    // One that was answered whole is closed as well.
    if (!stream.writableFinished) control?.abort()
  })
}

const nothing = Buffer.alloc(0)

function requestOf(headers: IncomingHttpHeaders, body: Buffer): Parameters<Responder['exchange']>[0] {
  const pairs: Pairs = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') || name === runHeader || value === undefined ? [] : [[name, String(value)] as const],
  )
  return {
    via: 'http2',
    method: String(headers[':method']),
    url: `${String(headers[':scheme'])}://${String(headers[':authority'])}${String(headers[':path'])}`,
    headers: pairs,
    body,
    ...stackOf(String(headers[runHeader])),
  }
}

const hopByHop = new Set(['connection', 'transfer-encoding', 'keep-alive', 'upgrade'])

function sinkOf(
  stream: ServerHttp2Stream,
  client: { readonly readableLength: number } | undefined,
  heard: (how: BodyUse) => void,
): Parameters<Responder['exchange']>[1] {
  const open = (): boolean => !stream.destroyed && !stream.closed
  return {
    head(status, _statusText, pairs) {
      if (!open()) return
      const headers: Record<string, string | string[]> = {}
      for (const [name, value] of pairs) {
        if (hopByHop.has(name)) continue
        const before = headers[name]
        headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
      }
      if (client) hearReading(client, heard)
      stream.respond({ ':status': status, ...headers })
    },
    chunk: (bytes) => void (open() && stream.write(bytes)),
    end: () => void (open() && stream.end()),
    error: () => void (open() && stream.close(http2.constants.NGHTTP2_CANCEL)),
    ...(client && { isFull: () => stream.writableLength > 0 || client.readableLength > 0 }),
  }
}
