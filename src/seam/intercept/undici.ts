// Over 300 lines: both generations of one handler.
import { type Pairs } from '../pairs.ts'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { type ParsedUrlQueryInput, stringify } from 'node:querystring'
import type { Duplex } from 'node:stream'
import { hearMadeBody } from '../reading.ts'
import { asNode, captureStack } from '../caller.ts'
import { targetUrl } from '../shape.ts'
import { socketName, socketPlace, unknownSocket } from '../connection.ts'
import { patchProperty, subscribeOnce } from '../patch.ts'
import { hearHeaderReads } from './answer-headers.ts'
import { Context } from './context.ts'
import { answerExpected, expectedFetch, isUndiciForced } from './expected-fetch.ts'
import { currentOutsideAnswers, refusal } from './outside.ts'
import { isNodes, isOf, type PlainFetch, plainFetch, statedBy, withLength } from './plain-fetch.ts'
import {
  currentResponder,
  type ExchangeControl,
  type ExchangeSink,
  type LiveRequest,
  type Responder,
} from './responder.ts'
import { learnSent, type RequestShape } from './sent-headers.ts'
import { isInstrumented, ToldRequest } from './told.ts'
import { HeadTurns } from './turns.ts'
import { sharedOf } from '../source.ts'
import { isWebSocket } from '../websocket-frames.ts'
import { openScripted, unknownProtocol, type UpgradeAnswer } from './websocket.ts'
import { drain, headerObject, innerDispatch, leadsStraight, requestPairs } from './undici-parts.ts'

type Answering = Pick<Responder, 'over' | 'exchange' | 'begins' | 'making'>

/** Both generations of undici's handler: up to Node 24 `onHeaders`, from Node 26 and undici 7 on `onResponseStart`. */
interface Handler {
  onConnect?(abort: (reason?: Error) => void, context: object): void
  onHeaders?(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean
  onData?(chunk: Buffer): boolean
  onComplete?(trailers: Buffer[]): void
  onError?(error: Error): void
  onBodySent?(size: number): void
  onRequestSent?(): void
  onUpgrade?(status: number, headers: Buffer[], socket: Duplex): void
  onRequestUpgrade?(controller: Controller, status: number, headers: object, socket: Duplex): void
  onRequestStart?(controller: Controller, context: object): void
  onResponseStart?(controller: Controller, status: number, headers: object, statusText: string): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: object): void
  onResponseError?(controller: Controller, error: Error): void
}

interface DispatchOptions {
  readonly origin?: string | URL
  readonly path: string
  /** Written behind the path, which has none of its own then. */
  readonly query?: ParsedUrlQueryInput | null
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  /** Protocol the connection is to become. */
  readonly upgrade?: unknown
}

interface Dispatcher {
  dispatch(options: DispatchOptions, handler: Handler): boolean
  close?(...args: unknown[]): unknown
  destroy?(...args: unknown[]): unknown
}

/** The `fetch` a request came from: the dispatcher is reached later, from inside undici. */
interface Entry {
  /** Absent for a request the run expects: a stack costs as much as finding its answer. */
  readonly madeAt?: Error
  readonly plain?: PlainFetch
  /** Which headers undici adds to such a request is not known yet. */
  readonly learns?: RequestShape
  readonly turns?: HeadTurns
  /** It got as far as a dispatcher: what lies over `fetch` hands its calls on. */
  isDispatched?: true
}

/** Contexts of a vm pool have a copy of this module each; who hears of requests was subscribed by the first. */
const entries = sharedOf('intercept/entries', () => new AsyncLocalStorage<Entry>())

const nothing = Buffer.alloc(0)

const newerSymbol = Symbol.for('undici.globalDispatcher.2')
const symbols = [Symbol.for('undici.globalDispatcher.1'), newerSymbol]

/**
 * Puts a serving dispatcher in front of the global ones: the fast path for `fetch` and `undici.request`. Clients with
 * a dispatcher of their own are caught at the socket.
 */
