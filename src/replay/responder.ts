import { callerPackage, siteIn, userSite } from '../seam/caller.ts'
import {
  type ExchangeControl,
  type ExchangeSink,
  listOnce,
  type LiveRequest,
  type Responder,
  type VirtualTimer,
} from '../seam/intercept/index.ts'
import { argumentsOf } from '../seam/shape.ts'
import type { Caller, SeamCall, SeamDrawKind, VirtualWorld } from '../seam/source.ts'
import { serveCall } from './call.ts'
import { serveExchange } from './exchange.ts'
import * as problem from '../playback/problems.ts'
import type { ReplayRun } from './run.ts'
import { betweenText, lateRequestText } from '../tape/index.ts'

/** The run as the agent sees it from inside the tool call `inside` (or from none). */
export function responderOf(run: ReplayRun, inside: number | undefined): Responder {
  return {
    id: run.tape.header.id,
    scope: run,
    mode: 'replay',
    identity: run,
    get over() {
      return run.over
    },
    get now() {
      return run.gate.now
    },
    get signal() {
      return run.budget.signal
    },
    get pending() {
      return run.pending
    },
    set pending(count) {
      run.pending = count
    },
    draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T, virtual: (world: VirtualWorld) => T): T {
      if (!run.over) return run.draws.draw(kind, callerPackage(caller), virtual)
      run.draws.readAfterEnd()
      return real()
    },
    call: (call: SeamCall, fn: () => unknown) => {
      if (run.over && call.kind !== 'value') run.late.did({ kind: call.kind, name: call.name }, userSite())
      return serveCall(run, { ...call, args: [argumentsOf(call.args)] }, fn, inside, (n) => responderOf(run, n))
    },
    has: (call) => run.calls.findSame(call, run.encode(argumentsOf(call.args))) !== undefined,
    mark(name, data) {
      const said = run.saidName(name)
      if (run.over) {
        run.late.did({ kind: 'mark', name: said }, userSite())
        return data
      }
      const encoded = data === undefined ? {} : { data: run.encode(data) }
      run.announced({ kind: 'mark', name: said, ...encoded }, inside)
      run.compareValues(undefined, undefined, () => ({ [`mark ${said}`]: encoded.data ?? null }))
      run.noteHidden(run.hidden.of(`mark ${said}`, data))
      return data
    },
    state(name, value) {
      const said = run.saidName(name)
      if (run.over) run.late.did({ kind: 'state', name: said }, userSite())
      else run.snapshot(said, value, inside)
    },
    message({ from, to, body }) {
      const [sender, receiver] = [run.saidName(from), run.saidName(to)]
      if (run.over) return run.late.did({ kind: 'message', name: betweenText(sender, receiver) }, userSite())
      const encoded = run.encode(body)
      run.announced({ kind: 'message', from: sender, to: receiver, body: encoded }, inside)
      run.compareValues(undefined, undefined, () => ({ [`message to ${receiver}`]: encoded }))
      run.noteHidden(run.hidden.of(`message to ${receiver}`, body))
    },
    exchange: (live: LiveRequest, sink: ExchangeSink): ExchangeControl => serveExchange(run, live, sink, inside),
    requestedLate(method, url, madeAt) {
      const site = madeAt === undefined ? userSite() : siteIn(madeAt)
      run.late.did({ kind: 'request', name: lateRequestText(method, run.redactor.url(url)) }, site)
    },
    expects: (stated) => run.expected.find(stated),
    spawn: (command, settings) => run.spawn(command, settings),
    listen: (url, say) => run.listen(url, say),
    escape: (kind, target, madeAt) =>
      run.over ? problem.runOver(run.place(madeAt), kind, target) : run.escape(kind, target, madeAt),
    list: (one) => listOnce(run.listed, one),
    passedOver: (name) => run.passedOver(name),
    mocked: (what, madeAt) => run.problem(problem.mocked(run.place(madeAt), what)),
    schedule(timer: VirtualTimer) {
      // A timer of a run that is over never fires.
      if (!run.over) run.gate.schedule(timer)
    },
    held: (timer) => run.gate.held(timer),
  }
}
