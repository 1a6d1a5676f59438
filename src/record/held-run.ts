// Over 300 lines: one run in memory: each thing that happens, and how it is written later.
import type { HarvestError } from '../errors/index.ts'
import { cappedValue, type Cutting, jsonSize, redactedChanges, type Redactor } from '../privacy/index.ts'
import type { Codes } from '../seam/code-of.ts'
import type { ExchangeStart } from '../seam/observe/observer.ts'
import type { BodyUse } from '../seam/reading.ts'
import { type SeamDrawKind, seamState } from '../seam/source.ts'
import { urlOfCommand } from '../seam/stdio.ts'
import {
  type CallEvent,
  encodeValue,
  type Json,
  type LateWork,
  LateWorks,
  type Moment,
  type Outcome,
} from '../tape/index.ts'
import { HeldExchange } from './held-exchange.ts'
import type { HeldRuns } from './hold.ts'
import type { RunAccount, RunHandle, RetentionDecision } from './run-stats.ts'
import { failureOf } from './failure.ts'
import { RecordedInput } from './recorded-input.ts'
import { DrawLog, LiveMoments, type Moments } from './moments.ts'
import { observerOf, type RunObserver } from './observer.ts'
import type { Recording } from './recording.ts'
import { encodedOutcome, type RunNote } from './redact-event.ts'
import { handleOf } from './run-handle.ts'
import {
  type LiveOutcome,
  type Past,
  type PastEnd,
  notedReads,
  type NotedReads,
  type RecordedRun,
  reasonOf,
  recordingFailed,
} from './run.ts'
import { bytesOfTurn, type WorkInParts } from './endings.ts'
import { lookThrough, withoutWords } from './let-go.ts'
import { watchedRun } from './watched-run.ts'
import type { WatchedRun } from './watch.ts'
import { type NotedTimers, TimerLog } from './timers.ts'

export interface HeldRunOptions {
  readonly account: RunAccount
  readonly hold: HeldRuns
  readonly bodyCap: number
  readonly path: () => string
  /** What the agent is called with, if anything. */
  readonly about: { readonly input?: unknown }
  readonly codes: Codes
  readonly warn: (error: HarvestError) => void
  /** Makes what looks through bodies that are let go. */
  readonly redactor: () => Redactor
  /**
   * Makes the run that is written: only of one that is kept.
   *
   * @param named - values that what was let go named as secret
   */
  readonly record: (past: Past, path: string, named: readonly string[]) => RecordedRun
  /** The run is kept, and its tape is there. */
  readonly onWritten: (recorded: RecordedRun) => void
}

/** Something that happened, passed to the run that is written. It takes one moment, or none. */
export interface HeldWork {
  readonly moment?: Moment | undefined
  tell(recorded: RecordedRun): void
}

const { epoch } = seamState().natives

const nothing: ReadonlySet<string> = new Set()

/** Roughly what a thing that happened takes beside its bytes. */
const workSize = 200

/**
 * A run that is judged when it is over. Until then it is held as it came: nothing is redacted, made text or written, so
 * that a run that is not kept costs little more than listening. What is kept is passed to a {@link RecordedRun} in the order
 * it happened.
 */
export class HeldRun implements Recording {
  readonly id: string
  readonly account: RunAccount
  readonly handle: RunHandle
  readonly root: RunObserver
  readonly reads = new Map<number, BodyUse>()
  readonly codes: Codes
  readonly bodyCap: number
  readonly #options: HeldRunOptions
  /** Epoch milliseconds. */
  readonly #startedAt = epoch()
  readonly #moments = new LiveMoments()
  readonly #draws = new DrawLog(this.#moments)
  /** By age. */
  #exchanges: HeldExchange[] = []
  /** Not looked at for what they used. */
  #uncounted: HeldExchange[] = []
  /** Calls and notes as they happened, where something is watched for. */
  #watched: Map<CallEvent | RunNote, CallEvent | RunNote> | undefined
  #leftOpen: Map<CallEvent, () => Partial<CallEvent>> | undefined
  #unrecorded: Set<string> | undefined
  #mute: Map<string, string> | undefined
  #works: HeldWork[] = []
  #path: string | undefined
  #given: RecordedInput | undefined
  #bytes = 0
  #over = false
  /** Nothing of it is held, and nothing more will be. */
  #isFreed = false
  #failed: string | undefined
  #lost: string | undefined
  /** Knows the values that were named in what was let go. */
  #lookedThrough: Redactor | undefined
  /** What its agent did when it was over. */
  #late: LateWorks | undefined
  /** Made for the first timer. */
  #timers: TimerLog | undefined
  /** Once it is written to its end. */
  #recorded: RecordedRun | undefined
  #end:
    | {
        readonly moment: Moment
        readonly outcome: Outcome
        readonly verdict: RetentionDecision
        readonly timers: NotedTimers
        readonly reads: NotedReads
        readonly given: PastEnd['given']
      }
    | undefined