export function interceptUndici(): void {
  // Touching a fetch class makes Node create its dispatcher.
  new Headers()
  arm()
  hearHeaderReads()
  for (const channel of ['undici:request:create', 'http.client.request.created'])
    subscribeOnce('entry', channel, arrived)
  const isForced = isUndiciForced()
  patchProperty(globalThis, 'fetch', (original) => {
    const isNative = isNodes(original)
    // Importing userland undici replaces the global dispatcher on Node 22 and 24: look again before each call.
    return function fetch(...args: Parameters<typeof original>) {
      arm()
      const run = currentResponder()
      if (!run) return original(...args)
      if (!isNative) return throughMock(run, original, args)
      const plain = areStraight() ? plainFetch(args) : undefined
      if (!plain) return entries.run({ madeAt: madeHere(run) }, () => original(...args))
      const stated = run.expects && statedBy(plain)
      const expectation = stated && run.expects?.(stated)
      if (!expectation) return throughUndici({ madeAt: madeHere(run), plain }, original, plain)
      const expected = isForced ? undefined : expectedFetch(plain, stated, expectation)
      if (expected?.sent) return answerExpected(run, expected, expected.sent)
      return throughUndici(
        { plain, ...(expected && { learns: expected.shape, turns: new HeadTurns() }) },
        original,
        plain,
      )
    } as typeof original
  })
}

/** The stack of who makes a request now, and the turn it is made in. */
function madeHere(run: Pick<Responder, 'making'>): Error {
  const madeAt = captureStack()
  run.making?.(madeAt)
  return madeAt
}

function throughUndici(entry: Entry, original: typeof fetch, plain: PlainFetch): Promise<Response> {
  const response = entries.run(entry, () => asNode(() => original(...plain.args)))
  const { turns } = entry
  // What the agent does with a failure is its own affair.
  if (turns)
    void response.then(
      () => turns.end(),
      () => undefined,
    )
  return response
}

/**
 * A `fetch` that was replaced before us: one that hands its calls on is as good as Node's. One that answers itself keeps
 * the agent from its tape.
 */
async function throughMock(run: Responder, mock: typeof fetch, args: Parameters<typeof fetch>): Promise<Response> {
  const entry: Entry = { madeAt: madeHere(run) }
  const answer = await entries.run(entry, () =>
    mock(...args).then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    ),
  )
  if (!entry.isDispatched && !run.over && isHttp(args)) {
    const refused = run.mocked?.('fetch', entry.madeAt)
    if (refused) throw refused
  }
  if ('error' in answer) throw answer.error
  return answer.response
}

/** Whether a call has to leave the process: `data:` does not, and neither does what was given up before. */
function isHttp([input, init]: Parameters<typeof fetch>): boolean {
  const url = typeof input === 'string' || input instanceof URL ? String(input) : input.url
  return /^https?:/i.test(url) && init?.signal?.aborted !== true
}

function arrived(): void {
  const entry = entries.getStore()
  if (entry) entry.isDispatched = true
}

function arm(): void {
  const globals = globalThis as unknown as Record<symbol, Dispatcher | undefined>
  for (const symbol of symbols) {
    const current = globals[symbol]
    if (current && !(current instanceof ServingDispatcher)) globals[symbol] = new ServingDispatcher(current)
  }
}

/** Whether what is asked of the global dispatchers is what goes out, and no one else is to hear of it. */
function areStraight(): boolean {
  return symbols.every((symbol) => globalOf(symbol)?.isStraight ?? true) && !isInstrumented()
}

function globalOf(symbol: symbol): ServingDispatcher | undefined {
  const { [symbol]: dispatcher } = globalThis as unknown as Record<symbol, Dispatcher | undefined>
  return dispatcher instanceof ServingDispatcher ? dispatcher : undefined
}

class ServingDispatcher extends EventEmitter implements Dispatcher {
  readonly #real: Dispatcher
  /** Where it would lead, as it stands on a tape. */
  readonly #socket: Pairs
  readonly #isStraight: boolean

