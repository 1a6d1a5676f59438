import { AsyncResource } from 'node:async_hooks'
import { guard } from './guarding.ts'
import { isAgentAtWork } from './work.ts'

type Listener = (...args: unknown[]) => unknown
/** Node finds a listener by the one it stands for, as it marks those of `once`. */
type Tied = Listener & { listener?: Listener }

/** They come in the context of whoever failed or warned, who is often another one than who listens. */
const withContext: ReadonlySet<unknown> = new Set([
  'unhandledRejection',
  'rejectionHandled',
  'uncaughtException',
  'uncaughtExceptionMonitor',
  'warning',
])

/** Listeners that have the context of their run already. */
const tied = new WeakSet<Listener>()

/**
 * Keeps what an agent has the process call in the context of its run: `beforeExit` or a message comes from nowhere, long
 * after, and what is done then is the agent's.
 */
export function bindListeners(): void {
  for (const key of ['on', 'addListener', 'prependListener']) {
    guard(process, key, (original) => {
      return function (this: unknown, event: unknown, listener: unknown) {
        return original.call(this, event, isFree(event, listener) ? tie(listener, listener) : listener) as unknown
      }
    })
  }
  for (const [key, add] of [
    ['once', 'on'],
    ['prependOnceListener', 'prependListener'],
  ] as const) {
    guard(process, key, (original) => {
      return function (this: NodeJS.EventEmitter, event: string, listener: unknown) {
        if (!isFree(event, listener)) return original.call(this, event, listener) as unknown
        const once = tie((...args) => {
          process.removeListener(event, once)
          return Reflect.apply(listener, process, args) as unknown
        }, listener)
        return this[add](event, once)
      }
    })
  }
}

function isFree(event: unknown, listener: unknown): listener is Listener {
  if (typeof listener !== 'function' || withContext.has(event)) return false
  return isAgentAtWork() && !tied.has(listener as Listener)
}

function tie(call: Listener, listener: Tied): Listener {
  const one: Tied = AsyncResource.bind(call)
  one.listener = listener.listener ?? listener
  tied.add(one)
  return one
}
