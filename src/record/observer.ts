import { callerPackage } from '../seam/caller.ts'
import type { ExchangeObserver, ExchangeStart, Observer } from '../seam/observe/observer.ts'
import type { Caller, SeamCall, SeamDrawKind } from '../seam/source.ts'
import { recordCall } from './call.ts'
import { ExchangeDraft } from './exchange.ts'
import type { RunHandle } from './ledger.ts'
import type { RecordedRun } from './run.ts'

/** A recorded run as code finds it in its async context. */
export interface RunObserver extends Observer {
  readonly handle: RunHandle
}

/** The run as agents see it from inside the tool call `inside` (or from none). */
export function observerOf(run: RecordedRun, inside: number | undefined): RunObserver {
  const where = inside === undefined ? {} : { in: inside }
  return {
    id: run.id,
    mode: 'record',
    handle: run.handle,
    get over() {
      return run.over
    },
    draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T): T {
      const drawn = real()
      if (run.over) return drawn
      const from = callerPackage(caller)
      if (from !== 'node') run.drew(kind, from, drawn)
      return drawn
    },
    call(call: SeamCall, fn: () => unknown): unknown {
      return run.over ? fn() : recordCall(run, call, fn, where, (n) => observerOf(run, n))
    },
    mark(name, data) {
      if (run.over) return data
      const [n, at] = run.moment()
      run.attempt(() =>
        run.append({ kind: 'mark', n, at, ...where, name, ...(data === undefined ? {} : { data: run.encode(data) }) }),
      )
      return data
    },
    message({ from, to, body }) {
      if (run.over) return
      const [n, at] = run.moment()
      run.attempt(() => run.append({ kind: 'message', n, at, ...where, from, to, body: run.encode(body) }))
    },
    timerSet(caller, ms) {
      if (run.over) return undefined
      const from = callerPackage(caller)
      // Neither is a timer of the agent, nor fires in a replay where it did here.
      return from === 'node' || from === 'undici' ? undefined : run.timers.set(from, ms)
    },
    exchange(start: ExchangeStart): ExchangeObserver | undefined {
      if (run.over) return undefined
      run.spokeTo(start.url)
      return new ExchangeDraft(run, start, where)
    },
    spawned(command) {
      if (run.over) return
      const [n, at] = run.moment()
      run.attempt(() => run.spawned(command))
      run.attempt(() =>
        run.append({ kind: 'spawn', n, at, ...where, command: run.redactor.json(command) as readonly string[] }),
      )
    },
    pushed(url, text) {
      if (run.over) return
      run.spokeTo(url)
      const [n, at] = run.moment()
      run.attempt(() =>
        run.append({ kind: 'push', n, at, ...where, url: run.redactor.url(url), text: run.redactor.text(text) }),
      )
    },
    unrecorded: (what) => run.unrecorded(what),
  }
}
