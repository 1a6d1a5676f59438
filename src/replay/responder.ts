import { callerPackage, siteIn, userSite } from '../seam/caller.ts'
import {
  type ChildMode,
  type ExchangeControl,
  type ExchangeSink,
  type KnownRequest,
  type LiveRequest,
  type Mocked,
  type Responder,
  type SaidFrame,
  type StatedRequest,
  type UninstrumentedIo,
  type VirtualTimer,
} from '../seam/intercept/index.ts'
import { argumentsOf } from '../seam/shape.ts'
import { type ChildSettings, urlOfCommand } from '../seam/stdio.ts'
import type { Caller, SeamCall, SeamDrawKind, VirtualWorld } from '../seam/source.ts'
import type { BegunRequests } from './begun.ts'
import { serveCall } from './call.ts'
import { serveExchange } from './exchange.ts'
import * as problem from '../playback/problems.ts'
import type { ReplayRun } from './run.ts'
import { areEndsNoted } from '../match/asked-url.ts'
import { betweenText, isOfConnection, lateRequest } from '../tape/index.ts'

/** The run as the agent sees it from inside the tool call `inside` (or from none). */
export function responderOf(run: ReplayRun, inside: number | undefined): Responder {
  return new RunAsSeen(run, inside)
}

/** A class, for V8 makes a hash table of each object literal with getters, and this one is asked many times a call. */
class RunAsSeen implements Responder {
  readonly id: string
  readonly scope: ReplayRun
  readonly mode = 'replay'
  readonly identity: ReplayRun
  readonly #run: ReplayRun
  readonly #inside: number | undefined

  constructor(run: ReplayRun, inside: number | undefined) {
    this.id = run.tape.header.id
    this.scope = run
    this.identity = run
    this.#run = run
    this.#inside = inside
  }

  get over(): boolean {
    return this.#run.over
  }

  get isWatched(): boolean {
    return this.#run.late.timers.isOpen
  }

  get now(): number {
    return this.#run.gate.now
  }

  get signal(): AbortSignal {
    return this.#run.budget.signal
  }

  get pending(): number {
    return this.#run.pending
  }

  set pending(count) {
    this.#run.pending = count
  }

  draw<T>(kind: SeamDrawKind, caller: Caller, real: () => T, virtual: (world: VirtualWorld) => T): T {
    const run = this.#run
    if (!run.over) return run.draws.draw(kind, callerPackage(caller), virtual)
    run.draws.readAfterEnd()
    return real()
  }

  call(call: SeamCall, fn: () => unknown): unknown {
    const run = this.#run
    const name = run.saidName(call.name)
    if (run.over && call.kind !== 'value') run.late.did({ kind: call.kind, name }, userSite())
    const args = [argumentsOf(call.args)]
    return serveCall(run, { ...call, name, args }, fn, this.#inside, (n) => responderOf(run, n))
  }

  has(call: SeamCall): boolean {
    const named = { ...call, name: this.#run.saidName(call.name) }
    return this.#run.calls.findSame(named, this.#run.encode(argumentsOf(call.args), { isArgs: true })) !== undefined
  }

  mark(name: string, data: unknown): unknown {
    const run = this.#run
    const said = run.saidName(name)
    if (run.over) {
      run.late.did({ kind: 'mark', name: said }, userSite())
      return data
    }
    const encoded = data === undefined ? {} : { data: run.encodeAs(data, () => run.recordedMarks(said)) }
    run.announced({ kind: 'mark', name: said, ...encoded }, this.#inside)
    run.compareValues(undefined, undefined, () => ({ [`mark ${said}`]: encoded.data ?? null }))
    run.noteHidden([...run.hidden.of(`mark ${said}`, data), ...run.hidden.ofCut(`mark ${said}`, encoded.data)])
    return data
  }

  state(name: string, value: unknown): void {
    const run = this.#run
    const said = run.saidName(name)
    if (run.over) run.late.did({ kind: 'state', name: said }, userSite())
    else run.snapshot(said, value, this.#inside)
  }

  message({ from, to, body }: { readonly from: string; readonly to: string; readonly body: unknown }): void {
    const run = this.#run
    const [sender, receiver] = [run.saidName(from), run.saidName(to)]
    if (run.over) return run.late.did({ kind: 'message', name: betweenText(sender, receiver) }, userSite())
    const encoded = run.encodeAs(body, () => run.recordedMessages(sender, receiver))
    run.announced({ kind: 'message', from: sender, to: receiver, body: encoded }, this.#inside)
    run.compareValues(undefined, undefined, () => ({ [`message to ${receiver}`]: encoded }))
    const path = `message to ${receiver}`
    run.noteHidden([...run.hidden.of(path, body), ...run.hidden.ofCut(path, encoded)])
  }

  exchange(live: LiveRequest, sink: ExchangeSink): ExchangeControl {
    const { via, method, url, madeAt } = live
    // Those of HTTP say so themselves.
    if (this.#run.over && isOfConnection(via, method)) this.requestedLate(method, url, madeAt)
    return serveExchange(this.#run, live, sink, this.#inside)
  }

  begins(ask: Parameters<BegunRequests['add']>[0]): () => void {
    return this.#run.begun.add(ask)
  }

  requestedLate(method: string, url: string, madeAt: Error | undefined): void {
    const run = this.#run
    const site = madeAt === undefined ? userSite() : siteIn(madeAt)
    run.late.did(lateRequest(method, run.redactor.url(url)), site)
  }

  making(madeAt: Error): void {
    this.#run.making(madeAt)
  }

  expects(stated: StatedRequest): KnownRequest | undefined {
    return this.#run.expected.find(stated)
  }

  spawn(command: readonly string[], settings: ChildSettings): ChildMode | undefined {
    if (this.#run.over) this.requestedLate('SPAWN', urlOfCommand(command), undefined)
    return this.#run.spawn(command, settings)
  }

  listen(url: string, say: (text: string, frame?: SaidFrame) => void, ends?: string): void {
    this.#run.listen(url, say, ends)
  }

  saysEnd(): boolean {
    return areEndsNoted(this.#run.tape)
  }

  escape(kind: string, target: string, madeAt?: Error): Error | undefined {
    const run = this.#run
    return run.over ? problem.runOver(run.place(madeAt), kind, target) : run.escape(kind, target, madeAt)
  }

  list(one: UninstrumentedIo): void {
    this.#run.outside.list(one)
  }

  passedOver(name: string): void {
    this.#run.passedOver(name)
  }

  missedHeader(name: string): void {
    if (!this.#run.over) this.#run.missedHeader(name)
  }

  mocked(what: Exclude<Mocked, 'timers'>, madeAt?: Error): Error {
    return this.#run.problem(problem.mocked(this.#run.place(madeAt), what))
  }

  schedule(timer: VirtualTimer): void {
    const run = this.#run
    if (run.over) run.late.timers.schedule(timer)
    else run.gate.schedule(timer)
  }

  held(timer: VirtualTimer): void {
    this.#run.gate.held(timer)
  }
}
