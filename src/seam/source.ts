import { AsyncLocalStorage } from 'node:async_hooks'
import type { ContextChange, ToolContext } from './tool-context.ts'

/**
 * The vocabulary of the seam: what a run answers when its agent touches the world.
 * Recording and replay each implement it; the wrappers below the agent cannot tell which one is there.
 */
export interface RunContext {
  /** Name of the run in messages. */
  readonly id: string
  /** The same object for everything of one run, whichever call it is seen from. */
  readonly scope?: object
  readonly mode: 'record' | 'replay'
  /**
   * A clock, random or id read. `real` asks the world; `virtual` makes one out of a virtual world, the same each time;
   * `caller` is the patched function, whose caller asked.
   */
  draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T, virtual: (world: VirtualWorld) => T): T
  /**
   * A call of a wrapped function. Returns what the function would have returned: a value or a promise. `run` takes other
   * arguments than those of the call, too.
   */
  call(call: SeamCall, run: (args?: readonly unknown[]) => unknown): unknown
  /** What the code that leaves the mark goes on with: `data`, or what a fork hands over in its place. */
  mark(name: string, data: unknown): unknown
  /** A snapshot of what the application keeps. */
  state(name: string, value: unknown, thinning: Thinning | undefined): void
  message(message: { readonly from: string; readonly to: string; readonly body: unknown }): void
  /**
   * The agent sets a timer, or Node for it: then by name. What hears it fire, each time; `undefined` when nothing needs to. Absent where timers are
   * virtual.
   */
  timerSet?(caller: Caller | string, ms: number): TimerListener | undefined
  /** Aborted when the run passes the hard limit of its budget; a replay aborts it at the same place. Absent where no budget is. */
  readonly signal?: AbortSignal
  /** Whether the tape of a replay has this call, and it was not made yet. */
  has?(call: SeamCall): boolean
  /** Lists what a recording cannot hold. */
  unrecorded?(what: string): void
  /** Notes what a replay cannot answer. The error to refuse it with, or `undefined` to let it through. */
  escape?(kind: string, target: string): Error | undefined
}

/**
 * Which calls of `state` leave a snapshot: the first, and then each for which one of these holds. It decides for recordings
 * alone: a replay compares the calls that left one.
 */
export interface Thinning {
  /** Every so many calls. */
  readonly every?: number
  /** When at least this share of its text is new since the last snapshot, 0 to 1. */
  readonly change?: number
  /** When the run has made so many steps since the last snapshot. */
  readonly activity?: number
}

/** Hears a timer fire, before the code that set it does. */
export interface TimerListener {
  fired(): void
  /** Calls this when the run is over and the timer has not fired: what listens to it may then stop. */
  onOver(stop: () => void): void
  /** Of a time limit: whether something heeds it. */
  isHeeded(is: boolean): void
}

/** What a replay has instead of a clock and an entropy source. */
export interface VirtualWorld {
  epochMs(): number
  uptimeMs(): number
  /** Uniform in [0, 2³²). */
  uint32(): number
}

export type SeamDrawKind = 'now' | 'perf' | 'random' | 'uuid' | 'bytes' | 'int'
/** The patched function itself: stack frames above it belong to whoever called. */
// biome-ignore lint/complexity/noBannedTypes: any function will do for Error.captureStackTrace
export type Caller = Function

export interface SeamCall {
  readonly kind: 'tool' | 'retrieval' | 'value'
  readonly name: string
  readonly args: readonly unknown[]
  /** `serve` (default): a replay answers from the tape. `run`: a replay runs the function, its own calls being served. */
  readonly replay: 'serve' | 'run'
  /** Makes a recorded answer again what it was. */
  readonly revive?: Revive
  /** The client library that is asked, such as `pg`: no replay runs the body, no matter which tools it runs. */
  readonly driver?: string
  /** What a framework hands it beside its arguments. Absent where nothing does. */
  readonly context?: () => ToolContext
  /** Writes into it what its body wrote there when it ran. */
  readonly write?: (changes: readonly ContextChange[]) => void
  /** The agent's own function. Absent where a framework hides it. */
  // biome-ignore lint/suspicious/noExplicitAny: any function can be a tool
  readonly body?: (...args: any[]) => unknown
  /** The stack at which the function was wrapped, where someone asked for that, see {@link keepDefinitions}. */
  readonly definedAt?: Error
}

