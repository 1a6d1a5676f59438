import { syncBuiltinESMExports } from 'node:module'
import { seamState } from './source.ts'

/**
 * Replaces one property once per process and remembers how to put it back.
 *
 * A second copy of this package asking for the same `name` finds the patch in place and does nothing: its
 * replacement would dispatch to the same {@link seamState} anyway.
 *
 * @returns whether this call made the patch
 */
export function patchProperty<T extends object, K extends keyof T>(
  name: string,
  target: T,
  key: K,
  make: (original: T[K]) => T[K],
): boolean {
  const { patches } = seamState()
  if (patches.has(name)) return false
  const before = Object.getOwnPropertyDescriptor(target, key)
  const original = target[key]
  const replacement = make(original)
  if (typeof original === 'function' && typeof replacement === 'function') copyShape(original, replacement)
  Object.defineProperty(target, key, {
    value: replacement,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  })
  patches.set(name, () => {
    if (target[key] !== replacement) return
    if (before) Object.defineProperty(target, key, before)
    else Reflect.deleteProperty(target, key)
  })
  return true
}

/** Remembers an undo function that is not a property, such as a channel subscription. */
export function onceInProcess(name: string, install: () => () => void): void {
  const { patches } = seamState()
  if (patches.has(name)) return
  patches.set(name, install())
}

/** Makes patched builtins visible to `import { randomUUID } from 'node:crypto'`, also in modules loaded before. */
export function syncBuiltins(): void {
  syncBuiltinESMExports()
}

// biome-ignore lint/complexity/noBannedTypes: any function
function copyShape(from: Function, to: Function): void {
  Object.defineProperty(to, 'name', { value: from.name, configurable: true })
  Object.defineProperty(to, 'length', { value: from.length, configurable: true })
  for (const symbol of Object.getOwnPropertySymbols(from)) {
    if (Object.hasOwn(to, symbol)) continue
    const descriptor = Object.getOwnPropertyDescriptor(from, symbol)
    if (descriptor) Object.defineProperty(to, symbol, descriptor)
  }
}
