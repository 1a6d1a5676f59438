import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'
import { skipCallerFrames } from '../caller.ts'
import { builtinsChanged, replacements, syncBuiltins } from '../patch.ts'
import { heed, levelOf, type ModuleWatch } from './module-layers.ts'
import { type AgentLayers, PackageLayers, type Place, put, top } from './package-layers.ts'
import { nextTick, queueMicrotask } from '../source.ts'
import { currentResponder } from './responder.ts'

const timerNames = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']

/** What the modules of an agent may lay something over for good, as a logger or a tracer does. */
const wrappable: readonly Place[] = [
  [globalThis, 'fetch', 'fetch'],
  ...[http, https].flatMap((target) => ['request', 'get'].map((key) => [target, key, 'node:http'] as const)),
]

/** What the agents laid over them whose modules are in use. */
let ofAgent: ReadonlySet<unknown> = new Set()
/** What agents ever laid over them, and what was there before: what a replay leaves out of that, it has no need to say. */
const known = new WeakSet<WeakKey>()

const packageLayers = new PackageLayers(wrappable)
/** What lay there before the first agent that was loaded afresh. */
let bottom: readonly unknown[] | undefined
/** What such an agent found, and what it left there: one for each of `wrappable`. */
let last: { readonly found: readonly unknown[]; readonly left: readonly unknown[] } | undefined
/** Modules of how many agents are loading. */
let loading = 0
/** The agent whose modules loaded last, until its run is over: what it imports while it runs may lay something over as well. */
let running: Loaded | undefined

interface Loaded {
  /** What lay there when its modules began to load. */
  readonly found: readonly unknown[]
  /** Absent: others load at the same time, or modules that were loaded before do not load again. */
  readonly layers: AgentLayers | undefined
  /** Of which places it was said already that it is unknown whose they are. */
  readonly said: ReadonlySet<number>
}

/**
 * To be called before the modules of an agent load. What they lay over `fetch` or `node:http` is a part of the agent: it was
 * there when the run was recorded, so in a replay it is asked as well.
 *
 * @param isFresh - modules that were loaded before are loaded again if the agent has them: what they laid over is not part of
 * it. Those of packages load only once: see {@link PackageLayers}
 * @returns to be called when they have loaded; when the agent has run, see {@link agentRan}
 */
export function heedAgent(isFresh: boolean): () => void {
  running?.layers?.close()
  running = undefined
  // Of agents that load at the same time it is unknown which one loads a package.
  const isAlone = isFresh && loading === 0
  if (isAlone) takeOff()
  if (isFresh) ofAgent = new Set()
  for (const one of tops()) know(one)
  keepOnTop()
  const found = tops()
  if (isAlone) bottom ??= found
  const layers = isAlone ? packageLayers.open(bottom ?? found) : undefined
  loading++
  return () => {
    loading--
    const said = layers?.unknown() ?? new Set<number>()
    for (const at of said) sayPassedOver(wrappable[at] as Place)
    running = { found, layers, said }
    leave(running)
  }
}

/**
 * To be called when the run of the agent is over whose modules loaded last. What it laid over meanwhile is a part of it too.
 *
 * @returns names of what was laid over, by a package that it imported while it ran, and of which it is unknown whose it is
 */
export function agentRan(): readonly string[] {
  if (running === undefined) return []
  const { layers, said } = running
  leave(running)
  running = undefined
  const unknown = [...(layers?.unknown() ?? [])].filter((at) => !said.has(at))
  layers?.close()
  return unknown.map((at) => (wrappable[at] as Place)[2])
}

/** What lies there now is the agent's. */
function leave({ found, layers }: Loaded): void {
  const left = tops()
  if (layers !== undefined) last = { found, left }
  for (const one of left) know(one)
  const laid = left.filter((one, at) => one !== found[at])
  ofAgent = new Set([...ofAgent, ...laid])
  if (laid.length > 0) builtinsChanged()
}

/**
 * Heeds what modules assign to `fetch` and `node:http` from now on, where tests import agents themselves. What the modules of
 * an agent lay over what a replay answers, or packages that they load, is a part of the agent.
 */
export function heedModules(watch: ModuleWatch): void {
  heed(wrappable, watch, {
    isKept,
    isInReplay: () => currentResponder() !== undefined,
    stand: ([, , name], mock, below) => overIn(mock as Fn, below as Fn, name),
  })
}

/** Inside of a replay it is ours that is called. */
function isKept(value: unknown): boolean {
  return typeof value === 'function' && top in value
}

function tops(): readonly unknown[] {
  return wrappable.map(([target, key]): unknown => Reflect.get(target, key))
}

/** Takes away what the agent before laid over, unless other code laid something over that. */
function takeOff(): void {
  const now = tops()
  for (const [at, [target, key]] of wrappable.entries())
    if (last !== undefined && now[at] === last.left[at] && now[at] !== last.found[at]) put(target, key, last.found[at])
}

/** Another agent loaded a part of what this one imports, and laid something over then: perhaps it belongs to this one. */
function sayPassedOver([target, key, name]: Place): void {
  const below: unknown = Reflect.get(target, key)
  if (typeof below !== 'function') return
  const over = function (this: unknown, ...args: unknown[]): unknown {
    currentResponder()?.passedOver?.(name)
    return Reflect.apply(below, this, args)
  }
  put(target, key, new Proxy(over, facade(below, below)))
}

/** With all that lies below, as far as this file put something between; of two copies of it each may lie below the other. */
function know(one: unknown): void {
  const seen = new Set<unknown>()
  for (let it = one; typeof it === 'function' && !seen.has(it); it = Reflect.get(it, top)) {
    seen.add(it)
    known.add(it)
  }
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
  keepTurns(globalThis, 'queueMicrotask', queueMicrotask)
  keepTurns(process, 'nextTick', nextTick)
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
  if (typeof ours !== 'function' || typeof theirs !== 'function' || theirs === ours || isKept(theirs)) return
  if (ofAgent.has(theirs)) return
  put(target, key, overIn(theirs as Fn, (levelOf(target, key) ?? ours) as Fn, name))
}

type Fn = (...args: never[]) => unknown

/** Only over fake clocks: Node's `fetch` and streams wait for these too, so that a fake one holds back every answer. */
function keepTurns(target: object, key: string, ours: Fn): void {
  const theirs: unknown = Reflect.get(target, key)
  if (typeof theirs !== 'function' || isKept(theirs) || !('clock' in theirs)) return
  put(target, key, overIn(theirs as unknown as Fn, ours, undefined))
}

/** Calls `theirs`, and in a replay `ours`. */
function overIn(theirs: Fn, ours: Fn, name: string | undefined): object {
  skipCallerFrames(import.meta.url)
  const over = function (this: unknown, ...args: never[]): unknown {
    const run = currentResponder()
    if (run && name !== undefined && !known.has(theirs) && !isSpy(theirs)) run.passedOver?.(name)
    return Reflect.apply(run ? ours : theirs, this, args)
  }
  // Spies and fake clocks are steered through properties of the function: `fetch.mockReset()`, `setTimeout.clock`.
  return new Proxy(over, facade(ours, theirs))
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
