import { currentRun, type RunContext } from '../source.ts'

export type Transport = 'undici' | 'http' | 'http2' | 'stdio'

/** A recording run as the channel subscribers see it. */
export interface Observer extends RunContext {
  readonly mode: 'record'
  /** The run was answered and takes nothing more. */
  readonly over: boolean
  /** A request begins. `undefined` when the run is over and takes no more. */
  exchange(start: ExchangeStart): ExchangeObserver | undefined
  /** The run started a child process. */
  spawned(command: readonly string[]): void
  /** A child process said something unasked. */
  pushed(url: string, text: string): void
  /** Something the seam cannot record, such as a raw socket: listed on the tape. */
  unrecorded(what: string): void
}

export interface ExchangeStart {
  readonly via: Transport
  readonly method: string
  readonly url: string
  readonly headers?: readonly (readonly [string, string])[]
}

/** Hears one exchange as it happens. Every method is called synchronously, in the order of the world. */
export interface ExchangeObserver {
  requestHeaders(pairs: readonly (readonly [string, string])[]): void
  requestChunk(bytes: Buffer): void
  /** What was heard of the request goes out next. `isWhole`: that is all of it; `false`: more may come. */
  leaving(isWhole: boolean): void
  head(status: number, statusText: string, headers: readonly (readonly [string, string])[]): void
  chunk(bytes: Buffer): void
  end(): void
  error(error: { readonly name?: string; readonly message?: string; readonly code?: string }): void
  aborted(): void
}

export function currentObserver(): Observer | undefined {
  const run = currentRun()
  return run?.mode === 'record' ? (run as Observer) : undefined
}

/** What went wrong inside the recorder itself, and what it could not attribute. Never thrown into the application. */
export const observed = { outsideRuns: 0, failures: 0, lastFailure: undefined as unknown }

/** A throwing diagnostics subscriber would become an uncaught exception in the application. */
export function guarded<A extends unknown[]>(fn: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      fn(...args)
    } catch (error) {
      observed.failures++
      observed.lastFailure = error
    }
  }
}
