// Over 300 lines: a connection, what is expected on it and its answers share what Node and the interceptor keep to themselves.
import { ClientRequest, STATUS_CODES } from 'node:http'
import type net from 'node:net'
import { targetOf } from '../connection.ts'
import type { Pairs } from '../pairs.ts'
import { forgetNote, hearAnswerRead, noteOf, runOf } from './attribution.ts'
import { Context } from './context.ts'
import { isUndiciForced } from './expected-fetch.ts'
import type { AnswerHead } from './own-response.ts'
import { type Data, RequestHeads, type WholeRequest, type WrittenRequest } from './request-head.ts'
import { type ExchangeControl, type ExchangeSink, type KnownRequest, type Responder, textRequest } from './responder.ts'
import { learnSent } from './sent-headers.ts'
import { thrownAfterHead } from './turns.ts'
import { nextTick, queueMicrotask } from '../source.ts'

/**
 * Answers expected requests of `node:http` without objects of `fetch` between the socket and the tape, where the interceptor
 * answered one on a connection to the same place before. The client's request, response, parser, agent and socket stay Node's
 * own: what is handed to it are the bytes it would read.
 *
 * To be called when the interceptor has taken the socket. What is not the next expected plain request goes on to it.
 */
export function answerExpectedOn(socket: net.Socket): void {
  tellErrorsFirst(socket as Line)
  if (!isUndiciForced() && !connections.has(socket)) connections.set(socket, new Connection(socket as Line))
  writeOnceConnected(socket as Line)
}

/** What is written to a connection that is not there yet is written when it is: clients measure from the one to the other. */
function writeOnceConnected(socket: Line): void {
  const { _writeGeneric: write } = socket
  const writeInOrder: typeof write = (isMany, data, encoding, callback) => {
    if (!socket.connecting || !(socket._httpMessage instanceof ClientRequest))
      return write.call(socket, isMany, data, encoding, callback)
    write.call(socket, isMany, data, encoding, (error) => {
      if (!socket.connecting) return callback?.(error)
      const closed = (): void => {
        socket.off('connect', connected)
        callback?.(closedBefore())
      }
      const connected = (): void => {
        socket.off('close', closed)
        callback?.(error)
      }
      socket.once('connect', connected).once('close', closed)
    })
  }
  socket._writeGeneric = writeInOrder
}

/** As Node says it. */
function closedBefore(): Error {
  const code = 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION'
  return Object.assign(new Error('Socket closed before the connection was established'), { code })
}

/**
 * An answered connection that its client destroys says so in a microtask, and that it is closed in a tick, which is sooner
 * where nothing but a timer or an event called the client. Then its own error would be lost, which Node tells first.
 */
function tellErrorsFirst(socket: Line): void {
  const { destroy } = socket
  const destroyInOrder: typeof destroy = (error) => {
    if (error && !socket.destroyed) putBeforeClose(socket, error)
    return destroy.call(socket, error)
  }
  socket.destroy = destroyInOrder
}

function putBeforeClose(socket: Line, error: Error): void {
  const emit = socket.emit as (this: Line, name: string | symbol, ...args: unknown[]) => boolean
  let isTold = false
  const emitInOrder: typeof emit = (name, ...args) => {
    if (name === 'error') {
      if (isTold) return true
      isTold = true
    } else if (name === 'close' && !isTold) {
      isTold = true
      emit.call(socket, 'error', error)
    }
    return emit.call(socket, name, ...args)
  }
  socket.emit = emitInOrder
}

const connections = new WeakMap<net.Socket, Connection>()

/** What the interceptor has of a connection. */
interface Controller {
  /** Lets it be made, without any server. */
  claim(): void
  /** 0: nothing was decided. */
  readonly readyState: number
}

/** To be called when the interceptor asks who takes a connection, in the turn in which it is opened. */
export function isControlledBy(controller: Controller): void {
  const { socket } = controller as Controller & { readonly socket: net.Socket }
  connections.get(socket)?.isControlledBy(controller)
  const connect = (): void => {
    // Of the interceptor: tells the client that the connection is there.
    const { emulateConnect } = controller as { readonly emulateConnect?: () => void }
    if (socket.connecting && !socket.destroyed && controller.readyState === 0) emulateConnect?.call(controller)
  }
  // A server accepts a connection before it has read anything, and time-outs of a client begin there.
  if (socket._httpMessage instanceof ClientRequest) setImmediate(connect)
}

/** The origin of the addresses asked at a place, as the interceptor made it out. */
const origins = new Map<string, string>()
/** An agent that asks ever new hosts must not fill the memory. */
const mostOrigins = 1_000

/** A socket with TLS says so. */
interface Line extends net.Socket {
  readonly encrypted?: boolean
}

