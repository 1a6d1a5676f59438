import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import http, { STATUS_CODES } from 'node:http'
import https from 'node:https'
import { type Duplex, duplexPair, Readable } from 'node:stream'
import { captureStack } from '../caller.ts'
import { type SentRequest, statedSocket } from '../connection.ts'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { real } from '../timers.ts'
import {
  FrameReader,
  isWebSocket,
  meaningful,
  messageOfText,
  messageText,
  serverFrame,
  SocketNumbers,
  type WebSocketMessage,
} from '../websocket-frames.ts'
import { Context } from './context.ts'
import type { AnyFunction } from './guarding.ts'
import type { Pairs } from '../pairs.ts'
import {
  currentResponder,
  type ExchangeSink,
  type ExchangeControl,
  type SaidFrame,
  silent,
  type Responder,
} from './responder.ts'
import { nextTick } from '../source.ts'

const numbers = new WeakMap<object, SocketNumbers>()

/** How the recorded server answered a request for a WebSocket. */
export interface UpgradeAnswer {
  /** With 101: the client's end of the connection. */
  upgraded(headers: Pairs, socket: Duplex): void
  refused(status: number, statusText: string, headers: Pairs, body: Buffer): void
  failed(error: Error & { code?: string }): void
}

/** Opens a WebSocket of a replayed run: its peer says what is on the tape. The client's own framing stays in play. */
export function openScripted(
  run: Responder,
  url: string,
  headers: Pairs,
  answer: UpgradeAnswer,
  madeAt: Error | undefined,
): ExchangeControl {
  const known = numbers.get(run.identity) ?? new SocketNumbers()
  numbers.set(run.identity, known)
  const address = known.next(url)
  const context = new Context()
  let head: { status: number; statusText: string; headers: Pairs } | undefined
  const body: Buffer[] = []
  const sink: ExchangeSink = {
    head: (status, statusText, pairs) => {
      head = { status, statusText, headers: pairs }
    },
    chunk: (bytes) => void body.push(bytes),
    end: () =>
      context.run(() => {
        if (head?.status !== 101)
          return answer.refused(head?.status ?? 0, head?.statusText ?? '', head?.headers ?? [], Buffer.concat(body))
        const peer = new Peer(run, address)
        answer.upgraded([...handshake(headers), ...head.headers], peer.client)
        // The client listens when it has looked at the answer.
        real.setImmediate(() => peer.speak())
      }),
    error: (error) => context.run(() => answer.failed(error)),
  }
  const live = { method: 'OPEN', url: address, headers: meaningful(headers), body: Buffer.alloc(0) }
  return run.exchange({ via: 'websocket', ...live, ...(madeAt && { madeAt }) }, sink)
}

function handshake(headers: Pairs): Pairs {
  const key = headers.find(([name]) => name.toLowerCase() === 'sec-websocket-key')?.[1] ?? ''
  // RFC 6455, section 4.2.2.
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  return [
    ['upgrade', 'websocket'],
    ['connection', 'Upgrade'],
    ['sec-websocket-accept', accept],
  ]
}

/** The other end of a WebSocket. */
class Peer {
  readonly client: Duplex
  readonly #far: Duplex
  readonly #run: Responder
  readonly #url: string
  readonly #context = new Context()
  /** What a client says in the turn in which it is opened is heard when its peer speaks. */
  readonly #early: WebSocketMessage[] = []
  #speaks = false

  constructor(run: Responder, url: string) {
    this.#run = run
    this.#url = url
    const [near, far] = duplexPair({ allowHalfOpen: false })
    // Clients take it for a socket of the network.
    this.client = Object.assign(near, {
      setTimeout: () => near,
      setNoDelay: () => near,
      setKeepAlive: () => near,
      ref: () => near,
      unref: () => near,
      address: () => ({ address: '127.0.0.1', family: 'IPv4', port: 0 }),
      remoteAddress: '127.0.0.1',
    })
    this.#far = far
    const reader = new FrameReader((message) => {
      if (this.#speaks) this.#hear(message)
      else this.#early.push(message)
    })
    far.on('data', (bytes: Buffer) => reader.add(bytes))
    // A client that goes away has nothing to tell.
    far.on('error', () => undefined)
    near.on('error', () => undefined)
  }

  speak(): void {
    this.#speaks = true
    this.#run.listen(this.#url, (text, frame) => this.#say(text, frame))
    for (const message of this.#early.splice(0)) this.#hear(message)
  }

  #hear(message: WebSocketMessage): void {
    const { kind } = message
    if (kind === 'ping') return this.#write({ kind: 'pong', data: message.data })
    if (kind === 'pong') return
    const method = kind === 'text' ? 'SEND' : kind === 'binary' ? 'SEND_BINARY' : 'CLOSE'
    const body = kind === 'close' ? Buffer.from(messageText(message)) : message.data
    const run = currentResponder() ?? this.#run
    this.#context.run(() => {
      try {
        run.exchange({ via: 'websocket', method, url: this.#url, headers: [], body, madeAt: captureStack() }, silent)
      } catch {
        // The run has noted the divergence; the client gets it as from a server that refuses.
        this.#write(messageOfText('1008 not on the tape', 'close'))
        this.#far.end()
      }
    })
  }

  #say(text: string, frame?: SaidFrame): void {
    if (frame === 'end') return void this.#far.end()
    this.#write(messageOfText(text, frame ?? 'text'))
  }

