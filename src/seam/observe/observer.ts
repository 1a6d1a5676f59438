import type { ChildSettings } from '../stdio.ts'
import type { FrameKind } from '../websocket-frames.ts'
import type { BodyUse } from '../reading.ts'
import { currentRun, type RunContext, sharedOf } from '../source.ts'

export type Transport = 'undici' | 'http' | 'http2' | 'stdio' | 'websocket'

/** A recording run as the channel subscribers see it. */
export interface Observer extends RunContext {
  readonly mode: 'record'
  /** The run was answered and takes nothing more. */
  readonly over: boolean
  /** What happens in it is not recorded, and belongs to it all the same. */
  readonly isOpen?: boolean
  /** A request begins. `undefined` when the run is over and takes no more. */
  exchange(start: ExchangeStart): ExchangeObserver | undefined
  /** A request begins after the run ended. */
  requestedLate?(start: ExchangeStart): void
  /** The run started a child process; `error` is why the system did not, such as `ENOENT`. */
  spawned(command: readonly string[], settings: ChildSettings, error: string | undefined): void
  /** A child process said something unasked, or a WebSocket brought something: a frame that is no text, or its end. */
  pushed(url: string, text: string, frame?: FrameKind | 'end'): void
  /** The same object for the whole run, also inside its tools. */
  readonly handle: object
  /** Something the seam cannot record, such as a raw socket: listed on the tape. */
  unrecorded(what: string): void
}

export interface ExchangeStart {
  readonly via: Transport
  readonly method: string
  readonly url: string
  readonly headers?: readonly (readonly [string, string])[]
}

/** Headers of an answer. They are read on request: those of a run that is not kept never are. */
export interface HeardHeaders {
  readonly pairs: readonly (readonly [string, string])[]
  /** Bytes that are held until they are read. */
  readonly bytes: number
}

/** Hears one exchange as it happens. Every method is called synchronously, in the order of the world. */
export interface ExchangeObserver {
  requestHeaders(pairs: readonly (readonly [string, string])[]): void
  requestChunk(bytes: Buffer): void
  /** What was heard of the request goes out next. `isWhole`: that is all of it; `false`: more may come. */
  leaving(isWhole: boolean): void
  /** The client has all of the body already: it will be heard in a moment. */
  coming?(): void
  head(status: number, statusText: string, headers: HeardHeaders): void
  /** Who hears whether the client reads the body: what hears of it may live for longer than this. */
  reading?(): (how: BodyUse) => void
  chunk(bytes: Buffer): void
  end(): void
  error(error: { readonly name?: string; readonly message?: string; readonly code?: string }): void
  aborted(): void
}

export function currentObserver(): Observer | undefined {
  const run = currentRun()
  return run?.mode === 'record' ? (run as Observer) : undefined
}

/** Who asked, and what. */
export interface AskedBy {
  readonly run: Observer | undefined
  readonly what: string
}

/** What stands behind the body of an answer is not kept. */
export function trailersCame(asked: AskedBy | undefined): void {
  asked?.run?.unrecorded(`trailers of the answer to ${asked.what}`)
}

/** Hears a request that belongs to no run; `undefined` for one it has no use for. */
export type OutsideListener = (start: ExchangeStart) => ExchangeObserver | undefined

/** Those who hear what belongs to no run, whichever copy of this package they come from. */
export function outsideListeners(): Set<OutsideListener> {
  return sharedOf('observe.outside', () => new Set())
}

/**
 * Who hears a request that belongs to no run: one made at the start of the program, or by what an earlier run left behind, such
 * as a timer that renews a token.
 */
function hearOutside(start: ExchangeStart): ExchangeObserver | undefined {
  const all = [...outsideListeners()].flatMap((listen) => listen(start) ?? [])
  if (all.length < 2) return all[0]
  const each =
    <A extends unknown[]>(tell: (one: ExchangeObserver, ...args: A) => void) =>
    (...args: A): void => {
      for (const one of all) tell(one, ...args)
    }
  return {
    requestHeaders: each((one, pairs) => one.requestHeaders(pairs)),
    requestChunk: each((one, bytes) => one.requestChunk(bytes)),
    leaving: each((one, isWhole) => one.leaving(isWhole)),
    head: each((one, status, text, headers) => one.head(status, text, headers)),
    chunk: each((one, bytes) => one.chunk(bytes)),
    end: each((one) => one.end()),
    error: each((one, error) => one.error(error)),
    aborted: each((one) => one.aborted()),
  }
}

/**
 * Who hears a request that is made right now.
 *
 * @param run - the one it is made in
 */
export function hearRequest(start: ExchangeStart, run = currentObserver()): ExchangeObserver | undefined {
  if (run !== undefined && !(run.over && run.isOpen !== true)) return run.exchange(start)
  if (run === undefined) observed.outsideRuns++
  else run.requestedLate?.(start)
  return currentRun()?.mode === 'replay' ? undefined : hearOutside(start)
}

/** What went wrong inside the recorder itself, and what it could not attribute. Never thrown into the application. */
export const observed = { outsideRuns: 0, failures: 0, lastFailure: undefined as unknown }

/** A throwing diagnostics subscriber would become an uncaught exception in the application. */
export function guarded<A extends unknown[]>(fn: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      fn(...args)
    } catch (error) {
      failedToHear(error)
    }
  }
}

export function failedToHear(error: unknown): void {
  observed.failures++
  observed.lastFailure = error
}
