import { AsyncLocalStorage } from 'node:async_hooks'
import { HarvestError } from '../errors/index.ts'
import { captureStack } from './caller.ts'
import { revived } from './revive.ts'
import { currentRun, keepsDefinitions, type Revive, type SeamCall, type Thinning } from './source.ts'

// biome-ignore lint/suspicious/noExplicitAny: any function can be a tool
type AnyFunction = (...args: any[]) => unknown

/** How a replay treats a wrapped function. */
export interface WrapOptions {
  /**
   * `serve` (default): a replay answers from the tape and the function does not run.
   * `run`: a replay runs the function; what it asks of the world is served, its answer keeps its recorded place.
   */
  readonly replay?: 'serve' | 'run'
  /**
   * Makes a recorded answer again what the function returned, yielded or threw, where a tape has its fields alone: an
   * instance of a class, an error of one's own. Called in a replay for each answer that is served.
   */
  readonly revive?: Revive
}

/**
 * Records a function as a tool.
 *
 * @example
 * const refund = tool(async function refund(order: { id: string }) { … })
 * const lookup = tool('lookup_order', (id: string) => db.orders.find(id))
 */
export function tool<F extends AnyFunction>(fn: F, options?: WrapOptions): F
export function tool<F extends AnyFunction>(name: string, fn: F, options?: WrapOptions): F
export function tool(...given: [any, any?, any?]): any {
  return wrap('tool', given as WrapArguments<AnyFunction>)
}

/** Records a function as a retriever: a search in a vector index, a document store. */
export function retriever<F extends AnyFunction>(fn: F, options?: WrapOptions): F
export function retriever<F extends AnyFunction>(name: string, fn: F, options?: WrapOptions): F
export function retriever(...given: [any, any?, any?]): any {
  return wrap('retrieval', given as WrapArguments<AnyFunction>)
}

/**
 * Asks `fn` once and puts its answer on the tape: the way to record what the seam cannot see, such as a database on a raw
 * socket, an environment variable, a file that changes.
 */
export function value<T>(name: string, fn: () => T, options?: WrapOptions): T {
  const { replay = 'serve', revive } = options ?? {}
  return wrapped({ kind: 'value', name, args: [], replay, ...(revive && { revive }) }, fn) as T
}

/** Ties a callback to the run that hands it over. For shared queues and batchers, whose workers belong to no run. */
export function bind<F extends AnyFunction>(fn: F): F {
  return AsyncLocalStorage.bind(fn)
}

/**
 * Leaves a note or checkpoint on the tape, and hands its data back.
 *
 * Go on with what comes back, and a fork can set another state here: recorded runs and replays get `data` itself.
 *
 * @throws HarvestError `HARVEST_WRAP_ARGUMENT` for an invalid name
 *
 * @example
 * const state = mark('planned', { budget: 100, steps })
 */
export function mark(name: string): void
export function mark<T>(name: string, data: T): T
export function mark(name: string, data?: unknown): unknown {
  if (typeof name !== 'string') throw misused('mark', "mark('planned', data)", [name, data])
  const run = currentRun()
  return run ? run.mark(name, data) : data
}

/**
 * Puts a snapshot of what the application keeps on the tape: a plan, a cart, the memory of the agent. The debugger shows it at
 * every step, and a replay in which it is another one is different.
 *
 * @param thinning - which calls leave a snapshot, where the value is large and seldom changes. Default all
 * @throws HarvestError `HARVEST_WRAP_ARGUMENT` for an invalid name, and for limits that are no numbers
 *
 * @example
 * state('cart', cart)
 * state('memory', memory, { every: 20, change: 0.1 })
 */
export function state(name: string, value: unknown, thinning?: Thinning): void {
  if (typeof name !== 'string' || !isThinning(thinning))
    throw misused('state', "state('cart', cart, { every: 20 })", [name, thinning])
  currentRun()?.state(name, value, thinning)
}

function isThinning(given: Thinning | undefined): boolean {
  if (given === undefined) return true
  if (typeof given !== 'object' || given === null) return false
  const { every, change, activity, ...unknown } = given
  const isCount = (value: number | undefined): boolean =>
    value === undefined || (Number.isSafeInteger(value) && value >= 1)
  const isShare = change === undefined || (typeof change === 'number' && change >= 0 && change <= 1)
  return Object.keys(unknown).length === 0 && isCount(every) && isCount(activity) && isShare
}

/**
 * Puts a message between two agents of this run on the tape.
 *
 * @throws HarvestError `HARVEST_WRAP_ARGUMENT` for anything but two names and a body
 */
export function message(from: string, to: string, body: unknown): void {
  if (typeof from !== 'string' || typeof to !== 'string')
    throw misused('message', "message('planner', 'worker', body)", [from, to, body])
  currentRun()?.message({ from, to, body })
}

/** What a tape would hold of it could not be read: better in the first run than in the first replay. */
function misused(name: string, right: string, given: readonly unknown[]): HarvestError {
  return new HarvestError('HARVEST_WRAP_ARGUMENT', {
    what: `Invalid arguments of ${name}: expected names`,
    where: { given: given.map((one) => (one === null ? 'null' : typeof one)).join(', ') },
    fix: [`write: ${right}`],
  })
}

/** Calls `run` through the current run, if there is one. */
export function wrapped(call: SeamCall, run: (args?: readonly unknown[]) => unknown): unknown {
  const source = currentRun()
  if (!source) return run()
  return call.revive === undefined ? source.call(call, run) : revived(source, call, run, call.revive)
}

/** Where a function is wrapped, if someone wants to know. */
export function definition(): Pick<SeamCall, 'definedAt'> {
  return keepsDefinitions() ? { definedAt: captureStack() } : {}
}

type WrapArguments<F> = [fn: F, options?: WrapOptions] | [name: string, fn: F, options?: WrapOptions]

const marker = Symbol.for('vitest-harvest/wrapped@1')

export function isWrapped(fn: unknown): boolean {
  return typeof fn === 'function' && marker in fn
}

/** What every function has for itself. */
const inherent: ReadonlySet<string | symbol> = new Set(['length', 'name', 'prototype', 'arguments', 'caller'])

function wrap<F extends AnyFunction>(kind: 'tool' | 'retrieval', given: WrapArguments<F>): F {
  const [name, fn, options] =
    typeof given[0] === 'string'
      ? (given as [string, F, WrapOptions?])
      : [given[0].name, ...(given as [F, WrapOptions?])]
  if (typeof fn !== 'function') throw new TypeError(`${kind}: expected a function, got ${typeof fn}`)
  if (!name) throw new TypeError(`${kind}: the function has no name; write ${kind}('its_name', fn)`)
  if (isWrapped(fn)) return fn
  const { replay = 'serve', revive } = options ?? {}
  const how = { replay, ...(revive && { revive }), body: fn, ...definition() }
  function call(this: unknown, ...args: unknown[]): unknown {
    return wrapped({ kind, name, args, ...how }, (given = args) => Reflect.apply(fn, this, given))
  }
  // A schema, a description: frameworks read them from the function.
  for (const key of Reflect.ownKeys(fn)) {
    const property = Reflect.getOwnPropertyDescriptor(fn, key)
    if (property && !inherent.has(key)) Object.defineProperty(call, key, property)
  }
  Object.defineProperty(call, 'name', { value: fn.name || name })
  Object.defineProperty(call, marker, { value: true })
  return call as F
}