  constructor(real: Dispatcher) {
    super()
    this.#real = real
    this.#socket = socketOfAgent(real)
    this.#isStraight = leadsStraight(real)
    if (!this.#isStraight) answerBeneath(real, this.#socket)
  }

  /** One that may change requests, or repeat them, is asked; its requests are answered beneath it. */
  get isStraight(): boolean {
    // What undici 8 puts in front of its own, for the older generation.
    if (this.#real.constructor.name === 'Dispatcher1Wrapper') return globalOf(newerSymbol)?.isStraight ?? false
    return this.#isStraight
  }

  dispatch(options: DispatchOptions, handler: Handler): boolean {
    const responder = currentResponder()
    const run = responder ?? outsideResponder(options)
    if (!run) return this.#real.dispatch(options, handler)
    if (run.over) {
      const [method, origin] = [options.method, String(options.origin ?? '')]
      const isSocket = options.upgrade === 'websocket'
      const asked = isSocket ? (['OPEN', origin.replace(/^http/, 'ws')] as const) : ([method, urlOf(options)] as const)
      responder?.requestedLate?.(...asked, entries.getStore()?.madeAt)
      return true
    }
    arrived()
    if (responder && !this.isStraight) return this.#real.dispatch(options, handler)
    if (responder && options.upgrade) upgrade(responder, options, handler)
    else new Dispatch(run, options, handler, this.#socket)
    return true
  }

  close(...args: unknown[]): unknown {
    return this.#real.close?.(...args)
  }

  destroy(...args: unknown[]): unknown {
    return this.#real.destroy?.(...args)
  }
}

/**
 * Answers what comes out of interceptors where the agent below them would open a connection, or ride one from before. One that
 * keeps that agent to itself, as a `RetryAgent` does, is answered at its socket.
 */
function answerBeneath(dispatcher: Dispatcher, socket: Pairs): void {
  const key = innerDispatch(dispatcher)
  if (key === undefined) return
  patchProperty(dispatcher as Dispatcher & Record<symbol, Dispatcher['dispatch']>, key, (real) => {
    return function dispatch(this: unknown, options, handler) {
      const run = currentResponder()
      if (!run || options.upgrade) return Reflect.apply(real, this, [options, handler])
      if (run.over) run.requestedLate?.(options.method, urlOf(options), entries.getStore()?.madeAt)
      else new Dispatch(run, options, handler, socket)
      return true
    }
  })
}

/** The unix socket of an `Agent`, which keeps its options under a symbol; nothing for one that leads to hosts. */
function socketOfAgent(agent: object): Pairs {
  const key = Object.getOwnPropertySymbols(agent).find(({ description }) => description === 'options')
  const { connect } = ((key && (agent as Record<symbol, unknown>)[key]) ?? {}) as { connect?: unknown }
  if (typeof connect === 'function') return [[socketName, unknownSocket]]
  const { socketPath } = (connect ?? {}) as { socketPath?: unknown }
  return typeof socketPath === 'string' ? [[socketName, socketPlace(socketPath)]] : []
}

/** Opens a WebSocket: the one Node has as a global, and that of undici. */
function upgrade(run: Responder, options: DispatchOptions, handler: Handler): void {
  const { headers, upgrade: protocol } = options
  const entry = entries.getStore()
  const madeAt = entry ? entry.madeAt : captureStack()
  let control: ExchangeControl | undefined
  const abort = (): void => control?.abort()
  const controller: Controller = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: [],
    rawTrailers: [],
    pause: () => undefined,
    resume: () => undefined,
    abort,
  }
  const isNew = typeof handler.onRequestStart === 'function'
  const failed = (error: Error): void => {
    if (isNew) handler.onResponseError?.(controller, error)
    else handler.onError?.(error)
  }
  const raw = (pairs: Pairs): Buffer[] =>
    pairs.flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value, 'latin1')])
  void Promise.resolve().then(() => {
    try {
      if (isNew) handler.onRequestStart?.(controller, {})
      else handler.onConnect?.(abort, {})
      const answer: UpgradeAnswer = {
        upgraded(pairs, socket) {
          controller.rawHeaders = raw(pairs)
          if (isNew) handler.onRequestUpgrade?.(controller, 101, headerObject(pairs), socket)
          else handler.onUpgrade?.(101, raw(pairs), socket)
        },
        refused(status, text, pairs) {
          if (isNew) handler.onResponseStart?.(controller, status, headerObject(pairs), text)
          else handler.onHeaders?.(status, raw(pairs), () => undefined, text)
          if (isNew) handler.onResponseEnd?.(controller, {})
          else handler.onComplete?.([])
        },
        failed,
      }
      const refused = isWebSocket(protocol)
        ? undefined
        : unknownProtocol(run, { protocol: String(protocol), url: urlOf(options) })
      if (refused) throw refused
      control = openScripted(run, urlOf(options), requestPairs(headers), answer, madeAt)
    } catch (error) {
      failed(error as Error)
    }
  })
}

