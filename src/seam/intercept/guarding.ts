import { patchProperty } from '../patch.ts'
import { refusal } from './outside.ts'

// biome-ignore lint/suspicious/noExplicitAny: patched functions keep their signatures
export type AnyFunction = (...args: any[]) => any

/** Replaces a method where this Node has it. */
export function guard(target: object, key: string, make: (original: AnyFunction) => AnyFunction): void {
  const table = target as Record<string, AnyFunction>
  if (typeof table[key] !== 'function') return
  patchProperty(table, key, make)
}

/** Refuses calls of a function that throws what keeps it from being called. */
export function refuse(
  target: object,
  key: string,
  kind: string,
  describe: (args: readonly unknown[]) => string,
): void {
  guard(target, key, (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const error = refusal(kind, describe(args))
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
}
