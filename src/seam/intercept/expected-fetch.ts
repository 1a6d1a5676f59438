// Over 300 lines: one answer on its way, from what is asked to the last piece.
import type { Pairs } from '../pairs.ts'
import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events'
import { HarvestError } from '../../errors/index.ts'
import { asNode } from '../caller.ts'
import { isPlainHead, ownResponse } from './own-response.ts'
import type { PlainFetch } from './plain-fetch.ts'
import {
  type ExchangeControl,
  type ExchangeSink,
  type KnownRequest,
  type Responder,
  type StatedRequest,
  textRequest,
} from './responder.ts'
import { type RequestShape, sentFor, shapeOf } from './sent-headers.ts'
import { afterHead, afterTurns } from './turns.ts'
import { type BodyUse, useOf } from '../reading.ts'
import { nextTick } from '../source.ts'

/** Turns of the microtask queue that undici takes from asking for bytes that are there to having them. */
const readTurns = 7

/** A `fetch` that can be answered without undici. */
export interface ExpectedFetch {
  readonly plain: PlainFetch
  /** As the request goes out: without a fragment. */
  readonly url: string
  readonly shape: RequestShape
  /** `undefined` while undici was not seen to send such a request. */
  readonly sent: Pairs | undefined
  readonly known: KnownRequest
}

/** Takes an expected `fetch` apart; `undefined` where undici has to answer it. */
export function expectedFetch(
  plain: PlainFetch,
  stated: StatedRequest,
  known: KnownRequest,
): ExpectedFetch | undefined {
  const { head } = known
  if (head === undefined) return undefined
  const [, init] = plain.args
  for (const [name, value] of Object.entries(init)) if (value !== undefined && !steered.has(name)) return undefined
  if (!isPlainHead(head)) return undefined
  const aim = aimOf(plain.method, stated)
  if (aim === undefined) return undefined
  return { plain, url: aim.url, shape: aim.shape, sent: aim.sentWith(Buffer.byteLength(plain.text)), known }
}

/** Where requests go, and with which headers: all but the body. */
interface Aim {
  readonly url: string
  readonly shape: RequestShape
  readonly sentWith: (length: number) => Pairs | undefined
}

/** The aim of the request before: an agent asks one address again and again. */
let before:
  | { readonly method: string; readonly url: string; readonly headers: Pairs; readonly aim: Aim | undefined }
  | undefined

function aimOf(method: string, { url, headers: stated }: StatedRequest): Aim | undefined {
  const headers = stated()
  if (before?.method !== method || before.url !== url || before.headers !== headers)
    before = { method, url, headers, aim: newAim(method, url, headers) }
  return before.aim
}

function newAim(method: string, stated: string, headers: Pairs): Aim | undefined {
  const { protocol, origin, username, password, pathname, search, href, hash } = new URL(stated)
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '') return undefined
  const url = origin + pathname + search
  // A question mark with nothing behind it is sent, and is no part of `search`.
  if (href !== url + hash) return undefined
  const shape = shapeOf(method, origin, headers)
  return shape && { url, shape, sentWith: sentOf(shape) }
}

/** As {@link sentFor}; as long as the body has the same length, it is the same list. */
function sentOf(shape: RequestShape): Aim['sentWith'] {
  let last: { readonly length: number; readonly sent: Pairs } | undefined
  return (length) => {
    if (last?.length === length) return last.sent
    const sent = sentFor(shape, length)
    if (sent !== undefined) last = { length, sent }
    return sent
  }
}

/**
 * Whether every `fetch` has to be answered through undici, and `node:http` through the interceptor, to compare the two.
 *
 * @throws HarvestError `HARVEST_REPLAY_OPTION` for another value of the variable
 */
export function isUndiciForced(): boolean {
  const value = process.env[variable] ?? ''
  if (value === '' || value === 'undici') return value === 'undici'
  throw new HarvestError('HARVEST_REPLAY_OPTION', {
    what: `Invalid value of ${variable}`,
    where: { value: value.slice(0, 120) },
    fix: [`to answer every fetch through undici: ${variable}=undici npx vitest run`, `unset ${variable}`],
  })
}