  constructor(options: HeldRunOptions) {
    this.#options = options
    this.account = options.account
    this.id = options.account.run
    this.bodyCap = options.bodyCap
    this.codes = options.codes
    this.handle = handleOf(this.account, this)
    this.root = observerOf(this, undefined)
    options.hold.add(this)
    if ('input' in options.about) this.attempt(() => this.#give(options.about.input))
  }

  #give(input: unknown): void {
    this.#given = new RecordedInput(input)
    this.grown(jsonSize(this.#given.json))
  }

  get timers(): TimerLog {
    return (this.#timers ??= new TimerLog(() => this.#moments.soon()))
  }

  get path(): string {
    return (this.#path ??= this.#options.path())
  }

  get over(): boolean {
    return this.#over
  }

  /** The rest of a request will be heard in a moment. */
  get isHearing(): boolean {
    return this.#exchanges.some((exchange) => exchange.isComing)
  }

  /** What happens in it is not held any more. */
  get isFreed(): boolean {
    return this.#isFreed
  }

  moment(after?: Moment): Moment {
    return this.#moments.next(after)
  }

  /** Keeps what is to be passed on when the run is written. */
  later(tell: (recorded: RecordedRun) => void): void {
    this.happened({ tell })
  }

  /** @param bytes - held with it */
  happened(work: HeldWork, bytes = 0): void {
    if (this.#isFreed) return
    this.#works.push(work)
    this.grown(workSize + bytes)
  }

  /** So many bytes more are held. */
  grown(bytes: number): void {
    if (this.#isFreed) return
    this.#bytes += bytes
    this.#options.hold.grown(bytes)
  }

  encode(value: unknown): Json {
    return this.clean(this.capped(encodeValue(value)))
  }

  capped(value: Json, how?: Cutting): Json {
    return cappedValue(value, Math.floor(this.bodyCap / 2), how)
  }

  cleanName(name: string): string {
    this.later((recorded) => void recorded.redactor.name(name))
    this.grown(jsonSize(name))
    return name
  }

  clean(json: Json): Json {
    // Placeholders are numbered by first appearance: it is looked through when it would have been.
    this.later((recorded) => void recorded.clean(json))
    this.grown(jsonSize(json))
    return json
  }

  warn(error: HarvestError): void {
    this.#options.warn(error)
  }

  /** What is held is written when it is over, if at all. */
  arriving(): void {}

  note(note: RunNote): void {
    this.#flushDraws()
    this.later((recorded) => recorded.note(note))
    if (this.account.isWatched) this.#watch(note, note)
    if (note.kind === 'message') this.grown(jsonSize(note.body))
    else if (note.kind === 'state' || note.kind === 'mark') this.grown(jsonSize(note.data ?? null))
    else if (note.kind === 'push') this.grown(2 * note.text.length)
  }

  drew(kind: SeamDrawKind, caller: string, value: unknown): void {
    if (this.#over) return
    const json = Buffer.isBuffer(value) ? value.toString('base64') : (value as Json)
    this.grown(workSize / 4)
    if (this.#draws.add([kind, caller, json])) this.#flushDraws()
  }

  exchange(start: ExchangeStart, where: { readonly in?: number }): HeldExchange {
    const exchange = new HeldExchange(this, start, where)
    this.#exchanges.push(exchange)
    return exchange
  }

  settled(exchange: HeldExchange): void {
    if (this.#isFreed) return this.#forget(exchange)
    if (this.account.isCounting) this.#uncounted.push(exchange)
    // Limits are for runs that go on; what is only compared with other runs can wait.
    if (this.account.hasBudget) this.count()
    this.#flushDraws()
  }

  /** What came when nothing is held any more is over. */
  #forget(exchange: HeldExchange): void {
    this.#exchanges = this.#exchanges.filter((one) => one !== exchange)
  }

  spokeTo(url: string): void {
    if (this.#mute?.delete(url)) this.later((recorded) => recorded.spokeTo(url))
  }

  spawned(command: readonly string[]): void {
    this.#mute ??= new Map()
    this.#mute.set(urlOfCommand(command), command.join(' '))
    this.later((recorded) => recorded.spawned(command))
  }

  called(event: CallEvent): void {
    if (event.kind === 'tool') this.account.called(event.name)
    if (this.account.isWatched) this.#watch(event, { ...event })
    // The same object is completed when the call is answered.
    this.later((recorded) => {
      const { name, code, args, context } = event
      const { redactor } = recorded
      const cleaned = {
        name: redactor.name(name),
        ...(code && { code: [redactor.text(code[0]), code[1]] as const }),
        args: recorded.clean(args),
        ...(context !== undefined && { context: recorded.clean(context) }),
      }
      recorded.called(Object.assign(event, cleaned))
    })
  }

  leftOpen(event: CallEvent, soFar: () => Partial<CallEvent>): void {
    this.#leftOpen ??= new Map()
    this.#leftOpen.set(event, soFar)
  }

  answered(event: CallEvent, rest: () => Partial<CallEvent>): void {
    if (this.#over) return
    this.#leftOpen?.delete(event)
    this.attempt(() => {
      const said = rest()
      if (this.account.isWatched) this.#watch(event, { ...event, ...said })
      this.#flushDraws()
      this.later((recorded) => recorded.answered(event, () => redactedAnswer(said, recorded)))
    })
  }

  unrecorded(what: string): void {
    if (this.#over) return
    this.#unrecorded ??= new Set()
    this.#unrecorded.add(what)
    this.later((recorded) => recorded.unrecorded(what))
  }

  attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (this.#failed !== undefined) return
      this.#failed = reasonOf(error)
      this.#options.warn(recordingFailed({ run: this.id, tape: this.path }, error))
    }
  }

  late(work: LateWork): void {
    if (this.#recorded === undefined) (this.#late ??= new LateWorks()).add(work)
    else this.#recorded.late(work)
  }

  /** Judges the run. What is kept is written in a while, see {@link HeldRun.write}. */
  close(live: LiveOutcome): void {
    if (this.#over) return
    this.#flushDraws()
    if (this.account.isCounting) this.#countAll()
    if (this.#mute !== undefined) this.#tellMute(this.#mute)
    if (this.#leftOpen !== undefined) this.#tellLeftOpen(this.#leftOpen)
    const moment = this.moment()
    this.#over = true
    const failure = failureOf(live, this.#failed, this.#unrecorded ?? nothing)
    const timers = this.timers.close()
    const happened = (): WatchedRun => this.#happened(live, moment)
    const verdict = this.account.judged({ durationMs: moment[1], ...(failure && { failure }), happened })
    let outcome: Outcome = { status: 'returned' }
    let given: PastEnd['given'] = {}
    this.#given?.end()
    if (verdict.isKept) this.attempt(() => (outcome = encodedOutcome(live)))
    if (verdict.isKept) this.attempt(() => (given = this.#given?.left() ?? {}))
    this.#end = { moment, outcome, verdict, timers, reads: notedReads(this.reads), given }
    if (verdict.isKept) return this.#options.hold.decided(this)
    this.account.ended('dropped')
    this.#free()
  }

  /** Children that said nothing that was heard. */
  #tellMute(commands: ReadonlyMap<string, string>): void {
    this.#unrecorded ??= new Set()
    for (const command of commands.values()) this.#unrecorded.add(`child process ${command}`)
  }

  /** Calls whose answers came in pieces, and were not read to their end. */
  #tellLeftOpen(all: ReadonlyMap<CallEvent, () => Partial<CallEvent>>): void {
    for (const [event, soFar] of all) {
      const said = soFar()
      if (this.account.isWatched) this.#watch(event, { ...event, ...said })
      this.later((recorded) => recorded.leftOpen(event, () => redactedAnswer(said, recorded)))
    }
    this.#leftOpen = undefined
  }

  #watch(event: CallEvent | RunNote, now: CallEvent | RunNote): void {
    this.#watched ??= new Map()
    this.#watched.set(event, now)
  }

  /** The run as it was: nothing of it is redacted, and nothing of this is kept. */
  #happened(live: LiveOutcome, [n, at]: Moment): WatchedRun {
    const exchanges = this.#exchanges.map((exchange) => exchange.asHeard())
    const events = [...exchanges, ...(this.#watched?.values() ?? [])].sort((one, other) => one.n - other.n)
    return watchedRun(this.account, events, this.#given?.json, { n, at, outcome: encodedOutcome(live) })
  }

  /** Writes the tape of a run that is kept; of one that goes on, as far as it came, and without a last line. */
  *write(): WorkInParts {
    try {
      const recorded = this.#written()
      if (recorded.rest !== undefined) {
        yield bytesOfTurn
        yield* recorded.rest
      }
      this.#options.onWritten(recorded)
    } catch (error) {
      // Nothing waits for this but the event loop of the application.
      this.account.ended('unrecorded')
      this.#options.warn(recordingFailed({ run: this.id, tape: this.path }, error))
    } finally {
      this.#free()
    }
  }

  #written(): RecordedRun {
    const moments = new GivenMoments()
    const input = this.#given === undefined ? {} : { input: this.#given.json }
    const startedAt = new Date(this.#startedAt).toISOString()
    const named = this.#lookedThrough?.namedValues ?? []
    const recorded = this.#options.record({ moments, startedAt, ...input }, this.path, named)
    for (const work of this.#works) {
      moments.moment = work.moment
      recorded.attempt(() => work.tell(recorded))
    }
    if (this.#end !== undefined) {
      const { moment, timers, reads, given, outcome, verdict } = this.#end
      const said =
        this.#lost === tooMuch ? { ...withoutWords(outcome, verdict, tooMuch), given: {} } : { outcome, verdict, given }
      const incomplete = this.#failed ?? this.#lost
      moments.moment = moment
      recorded.closePast({ ...said, timers, reads, ...(incomplete === undefined ? {} : { incomplete }) })
      for (const work of this.#late?.all ?? []) recorded.late(work)
      this.#recorded = recorded
    }
    return recorded
  }

  /** Lets the largest body go that is finished. Returns how many bytes that were; 0: there is no such body. */
  letGoBody(): number {
    let largest: HeldExchange | undefined
    for (const exchange of this.#exchanges)
      if (exchange.isSettled && exchange.largest > (largest?.largest ?? 0)) largest = exchange
    if (largest === undefined) return 0
    this.count()
    const [looks, heard] = [(this.#lookedThrough ??= this.#options.redactor()), largest]
    this.attempt(() => lookThrough(heard.asHeard(), looks))
    const freed = largest.letGo()
    this.#lost ??= 'hold: bodies were let go, because the runs under way held more than the recorder may hold'
    this.account.capped()
    this.grown(-freed)
    return freed === 0 ? this.letGoBody() : freed
  }

  /** Lets all of it go that happened. */
  letGoAll(): number {
    if (this.#lost === tooMuch) return 0
    this.count()
    const before = this.#bytes
    this.#lost = tooMuch
    this.account.capped()
    this.#free()
    return before
  }

  #free(): void {
    // The client may hold on to its requests for long, and they to what listens to them.
    for (const exchange of this.#exchanges) exchange.drop()
    this.#works = []
    this.#exchanges = []
    this.#uncounted = []
    this.#watched = undefined
    this.#leftOpen = undefined
    this.grown(-this.#bytes)
    this.#isFreed = true
    if (this.#over) this.#options.hold.remove(this)
  }

  #countAll(): void {
    for (const exchange of this.#exchanges) if (!exchange.isSettled) this.#uncounted.push(exchange)
    this.count()
  }

  /** Looks at exchanges that were not looked at, for what they used. */
  count(): void {
    const exchanges = this.#uncounted
    if (exchanges.length === 0) return
    this.#uncounted = []
    this.attempt(() => {
      for (const exchange of exchanges) this.account.heard(exchange)
    })
  }

  #flushDraws(): void {
    const drawn = this.#draws.take()
    if (drawn !== undefined) this.later((recorded) => recorded.append(drawn))
  }
}

const tooMuch = 'hold: what happened was let go, because the runs under way held more than the recorder may hold'

/** The moments of a run that is over: each was taken when something happened. */
class GivenMoments implements Moments {
  moment: Moment | undefined

  next(): Moment {
    const { moment } = this
    if (moment === undefined) throw new TypeError('nothing happened at this moment')
    this.moment = undefined
    return moment
  }

  soon(): Moment {
    return this.moment ?? [0, 0]
  }
}

function redactedAnswer(said: Partial<CallEvent>, recorded: RecordedRun): Partial<CallEvent> {
  const { result, error, yields, told, wrote } = said
  return {
    ...said,
    ...(result === undefined ? {} : { result: recorded.clean(result) }),
    ...(error === undefined ? {} : { error: recorded.clean(error) }),
    ...(wrote === undefined ? {} : { wrote: redactedChanges(wrote, (value) => recorded.clean(value)) }),
    ...(told === undefined ? {} : { told: told.map((one) => recorded.clean(one)) }),
    ...(yields === undefined
      ? {}
      : { yields: yields.map(([n, at, value]) => [n, at, recorded.clean(value)] as const) }),
  }
}
