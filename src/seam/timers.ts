// Over 300 lines: all timers of Node are patched together, or one gives the others away.
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'
import { callerPackage, withOrigin } from './caller.ts'
import { Context } from './intercept/context.ts'
import type { Responder, SignalLimit, VirtualTimer } from './intercept/responder.ts'
import { patchProperty, syncBuiltins } from './patch.ts'
import { type Caller, currentRun, type RunContext, seamState, type TimerListener } from './source.ts'

type Callback = (...args: unknown[]) => void
interface WaitOptions {
  readonly signal?: AbortSignal
  readonly ref?: boolean
}

/** The timers before anybody patched them. */
export const real = seamState().natives

/**
 * Lets runs know of the timers their agents set: a recorded run hears them fire, a replayed one fires them itself. Code
 * outside a run keeps the real ones.
 */
export function patchTimers(): void {
  patchSetters()
  patchPromises()
  patchAbortTimeout()
  syncBuiltins()
}

/** What replayed runs need besides: their timers are objects of ours, and they must know of immediates under way. */
export function interceptTimers(): void {
  patchTimers()
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
  for (const name of ['setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'] as const) {
    patchProperty(timers as Record<string, unknown>, name, () => globalThis[name])
  }
  syncBuiltins()
}

function patchSetters(): void {
  patchProperty(globalThis, 'setTimeout', (original) => {
    function setTimeout(callback: Callback, ms?: number, ...args: unknown[]): unknown {
      return set(original, setTimeout, callback, ms, args, false)
    }
    function promised<T>(ms?: number, value?: T, options?: WaitOptions): Promise<T | undefined> {
      return sleep(promised, ms, value, options)
    }
    Object.defineProperty(setTimeout, promisify.custom, { value: promised })
    return setTimeout as unknown as typeof original
  })
  patchProperty(globalThis, 'setInterval', (original) => {
    function setInterval(callback: Callback, ms?: number, ...args: unknown[]): unknown {
      return set(original, setInterval, callback, ms, args, true)
    }
    return setInterval as unknown as typeof original
  })
  for (const name of ['setTimeout', 'setInterval'] as const)
    patchProperty(timers as Record<string, unknown>, name, () => globalThis[name])
}

type Setter = typeof globalThis.setTimeout | typeof globalThis.setInterval

function set(
  original: Setter,
  caller: Caller,
  callback: Callback,
  ms: number | undefined,
  args: readonly unknown[],
  repeat: boolean,
): unknown {
  const run = currentRun()
  // What is no function is for Node to refuse.
  if (run === undefined || typeof callback !== 'function') return original(callback, ms, ...args)
  if (!isReplay(run)) {
    const listener = run.timerSet?.(caller, delayOf(ms))
    return original(listener ? heard(listener, callback) : callback, ms, ...args)
  }
  const name = callerPackage(caller)
  return isShared(name) ? original(callback, ms, ...args) : new Timer(run, name, callback, ms, args, repeat)
}

/**
 * undici's own book-keeping timers stay real, and unheard: they are shared by the whole process, and a virtual clock that
 * jumps for them would jump too far.
 */
function isShared(caller: string): boolean {
  return caller === 'undici'
}

export function isReplay(run: RunContext): run is Responder {
  return run.mode === 'replay'
}

function heard(listener: TimerListener, callback: Callback): Callback {
  return function (this: unknown, ...args) {
    listener.fired()
    Reflect.apply(callback, this, args)
  }
}

/** The delay Node takes for what it is given. */
function delayOf(ms: unknown): number {
  const delay = Number(ms)
  return delay >= 1 && delay <= 2147483647 ? delay : 1
}

const virtual = Symbol.for('vitest-harvest/timer@1')

/** A timer of ours, or of another copy of this package. */
function isVirtual(timer: unknown): timer is Timer {
  return typeof timer === 'object' && timer !== null && virtual in timer
}

const byId = new Map<number, WeakRef<Timer>>()
let lastId = 0

export class Timer implements VirtualTimer {
  readonly [virtual] = true
  readonly ms: number
  readonly caller: string
  readonly limit?: SignalLimit
  readonly id: number
  due: number
  cancelled = false
  isHolding = true
  readonly #run: Responder
  readonly #callback: () => void
  readonly #repeat: boolean

