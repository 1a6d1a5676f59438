import { HarvestError } from '../../errors/index.ts'
import { isThenable } from '../shape.ts'
import { currentRun, nextTick, outsideRuns, type SeamCall, seamState } from '../source.ts'
import { wrapped } from '../wrap.ts'
import { type Class, restore } from './classes.ts'
import type { Driver } from './drivers.ts'

/** One client of a database or cache, as runs ask it. */
export interface Port {
  readonly driver: Driver
  /** What its steps are called by; absent: the driver, numbered in a run that uses several. */
  readonly name: string | undefined
  /** Classes of its answers that no module exports, by name. */
  classes: Readonly<Record<string, Class>>
}

// biome-ignore lint/suspicious/noExplicitAny: objects of drivers this package does not depend on
export type Loose = Record<string | symbol, any>
// biome-ignore lint/suspicious/noExplicitAny: methods of such objects
export type Method = (...args: any[]) => any

/** How an answer of a driver stands on a tape, and becomes one of the driver again. */
export interface Form {
  // biome-ignore lint/suspicious/noExplicitAny: answers of drivers
  readonly flat: (answer: any) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: what `flat` made of them
  readonly back: (recorded: any) => unknown
}

/** The arguments of a step: what is absent is left out. */
type Asked = Readonly<Record<string, unknown>>

/**
 * Asks a database through the current run: recorded with its answer, or answered from the tape. What the driver does for it
 * belongs to no run, so its sockets, clocks and timers belong to no run.
 *
 * @param real - asks the database itself; outside of a run that is all there is
 */
// biome-ignore lint/suspicious/noExplicitAny: whoever asks knows the driver
export function ask<T = any>(port: Port, operation: string, asked: Asked, real: () => unknown, form?: Form): T {
  const run = currentRun()
  if (!run) return real() as T
  // Heard by the recorder in its flat form; whoever asked gets what the driver said.
  let heard: { readonly answer: unknown } | { readonly error: unknown } | undefined
  const fulfilled = (answer: unknown): unknown => {
    heard = { answer }
    return form ? form.flat(answer) : answer
  }
  const rejected = (error: unknown): never => {
    heard = { error }
    throw error
  }
  const body = (): unknown => settled(() => outsideRuns(real), fulfilled, rejected)
  return settled(
    () => run.call(callOf(port, operation, asked), body),
    (recorded) => {
      if (heard !== undefined && 'answer' in heard) return heard.answer
      const answer = restore(recorded, port)
      return form ? form.back(answer) : answer
    },
    (error) => {
      if (heard === undefined && !HarvestError.is(error)) throw restore(error, port)
      throw heard !== undefined && 'error' in heard && !HarvestError.is(error) ? heard.error : error
    },
  ) as T
}

/** Asks for an answer that comes in pieces; whoever stops reading ends it. */
export function askPieces(
  port: Port,
  operation: string,
  asked: Asked,
  real: () => AsyncGenerator<unknown>,
): AsyncIterable<unknown> {
  const run = currentRun()
  if (!run) return real()
  const pieces = run.call(callOf(port, operation, asked), real) as AsyncIterable<unknown>
  return (async function* restored() {
    try {
      for await (const piece of pieces) yield restore(piece, port)
    } catch (error) {
      throw HarvestError.is(error) ? error : restore(error, port)
    }
  })()
}

/** Whether the tape of a replay has this question, open: for what is on a tape only where it failed. */
export function isOnTape(port: Port, operation: string, asked: Asked): boolean {
  return currentRun()?.has?.(callOf(port, operation, asked)) ?? false
}

function callOf(port: Port, operation: string, asked: Asked): SeamCall {
  const args = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
  return {
    kind: 'tool',
    name: `${nameOf(port)}.${operation}`,
    args: [args],
    replay: 'serve',
    driver: port.driver,
    // The classes of the driver come back, so nothing is lost on the tape.
    revive: (recorded) => recorded,
  }
}

