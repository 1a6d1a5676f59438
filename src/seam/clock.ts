import perfHooks from 'node:perf_hooks'
import stream from 'node:stream'
import { asNode, callerFile } from './caller.ts'
import { onceInProcess, patchProperty } from './patch.ts'
import { currentRun, seamState } from './source.ts'

/** Sends `Date` and `performance.now` reads made inside a run through its source. Outside a run nothing changes. */
export function patchClock(): void {
  const RealDate = Date
  const realNow = RealDate.now.bind(RealDate)
  function now(): number {
    const run = currentRun()
    return run ? run.draw('now', now, realNow, (world) => world.epochMs()) : realNow()
  }
  const handler: ProxyHandler<DateConstructor> = {
    construct(target, args, newTarget) {
      const run = args.length === 0 ? currentRun() : undefined
      const given = run ? [run.draw('now', construct, realNow, (world) => world.epochMs())] : args
      return Reflect.construct(target, given, newTarget === globalThis.Date ? target : newTarget) as Date
    },
    apply(target) {
      const run = currentRun()
      if (!run) return target()
      return new RealDate(run.draw('now', apply, realNow, (world) => world.epochMs())).toString()
    },
    get(target, key) {
      return key === 'now' ? now : (Reflect.get(target, key) as unknown)
    },
  }
  const construct = handler.construct as () => unknown
  const apply = handler.apply as () => unknown
  if (patchProperty(globalThis, 'Date', () => new Proxy(RealDate, handler))) {
    // `new Date().constructor === Date` must keep holding.
    const prototype: { constructor: unknown } = RealDate.prototype
    patchProperty(prototype, 'constructor', () => globalThis.Date)
  }
  const realUptime = performance.now.bind(performance)
  patchProperty(performance, 'now', () => {
    function uptime(): number {
      const run = currentRun()
      return run ? run.draw('perf', uptime, realUptime, (world) => world.uptimeMs()) : realUptime()
    }
    return uptime
  })
}

const undici = 'node:internal/deps/undici/undici'

/**
 * Gives Node's own undici a `performance` that is not patched, and a `finished` behind which the clock is read by Node. It
 * reads the clock four times a fetch, and only a look at the stack could tell these reads, which are never recorded, from the
 * agent's: 3 to 10 µs each.
 *
 * undici takes both from their modules when it is loaded: at the first `fetch`, or when an ES module imports `node:http` (to
 * require it does not load undici). Whoever else asks there gets the ones there are. Where undici was loaded before the
 * recorder was made, its reads go on being looked up.
 */
export function spareUndici(): void {
  const { uptime } = seamState().natives
  onceInProcess('clock.undici', () => {
    handUndici(perfHooks, 'performance', (shared) => Object.create(shared, { now: { value: uptime } }) as typeof shared)
    handUndici(stream, 'finished', (shared) => finishedForNode(shared as Finished) as typeof shared)
  })
}

type Finished = (...args: unknown[]) => unknown

/** `fetch` hears of the end of an answer with code of its own, which reads `Date.now` and puts off the rest. */
function finishedForNode(real: Finished): Finished {
  return function finished(...args) {
    const [body, heard] = args
    if (args.length !== 2 || !(body instanceof ReadableStream) || typeof heard !== 'function') return real(...args)
    const ended = heard as (error: unknown) => void
    return real(body, (error: unknown) => asNode(() => ended(error)))
  }
}

/** Makes undici find something of its own under a name of a module, where all others find what there is. */
function handUndici<T extends object, K extends keyof T>(module: T, name: K, make: (shared: T[K]) => T[K]): void {
  const shared = module[name]
  const put = (how: PropertyDescriptor): void => {
    Object.defineProperty(module, name, { configurable: true, enumerable: true, ...how })
  }
  function get(): T[K] {
    if (callerFile(get) !== undici) return shared
    put({ value: shared, writable: true })
    return make(shared)
  }
  put({ get, set: (value: unknown) => put({ value, writable: true }) })
}