  constructor(
    run: Responder,
    caller: string,
    callback: Callback,
    ms: number | undefined,
    args: readonly unknown[],
    repeat: boolean,
    limit?: SignalLimit,
  ) {
    this.ms = delayOf(ms)
    if (limit !== undefined) this.limit = limit
    this.caller = caller
    this.id = ++lastId
    this.#run = run
    this.#repeat = repeat
    const context = withOrigin(() => new Context())
    this.#callback = context.run.bind(context, () => callback(...args))
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
      const run = currentRun()
      if (run === undefined || !isReplay(run)) return original(callback, ...args)
      // A run nothing waits for goes no further; undici's pools are shared with those that come after it.
      if (run.over && !run.isWatched)
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

function patchPromises(): void {
  patchProperty(timersPromises, 'setTimeout', () => {
    function setTimeout<T>(ms?: number, value?: T, options?: WaitOptions): Promise<T | undefined> {
      return sleep(setTimeout, ms, value, options)
    }
    return setTimeout as typeof timersPromises.setTimeout
  })
  patchProperty(timersPromises, 'setImmediate', (original) => {
    function setImmediate<T>(value?: T, options?: WaitOptions): Promise<T> {
      const run = currentRun()
      if (run === undefined || !isReplay(run)) return original(value, options) as Promise<T>
      return new Promise((resolve) => globalThis.setImmediate(resolve as Callback, value))
    }
    return setImmediate as typeof original
  })
  patchProperty(timersPromises, 'setInterval', (original) => {
    function setInterval<T>(ms?: number, value?: T, options?: WaitOptions): AsyncIterable<T | undefined> {
      const run = currentRun()
      if (run === undefined) return original(ms, value, options)
      if (isReplay(run)) return virtualTicks(run, callerPackage(setInterval), ms, value, options?.signal)
      const listener = run.timerSet?.(setInterval, delayOf(ms))
      const ticks = original(ms, value, options)
      return listener ? heardTicks(listener, ticks) : ticks
    }
    return setInterval as typeof original
  })
  const { scheduler } = timersPromises
  patchProperty(scheduler, 'wait', () => {
    function wait(ms?: number, options?: object): Promise<void> {
      return sleep(wait, ms, undefined, options)
    }
    return wait
  })
}

const originalSleep = timersPromises.setTimeout

function sleep<T>(caller: Caller, ms?: number, value?: T, options?: WaitOptions): Promise<T | undefined> {
  const run = currentRun()
  const signal = options?.signal
  if (run !== undefined && isReplay(run)) return virtualSleep(run, callerPackage(caller), ms, value, options)
  const listener = signal?.aborted ? undefined : run?.timerSet?.(caller, delayOf(ms))
  const slept = originalSleep(ms, value, options)
  if (listener === undefined) return slept
  return slept.then((given) => {
    listener.fired()
    return given
  })
}

function virtualSleep<T>(
  run: Responder,
  caller: string,
  ms: number | undefined,
  value: T | undefined,
  options: WaitOptions | undefined,
): Promise<T | undefined> {
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
    const timer = new Timer(run, caller, done, ms, [], false)
    if (options?.ref === false) timer.unref()
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

async function* heardTicks<T>(listener: TimerListener, ticks: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const tick of ticks) {
    listener.fired()
    yield tick
  }
}

/** Ticks that the agent was too busy to take wait for it, as in Node. */
async function* virtualTicks<T>(
  run: Responder,
  caller: string,
  ms: number | undefined,
  value: T | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<T | undefined> {
  let waiting = 0
  let next = Promise.withResolvers<void>()
  if (signal?.aborted) throw abortError(signal)
  const aborted = (): void => next.resolve()
  signal?.addEventListener('abort', aborted, { once: true })
  const tick = (): void => {
    waiting++
    next.resolve()
  }
  const timer = new Timer(run, caller, tick, ms, [], true)
  try {
    for (;;) {
      await next.promise
      next = Promise.withResolvers()
      for (; waiting > 0; waiting--) yield value
      if (signal?.aborted) throw abortError(signal)
    }
  } finally {
    timer.close()
    signal?.removeEventListener('abort', aborted)
  }
}

function abortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}

function patchAbortTimeout(): void {
  patchProperty(AbortSignal, 'timeout', (original) => {
    const call = original.bind(AbortSignal)
    function timeout(ms: number): AbortSignal {
      const run = currentRun()
      if (run === undefined) return call(ms)
      return isReplay(run) ? virtualTimeout(run, callerPackage(timeout), ms) : heardTimeout(call(ms), run, timeout, ms)
    }
    return timeout
  })
}

function heardTimeout(signal: AbortSignal, run: RunContext, caller: Caller, ms: number): AbortSignal {
  const listener = run.timerSet?.(caller, delayOf(ms))
  if (listener === undefined) return signal
  const fired = (): void => listener.fired()
  signal.addEventListener('abort', fired, { once: true })
  listener.isHeeded(false)
  onHeeded(signal, () => listener.isHeeded(true))
  // Node holds a signal that someone listens to until its time has come, and that may be long after the run.
  listener.onOver(() => signal.removeEventListener('abort', fired))
  return signal
}

function virtualTimeout(run: Responder, caller: string, ms: number): AbortSignal {
  const controller = new AbortController()
  const expire = (): void =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const limit: SignalLimit = {}
  const timer = new Timer(run, caller, expire, ms, [], false, limit).unref()
  const { signal } = controller
  onHeeded(signal, () => void limit.unheeded?.delete(timer))
  return signal
}

/** Tells once that something listens to a signal or looks at it: what it is given to does the one or the other at once. */
function onHeeded(signal: AbortSignal, heeded: () => void): void {
  const { addEventListener, throwIfAborted } = signal
  const isHeeded = (): void => {
    // One that was frozen meanwhile keeps them.
    for (const name of ['aborted', 'addEventListener', 'throwIfAborted']) Reflect.deleteProperty(signal, name)
    heeded()
  }
  const heededBy = (method: (...args: never[]) => unknown): PropertyDescriptor => ({
    configurable: true,
    value(...args: unknown[]): unknown {
      isHeeded()
      return Reflect.apply(method, signal, args)
    },
  })
  Object.defineProperties(signal, {
    aborted: {
      configurable: true,
      get() {
        isHeeded()
        return Reflect.get(AbortSignal.prototype, 'aborted', signal)
      },
    },
    addEventListener: heededBy(addEventListener),
    throwIfAborted: heededBy(throwIfAborted),
  })
}