function settled(
  work: () => unknown,
  fulfilled: (value: unknown) => unknown,
  rejected: (error: unknown) => never,
): unknown {
  let answer: unknown
  try {
    answer = work()
  } catch (error) {
    return rejected(error)
  }
  return isThenable(answer) ? answer.then(fulfilled, rejected) : fulfilled(answer)
}

/** What a run remembers of its clients. */
interface Used {
  readonly names: Map<Port, string>
  readonly checkedOut: Map<Port, number>
}

const usedBy = new WeakMap<object, Used>()

function used(): Used {
  const run = currentRun()
  const scope = run?.scope ?? run ?? seamState()
  let known = usedBy.get(scope)
  if (!known) usedBy.set(scope, (known = { names: new Map(), checkedOut: new Map() }))
  return known
}

/** `pg`, and `pg#2` for the second client without a name that this run asks. */
function nameOf(port: Port): string {
  if (port.name !== undefined) return port.name
  const { names } = used()
  const known = names.get(port)
  if (known !== undefined) return known
  const before = [...names.keys()].filter(({ driver }) => driver === port.driver).length
  const name = before === 0 ? port.driver : `${port.driver}#${before + 1}`
  names.set(port, name)
  return name
}

/** The number of the next connection this run takes for itself: what goes over it is distinguished by that. */
export function nextConnection(port: Port): number {
  const { checkedOut } = used()
  const number = (checkedOut.get(port) ?? 0) + 1
  checkedOut.set(port, number)
  return number
}

/**
 * What no step can hold: messages that come when the server sends them. A recorder lists it, a replay refuses it.
 *
 * @throws HarvestError in a replay
 */
export function refuse(port: Port, what: string): void {
  const run = currentRun()
  if (run?.mode === 'record') run.unrecorded?.(`${port.driver} ${what}`)
  const error = run?.mode === 'replay' ? run.escape?.(`${port.driver} subscription`, what) : undefined
  if (error) throw error
}

/** Whether a replay is under way, or an agent is being loaded for one: then no client may connect. */
export function isReplaying(): boolean {
  if (currentRun()?.mode === 'replay') return true
  const watchers = seamState().shared.get('watchers') as ReadonlySet<unknown> | undefined
  return (watchers?.size ?? 0) > 0 && currentRun()?.mode !== 'record'
}

/** Connecting and closing: a step of a run, and nothing at all where an agent is loaded for a replay. */
export function askConnection(
  port: Port,
  operation: string,
  real: () => unknown,
  back: () => unknown,
): Promise<unknown> {
  if (!currentRun() && isReplaying()) return Promise.resolve(back())
  return ask(port, operation, {}, real, { flat: () => null, back })
}

/** Reads the state of a client: an agent that looks whether it is connected sees what it saw. */
export function askState(port: Port, key: string, real: () => unknown): unknown {
  if (!currentRun()) return real()
  return wrapped({ kind: 'value', name: `${nameOf(port)}.${key}`, args: [], replay: 'serve' }, real)
}

/** Puts a method of a driver's object over its own. */
export function put(target: object, key: string | symbol, value: unknown): void {
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable: false })
}

/** Replaces a method of one object; the replacement gets the one beneath, bound. */
export function over(target: Loose, key: string | symbol, make: (original: Method) => Method): void {
  const original = target[key] as Method | undefined
  if (typeof original === 'function') put(target, key, make(original.bind(target)))
}

/** Hands an answer to a callback in the way of Node, in the context of whoever waits for it. */
export function callback(
  answer: Promise<unknown>,
  done: Method,
  // biome-ignore lint/suspicious/noExplicitAny: what its driver answers
  spread: (value: any) => readonly unknown[] = (value) => [value],
): void {
  void answer.then(
    (value) => nextTick(done, null, ...spread(value)),
    (error: unknown) => nextTick(done, error),
  )
}
