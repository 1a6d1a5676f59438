import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'
import { callerPackage, withOrigin } from '../caller.ts'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { type Caller, seamState } from '../source.ts'
import { Context } from './context.ts'
import { currentResponder, type Responder, type VirtualTimer } from './responder.ts'

type Callback = (...args: unknown[]) => void

/** The timers before anybody patched them. */
export const real = seamState().natives

/** Gives replayed runs virtual timers. Code outside a run keeps the real ones. */
export function interceptTimers(): void {
  patchProperty(globalThis, 'setTimeout', (original) => {
    function setTimeout(callback: Callback, ms?: number, ...args: unknown[]): unknown {
      const run = virtualFor(setTimeout)
      return run ? new Timer(run, callback, ms, args, false) : original(callback, ms, ...args)
    }
    Object.defineProperty(setTimeout, promisify.custom, { value: sleep })
    return setTimeout as unknown as typeof original
  })
  patchProperty(globalThis, 'setInterval', (original) => {
    function setInterval(callback: Callback, ms?: number, ...args: unknown[]): unknown {
      const run = virtualFor(setInterval)
      return run ? new Timer(run, callback, ms, args, true) : original(callback, ms, ...args)
    }
    return setInterval as unknown as typeof original
  })
  for (const name of ['clearTimeout', 'clearInterval'] as const) {
    patchProperty(globalThis, name, (original) => (handle) => {
      const timer = handle as unknown
      if (isVirtual(timer)) timer.close()
      else if ((typeof timer === 'number' || typeof timer === 'string') && byId.has(Number(timer)))
        byId.get(Number(timer))?.deref()?.close()
      else original(handle)
    })
  }
  interceptImmediates()
  for (const name of [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'clearInterval',
    'clearImmediate',
  ] as const) {
    patchProperty(timers as Record<string, unknown>, name, () => globalThis[name])
  }
  interceptPromises()
  interceptAbortTimeout()
  syncBuiltins()
}

/**
 * The run a timer belongs to. undici's own book-keeping timers stay real: they are shared by the whole process, and a
 * virtual clock that jumps for them would jump too far.
 */
function virtualFor(caller: Caller): Responder | undefined {
  const run = currentResponder()
  return run && callerPackage(caller) !== 'undici' ? run : undefined
}

const virtual = Symbol.for('vitest-harvest/timer@1')

/** A timer of ours, or of another copy of this package. */
function isVirtual(timer: unknown): timer is Timer {
  return typeof timer === 'object' && timer !== null && virtual in timer
}

const byId = new Map<number, WeakRef<Timer>>()
let lastId = 0

class Timer implements VirtualTimer {
  readonly [virtual] = true
  readonly ms: number
  readonly id: number
  due: number
  cancelled = false
  isHolding = true
  readonly #run: Responder
  readonly #callback: () => void
  readonly #repeat: boolean

  constructor(run: Responder, callback: Callback, ms: number | undefined, args: unknown[], repeat: boolean) {
    const delay = Number(ms)
    this.ms = delay >= 1 && delay <= 2147483647 ? delay : 1
    this.id = ++lastId
    this.#run = run
    this.#repeat = repeat
    const context = withOrigin(() => new Context())
    this.#callback = () => context.run(() => callback(...args))
    this.due = run.now + this.ms
    run.schedule(this)
  }

  fire(): void {
    if (this.#repeat) {
      this.due = this.#run.now + this.ms
      this.#run.schedule(this)
    }
    this.#callback()
  }

  refresh(): this {
    this.due = this.#run.now + this.ms
    this.cancelled = false
    this.#run.schedule(this)
    return this
  }

  close(): this {
    this.cancelled = true
    byId.delete(this.id)
    this.#run.held(this)
    return this
  }

  ref(): this {
    return this.#hold(true)
  }

  unref(): this {
    return this.#hold(false)
  }

  hasRef(): boolean {
    return this.isHolding
  }

  #hold(isHolding: boolean): this {
    this.isHolding = isHolding
    this.#run.held(this)
    return this
  }

  [Symbol.toPrimitive](): number {
    byId.set(this.id, new WeakRef(this))
    return this.id
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

function interceptImmediates(): void {
  const open = new WeakMap<object, Responder>()
  patchProperty(globalThis, 'setImmediate', (original) => {
    function setImmediate(callback: Callback, ...args: unknown[]): NodeJS.Immediate {
      const run = currentResponder()
      if (!run) return original(callback, ...args)
      // A run nobody waits for goes no further; undici's pools are shared with those that come after it.
      if (run.over)
        return callerPackage(setImmediate) === 'undici' ? original(callback, ...args) : original(() => undefined)
      run.pending++
      const handle = original(() => {
        open.delete(handle)
        run.pending--
        callback(...args)
      })
      open.set(handle, run)
      return handle
    }
    Object.defineProperty(setImmediate, promisify.custom, {
      value: (value: unknown) => new Promise((resolve) => setImmediate(resolve as Callback, value)),
    })
    return setImmediate as unknown as typeof original
  })
  patchProperty(globalThis, 'clearImmediate', (original) => (handle) => {
    const run = handle && open.get(handle)
    if (run) {
      open.delete(handle)
      run.pending--
    }
    original(handle)
  })
}

function interceptPromises(): void {
  patchProperty(timersPromises, 'setTimeout', () => sleep as typeof timersPromises.setTimeout)
  patchProperty(timersPromises, 'setImmediate', (original) => {
    function setImmediate<T>(value?: T, options?: { signal?: AbortSignal }): Promise<T> {
      if (!currentResponder()) return original(value, options) as Promise<T>
      return new Promise((resolve) => globalThis.setImmediate(resolve as Callback, value))
    }
    return setImmediate as typeof original
  })
  patchProperty(timersPromises, 'setInterval', (original) => {
    async function* setInterval<T>(
      ms?: number,
      value?: T,
      options?: { signal?: AbortSignal },
    ): AsyncGenerator<T | undefined> {
      for (;;) yield await sleep(ms, value, options)
    }
    return ((...args: Parameters<typeof setInterval>) =>
      currentResponder() ? setInterval(...args) : original(...args)) as typeof original
  })
  const { scheduler } = timersPromises
  patchProperty(scheduler, 'wait', () => (ms, options) => sleep(ms, undefined, options as { signal?: AbortSignal }))
}

const originalSleep = timersPromises.setTimeout

function sleep<T>(ms?: number, value?: T, options?: { readonly signal?: AbortSignal }): Promise<T | undefined> {
  const run = currentResponder()
  if (!run) return originalSleep(ms, value, options)
  const signal = options?.signal
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal))
    const aborted = (): void => {
      timer.close()
      if (signal) reject(abortError(signal))
    }
    const done = (): void => {
      signal?.removeEventListener('abort', aborted)
      resolve(value)
    }
    const timer = new Timer(run, done, ms, [], false)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

function abortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}

function interceptAbortTimeout(): void {
  patchProperty(AbortSignal, 'timeout', (original) => {
    const call = original.bind(AbortSignal)
    return (ms) => {
      const run = currentResponder()
      if (!run) return call(ms)
      const controller = new AbortController()
      const expire = (): void =>
        controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      new Timer(run, expire, ms, [], false).unref()
      return controller.signal
    }
  })
}
