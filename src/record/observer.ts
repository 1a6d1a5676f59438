import { callerPackage } from '../seam/caller.ts'
import { type ChildSettings, urlOfCommand } from '../seam/stdio.ts'
import type { ExchangeObserver, ExchangeStart, Observer } from '../seam/observe/observer.ts'
import type { Caller, SeamCall, SeamDrawKind, Thinning, TimerListener } from '../seam/source.ts'
import { betweenText, encodeValue, isOfConnection, lateRequest, type PushFrame } from '../tape/index.ts'
import { AtOnceCalls } from './at-once.ts'
import { recordCall } from './call.ts'
import type { RunHandle } from './run-stats.ts'
import type { Recording } from './recording.ts'
import { Snapshots } from './snapshots.ts'

/** A recorded run as code finds it in its async context. */
export interface RunObserver extends Observer {
  readonly handle: RunHandle
}

/**
 * The run as agents see it from inside the tool call `inside` (or from none).
 *
 * @param isServed - that call, or one around it, is one whose function no replay runs
 */
export function observerOf(run: Recording, inside: number | undefined, isServed = false): RunObserver {
  return new View(run, inside === undefined ? nowhere : { in: inside }, isServed)
}

/** Of runs that said a state: the others have nothing to count. */
const snapshots = new WeakMap<Recording, Snapshots>()

function snapshotsOf(run: Recording): Snapshots {
  let known = snapshots.get(run)
  if (known === undefined) snapshots.set(run, (known = new Snapshots()))
  return known
}

/** Of runs that called a wrapped function. */
const atOnce = new WeakMap<Recording, AtOnceCalls>()

function atOnceOf(run: Recording): AtOnceCalls {
  let known = atOnce.get(run)
  if (known === undefined) atOnce.set(run, (known = new AtOnceCalls()))
  return known
}

interface Where {
  readonly in?: number
}

const nowhere: Where = {}

class View implements RunObserver {
  readonly mode = 'record'
  readonly #run: Recording
  readonly #where: Where
  readonly #isServed: boolean

  constructor(run: Recording, where: Where, isServed: boolean) {
    this.#run = run
    this.#where = where
    this.#isServed = isServed
  }

  get id(): string {
    return this.#run.id
  }

  get scope(): object {
    return this.#run
  }

  get handle(): RunHandle {
    return this.#run.handle
  }

  get over(): boolean {
    return this.#run.over
  }

  get signal(): AbortSignal {
    return this.#run.handle.signal
  }

  draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T): T {
    const drawn = real()
    // A replay does not run what is served: what was drawn in there is never asked for.
    if (this.#run.over || this.#isServed) return drawn
    const from = callerPackage(caller)
    if (from !== 'node') this.#run.drew(kind, from, drawn)
    return drawn
  }

  call(call: SeamCall, fn: () => unknown): unknown {
    const run = this.#run
    if (run.over) {
      if (call.kind !== 'value') run.late({ kind: call.kind, name: call.name })
      return fn()
    }
    snapshots.get(run)?.stepped()
    const isServed = this.#isServed || call.replay === 'serve'
    return recordCall(run, call, fn, this.#where, atOnceOf(run), (n) => observerOf(run, n, isServed))
  }

  mark(name: string, data: unknown): unknown {
    const run = this.#run
    if (run.over) {
      run.late({ kind: 'mark', name })
      return data
    }
    const [n, at] = run.moment()
    run.attempt(() => {
      const said = data === undefined ? {} : { data: run.capped(encodeValue(data)) }
      run.note({ kind: 'mark', n, at, ...this.#where, name, ...said })
    })
    return data
  }

  state(name: string, value: unknown, thinning: Thinning | undefined): void {
    const run = this.#run
    if (run.over) return run.late({ kind: 'state', name })
    run.attempt(() => {
      const data = run.capped(encodeValue(value))
      const { call, isKept } = snapshotsOf(run).called({ name, inside: this.#where.in }, data, thinning)
      if (!isKept) return
      const [n, at] = run.moment()
      const thinned = thinning === undefined ? {} : { thinned: true as const }
      run.note({ kind: 'state', n, at, ...this.#where, name, call, ...thinned, data })
    })
  }

  message({ from, to, body }: { readonly from: string; readonly to: string; readonly body: unknown }): void {
    const run = this.#run
    if (run.over) return run.late({ kind: 'message', name: betweenText(from, to) })
    const [n, at] = run.moment()
    run.attempt(() =>
      run.note({ kind: 'message', n, at, ...this.#where, from, to, body: run.capped(encodeValue(body)) }),
    )
  }

  timerSet(caller: Caller | string, ms: number): TimerListener | undefined {
    if (this.#run.over) return undefined
    const from = typeof caller === 'string' ? caller : callerPackage(caller)
    // Neither is a timer of the agent, nor fires in a replay where it did here.
    return from === 'node' || from === 'undici'
      ? undefined
      : this.#run.timers.set(from, ms, this.#where.in !== undefined)
  }

  exchange(start: ExchangeStart): ExchangeObserver | undefined {
    if (this.#run.over) {
      if (isOfConnection(start.via, start.method)) this.requestedLate(start)
      return undefined
    }
    this.#run.spokeTo(start.url)
    snapshots.get(this.#run)?.stepped()
    const turns = atOnce.get(this.#run)?.turns
    return this.#run.exchange(start, turns === undefined ? this.#where : { ...this.#where, ...turns })
  }

  requestedLate({ method, url }: ExchangeStart): void {
    this.#run.late(lateRequest(method, url))
  }

  spawned(command: readonly string[], settings: ChildSettings, error: string | undefined): void {
    const run = this.#run
    if (run.over) return this.requestedLate({ via: 'stdio', method: 'SPAWN', url: urlOfCommand(command) })
    const [n, at] = run.moment()
    run.attempt(() => run.spawned(command))
    // Nothing of it is missing on the tape.
    if (error !== undefined) run.spokeTo(urlOfCommand(command))
    run.attempt(() => run.note({ kind: 'spawn', n, at, ...this.#where, command, ...settings, ...(error && { error }) }))
  }

  pushed(url: string, text: string, frame?: PushFrame): void {
    const run = this.#run
    if (run.over) return
    run.spokeTo(url)
    const [n, at] = run.moment()
    run.attempt(() => run.note({ kind: 'push', n, at, ...this.#where, url, text, ...(frame && { frame }) }))
  }

  unrecorded(what: string): void {
    this.#run.unrecorded(what)
  }
}