  #write(message: WebSocketMessage): void {
    if (this.#far.writableEnded || this.#far.destroyed) return
    this.#context.run(() => this.#far.write(serverFrame(message)))
  }
}

/** Answers requests of `node:http` for a WebSocket, as `ws` makes them. */
export function interceptUpgrades(): void {
  for (const [module, scheme] of [
    [http, 'ws'],
    [https, 'wss'],
  ] as const)
    for (const key of ['request', 'get'] as const)
      patchProperty(
        module as unknown as Record<string, AnyFunction>,
        key,
        (original) =>
          function (this: unknown, ...args: unknown[]) {
            const run = currentResponder()
            const asked = run && upgradeIn(args, scheme)
            if (!run || !asked) return original.apply(this, args) as unknown
            const refused = isWebSocket(asked.protocol) ? undefined : unknownProtocol(run, asked)
            if (refused === undefined && !isWebSocket(asked.protocol)) return original.apply(this, args) as unknown
            return new UpgradeRequest(run, asked, refused)
          },
        'websocket',
      )
  syncBuiltins()
}

interface AskedUpgrade {
  readonly protocol: string
  readonly url: string
  readonly headers: Pairs
}

/** What is spoken after another upgrade is unknown here. */
export function unknownProtocol(run: Responder, { protocol, url }: Omit<AskedUpgrade, 'headers'>): Error | undefined {
  return run.escape(`upgrade to ${protocol}`, url, captureStack())
}

function upgradeIn(args: readonly unknown[], scheme: 'ws' | 'wss'): AskedUpgrade | undefined {
  const [first, second] = args
  const isAddress = typeof first === 'string' || first instanceof URL
  const options = ((isAddress ? second : first) ?? {}) as http.RequestOptions
  const given = (options.headers ?? {}) as Record<string, unknown>
  // Of nearly every request that is all there is to know.
  if (!Object.keys(given).some((name) => name.length === 7 && name.toLowerCase() === 'upgrade')) return undefined
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  headers.push(...statedSocket(options as SentRequest))
  const of = (wanted: string): string | undefined => headers.find(([name]) => name === wanted)?.[1]
  const protocol = of('upgrade')
  if (protocol === undefined) return undefined
  if (isAddress) return { protocol, url: String(first).replace(/^http/, 'ws'), headers }
  const port = Number(options.port ?? options.defaultPort ?? 0)
  const isUsual = port === 0 || port === (scheme === 'wss' ? 443 : 80)
  // A unix socket has an empty one.
  const name = options.hostname || options.host || 'localhost'
  const isBareIPv6 = name.includes(':') && !name.startsWith('[')
  const host = of('host') ?? `${isBareIPv6 ? `[${name}]` : name}${isUsual ? '' : `:${port}`}`
  return { protocol, url: `${scheme}://${host}${options.path ?? '/'}`, headers }
}

/** What a client holds while it waits for its WebSocket. */
class UpgradeRequest extends EventEmitter {
  readonly #control: ExchangeControl | undefined
  readonly #headers: Pairs
  destroyed = false
  aborted = false
  socket: Duplex | undefined

  /** @param refused - why there is no answer */
  constructor(run: Responder, { url, headers }: AskedUpgrade, refused?: Error) {
    super()
    this.#headers = headers
    const answer: UpgradeAnswer = {
      upgraded: (pairs, socket) => {
        this.socket = socket
        this.#tell('upgrade', response(101, 'Switching Protocols', pairs), socket, Buffer.alloc(0))
      },
      refused: (status, text, pairs, body) => this.#tell('response', response(status, text, pairs, body)),
      failed: (error) => this.#tell('error', error),
    }
    const madeAt = captureStack()
    try {
      if (refused) throw refused
      this.#control = openScripted(run, url, headers, answer, madeAt)
    } catch (error) {
      nextTick(() => this.#tell('error', error))
    }
  }

  #tell(event: string, ...args: unknown[]): void {
    if (!this.destroyed) this.emit(event, ...args)
  }

  getHeader(name: string): string | undefined {
    return this.#headers.find(([key]) => key === name.toLowerCase())?.[1]
  }

  setHeader(): this {
    return this
  }

  end(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  abort(): void {
    this.aborted = true
    this.destroy()
  }

  destroy(): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.#control?.abort()
    nextTick(() => this.emit('close'))
    return this
  }
}

function response(status: number, text: string, pairs: Pairs, body: Buffer = Buffer.alloc(0)): object {
  const headers = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
  const message = text || (STATUS_CODES[status] ?? '')
  return Object.assign(Readable.from([body]), {
    statusCode: status,
    statusMessage: message,
    headers,
    rawHeaders: pairs.flat(),
    httpVersion: '1.1',
  })
}
