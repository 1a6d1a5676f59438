import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'
import { skipCallerFrames } from '../caller.ts'
import { builtinsChanged, replacements, syncBuiltins } from '../patch.ts'
import { currentResponder } from './responder.ts'

/** Marks what this file put over the functions of others. */
const top = Symbol.for('vitest-harvest/on-top@1')

const timerNames = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']

/** What the modules of an agent may lay something over for good, as a logger or a tracer does. */
const wrappable: readonly (readonly [target: object, key: string, name: string])[] = [
  [globalThis, 'fetch', 'fetch'],
  ...[http, https].flatMap((target) => ['request', 'get'].map((key) => [target, key, 'node:http'] as const)),
]

/** What the agents laid over them whose modules are in use. */
let ofAgent: ReadonlySet<unknown> = new Set()
/** What each agent laid over them when its modules loaded last, by its name: one for each of `wrappable`. */
const laidBy = new Map<string, readonly unknown[]>()
/** What agents ever laid over them, and what was there before: what a replay leaves out of that, it has no need to say. */
const known = new WeakSet<WeakKey>()

/**
 * To be called before the modules of an agent load. What they lay over `fetch` or `node:http` is a part of the agent: it was
 * there when the run was recorded, so in a replay it is asked as well.
 *
 * @param isFresh - modules that were loaded before are loaded again if the agent has them: what they laid over is not part of
 * it. Those of packages load only once: what an agent laid over before, and does not now, counts again
 * @param agent - its name
 * @returns to be called when they have loaded
 */
export function heedAgent(isFresh: boolean, agent = ''): () => void {
  if (isFresh) ofAgent = new Set()
  const tops = (): readonly unknown[] => wrappable.map(([target, key]): unknown => Reflect.get(target, key))
  for (const one of tops()) know(one)
  keepOnTop()
  const before = tops()
  return () => {
    const laidBefore = isFresh ? (laidBy.get(agent) ?? []) : []
    const top = tops()
    for (const [at, [target, key]] of wrappable.entries())
      if (laidBefore[at] !== undefined && top[at] === before[at]) put(target, key, laidBefore[at])
    const after = tops()
    for (const one of after) know(one)
    const laid = after.map((one, at) => (one === before[at] ? undefined : one))
    laidBy.set(agent, laid)
    ofAgent = new Set([...ofAgent, ...laid.filter((one) => one !== undefined)])
  }
}

/** With what lies below, as far as this file put something between. */
function know(one: unknown): void {
  if (typeof one !== 'function') return
  known.add(one)
  know(Reflect.get(one, top))
}

/**
 * Puts the functions of a replay back over those that someone laid over them: a set-up file that stubs `fetch`, a mock
 * server, fake timers. Inside a replay ours answer; everybody else goes on getting theirs.
 *
 * Asked for before every replay; what is on top already stays.
 */
export function keepOnTop(): void {
  // Mock servers of older kinds replace those of `node:http`, and then no request comes as far as its socket.
  for (const [target, key, name] of wrappable) keep(target, key, name)
  for (const name of timerNames) {
    keep(globalThis, name)
    keep(timers, name)
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) keep(timersPromises, name)
  keep(net.Socket.prototype, 'connect')
  keepDate()
  keepPerformance()
  syncBuiltins()
}

/** The patched `performance`: fake timers put an object of their own in its place. */
const ownPerformance = globalThis.performance

function oursOf(target: object, key: string): unknown {
  return replacements().get(target)?.get(key)
}

/** @param name - of what an agent may have laid something over, and where the replay has to say that it is not asked */
function keep(target: object, key: string, name?: string): void {
  const ours = oursOf(target, key)
  const theirs: unknown = Reflect.get(target, key)
  if (typeof ours !== 'function' || typeof theirs !== 'function' || theirs === ours || top in theirs) return
  if (ofAgent.has(theirs)) return
  skipCallerFrames(import.meta.url)
  const over = function (this: unknown, ...args: unknown[]): unknown {
    const run = currentResponder()
    if (run && name !== undefined && !known.has(theirs) && !isSpy(theirs)) run.passedOver?.(name)
    return Reflect.apply(run ? ours : theirs, this, args)
  }
  // Spies and fake clocks are steered through properties of the function: `fetch.mockReset()`, `setTimeout.clock`.
  put(target, key, new Proxy(over, facade(ours, theirs)))
}

/** Whether a function says of itself that it stands in for another one in tests. */
function isSpy(theirs: object): boolean {
  return 'mock' in theirs || 'isSinonProxy' in theirs
}

/** Shows the properties of `theirs`, which is behind the mark. */
function facade(ours: object, theirs: object): ProxyHandler<object> {
  // What a module made of it while it was loaded is called inside of a replay later.
  const [ourPromise, theirPromise] = [ours, theirs].map((one) => Reflect.get(one, promisify.custom) as unknown)
  const promised = (...args: unknown[]): unknown =>
    Reflect.apply((currentResponder() ? ourPromise : theirPromise) as () => unknown, undefined, args)
  const isPromised = typeof ourPromise === 'function' && typeof theirPromise === 'function'
  return {
    get(_, name) {
      if (name === top) return theirs
      return name === promisify.custom && isPromised ? promised : (Reflect.get(theirs, name) as unknown)
    },
    set: (_, name, value) => Reflect.set(theirs, name, value),
    has: (_, name) => name === top || Reflect.has(theirs, name),
  }
}

function keepDate(): void {
  const ours = oursOf(globalThis, 'Date') as DateConstructor | undefined
  const theirs = globalThis.Date
  if (!ours || theirs === ours || top in theirs) return
  skipCallerFrames(import.meta.url)
  const chosen = (): DateConstructor => (currentResponder() ? ours : theirs)
  // A function of its own below the proxy: that of a class has a `prototype` that may not be shown differently.
  const over: object = new Proxy(function Date() {} as unknown as DateConstructor, {
    construct: (_, args, newTarget) =>
      Reflect.construct(chosen(), args, newTarget === over ? chosen() : newTarget) as object,
    apply: (_, self, args) => Reflect.apply(chosen() as unknown as () => string, self, args),
    get: (_, name) => (name === top ? true : (Reflect.get(chosen(), name) as unknown)),
    set: (_, name, value) => Reflect.set(theirs, name, value),
    has: (_, name) => name === top || Reflect.has(theirs, name),
  })
  put(globalThis, 'Date', over)
}

function keepPerformance(): void {
  const theirs: unknown = globalThis.performance
  if (theirs === ownPerformance) return
  const before = Object.getOwnPropertyDescriptor(globalThis, 'performance')
  Object.defineProperty(globalThis, 'performance', {
    get: () => (currentResponder() ? ownPerformance : theirs),
    set(value: unknown) {
      put(globalThis, 'performance', value)
    },
    configurable: true,
    enumerable: before?.enumerable ?? true,
  })
}

function put(target: object, key: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(target, key)
  Object.defineProperty(target, key, {
    value,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  })
  builtinsChanged()
}