class Connection {
  readonly #socket: Line
  readonly #heads = new RequestHeads()
  /** Where it leads. */
  readonly #place: string
  /** Of the addresses asked through it, once one is known. */
  #origin: string | undefined
  /** An address that is as `URL` writes it. */
  #plainUrl = ''
  /** The interceptor has it. */
  #passed: unknown
  #answer: Answer | undefined
  #controller: Controller | undefined
  /** The first request on it: with its answer the connection is made. */
  #first: ClientRequest | undefined
  /** It became something else than HTTP. */
  #isLeft = false

  constructor(socket: Line) {
    this.#socket = socket
    this.#place = `${socket.encrypted === true} ${targetOf(socket)}`
    const { _writeGeneric: write, destroy } = socket
    const takeOrWrite: typeof write = (isMany, data, encoding, callback) => {
      const answer = this.#take(data, encoding)
      if (answer === undefined) return write.call(socket, isMany, data, encoding, callback)
      socket._unrefTimer()
      callback?.()
    }
    const abortAndDestroy: typeof destroy = (error) => {
      this.#answer?.abort()
      return destroy.call(socket, error)
    }
    socket._writeGeneric = takeOrWrite
    socket.destroy = abortAndDestroy
  }

  /** Takes a write that is the next expected request; `undefined`: it goes on. */
  #take(data: Data, encoding: BufferEncoding): Answer | undefined {
    const socket = this.#socket
    const request = socket._httpMessage
    if (this.#isLeft || request === this.#passed || !(request instanceof ClientRequest)) return undefined
    this.#passed = request
    this.#first ??= request
    const whole = this.#heads.take(request as WrittenRequest, data, encoding)
    if (typeof whole === 'string') {
      if (whole === 'other') this.#isLeft = true
      return undefined
    }
    const known = this.#expected(whole, request.protocol)
    if (known === undefined) {
      const note = noteOf(whole.tag)
      const learn = (url: string, sent: Pairs): void => this.#learn(whole, request.protocol, url, sent)
      if (note) note.learn = learn
      return undefined
    }
    this.#passed = undefined
    this.#answer = new Answer(socket, whole, known)
    if (request === this.#first && this.#controller?.readyState === 0) this.#answer.connect(this.#controller)
    return this.#answer
  }

  isControlledBy(controller: Controller): void {
    this.#controller = controller
    this.#answer?.connect(controller)
  }

  #expected({ head, tag, text, length }: WholeRequest, protocol: string): Known | undefined {
    const run = runOf(tag)
    this.#origin ??= origins.get(`${protocol} ${this.#place}`)
    if (this.#origin === undefined || !run?.expects || run.over) return undefined
    const sent = head.sentWith(length)
    if (sent === undefined) return undefined
    const { method } = head
    const url = this.#origin + head.target
    if (url !== this.#plainUrl && URL.parse(url)?.href !== url) return undefined
    this.#plainUrl = url
    const found = run.expects({ via: 'http', method, url, text, headers: () => sent })
    const framing = found?.head && framingOf(found.head)
    return framing && { run, url, sent, framing, found }
  }

  #learn({ head, length }: WholeRequest, protocol: string, url: string, sent: Pairs): void {
    const { target } = head
    const origin = url.slice(0, -target.length)
    if (origin + target === url && URL.parse(url)?.origin === origin) {
      this.#origin = origin
      if (origins.size >= mostOrigins) origins.clear()
      origins.set(`${protocol} ${this.#place}`, origin)
    }
    learnSent(head.shapeWith(length), length, sent)
  }
}

interface Known {
  readonly run: Responder
  readonly url: string
  readonly sent: Pairs
  readonly framing: Framing
  readonly found: KnownRequest
}

const statedLength = /^\d+$/

/** How the client finds the end of an answer. */
interface Framing {
  readonly length: number | undefined
}

const emptyStatuses = new Set([204, 205, 304])

/** `undefined`: it has no body, or ends with the connection. */
function framingOf({ status, headers }: AnswerHead): Framing | undefined {
  if (status < 200 || emptyStatuses.has(status)) return undefined
  let length: number | undefined
  let isChunked = false
  for (let i = 0; i < headers.length; i++) {
    const pair = headers[i]!
    const value = pair[1]
    switch (pair[0].toLowerCase()) {
      case 'content-length':
        if (length !== undefined || !statedLength.test(value)) return undefined
        length = Number(value)
        break
      case 'transfer-encoding':
        if (isChunked || value !== 'chunked') return undefined
        isChunked = true
        break
      case 'upgrade':
      case 'trailer':
        return undefined
    }
  }
  return isChunked === (length !== undefined) ? undefined : { length }
}

/** What the interceptor leaves out of an answer: it is about a connection that is not there. */
export function isAboutConnection(name: string): boolean {
  return name === 'connection' || name === 'keep-alive'
}

type State = 'asking' | 'waiting' | 'open' | 'settled'

/** Of a body. Text becomes bytes when it is handed over. */
type Piece = string | Buffer

/** One answer on its way, from the request to the end of its body. */
class Answer implements ExchangeSink {
  readonly #socket: Line
  readonly #framing: Framing
  readonly #context = new Context()
  #state: State = 'asking'
  #control: ExchangeControl | undefined
  /** What the client has not got yet. */
  #head = ''
  #pieces: Piece[] = []
  #left: number

