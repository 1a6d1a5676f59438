import type { Observer } from '../seam/observe/observer.ts'
import { currentRun } from '../seam/source.ts'
import type { RunHandle } from './run-stats.ts'
import type { RunObserver } from './observer.ts'

/** What a run leaves in its async context that is not to be recorded: to everything that listens, a run that is over. */
export interface Aside extends RunObserver {
  /** The function goes on: runs that begin inside it belong to it. */
  isOpen: boolean
}

/**
 * A run that is not recorded. Nothing is listened to, and its requests do not look like those that belong to no run.
 *
 * @param flagged - hears of each flag and hold; both come too late
 */
export function asideOf(id: string, flagged: () => void): Aside {
  const tooLate = (): boolean => {
    flagged()
    return false
  }
  return {
    id,
    mode: 'record',
    isOpen: true,
    over: true,
    handle: handleWithout(id, tooLate),
    draw: (_kind, _caller, real) => real(),
    call: (_call, fn) => fn(),
    mark: (_name, data) => data,
    message: () => undefined,
    state: () => undefined,
    exchange: () => undefined,
    spawned: () => undefined,
    pushed: () => undefined,
    unrecorded: () => undefined,
  }
}

/** The handle of a function that runs without a tape: its signal is made on request. */
export function handleWithout(id: string, isThere: () => boolean): RunHandle {
  let made: AbortController | undefined
  return {
    id,
    get signal() {
      made ??= new AbortController()
      return made.signal
    },
    usage: undefined,
    flag: isThere,
    hold: isThere,
  }
}

/**
 * Whether a run that begins here belongs to another one. A run that was answered takes nothing more: what begins in its
 * context, such as the next request of a server, is a run of its own.
 */
export function isInsideRun(): boolean {
  const run = currentRun()
  if (run === undefined) return false
  const { isOpen = false } = run as Partial<Aside>
  return isOpen || !(run.mode === 'record' && (run as Observer).over)
}
