import { patchProperty } from '../../seam/patch.ts'
import type { Caller } from '../../seam/source.ts'
import { ask, type Slot, type ProbeTarget, unwatched, type Ways } from './probe.ts'

// biome-ignore lint/suspicious/noExplicitAny: patched functions keep their signatures
export type PatchedFunction = (this: any, ...args: any[]) => any

/** Replaces a function where there is one, over what the seam has put there. */
export function patch(
  target: object,
  key: string,
  make: (original: PatchedFunction) => PatchedFunction,
  layer = 'probe',
): void {
  const table = target as Record<string, PatchedFunction>
  if (typeof table[key] !== 'function') return
  patchProperty(table, key, make, layer)
}

/** A function whose answer is a source. */
export function patchAnswer<T>(target: object, key: string, source: ProbeTarget, ways: Ways<T>): void {
  patch(target, key, (original) => {
    return function patched(this: unknown, ...args: unknown[]): unknown {
      const slot = ask(() => source, patched)
      const real = (): T => original.apply(this, args) as T
      return slot ? slot.of(real, ways) : real()
    }
  })
}

/** A property whose value is a source. */
export function patchValue<T>(target: object, key: string, source: ProbeTarget, ways: Ways<T>): void {
  const before = Object.getOwnPropertyDescriptor(target, key)
  if (!before?.configurable) return
  let current = before.value as T
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: before.enumerable ?? true,
    get: function patched(this: unknown): T {
      const real = (): T => (before.get ? (before.get.call(this) as T) : current)
      const slot = ask(() => source, patched)
      return slot ? slot.of(real, ways) : real()
    },
    set(this: unknown, value: T) {
      if (before.set) before.set.call(this, value)
      else if (before.writable) current = value
    },
  })
}

/** How the answer of a function reaches its caller. */
export type Manner = 'sync' | 'callback' | 'promise'

/** What becomes of a call: other arguments, another answer. */
export interface PatchedCall {
  readonly args?: unknown[]
  /** `real` asks again only in the manner `sync`. */
  readonly answer?: (real: () => unknown) => unknown
}

/** A function, in one of its three manners, around which something is done; `around` is asked at the place of the call. */
export function patchAround(
  target: object,
  key: string,
  manner: Manner,
  around: (args: unknown[], caller: Caller) => PatchedCall | undefined,
): void {
  patch(target, key, (original) => {
    return function patched(this: unknown, ...args: unknown[]): unknown {
      const callback = args.at(-1)
      if (manner === 'callback' && typeof callback !== 'function') return original.apply(this, args)
      const found = around(manner === 'callback' ? args.slice(0, -1) : args, patched)
      if (!found) return original.apply(this, args)
      const { answer = (real) => real() } = found
      const given = found.args ?? (manner === 'callback' ? args.slice(0, -1) : args)
      const call = (all: unknown[]): unknown => unwatched(() => original.apply(this, all) as unknown)
      if (manner === 'sync') return answer(() => call(given))
      if (manner === 'promise') {
        return (call(given) as Promise<unknown>).then((value) => answer(() => value))
      }
      const hand = callback as (error: unknown, ...values: unknown[]) => unknown
      return call([
        ...given,
        (error: unknown, ...values: unknown[]) => {
          if (error) return hand(error, ...values)
          const result = answer(() => (values.length > 1 ? values : values[0]))
          return hand(error, ...(values.length > 1 ? (result as unknown[]) : [result]))
        },
      ])
    }
  })
}

/** {@link patchAround} for a function whose answer is a source of its own. */
export function patchAnswers<T>(
  target: object,
  key: string,
  manner: Manner,
  source: (args: unknown[]) => ProbeTarget | undefined,
  ways: (slot: Slot, args: unknown[]) => Ways<T>,
): void {
  patchAround(target, key, manner, (args, caller) => {
    const slot = ask(() => source(args), caller)
    return slot && { answer: (real) => slot.of(real as () => T, ways(slot, args)) }
  })
}