/** @param how - `returned` for a result, `threw` for an error, `yielded` for a piece of an answer that comes in pieces */
export type Revive = (recorded: unknown, how: 'returned' | 'threw' | 'yielded') => unknown

const definitions = 'definitions of wrapped functions'

/** From now on a function that is wrapped remembers where: a stack each, so only who runs bodies asks for it. */
export function keepDefinitions(): void {
  seamState().shared.set(definitions, true)
}

export function keepsDefinitions(): boolean {
  return seamState().shared.has(definitions)
}

/**
 * What every copy of this package in the process shares: the agent may load one copy and the test another, and
 * `vi.resetModules()` may load a third.
 */
export interface SeamState {
  /** `null`: explicitly outside any run. */
  readonly runs: AsyncLocalStorage<RunContext | null>
  /** The run everything in this process belongs to that is in no other: set when a whole program is one run. */
  processRun: RunContext | undefined
  /** Properties replaced so far, by object: two copies never patch one twice, and every vm context gets its own globals patched. */
  readonly patched: WeakMap<object, Set<string>>
  /** What was installed once for the whole process, by name. */
  readonly installed: Set<string>
  /** Clock, timers and turns as they were before anybody patched them. */
  readonly natives: Natives
  /** Anything else a room keeps once per process. */
  readonly shared: Map<string, unknown>
}

export interface Natives {
  /** Milliseconds of this process, monotonic. */
  readonly uptime: () => number
  /** Epoch milliseconds. */
  readonly epoch: () => number
  readonly setTimeout: typeof globalThis.setTimeout
  readonly clearTimeout: typeof globalThis.clearTimeout
  readonly setImmediate: typeof globalThis.setImmediate
  readonly queueMicrotask: typeof globalThis.queueMicrotask
  readonly nextTick: typeof process.nextTick
}

const key = Symbol.for('vitest-harvest/seam@1')

let known: SeamState | undefined

export function seamState(): SeamState {
  return (known ??= stateOfProcess())
}

/** What every copy of this package shares under a key of {@link SeamState.shared}; the first one that asks makes it. */
export function sharedOf<T>(key: string, make: () => T): T {
  const { shared } = seamState()
  if (!shared.has(key)) shared.set(key, make())
  return shared.get(key) as T
}

function stateOfProcess(): SeamState {
  // `process` and not `globalThis`: the contexts of a vm pool share Node's modules, so they must share this too.
  const host = process as { [key]?: SeamState }
  host[key] ??= {
    runs: new AsyncLocalStorage(),
    processRun: undefined,
    patched: new WeakMap(),
    installed: new Set(),
    natives: natives(),
    shared: new Map(),
  }
  return host[key]
}

function natives(): Natives {
  const { setTimeout, clearTimeout, setImmediate, queueMicrotask } = globalThis
  const { nextTick } = process
  const { performance, Date } = globalThis
  return {
    uptime: beneath(performance, 'performance', performance.now).now.bind(performance),
    epoch: beneath(Date, 'Date', Date).now.bind(Date),
    setTimeout: beneath(setTimeout, 'setTimeout'),
    clearTimeout: beneath(clearTimeout, 'clearTimeout'),
    setImmediate: beneath(setImmediate, 'setImmediate'),
    queueMicrotask: beneath(queueMicrotask, 'queueMicrotask'),
    nextTick: beneath(nextTick, 'nextTick'),
  }
}

/** What fake timers lie over, where someone faked them before us: fake-timers keep it at their clock. */
function beneath<T>(value: T, name: string, steered: unknown = value): T {
  const { clock } = steered as { readonly clock?: { readonly [key: string]: unknown } }
  const real = clock?.[`_${name}`]
  return real === undefined ? value : (real as T)
}

/** The turns of this package: a fake one of a test would hold them back. */
export const { nextTick, queueMicrotask } = seamState().natives

/** The run the calling code belongs to, if any. */
export function currentRun(): RunContext | undefined {
  const state = seamState()
  const store = state.runs.getStore()
  return store === undefined ? state.processRun : (store ?? undefined)
}

/** Does something that belongs to no run. */
export function outsideRuns<T>(work: () => T): T {
  return seamState().runs.run(null, work)
}