const variable = 'VITEST_HARVEST_FETCH'

const steered = new Set(['method', 'headers', 'signal'])

/** Answers a `fetch` from the tape, as undici would. */
export function answerExpected(run: Responder, asked: ExpectedFetch, sent: Pairs): Promise<Response> {
  const { signal } = asked.plain.args[1]
  if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
  const answer = new Answer(run, asked, sent)
  if (signal) answer.heed(signal)
  return answer.promise
}

/** Whether a text ends in the first half of a character: bytes never do. */
function isHalved(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800
}

const encoder = new TextEncoder()
const encode = encoder.encode.bind(encoder)

type State = 'asking' | 'waiting' | 'open' | 'settled'

/** One answer on its way, from `fetch` to the end of its body. */
class Answer implements ExchangeSink {
  readonly promise: Promise<Response>
  readonly #resolve: (response: Response) => void
  readonly #reject: (error: unknown) => void
  readonly #asked: ExpectedFetch
  readonly #startTime = now()
  #state: State = 'asking'
  #control: ExchangeControl | undefined
  #stream: ReadableByteStreamController | undefined
  #pieces: Buffer[] = []
  /** What came as text since, behind all of {@link #pieces}. */
  #text = ''
  #size = 0
  #status = 0
  /** Someone reads and there was nothing. */
  #reading: (() => void) | undefined
  #isAsking = false
  #wasAsked = false
  #use: BodyUse | undefined
  #isEnded = false
  #isFlushing = false
  #leave: (() => void) | undefined

