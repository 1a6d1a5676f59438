import perfHooks from 'node:perf_hooks'
import { callerFile } from './caller.ts'
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
 * Gives Node's own undici a `performance` that is not patched. It reads the clock three times a fetch, and only a look at the
 * stack could tell these reads, which are never recorded, from the agent's: 4 µs each.
 *
 * undici takes `performance` from `node:perf_hooks` once, when it is loaded: at the first `fetch`, or when a module
 * imports `node:http`. Whoever else asks there gets the one there is. Where undici was loaded before the recorder was
 * made, its reads go on being looked up.
 */
export function spareUndici(): void {
  const { performance: shared } = perfHooks
  const { uptime } = seamState().natives
  function get(): typeof shared {
    if (callerFile(get) !== undici) return shared
    put({ value: shared, writable: true })
    return Object.create(shared, { now: { value: uptime } }) as typeof shared
  }
  const put = (how: PropertyDescriptor): void => {
    Object.defineProperty(perfHooks, 'performance', { configurable: true, enumerable: true, ...how })
  }
  onceInProcess('clock.undici', () => put({ get, set: (value: unknown) => put({ value, writable: true }) }))
}
