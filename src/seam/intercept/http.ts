import { type Pairs } from '../pairs.ts'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { FetchResponse } from '@mswjs/interceptors'
import { SocketInterceptor } from '@mswjs/interceptors/net'
import { HttpRequestInterceptor } from '@mswjs/interceptors/http'
import { onceInProcess } from '../patch.ts'
import { sharedOf } from '../source.ts'
import { asTargeted } from '../shape.ts'
import { runHeader } from '../connection.ts'
import { besideOf, hearAnswerRead, mockSockets, noteOf, runOf, stackOf } from './attribution.ts'
import { keepBodies } from './bodied-request.ts'
import { Context } from './context.ts'
import { isAboutConnection, isControlledBy } from './expected-http.ts'
import { currentOutsideAnswers, type OutsideAnswers } from './outside.ts'
import { real } from '../timers.ts'
import { currentResponder, type ExchangeControl, type ExchangeSink, type LiveRequest } from './responder.ts'

/** Serves everything that speaks HTTP/1.1 over a socket: `node:http(s)`, got, axios, undici pools of their own. */
export function interceptHttp(): void {
  onceInProcess('intercept.http', () => {
    keepBodies()
    const interceptor = new HttpRequestInterceptor()
    // oxlint-disable-next-line no-misused-promises -- the interceptor waits for what a listener returns
    interceptor.on('request', async ({ request, controller }) => {
      const tag = request.headers.get(runHeader)
      const run = runOf(tag) ?? currentResponder() ?? outside(request)
      if (!run) return
      if (run.over) {
        if ('requestedLate' in run) run.requestedLate?.(request.method, request.url, stackOf(tag).madeAt)
        return new Promise<void>(() => undefined)
      }
      // What was given up before it was sent has been asked.
      if (noteOf(tag)?.unsent?.arrived() === false) return new Promise<void>(() => undefined)
      const answer = new Answer(controller, request.method, () => noteOf(tag)?.request)
      let isAsked = false
      const ask = (body: Buffer, open?: LiveRequest['open']): void => {
        if (isAsked) return
        isAsked = true
        endBegun?.()
        const sent = [...request.headers.entries()].filter(([name]) => name !== runHeader)
        const headers = asTargeted(noteOf(tag)?.request?.path ?? '', sent)
        noteOf(tag)?.learn?.(request.url, headers)
        const beside = besideOf(tag)
        const live = { method: request.method, url: request.url, headers, body, beside, ...stackOf(tag) }
        try {
          hearAnswerRead({ tag }, (how) => answer.control?.reading?.(how))
          answer.control = run.exchange({ via: 'http', ...live, ...(open && { open }) }, answer)
        } catch (error) {
          answer.error(error as Error)
        }
      }
      const askLeft = async (isExiting: boolean): Promise<void> =>
        ask(isExiting ? nothing : await soFar(request), 'left')
      const endBegun = 'begins' in run ? run.begins?.(askLeft) : undefined
      // Given up before its answer began: it is not read then, and nothing else would be heard of it.
      const gaveUp = (): void => {
        if (endBegun) ask(nothing, 'given up')
        if (!answer.isBroken) answer.control?.abort()
      }
      request.signal.addEventListener('abort', gaveUp, { once: true })
      try {
        ask(Buffer.from(await request.clone().arrayBuffer()))
        // Without an answer it goes on to the guard.
        if (answer.control !== undefined) await answer.begun
      } catch (error) {
        controller.errorWith(errorHere(error as Error))
      }
    })
    interceptor.apply()
    const sockets = SocketInterceptor.singleton(SocketInterceptor)
    sockets.on('connection', ({ controller }) => {
      const { socket } = controller as typeof controller & { readonly socket: Socket }
      if (!mockSockets.has(socket)) isControlledBy(controller)
    })
    hearMocks(sockets as Emits)
  })
}

interface Emits {
  readonly readyState?: string
  listenerCount(type: string): number
}

/** Mock servers (MSW 3, nock 15) keep their interceptors where ours are: each kind exists once for a copy of the package. */
function interceptorNamed(name: string): Emits | undefined {
  const { __MSW_INTERCEPTORS_REGISTRY: registry } = globalThis as {
    readonly __MSW_INTERCEPTORS_REGISTRY?: ReadonlyMap<symbol, Emits>
  }
  return registry?.get(Symbol.for(name))
}

/** Whether a mock server answers sockets already. */
export function isMockListening(): boolean {
  return interceptorNamed('socket-interceptor')?.readyState === 'ACTIVE'
}

/** What a mock server listens on as well that uses our copy of the interceptors: they exist once in a process. */
const shared = sharedOf('intercept.mocks', (): { requests?: Emits; sockets?: Emits; own: number } => ({ own: 0 }))

