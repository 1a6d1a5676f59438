import { AsyncLocalStorage } from 'node:async_hooks'
import { siteIn, userSite } from '../caller.ts'
import { seamState, sharedOf } from '../source.ts'
import { currentResponder } from './responder.ts'

/**
 * Something an agent did around the seam that is let through, and reported.
 *
 * `write`: it changed a file. `add-on`: native code was loaded. `audit`: `confine: 'strict'` would refuse it.
 */
export interface UninstrumentedIo {
  readonly kind: 'write' | 'add-on' | 'audit'
  /** What did it: `fs.writeFileSync`, `node:sqlite`, `require`. */
  readonly by: string
  /** The file as it was named, made absolute; what an audit names. */
  readonly target: string
  /** `file:line:column` of the user's code. */
  readonly site?: string
}

/**
 * What one agent does from the loading of its modules on, also when its run is over: what a module started while it
 * loaded belongs to no run, and goes on in this context.
 */
export interface AgentWork {
  /** After its run: what it still reaches for is refused, and reported. */
  readonly isOver: boolean
  /** Notes what is reached for after the run. The error to refuse it with, or `undefined` to let it through. */
  escapeLate(kind: string, target: string): Error | undefined
  list(one: UninstrumentedIo): void
  /** Its run is over. */
  end(): void
}

const key = 'intercept/work'

function works(): AsyncLocalStorage<AgentWork> {
  return sharedOf(key, () => new AsyncLocalStorage())
}

/** Does something that belongs to the work of an agent, with all that follows. */
export function inWork<T>(work: AgentWork, run: () => T): T {
  return works().run(work, run)
}

export function currentWork(): AgentWork | undefined {
  return works().getStore()
}

/** Whether an agent is at work right here: neither Vitest, nor a set-up file, nor the replay's own machinery. */
export function isAgentAtWork(): boolean {
  if (seamState().runs.getStore() === null) return false
  return currentResponder() !== undefined || currentWork() !== undefined
}

/**
 * Tells of something that is let through, where an agent did it.
 *
 * @param madeAt - the stack at the place it was asked for, where it is done later
 */
export function list(kind: UninstrumentedIo['kind'], by: string, target: string, madeAt?: Error): void {
  if (!isAgentAtWork()) return
  const site = userSite() ?? (madeAt && siteIn(madeAt))
  const one: UninstrumentedIo = { kind, by, target, ...(site === undefined ? {} : { site }) }
  const run = currentResponder()
  if (run?.list !== undefined && !run.over) run.list(one)
  else currentWork()?.list(one)
}

/** A list that has each thing once: a file is written many times. */
export function listOnce(known: UninstrumentedIo[], one: UninstrumentedIo): void {
  if (!known.some(({ kind, target }) => kind === one.kind && target === one.target)) known.push(one)
}
