import { patchProperty } from '../patch.ts'

// biome-ignore lint/suspicious/noExplicitAny: patched functions keep their signatures
export type AnyFunction = (...args: any[]) => any

/** Replaces a method where this Node has it. */
export function guard(target: object, key: string, make: (original: AnyFunction) => AnyFunction): void {
  const table = target as Record<string, AnyFunction>
  if (typeof table[key] !== 'function') return
  patchProperty(table, key, make)
}