function hearMocks(sockets: Emits): void {
  const requests = interceptorNamed('node-http-request-source')
  if (requests === undefined) throw new Error('@mswjs/interceptors keeps its source of requests elsewhere')
  Object.assign(shared, { requests, sockets })
  shared.own = heard()
}

function heard(): number {
  const { requests, sockets } = shared
  return (requests?.listenerCount('request') ?? 0) + (sockets?.listenerCount('connection') ?? 0)
}

/** Whether a mock server that uses our copy of the interceptors (MSW 3) listens now. */
export function isMockSharing(): boolean {
  return heard() > shared.own
}

const nothing = Buffer.alloc(0)

/** What came of a body that has not ended. */
async function soFar({ body }: Request): Promise<Buffer> {
  const reader = body?.getReader()
  const pieces: Uint8Array[] = []
  for (;;) {
    const piece = await Promise.race([
      reader?.read(),
      new Promise<undefined>((next) => real.setImmediate(() => next(undefined))),
    ])
    if (piece?.value === undefined) return Buffer.concat(pieces)
    pieces.push(piece.value)
  }
}

function outside({ method, url }: Request): (Pick<OutsideAnswers, 'exchange'> & { over: false }) | undefined {
  const answers = currentOutsideAnswers()
  if (answers?.claims(method, url) !== true) return undefined
  return { over: false, exchange: (live, sink) => answers.exchange(live, sink) }
}

/** In a vm pool, a run of another file has errors of other classes than this one, which the interceptor does not know. */
function errorHere(error: Error): Error {
  if (error instanceof Error) return error
  const { name, message } = error as Error
  return Object.assign(new Error(message, { cause: error }), { name })
}

interface Controller {
  readonly readyState: number
  respondWith(response: Response): unknown
  errorWith(reason: Error): unknown
}

/** A request of `node:http`, with the message that answers it. */
interface HttpClient {
  readonly socket?: Socket | null
  readonly res?: IncomingMessage | null
}

const bodyless = new Set([101, 204, 205, 304])

/** One answer on its way through the interceptor. */
class Answer implements ExchangeSink {
  control: ExchangeControl | undefined
  /** Its connection failed: what the client lets go of then is no giving up. */
  isBroken = false
  /** Settles when the client has the head of the answer, or its error. */
  readonly begun: Promise<void>
  readonly #begin: () => void
  readonly #controller: Controller
  readonly #method: string
  /** Of a client of `node:http`. */
  readonly #clientOf: () => HttpClient | undefined
  readonly #context = new Context()
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #left = Number.POSITIVE_INFINITY
  #closed = false

  constructor(controller: Controller, method: string, clientOf: () => HttpClient | undefined) {
    this.#controller = controller
    this.#clientOf = clientOf
    this.#method = method
    const { promise, resolve } = Promise.withResolvers<void>()
    this.begun = promise
    this.#begin = resolve
  }

  head(status: number, statusText: string, pairs: Pairs): void {
    const headers = new Headers()
    // `transfer-encoding` stays: without it a body that was cut off would look complete.
    for (const [name, value] of pairs) if (!isAboutConnection(name)) headers.append(name, value)
    const length = headers.get('content-length')
    if (length !== null) this.#left = Number(length)
    const isBodyless = bodyless.has(status) || this.#method === 'HEAD'
    const body = isBodyless
      ? null
      : new ReadableStream<Uint8Array>({
          start: (stream) => {
            this.#stream = stream
            // The interceptor holds a head back until something of the body comes, and the client may act on the head alone.
            stream.enqueue(nothing)
          },
          cancel: () => {
            this.#closed = true
            if (!this.isBroken) this.control?.abort()
          },
        })
    this.#context.run(() => this.#controller.respondWith(new FetchResponse(body, { status, statusText, headers })))
    this.#begin()
  }

  isFull(): boolean {
    // The interceptor hands all of it on to a message of `node:http`, read or not.
    const message = this.#clientOf()?.res
    return message ? message.readableLength > 0 : (this.#stream?.desiredSize ?? 1) <= 0
  }

  chunk(bytes: Buffer): void {
    if (this.#closed) return
    this.#stream?.enqueue(new Uint8Array(bytes))
    this.#left -= bytes.length
    // A keep-alive client sees the end of a sized body with its last byte, not later.
    if (this.#left <= 0) this.end()
  }

  end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#stream?.close()
  }

  error(error: Error): void {
    if (this.#closed) return
    this.#closed = true
    const socket = this.#stream && 'syscall' in error ? this.#clientOf()?.socket : undefined
    this.isBroken = socket != null
    // A stream that fails is an answer that ends too early. Here the connection fails, and Node says how.
    if (socket) setImmediate(() => this.#context.run(() => socket.destroy(errorHere(error))))
    else if (this.#stream) this.#stream.error(error)
    else this.#context.run(() => this.#controller.errorWith(errorHere(error)))
    this.#begin()
  }
}
