import perfHooks from 'node:perf_hooks'
import stream from 'node:stream'
import { asNode, callerFile } from './caller.ts'
import { onceInProcess, patchProperty } from './patch.ts'
import { type Caller, currentRun, seamState } from './source.ts'

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
  patchTemporal()
}

interface Instant {
  readonly epochNanoseconds: bigint
  toZonedDateTimeISO(zone: unknown): ZonedDateTime
}
interface ZonedDateTime {
  toPlainDateTime(): unknown
  toPlainDate(): unknown
  toPlainTime(): unknown
}
interface TemporalNow {
  instant(): Instant
  zonedDateTimeISO(zone?: unknown): ZonedDateTime
  plainDateTimeISO(zone?: unknown): unknown
  plainDateISO(zone?: unknown): unknown
  plainTimeISO(zone?: unknown): unknown
  timeZoneId(): string
}

/**
 * `Temporal.Now`, of Node 26 and newer. In a run its time is as fine as a number of milliseconds on a tape, a quarter of a
 * microsecond: in the recording as well, so that a replay hands out what was handed out then.
 */
function patchTemporal(): void {
  const { Temporal } = globalThis as {
    readonly Temporal?: {
      readonly Now: TemporalNow
      readonly Instant: { fromEpochNanoseconds(nanoseconds: bigint): Instant }
    }
  }
  if (!Temporal) return
  const { Now, Instant } = Temporal
  const { timeZoneId } = Now
  const realInstant = Now.instant
  const realMs = (): number => Number(realInstant().epochNanoseconds) / 1e6
  const drawn = (caller: Caller): Instant | undefined => {
    const ms = currentRun()?.draw('now', caller, realMs, (world) => world.epochMs())
    return ms === undefined ? undefined : Instant.fromEpochNanoseconds(BigInt(Math.round(ms * 1e6)))
  }
  patchProperty(Now, 'instant', (real) => {
    return function instant() {
      return drawn(instant) ?? real()
    }
  })
  const patchZoned = <K extends Exclude<keyof TemporalNow, 'instant' | 'timeZoneId'>>(
    key: K,
    part: (time: ZonedDateTime) => ReturnType<TemporalNow[K]>,
  ): void => {
    patchProperty(Now, key, (real) => {
      const zoned = ((...zone: readonly unknown[]) => {
        const now = drawn(zoned)
        if (!now) return Reflect.apply(real, Now, zone) as ReturnType<TemporalNow[K]>
        return part(now.toZonedDateTimeISO(zone[0] === undefined ? timeZoneId() : zone[0]))
      }) as TemporalNow[K]
      return zoned
    })
  }
  patchZoned('zonedDateTimeISO', (time) => time)
  patchZoned('plainDateTimeISO', (time) => time.toPlainDateTime())
  patchZoned('plainDateISO', (time) => time.toPlainDate())
  patchZoned('plainTimeISO', (time) => time.toPlainTime())
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
