import type { Socket } from 'node:net'
import { seamState, sharedOf } from '../source.ts'
import { currentResponder, type ExchangeControl, type ExchangeSink, type LiveRequest } from './responder.ts'
import { currentWork } from './work.ts'

/** Whoever answers for what happens around the seam: a replay, or the loading of an agent. */
export interface Watcher {
  /** Notes an escape. The error to refuse it with, or `undefined` to let it through. */
  escape(kind: string, target: string, madeAt?: Error): Error | undefined
  /** Answers to requests that belong to no run; absent: there is no such answer. */
  readonly answers?: OutsideAnswers
}

/** What a recording process had fetched outside its runs. */
export interface OutsideAnswers {
  /** Whether a request of this address may be answered. */
  claims(method: string, url: string): boolean
  /** Whether any request to this port may be: a socket is opened before its request is known. */
  claimsPort(port: string): boolean
  /** `undefined`: there is no answer to it. */
  exchange(live: LiveRequest, sink: ExchangeSink): ExchangeControl | undefined
}

/** Who answers a request that is made right now and belongs to no run. */
export function currentOutsideAnswers(): OutsideAnswers | undefined {
  const { runs, processRun } = seamState()
  if (permitted > 0 || runs.getStore() !== undefined || processRun || currentWork()?.isOver === true) return undefined
  return currentWatcher()?.answers
}

function watchers(): Set<Watcher> {
  return sharedOf('watchers', () => new Set())
}

/**
 * While a replay is under way, all that reaches the world outside any run counts against it: a queue worker or a
 * poller started earlier does the agent's work without the agent's context.
 *
 * @returns ends the watch
 */
export function watchOutside(watcher: Watcher): () => void {
  watchers().add(watcher)
  return () => void watchers().delete(watcher)
}

/** Who answers for what happens outside any run right now. */
export function currentWatcher(): Watcher | undefined {
  return [...watchers()].at(-1)
}

let permitted = 0

/** Does something that was asked about already: what Node does underneath is not asked about once more. */
export function permit<T>(work: () => T): T {
  permitted++
  try {
    return work()
  } finally {
    permitted--
  }
}

/** The error to refuse something with that goes around the seam right now, or `undefined` to let it through. */
export function refusal(kind: string, target: string, madeAt?: Error): Error | undefined {
  if (permitted > 0) return undefined
  const { runs, processRun } = seamState()
  const run = currentResponder()
  const work = currentWork()
  if (work !== undefined && runs.getStore() !== null && (work.isOver || run?.over === true))
    return work.escapeLate(kind, target)
  if (run) return run.escape(kind, target, madeAt)
  // A recorded run may reach the world, and so may the replay's own machinery (`null`).
  if (runs.getStore() !== undefined || processRun) return undefined
  return currentWatcher()?.escape(kind, target, madeAt)
}

/** Who hears of the sockets that are let through, by the run as the code that opens them sees it. */
const socketListeners = sharedOf(
  'intercept.sockets',
  () => new WeakMap<object, (socket: Socket, target: string) => void>(),
)

/** Hears of each socket that code opens past the seam, when it connects. */
export function hearSockets(view: object, heard: (socket: Socket, target: string) => void): void {
  socketListeners.set(view, heard)
}

export function tellOfSocket(view: object, socket: Socket, target: string): void {
  socketListeners.get(view)?.(socket, target)
}
