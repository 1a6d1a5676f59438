import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { url as inspectorUrl } from 'node:inspector'

/** A limit of time on one case. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is up, or when the run of Vitest is cancelled. */
  readonly signal: AbortSignal
  readonly isOver: boolean
  /** Settles with `work`; when the time is up and `work` still has not `graceMs` later, rejects with `late()`. */
  race<T>(work: Promise<T>, late: () => Error, graceMs?: number): Promise<T>
}

/** The most that a stretch of time counts, however late its end is noticed. */
const stretchMs = 100

interface TimeLimitOptions {
  /** Counts the time in which this process could run alone: not what it stood still for, on a machine that has too much to do. */
  readonly own?: boolean
  /** Called at most once a second of real time, while timers of this process fire. Only where its own time is counted. */
  readonly onAlive?: () => void
}

const secondMs = 1_000

/**
 * Starts a limit. Vitest's own timeout would end the test before the replay could tell where the agent hangs.
 *
 * There is no limit while a debugger is attached.
 */
export function startTimeLimit(
  limitMs: number,
  cancelled: AbortSignal,
  { own = false, onAlive }: TimeLimitOptions = {},
): TimeLimit {
  const time = new AbortController()
  const signal = AbortSignal.any([time.signal, cancelled])
  const timers = new Set<NodeJS.Timeout>()
  const listeners = new Set<() => void>()
  let heardAt = performance.now()
  const alive = (): void => {
    if (onAlive === undefined || performance.now() - heardAt < secondMs) return
    heardAt = performance.now()
    onAlive()
  }
  const after = (ms: number, action: () => void): void => {
    const stretch = own ? Math.min(ms, stretchMs) : ms
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (own) alive()
      if (ms > stretch) after(ms - stretch, action)
      else action()
    }, stretch)
    timers.add(timer)
  }
  if (inspectorUrl() === undefined) after(limitMs, () => time.abort(new Error(`no answer within ${limitMs} ms`)))
  return {
    signal,
    get isOver() {
      return time.signal.aborted
    },
    race(work, late, graceMs = 0) {
      const gaveUp = new Promise<never>((_, reject) => {
        const giveUp = (): void => after(graceMs, () => reject(late()))
        if (signal.aborted) return giveUp()
        listeners.add(giveUp)
        signal.addEventListener('abort', giveUp, { once: true })
      })
      return Promise.race([work, gaveUp])
    },
    [Symbol.dispose]() {
      for (const timer of timers) clearTimeout(timer)
      // Node keeps a signal made of others for as long as someone listens to it, and with it the run: 36 KB a case.
      for (const listener of listeners) signal.removeEventListener('abort', listener)
    },
  }
}
