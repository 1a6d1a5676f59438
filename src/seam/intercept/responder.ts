import type { ChildSettings } from '../stdio.ts'
import type { Pairs } from '../pairs.ts'
import { currentRun, type RunContext } from '../source.ts'
import type { BodyUse } from '../reading.ts'
import type { AnswerHead } from './own-response.ts'
import type { FrameKind } from '../websocket-frames.ts'
import type { UninstrumentedIo } from './work.ts'

/** A request of the replayed agent, mostly complete. */
export interface LiveRequest {
  readonly via: 'undici' | 'http' | 'http2' | 'stdio' | 'websocket'
  readonly method: string
  readonly url: string
  readonly headers: Pairs
  readonly body: Buffer
  /** What stands beside its headers on a tape: the names of its trailers, and where its connection leads. */
  readonly beside?: Pairs
  /** The body, where it is known to be text without looking. */
  readonly text?: string
  /**
   * The stack at the place the request was made: by the time it is answered, that place is gone. Absent where the run
   * expected the request and will have nothing to say about it.
   */
  readonly madeAt?: Error
  /**
   * Absent: it is complete. `left`: its body has not ended, and the run has. `given up`: its client gave up before that, and
   * `unsent` before anything of the body was there, so that nothing may have left. `kept back`: it is complete, and did not leave.
   */
  readonly open?: 'left' | 'given up' | 'unsent' | 'kept back'
  /** What the run said of it when it was about to be made: it need not be looked for once more. */
  readonly known?: KnownRequest
}

/** A request with a body of text, whose bytes are made when someone wants them: mostly the text is enough. */
export function textRequest(request: TextRequest): LiveRequest {
  return new RequestOfText(request)
}

/** A class, for V8 makes a hash table of each object literal with a getter. */
class RequestOfText implements LiveRequest {
  readonly via: LiveRequest['via']
  readonly method: string
  readonly url: string
  readonly headers: Pairs
  readonly text: string
  readonly known: KnownRequest

  constructor({ via, method, url, headers, text, known }: TextRequest) {
    this.via = via
    this.method = method
    this.url = url
    this.headers = headers
    this.text = text
    this.known = known
  }

  get body(): Buffer {
    return Buffer.from(this.text)
  }
}

/** A request that differs in some parts: its body may be one that is made on demand, which a spread would leave out. */
export function requestWith(live: LiveRequest, parts: Partial<LiveRequest>): LiveRequest {
  return { ...live, body: live.body, ...parts }
}

type TextRequest = Required<Pick<LiveRequest, 'via' | 'method' | 'url' | 'headers' | 'text' | 'known'>>

/** A request to `fetch`, as its caller wrote it, or one of `node:http` as it is sent. */
export interface StatedRequest {
  readonly via: 'undici' | 'http'
  readonly method: string
  readonly url: string
  readonly text: string
  /** In small letters. */
  readonly headers: () => Pairs
}

/** A request that is the recorded one. */
export interface KnownRequest {
  /** The head of its answer, where nothing else on the tape is made before it and the answer came whole. */
  readonly head?: AnswerHead
}

/** Where the recorded answer goes, piece by piece, when its moment has come. */
export interface ExchangeSink {
  head(status: number, statusText: string, headers: Pairs): void
  chunk(bytes: Buffer): void
  /** A piece that is text, for who can make bytes of several at once. */
  text?(piece: string): void
  end(): void
  error(error: Error & { code?: string }): void
  /** Whether the client leaves what it was given unread, so far as that is known. Absent: it is not. */
  isFull?(): boolean
}

/** Of a request whose client waits for no answer. */
export const silent: ExchangeSink = {
  head: () => undefined,
  chunk: () => undefined,
  end: () => undefined,
  error: () => undefined,
}

export interface ExchangeControl {
  /** The client gave up: nothing more is delivered. */
  abort(): void
  /** Whether the client reads the body, as soon as that is seen, and when it does. */
  reading?(how: BodyUse): void
}

/** A timer of a replayed run. */
export interface VirtualTimer {
  readonly ms: number
  /** The package whose code set it, as far as that is known. */
  readonly caller?: string
  due: number
  cancelled: boolean
  /** Whether someone waits for it: not after `unref()`. */
  readonly isHolding: boolean
  /** Of an `AbortSignal.timeout`, that nothing heeds at first. */
  readonly limit?: SignalLimit
  fire(): void
}