  constructor(socket: Line, whole: WholeRequest, known: Known) {
    this.#socket = socket
    this.#framing = known.framing
    this.#left = known.framing.length ?? Number.POSITIVE_INFINITY
    noteOf(whole.tag)?.unsent?.arrived()
    // Nothing will be said about it: where it was made is not asked for.
    forgetNote(whole.tag)
    // A server hears of a request later than it is made.
    void soon.then(() => this.#ask(whole, known))
  }

  #ask({ head, text }: WholeRequest, { run, url, sent, found }: Known): void {
    if (this.#state !== 'asking' || run.over) return
    this.#state = 'waiting'
    try {
      this.#control = run.exchange(
        textRequest({ via: 'http', method: head.method, url, headers: sent, text, known: found }),
        this,
      )
    } catch (error) {
      this.error(error as Error)
    }
  }

  /** It is the first on its connection, which is made as one that the interceptor answers on. */
  connect(controller: Controller): void {
    this.#context.run(() => controller.claim())
  }

  /** The client gave up. */
  abort(): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#control?.abort()
  }

  head(status: number, statusText: string, headers: Pairs): void {
    hearAnswerRead({ request: this.#socket._httpMessage }, (how) => this.#control?.reading?.(how))
    let text = `HTTP/1.1 ${status} ${statusText || (STATUS_CODES[status] ?? 'unknown')}\r\n`
    for (let i = 0; i < headers.length; i++) {
      const pair = headers[i]!
      if (!isAboutConnection(pair[0])) text += `${pair[0]}: ${pair[1]}\r\n`
    }
    this.#head = `${text}\r\n`
    // A response of `fetch` is with the agent a turn after undici has it; this one is at once.
    thrownAfterHead(() => {
      if (this.#state !== 'waiting') return
      this.#state = 'open'
      endAsAnswered(this.#socket)
      this.#flush()
    })
  }

  chunk(bytes: Buffer): void {
    this.#add(bytes, bytes.length)
  }

  text(piece: string): void {
    this.#add(piece, Buffer.byteLength(piece))
  }

  #add(piece: Piece, length: number): void {
    if (length === 0) return
    this.#left -= length
    if (this.#framing.length !== undefined) this.#send(piece)
    else {
      const size = `${length.toString(16)}\r\n`
      if (typeof piece === 'string') this.#send(`${size}${piece}\r\n`)
      else this.#send(size, piece, '\r\n')
    }
  }

  end(): void {
    if (this.#framing.length !== undefined) return
    this.#left = 0
    this.#send('0\r\n\r\n')
  }

  error(error: Error): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#context.run(() => this.#socket.destroy(error))
  }

  /** What the agent throws when it gets it is its own error, and none of whoever delivers. */
  #send(...pieces: readonly Piece[]): void {
    const isFirst = this.#pieces.length === 0
    this.#pieces.push(...pieces)
    if (this.#state === 'open' && isFirst) nextTick(() => this.#flush())
  }

  /** What came in one turn comes in one packet. The pieces of a body are distinguished by their chunks, or by packets. */
  #flush(): void {
    if (this.#state !== 'open') return
    const head = this.#head
    const pieces = this.#pieces
    this.#head = ''
    this.#pieces = []
    const inFirst = this.#framing.length === undefined ? pieces.length : 1
    this.#push(packetOf(head, pieces.slice(0, inFirst)), pieces.length <= inFirst)
    for (let i = inFirst; i < pieces.length; i++) this.#push(packetOf('', [pieces[i]!]), i === pieces.length - 1)
  }

  #push(packet: Buffer, isLast: boolean): void {
    // The client has it all with the last byte: what it does to the connection then is no giving up.
    if (this.#left <= 0 && isLast) this.#state = 'settled'
    this.#context.run(() => {
      this.#socket._unrefTimer()
      this.#socket.push(packet)
    })
  }
}

const soon = Promise.resolve()

function packetOf(head: string, pieces: readonly Piece[]): Buffer {
  let length = head.length
  for (let i = 0; i < pieces.length; i++) length += Buffer.byteLength(pieces[i]!)
  const packet = Buffer.allocUnsafe(length)
  let at = head === '' ? 0 : packet.write(head, 'latin1')
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i]!
    at += typeof piece === 'string' ? packet.write(piece, at) : piece.copy(packet, at)
  }
  return packet
}

/** From its first answer on, a connection ends as those of the interceptor do, which have nothing to close: at once. */
function endAsAnswered(socket: Line): void {
  if (Object.hasOwn(socket, '_destroy')) return
  const destroy: Line['_destroy'] = (error, callback) => {
    if (error) queueMicrotask(() => socket.emit('error', error))
    callback(null)
    nextTick(() => socket.emit('close', error !== null))
  }
  socket._destroy = destroy
}
