import { seamState } from '../seam/source.ts'

const { setTimeout: startTimer, clearTimeout: stopTimer } = seamState().natives

/** What a run is limited by. */
export interface TimeLimitOptions {
  /** Milliseconds of real time. */
  readonly timeoutMs: number
  /** Aborts when the command is given up. */
  readonly signal: AbortSignal
}

/** Ends a run that takes too long. Real time: the clock of a fork may be its tape's. */
export function timeLimit({ timeoutMs, signal }: TimeLimitOptions): Disposable & {
  readonly signal: AbortSignal
  /** Whether it took too long. */
  readonly isOver: boolean
} {
  const own = new AbortController()
  const timer = startTimer(() => own.abort(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs)
  return {
    signal: AbortSignal.any([signal, own.signal]),
    get isOver() {
      return own.signal.aborted
    },
    [Symbol.dispose]: () => stopTimer(timer),
  }
}
