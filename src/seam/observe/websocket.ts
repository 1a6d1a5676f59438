import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { FrameReader, meaningful, messageText, SocketNumbers, type WebSocketMessage } from '../websocket-frames.ts'
import { copyBytes, headerPairs } from './channels.ts'
import { type ExchangeObserver, guarded, type Observer } from './observer.ts'

const numbers = new WeakMap<object, SocketNumbers>()

/** A WebSocket that is being opened, as those who hear its socket need it. */
export interface OpeningSocket {
  readonly run: Observer
  readonly url: string
  readonly exchange: ExchangeObserver
}

/** A run opens a WebSocket. */
export function openingSocket(
  run: Observer,
  url: string,
  headers: readonly (readonly [string, string])[],
): OpeningSocket | undefined {
  const known = numbers.get(run.handle) ?? new SocketNumbers()
  numbers.set(run.handle, known)
  const address = known.next(url)
  const exchange = run.exchange({ via: 'websocket', method: 'OPEN', url: address, headers: meaningful(headers) })
  exchange?.leaving(true)
  return exchange && { run, url: address, exchange }
}

/** Hears a WebSocket over `node:http`, such as that of `ws`: the answer to its request is an event. */
export function hearUpgrade(request: ClientRequest, opening: OpeningSocket): void {
  const { emit } = request
  const upgraded = guarded((response: IncomingMessage, socket: Socket, head: Buffer) => {
    opened(opening, response.statusCode ?? 101, response.statusMessage ?? '', headerPairs(response.rawHeaders))
    hearFrames(opening, socket).add(head)
  })
  Object.assign(request, {
    emit(this: ClientRequest, ...args: unknown[]) {
      if (args[0] === 'upgrade') upgraded(args[1] as IncomingMessage, args[2] as Socket, args[3] as Buffer)
      return Reflect.apply(emit, this, args) as boolean
    },
  })
}

/** Hears the WebSocket of undici, which Node has as a global: its answer is read from the socket. */
export function hearSocket(socket: Socket, opening: OpeningSocket): void {
  let head: Buffer | undefined = Buffer.alloc(0)
  hearFrames(opening, socket, (bytes) => {
    if (head === undefined) return bytes
    head = Buffer.concat([head, bytes])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return nothing
    const [status = '', ...lines] = head.subarray(0, end).toString('latin1').split('\r\n')
    const [, code = '', text = ''] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(status) ?? []
    const rest = head.subarray(end + 4)
    head = undefined
    // Any other answer is heard as one.
    if (code === '101') opened(opening, 101, text, headerPairs(lines.join('\r\n')))
    return code === '101' ? rest : nothing
  })
}

const nothing = Buffer.alloc(0)

function opened(
  { exchange }: OpeningSocket,
  status: number,
  text: string,
  headers: readonly (readonly [string, string])[],
): void {
  exchange.head(status, text, { pairs: meaningful(headers), bytes: 0 })
  exchange.end()
}

/** @param body - the part of what arrives that is frames; default: all of it */
function hearFrames({ run, url }: OpeningSocket, socket: Socket, body = (bytes: Buffer): Buffer => bytes): FrameReader {
  const said = new FrameReader(({ kind, data }) => {
    run.pushed(url, messageText({ kind, data }), kind === 'text' ? undefined : kind)
  })
  const wrote = new FrameReader((message) => sent(run, url, message))
  const { push, write, end } = socket
  const arrived = guarded((chunk: unknown, encoding: unknown) => said.add(body(copyBytes(chunk, encoding))))
  const left = guarded((chunk: unknown, encoding: unknown) => wrote.add(copyBytes(chunk, encoding)))
  const isBytes = (chunk: unknown): boolean => typeof chunk === 'string' || chunk instanceof Uint8Array
  let isClosed = false
  Object.assign(socket, {
    push(this: Socket, ...args: unknown[]) {
      if (isBytes(args[0])) arrived(args[0], args[1])
      return Reflect.apply(push, this, args) as boolean
    },
    // Frames begin where the head of the request ends: what was written before is not heard.
    write(this: Socket, ...args: unknown[]) {
      if (isBytes(args[0]) && !isRequestHead(args[0])) left(args[0], args[1])
      return Reflect.apply(write, this, args) as boolean
    },
    end(this: Socket, ...args: unknown[]) {
      if (isBytes(args[0])) left(args[0], args[1])
      return Reflect.apply(end, this, args) as Socket
    },
  })
  socket.once(
    'close',
    guarded(() => {
      if (!isClosed) run.pushed(url, '', 'end')
      isClosed = true
    }),
  )
  return said
}

function isRequestHead(chunk: unknown): boolean {
  return copyBytes(chunk).subarray(0, 4).toString('latin1') === 'GET '
}

/** What the client says by itself, such as its answer to a ping, a replay's client says again: it is no step. */
function sent(run: Observer, url: string, message: WebSocketMessage): void {
  if (message.kind === 'pong' || message.kind === 'ping') return
  const method = message.kind === 'text' ? 'SEND' : message.kind === 'binary' ? 'SEND_BINARY' : 'CLOSE'
  const exchange = run.exchange({ via: 'websocket', method, url })
  exchange?.requestChunk(message.kind === 'close' ? Buffer.from(messageText(message)) : message.data)
  exchange?.end()
}