  constructor(run: Responder, asked: ExpectedFetch, sent: Pairs) {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    this.promise = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#asked = asked
    // As through undici, the request is heard a turn later.
    afterTurns(1, () => this.#ask(run, sent))
  }

  #ask(run: Responder, headers: Pairs): void {
    if (this.#state !== 'asking' || run.over) return
    this.#state = 'waiting'
    const { plain, url, known } = this.#asked
    const { method, text } = plain
    try {
      this.#control = run.exchange(textRequest({ via: 'undici', method, url, headers, text, known }), this)
    } catch (error) {
      this.error(error as Error)
    }
  }

  /** Gives up when the signal says so. A signal that outlives the answer does not keep it. */
  heed(signal: AbortSignal): void {
    const self = new WeakRef(this)
    const onAbort = (): void => self.deref()?.abort(signal.reason)
    // As undici: a signal shared by many requests is no leak.
    if (getMaxListeners(signal) === defaultMaxListeners) setMaxListeners(1_500, signal)
    signal.addEventListener('abort', onAbort, { once: true })
    const leave = (): void => signal.removeEventListener('abort', onAbort)
    this.#leave = leave
  }

  abort(reason: unknown): void {
    if (this.#state === 'settled') return
    const isOpen = this.#state === 'open'
    this.#settle()
    this.#control?.abort()
    if (isOpen) this.#stream?.error(reason)
    this.#reject(reason)
  }

  head(status: number, statusText: string, headers: Pairs): void {
    this.#status = status
    afterHead(() => {
      if (this.#state !== 'waiting') return
      this.#state = 'open'
      const body = new ReadableStream({
        type: 'bytes',
        start: (stream) => void (this.#stream = stream),
        pull: () => this.#pull(),
        cancel: () => this.#cancel(),
      })
      this.#look()
      this.#resolve(ownResponse(this.#asked.url, { status, statusText, headers }, body))
    })
  }

  chunk(bytes: Buffer): void {
    if (this.#state === 'settled') return
    this.#takeText()
    this.#pieces.push(bytes)
    this.#look()
    this.#flushSoon()
  }

  /** The pieces of one turn are handed over together: their bytes are made at once. */
  text(piece: string): void {
    if (this.#state === 'settled' || piece === '') return
    // Bytes of each by itself would not make one character of two halves either.
    if (isHalved(piece)) return this.chunk(Buffer.from(piece))
    this.#text += piece
    this.#look()
    this.#flushSoon()
  }

  #takeText(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  end(): void {
    this.#isEnded = true
    this.#look()
    this.#flushSoon()
  }

  error(cause: Error): void {
    if (this.#state === 'settled') return
    const isOpen = this.#state === 'open'
    this.#settle()
    if (isOpen) this.#stream?.error(new TypeError('terminated', { cause }))
    else this.#reject(new TypeError('fetch failed', { cause }))
  }

  #isFilled(): boolean {
    return this.#pieces.length > 0 || this.#text !== ''
  }

  /** Says how far the answer is read, once it is with the agent. */
  #look(): void {
    if (this.#state !== 'open') return
    const [wasAsked, isAsking] = [this.#wasAsked, this.#isAsking]
    const use = useOf({ wasAsked, isAsking, isLeft: this.#isFilled(), isEnded: this.#isEnded })
    if (use !== this.#use) this.#control?.reading?.(use)
    this.#use = use
  }

  /** Node's streams hand over what came in one turn together. */
  #pull(): Promise<void> {
    this.#isAsking = this.#wasAsked = true
    this.#look()
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#isFilled()) afterTurns(readTurns, () => resolve(this.#flush()))
    else {
      this.#reading = resolve
      if (this.#isEnded) this.#flushSoon()
    }
    return promise
  }

  #flushSoon(): void {
    if (this.#reading === undefined || this.#isFlushing) return
    this.#isFlushing = true
    nextTick(() => {
      this.#isFlushing = false
      const resolve = this.#reading
      this.#reading = undefined
      this.#flush()
      resolve?.()
    })
  }

  #flush(): void {
    const stream = this.#stream
    if (this.#state !== 'open' || stream === undefined) return
    if (this.#isFilled()) {
      const bytes = this.#taken()
      this.#size += bytes.length
      this.#isAsking = false
      stream.enqueue(bytes)
      this.#look()
    } else if (this.#isEnded) {
      this.#settle()
      stream.close()
      stream.byobRequest?.respond(0)
      this.#mark()
    }
  }

  #taken(): Uint8Array<ArrayBuffer> {
    if (this.#pieces.length === 0) {
      const bytes = encode(this.#text)
      this.#text = ''
      return bytes
    }
    this.#takeText()
    const pieces = this.#pieces
    this.#pieces = []
    return new Uint8Array(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }

  /** Whoever reads stops reading. */
  #cancel(): void {
    if (this.#state === 'settled') return
    this.#settle()
    this.#control?.abort()
  }

  #settle(): void {
    this.#state = 'settled'
    this.#pieces = []
    this.#text = ''
    this.#leave?.()
    this.#reading?.()
    this.#reading = undefined
  }

  /** What observers of `performance` hear of every `fetch`. */
  #mark(): void {
    const { markResourceTiming } = performance as unknown as { markResourceTiming?: (...args: unknown[]) => void }
    const startTime = this.#startTime
    const timing = {
      startTime,
      redirectStartTime: 0,
      redirectEndTime: 0,
      postRedirectStartTime: startTime,
      finalServiceWorkerStartTime: 0,
      finalNetworkResponseStartTime: 0,
      finalNetworkRequestStartTime: startTime,
      endTime: now(),
      encodedBodySize: this.#size,
      decodedBodySize: this.#size,
      finalConnectionTimingInfo: {
        domainLookupStartTime: startTime,
        domainLookupEndTime: startTime,
        connectionStartTime: startTime,
        connectionEndTime: startTime,
        secureConnectionStartTime: startTime,
        ALPNNegotiatedProtocol: undefined,
      },
    }
    markResourceTiming?.(timing, this.#asked.url, 'fetch', globalThis, '', '', this.#status)
  }
}

/** The clock of the run as undici reads it. */
function now(): number {
  return asNode(() => performance.now())
}