/** An `AbortSignal.timeout`. */
export interface SignalLimit {
  /** Where it stands as long as nothing heeds it. */
  unheeded?: Set<VirtualTimer>
}

/** What someone may have replaced before a replay could take it over. */
export type Mocked = 'fetch' | 'sockets' | 'timers'

/** What a WebSocket brings that is no text. */
export type SaidFrame = FrameKind | 'end'

/**
 * `rpc`: a child answers requests, as MCP servers do. `lines`: it and its parent say lines of JSON to each other. One with an
 * `error` could not be started.
 */
export type ChildMode = 'rpc' | 'lines' | { readonly error: string }

/** A replaying run as the interceptors see it. */
export interface Responder extends RunContext {
  readonly mode: 'replay'
  /** After the run answered or was given up: all that it still does must come to nothing. */
  readonly over: boolean
  /** Over, and what its timers and immediates do is still looked at. */
  readonly isWatched?: boolean
  /**
   * Finds the recorded exchange for a request and has its answer delivered in recorded order.
   * @throws HarvestError when the tape has no answer for it
   */
  exchange(live: LiveRequest, sink: ExchangeSink): ExchangeControl
  /**
   * A request has begun: its head is known, and its body may still be to come. It is a request of the run whether that ends
   * or not. A run that answers for real hears of whole requests alone.
   *
   * @param ask - asks with what there is of the body, if the run ends before it does; `isExiting`: so does the process
   * @returns to be called when the request is asked
   */
  begins?(ask: (isExiting: boolean) => void | Promise<void>): () => void
  /**
   * What is known of a request that is about to be made, where it is the recorded one, so that no message will have to say
   * where it was made; `undefined` for any other. A run that cannot say so is asked nothing.
   */
  expects?(stated: StatedRequest): KnownRequest | undefined
  /** A request is made at this stack now; it is asked some turns later. */
  making?(madeAt: Error): void
  /**
   * How the child is to be played; `undefined`: it is let through.
   *
   * @throws HarvestError when the tape has no such child, or none that said anything a tape can hold
   */
  spawn(command: readonly string[], settings: ChildSettings): ChildMode | undefined
  /**
   * Registers the sink for lines a child says unasked, and for what a WebSocket brings.
   *
   * @param ends - by what name its end is known, where other children say their lines under the same address
   */
  listen(url: string, say: (text: string, frame?: SaidFrame) => void, ends?: string): void
  /** Whether the tape says how this child ends once it is asked to. */
  saysEnd?(url: string): boolean
  /** A child ends of which the tape does not say how: with this exit code, or by this signal. */
  ended?(url: string, how: string): void
  /** A request begins after the run ended: it comes to nothing, and is reported. */
  requestedLate?(method: string, url: string, madeAt: Error | undefined): void
  /** The same object for the whole run, also inside its tools. */
  readonly identity: object
  /** Reports something that went around the seam. The error to refuse it with, or `undefined` to let it through. */
  escape(kind: string, target: string, madeAt?: Error): Error | undefined
  /** Tells of something that goes around the seam and is let through. A run that does not list it hears nothing. */
  list?(one: UninstrumentedIo): void
  /**
   * Reports a mock that answers in the place of the tape, because it was there before the replay: of `fetch`, or of the
   * sockets below every client. The error to refuse with.
   */
  mocked?(what: Exclude<Mocked, 'timers'>, madeAt?: Error): Error
  /** Tells that something lies over `fetch` or `node:http` that was there before the replay and is not asked in it. */
  passedOver?(name: string): void
  /** The agent looks for this header in an answer, which does not have it. */
  missedHeader?(name: string): void
  schedule(timer: VirtualTimer): void
  /** A timer was cancelled, referenced or unreferenced. */
  held(timer: VirtualTimer): void
  /** Virtual milliseconds since the run began. */
  readonly now: number
  /** Immediates of the run not yet run: the agent is not quiet while there are any. */
  pending: number
}

export function currentResponder(): Responder | undefined {
  const run = currentRun()
  return run?.mode === 'replay' ? (run as Responder) : undefined
}

/** A promise for code whose run is over: it stops there. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {
    // Stays pending on purpose: whoever awaits it belongs to a run that is over.
  })
}
