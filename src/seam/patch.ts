import diagnostics from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import { seamState, sharedOf } from './source.ts'

/** Whether modules that imported builtins by name do not know yet of something that was patched. */
let isBehind = false

/**
 * Replaces one property of an object once.
 *
 * A second copy of this package asking for the same property finds it replaced and does nothing: the replacement
 * dispatches to the same {@link seamState} anyway.
 *
 * @param layer - tells apart patches of one property that lie over another; default: the one there is
 * @returns whether this call made the patch
 */
export function patchProperty<T extends object, K extends keyof T>(
  target: T,
  key: K,
  make: (original: T[K]) => T[K],
  layer = '',
): boolean {
  const { patched } = seamState()
  let keys = patched.get(target)
  if (!keys) patched.set(target, (keys = new Set()))
  const patch = `${layer}.${String(key)}`
  if (keys.has(patch)) return false
  keys.add(patch)
  const before = Object.getOwnPropertyDescriptor(target, key)
  const original = target[key]
  const replacement = make(original)
  if (typeof original === 'function' && typeof replacement === 'function') copyShape(original, replacement)
  // Other runtimes than Node fix properties that Node does not: a recorder must not keep its program from starting.
  const isFixed = before?.configurable === false
  const isPatched = isFixed
    ? Reflect.set(target, key, replacement)
    : Reflect.defineProperty(target, key, {
        value: replacement,
        configurable: true,
        writable: true,
        enumerable: before?.enumerable ?? true,
      })
  if (!isPatched) return false
  isBehind = true
  replacements().set(target, new Map([...(replacements().get(target) ?? []), [key, replacement]]))
  return true
}

/** What lies uppermost of ours, by object and property. */
export function replacements(): WeakMap<object, ReadonlyMap<PropertyKey, unknown>> {
  return sharedOf('patch.replacements', () => new WeakMap())
}

/** Says that a builtin was patched by other means than {@link patchProperty}. */
export function builtinsChanged(): void {
  isBehind = true
}

/** Installs something that is not a property once in the process, for good. */
export function onceInProcess(name: string, install: () => void): void {
  const { installed } = seamState()
  if (installed.has(name)) return
  installed.add(name)
  install()
}

/**
 * Subscribes to a channel once in the process, for good.
 * @param room - tells apart subscriptions of one channel for different purposes
 */
export function subscribeOnce<M>(room: string, channel: string, handler: (message: M) => void): void {
  onceInProcess(`${room}.${channel}`, () => {
    const { own, not } = listening()
    const heard = (message: unknown): void => {
      if (!not.has(message as object)) handler(message as M)
    }
    own.add(heard)
    diagnostics.subscribe(channel, heard)
  })
}

/** Our subscribers, and the messages that are not for them. */
function listening(): { readonly own: WeakSet<object>; readonly not: WeakSet<object> } {
  return sharedOf('patch.listening', () => ({ own: new WeakSet(), not: new WeakSet() }))
}

/** Whether others than we listen to a channel. Node keeps who does in a field without a public name. */
export function hasOtherSubscribers(channel: object): boolean {
  const { _subscribers: all } = channel as { readonly _subscribers?: readonly object[] }
  if (all === undefined) return false
  const { own } = listening()
  return all.some((subscriber) => !own.has(subscriber))
}

/** Publishes a message that our own subscribers do not hear. */
export function tellOthers(channel: diagnostics.Channel, message: object): void {
  listening().not.add(message)
  channel.publish(message)
}

/**
 * Makes patched builtins visible to `import { randomUUID } from 'node:crypto'`, also in modules loaded before. It goes
 * through everything there is (0.4 ms), so only after a patch: interceptors are asked for again before every replay.
 */
export function syncBuiltins(): void {
  if (!isBehind) return
  isBehind = false
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