/** Who answers a request of no run, where someone does. */
function outsideResponder(options: DispatchOptions): Answering | undefined {
  const answers = currentOutsideAnswers()
  if (answers === undefined) return undefined
  const { method } = options
  const url = urlOf(options)
  if (!answers.claims(method, url)) return undefined
  return {
    over: false,
    exchange(live, sink) {
      const control = answers.exchange(live, sink)
      if (control !== undefined) return control
      throw refusal('http', `${method} ${url}`) ?? new TypeError(`only what was recorded is answered: ${method} ${url}`)
    },
  }
}

/** The address that undici asks. */
function urlOf({ path, query, origin }: DispatchOptions): string {
  const asked = query ? withQuery(path, query) : path
  return targetUrl(asked, String(origin ?? ''))
}

/** @throws Error as undici does, for a path that has a query of its own */
function withQuery(path: string, query: ParsedUrlQueryInput): string {
  if (/[?#]/.test(path)) throw new Error('Query params cannot be passed when url already contains "?" or "#".')
  const written = stringify(query)
  return written === '' ? path : `${path}?${written}`
}

/** What undici 7 hands to handlers to steer a response. */
interface Controller {
  readonly aborted: boolean
  readonly paused: boolean
  reason: Error | null
  rawHeaders: Buffer[]
  rawTrailers: Buffer[]
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** One request on its way through a handler. */
class Dispatch implements ExchangeSink {
  readonly #handler: Handler
  readonly #context = new Context()
  /** Only handlers of the newer generation are given one. */
  readonly #controller: Controller | undefined
  readonly #madeAt: Error | undefined
  readonly #plain: PlainFetch | undefined
  readonly #learns: RequestShape | undefined
  readonly #turns: HeadTurns | undefined
  readonly #beside: Pairs
  readonly #told: ToldRequest | undefined
  #control: ExchangeControl | undefined
  #waiting: (() => void)[] = []
  #paused = false
  #done = false
  #isAborted = false
  /** Of the answer, where it is seen. */
  #body: ReturnType<typeof hearMadeBody>
  /** What came of its body so far. */
  readonly #pieces: Buffer[] = []
  readonly #run: Answering
  readonly #options: DispatchOptions
  readonly #endBegun: (() => void) | undefined
  #isAsked = false

  constructor(run: Answering, options: DispatchOptions, handler: Handler, beside: Pairs) {
    this.#run = run
    this.#options = options
    this.#handler = handler
    this.#beside = beside
    this.#controller = typeof handler.onRequestStart === 'function' ? this.#makeController() : undefined
    const entry = entries.getStore()
    this.#madeAt = entry ? entry.madeAt : madeHere(run)
    this.#plain = entry?.plain && isOf(entry.plain, options) ? entry.plain : undefined
    this.#learns = entry?.learns
    this.#turns = entry?.turns
    const { origin, path, method, headers } = options
    this.#told = isInstrumented()
      ? new ToldRequest(String(origin ?? ''), path, method, requestPairs(headers))
      : undefined
    // Like a live connection: the handler hears of its request later, not during dispatch.
    void Promise.resolve().then(() => this.#start())
    this.#endBegun = run.begins?.(() => this.#attempt(() => this.#ask(this.#plain ? nothing : 'left')))
  }

  async #start(): Promise<void> {
    try {
      this.#byNode(() => {
        if (this.#controller) this.#handler.onRequestStart?.(this.#controller, {})
        else this.#handler.onConnect?.((reason) => this.#abort(reason), {})
      })
      if (this.#done) return
      const body = this.#plain ? nothing : await drain(this.#options.body, this.#pieces)
      if (this.#done || this.#isAsked) return
      this.#handler.onRequestSent?.()
      this.#ask(body)
    } catch (error) {
      this.#abort(error as Error)
    }
  }

  /** Asks for the answer, once. @param body - all of it, or why it has no end */
  #ask(body: Buffer | NonNullable<LiveRequest['open']>): void {
    if (this.#isAsked) return
    this.#isAsked = true
    this.#endBegun?.()
    if (Buffer.isBuffer(body)) this.#told?.sent()
    const live = Buffer.isBuffer(body)
      ? this.#request(body)
      : { ...this.#request(Buffer.concat(this.#pieces)), open: body }
    this.#control = this.#run.exchange(live, this)
  }

  /** @param drained - the body, where it was not known before */
  #request(drained: Buffer): LiveRequest {
    const { method, headers: given } = this.#options
    const url = urlOf(this.#options)
    const sent = [...requestPairs(given), ...(this.#told?.added ?? [])]
    const at = {
      ...(this.#madeAt && { madeAt: this.#madeAt }),
      ...(this.#beside.length > 0 && { beside: this.#beside }),
    }
    const plain = this.#plain
    if (!plain) return { via: 'undici', method, url, headers: sent, body: drained, ...at }
    const { text } = plain
    const [body, headers] = [Buffer.from(text), withLength(sent, plain)]
    if (this.#learns) learnSent(this.#learns, body.length, headers)
    return { via: 'undici', method, url, headers, body, text, ...at }
  }

  /** The handler of a plain `fetch` is Node's own, and no other code takes part in it. */
  #byNode(step: () => void): void {
    if (this.#plain) asNode(step)
    else step()
  }

  head(status: number, statusText: string, headers: Pairs): void {
    this.#deliver(() => {
      this.#turns?.begin()
      const raw: Buffer[] = []
      for (const [name, value] of headers) raw.push(Buffer.from(name), Buffer.from(value, 'latin1'))
      this.#told?.answered(status, statusText, raw)
      const answer = (): void => {
        if (this.#controller) {
          this.#controller.rawHeaders = raw
          this.#handler.onResponseStart?.(this.#controller, status, headerObject(headers), statusText)
        } else if (this.#handler.onHeaders?.(status, raw, () => this.#resume(), statusText) === false) {
          this.#paused = true
        }
      }
      this.#body = hearMadeBody(answer, (how) => this.#control?.reading?.(how))
    })
  }

  isFull(): boolean {
    return this.#paused || (this.#body?.readableLength ?? 0) > 0
  }

  chunk(bytes: Buffer): void {
    this.#deliver(() => {
      if (this.#controller) this.#handler.onResponseData?.(this.#controller, bytes)
      else if (this.#handler.onData?.(bytes) === false) this.#paused = true
    })
  }

  end(): void {
    this.#deliver(() => {
      this.#done = true
      this.#told?.ended()
      try {
        if (this.#controller) this.#handler.onResponseEnd?.(this.#controller, {})
        else this.#handler.onComplete?.([])
      } catch (error) {
        // One that throws then hears of its error, as from undici, and may ask again.
        this.#failed(error as Error)
      }
    })
  }

  error(error: Error): void {
    this.#deliver(() => this.#fail(error))
  }

  #deliver(step: () => void): void {
    this.#context.run(() => {
      if (this.#done) return
      if (this.#paused) this.#waiting.push(step)
      else this.#attempt(step)
    })
  }

  /** A handler that throws breaks its own request, not the gate. */
  #attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#abort(error as Error)
    }
  }

  #resume(): void {
    this.#paused = false
    while (this.#waiting.length > 0 && !this.#paused && !this.#done) {
      const step = this.#waiting.shift()
      if (step) this.#attempt(step)
    }
  }

  #abort(reason?: Error): void {
    if (this.#done) return
    this.#isAborted = true
    try {
      if (this.#endBegun) this.#ask(this.#pieces.length === 0 ? 'unsent' : 'given up')
    } catch (error) {
      return this.#fail(error as Error)
    }
    this.#control?.abort()
    this.#fail(reason ?? Object.assign(new Error('Request aborted'), { name: 'AbortError', code: 'UND_ERR_ABORTED' }))
  }

  #fail(error: Error): void {
    if (this.#done) return
    this.#done = true
    this.#waiting = []
    this.#told?.failed(error)
    this.#failed(error)
  }

  #failed(error: Error): void {
    if (this.#controller) this.#handler.onResponseError?.(this.#controller, error)
    else this.#handler.onError?.(error)
  }

  #makeController(): Controller {
    const paused = (): boolean => this.#paused
    const isAborted = (): boolean => this.#isAborted
    const controller: Controller = {
      get aborted() {
        return isAborted()
      },
      get paused() {
        return paused()
      },
      reason: null,
      rawHeaders: [],
      rawTrailers: [],
      pause: () => {
        this.#paused = true
      },
      resume: () => this.#resume(),
      abort: (reason) => {
        controller.reason = reason
        this.#abort(reason)
      },
    }
    return controller
  }
}
