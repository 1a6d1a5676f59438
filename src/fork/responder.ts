import { callerPackage } from '../seam/caller.ts'
import type { Responder } from '../seam/intercept/index.ts'
import type { Caller, SeamDrawKind, VirtualWorld } from '../seam/source.ts'
import { decodeValue } from '../tape/index.ts'
import * as problem from '../playback/problems.ts'
import type { ForkRun } from './fork-run.ts'
import { forkCall } from './serve-call.ts'
import { forkExchange } from './serve-exchange.ts'

/** The fork as the agent sees it from inside the tool call `inside` (or from none). */
export function forkResponder(run: ForkRun, inside: number | undefined): Responder {
  const where = inside === undefined ? {} : { in: inside }
  return {
    id: run.tape.header.id,
    scope: run,
    mode: 'replay',
    identity: run,
    get over() {
      return run.over
    },
    get now() {
      run.look()
      return run.now
    },
    get signal() {
      return run.recordedBudget.signal
    },
    get pending() {
      return run.pending
    },
    set pending(count) {
      run.pending = count
    },
    draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T, virtual: (world: VirtualWorld) => T): T {
      if (!run.over) {
        run.look()
        return run.draws.draw(kind, callerPackage(caller), virtual)
      }
      run.draws.readAfterEnd()
      return real()
    },
    call: (call, fn) => forkCall(run, call, fn, inside, (n) => forkResponder(run, n)),
    mark(name, data) {
      const said = run.saidName(name)
      const changed = run.isFree ? run.takeMark(said) : undefined
      const handed = changed === undefined ? data : decodeValue(changed)
      run.account.noted({
        kind: 'mark',
        ...where,
        name: said,
        ...(handed === undefined ? {} : { data: run.encode(handed) }),
      })
      return handed
    },
    state(name, value) {
      const said = run.saidName(name)
      const { call, isKept, expected } = run.states.called(said, inside)
      const thinned = expected?.thinned === true ? { thinned: true as const } : {}
      if (isKept) run.account.noted({ kind: 'state', ...where, name: said, call, ...thinned, data: run.encode(value) })
    },
    message({ from, to, body }) {
      const [sender, receiver] = [run.saidName(from), run.saidName(to)]
      run.account.noted({ kind: 'message', ...where, from: sender, to: receiver, body: run.encode(body) })
    },
    exchange: (live, sink) => forkExchange(run, live, sink, inside),
    spawn: (command, settings) => run.spawn(command, settings),
    listen: (url, say, ends) => run.listen(url, say, ends),
    saysEnd: (url) => run.saysEnd(url),
    ended: (url, how) => run.ended(url, how),
    escape: (kind, target, madeAt) =>
      run.over ? problem.runOver(run.place(madeAt), kind, target) : run.escape(kind, target, madeAt),
    list: (one) => run.outside.list(one),
    schedule: (timer) => run.schedule(timer),
    held: (timer) => run.held(timer),
  }
}
