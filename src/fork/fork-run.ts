// Over 300 lines: one run, see decisions/layout.md.
import { RecordedStates } from '../playback/states.ts'
import type { HarvestError } from '../errors/index.ts'
import { type Redactor, redactorOfTape } from '../privacy/index.ts'
import type { LateValues } from '../match/late-values.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import { RedactedValues } from '../match/redacted.ts'
import { areEndsNoted, askedUrl } from '../match/asked-url.ts'
import { Calls } from '../match/calls.ts'
import { encodeOn, encodeWhole, recordedCut } from '../match/encode.ts'
import { GivenInput } from '../match/given-input.ts'
import { Changes } from '../replay/change.ts'
import { childMode, isRpcMessage } from '../replay/child-mode.ts'
import { Draws } from '../playback/reads.ts'
import { Scheduler } from '../playback/scheduler.ts'
import { type GateItem } from '../match/delivery.ts'
import type { FoundDrift, MatchRequest } from '../match/matcher.ts'
import { recordedHosts } from '../match/hosts-option.ts'
import { OutsideIo } from '../playback/outside-io.ts'
import { ProblemList } from '../playback/problem-list.ts'
import * as problem from '../playback/problems.ts'
import { RecordedTimers } from '../playback/recorded-timers.ts'
import { ProgressTokens } from '../match/rpc.ts'
import { saidNames } from '../match/said-names.ts'
import { observePush, observeValues } from '../replay/observe-answer.ts'
import { RecordedBudget } from '../replay/recorded-budget.ts'
import { sameCommand, spawnsOf } from '../replay/commands.ts'
import { gateItems, pushItems } from '../replay/run.ts'
import { type SharedAnswer, type SharedAnswers, sharedAnswersOf } from '../replay/shared-answers.ts'
import { type CallState, type ExchangeState, questionOf, type StepState, stepStates } from '../match/step.ts'
import { requestCuts } from '../match/cut-request.ts'
import type { Drift, SharedRequest } from '../match/types.ts'
import { siteIn, userSite } from '../seam/caller.ts'
import {
  type ChildMode,
  type ExchangeControl,
  type LiveRequest,
  requestWith,
  type Responder,
  type VirtualTimer,
} from '../seam/intercept/index.ts'
import { type SeamCall, seamState } from '../seam/source.ts'
import type { ChildSettings } from '../seam/stdio.ts'
import { type Draw, type Json, type PushFrame, type SpawnEvent, type Tape, type WholeBody } from '../tape/index.ts'
import type { CompiledPlan } from './compile.ts'
import { Account } from './branch-recorder.ts'
import { Answers } from './answers.ts'
import type { Budget } from '../live/budget.ts'
import { blockedLive, offTape } from '../live/off-tape.ts'
import type { ForkOptions } from './plan.ts'
import { RealTimers } from '../live/real-timers.ts'
import { forkResponder } from './responder.ts'
import type { SentHeaders } from './sent-headers.ts'

const { uptime, setImmediate: realImmediate } = seamState().natives
const defaultHangMs = 10_000

/** One fork of one tape, while it runs. */
export class ForkRun {
  readonly tape: Tape
  /** The tape as today's code asks for it, see `Control`. */
  readonly asked: Tape
  readonly plan: CompiledPlan
  readonly options: ForkOptions
  /** All steps of the parent, the kept ones first. */
  readonly steps: readonly (ExchangeState | CallState)[]
  readonly kept: readonly (ExchangeState | CallState)[]
  readonly redactor: Redactor
  readonly #lateValues: LateValues | undefined
  readonly #redactMessage: (text: string) => string
  /** Names of marks and of those who speak, as they stand on the tape. */
  readonly saidName: (name: string) => string
  readonly gate: Scheduler
  readonly draws: Draws
  readonly answers: Answers
  /** The run's own record. */
  readonly account: Account
  /** The source the agent sees. */
  readonly root: Responder
  readonly recordedBudget: RecordedBudget
  readonly #cuts: readonly WholeBody[]
  readonly #recordedHost: (url: string) => string
  readonly #problems: ProblemList
  readonly #drift: Drift[] = []
  readonly #changes: Changes
  readonly outside: OutsideIo
  readonly #ranForReal = new Set<string>()
  /** What the recording process had already, and this one asked for. */
  readonly shared: SharedRequest[] = []
  readonly #sharedAnswers: SharedAnswers
  readonly drawn: Draw[] = []
  /** Requests as the code sent them: what no tape holds of them. */
  readonly sent: SentHeaders[] = []
  /** Requests under way that cost something. */
  readonly #underWay = new Map<ExchangeControl, { readonly isModel: boolean }>()
  /** What the models of this run use. */
  readonly budget: Budget | undefined
  /** Where this run first asked for what nothing has an answer to: an `n` of its account. */
  leftAt: number | undefined
  /** It ended before a model had answered it. */
  waitsForModel = false
  /** Work of the agent that the seam has begun and not ended. */
  pending = 0
  #divergence: HarvestError | undefined
  #served = 0
  #identical = 0
  #last: StepState | undefined
  #isOther = false
  #departed = false
  /** Changed answers of kept steps that are on their way. */
  #answering = 0
  readonly progress = new ProgressTokens()
  readonly #calls: Calls
  readonly #keptItems: readonly GateItem[]
  readonly #timers = new RealTimers(() => this.now)
  /** Recorded answers on their way where time is real. */
  readonly #due: { readonly due: number; readonly work: () => void }[] = []
  readonly #pushes: readonly { readonly item: GateItem; readonly url: string; readonly isFrame: boolean }[]
  readonly #spawns: SpawnEvent[]
  readonly #children = new Map<string, (text: string, frame?: PushFrame) => void>()
  readonly #ends = new Map<string, (text: string, frame?: PushFrame) => void>()
  #real: { readonly now: number; readonly since: number } | undefined
  readonly #marks: Map<string, Json>
  readonly states: RecordedStates
  readonly given: GivenInput
  #firstOpen = 0
  #isFree = false
  #over = false

  constructor(tape: Tape, plan: CompiledPlan, options: ForkOptions, onGivenUp: (error: HarvestError) => void) {
    this.tape = tape
    this.#sharedAnswers = sharedAnswersOf(tape)
    this.#changes = new Changes(tape.header.agent)
    this.plan = plan
    this.options = options
    this.budget = plan.tail.from === 'live' ? plan.tail.budget.part() : undefined
    this.#marks = new Map(plan.marks)
    this.states = new RecordedStates(tape)
    this.given = new GivenInput(tape, plan.input)
    this.#problems = new ProblemList(onGivenUp)
    const { tape: asked, leftOut } = plan.control ?? { tape, leftOut: new Set() }
    this.asked = asked
    this.steps = stepStates(asked)
    this.recordedBudget = new RecordedBudget(asked)
    this.#cuts = requestCuts(tape)
    this.#recordedHost = recordedHosts(options.hosts, tape.events)
    this.kept = this.steps.slice(0, plan.keep)
    // A fork has the keys of this machine: the numbers of the tape it begins like do not hold for them.
    this.redactor = redactorOfTape(tape, { keys: 'unnumbered' })
    this.#lateValues = new RedactedValues(tape).lateValues(tape, this.redactor)
    this.#redactMessage = redactorForMessages(tape)
    this.outside = new OutsideIo(this.#redactMessage, options.allow)
    this.saidName = saidNames(tape, this.redactor)
    observeValues(this, tape.header.command?.argv, plan.input, tape.header.session, tape.header.attributes)
    this.#calls = new Calls(this.steps)
    this.account = new Account(this)
    this.draws = new Draws(
      tape,
      () => this.now,
      () => this.#spin(),
      (kind, caller, value) =>
        this.drawn.push([kind, caller, Buffer.isBuffer(value) ? value.toString('base64') : (value as Json)]),
    )
    this.#keptItems = this.kept.flatMap(gateItems)
    const isBound = plan.tail.from === 'tape'
    const free = isBound ? this.steps.slice(plan.keep).flatMap(gateItems) : []
    const pushes = pushItems(tape, ({ url, text, frame }) => {
      this.account.noted({ kind: 'push', url, text, ...(frame && { frame }) })
      observePush(this, { text, frame })
      const said = this.progress.renamed(url, text)
      if (said !== undefined) (frame === undefined ? this.#children : this.#ends).get(url)?.(said, frame)
    })
    const end = this.steps[plan.keep]?.event.n ?? Number.POSITIVE_INFINITY
    this.#pushes = isBound ? pushes : pushes.filter(({ item }) => item.n < end)
    this.#spawns = spawnsOf(tape)
    const hangMs = options.hangMs ?? defaultHangMs
    this.gate = new Scheduler([...this.#keptItems, ...free, ...this.#pushes.map(({ item }) => item)], {
      isBusy: () => this.pending > 0,
      isOver: () => this.over,
      onTurn: () => this.draws.turned(),
      onFault: (error) => void this.problem(problem.undeliverable(this.place(), error)),
      onHang: () => {
        if (!this.isReal) this.giveUp(problem.hanging(this.place(), hangMs, { unended: [] }))
      },
      onRelaxed: () => {
        if (this.hasKept()) this.depart()
      },
      endAt: tape.close?.at ?? Number.POSITIVE_INFINITY,
      hangMs,
      timers: new RecordedTimers(tape),
    })
    for (const step of this.steps) if (leftOut.has(step.event.n)) this.#leaveOut(step)
    this.answers = new Answers(this)
    this.root = forkResponder(this, undefined)
  }

  /** Today's code goes without it: nothing waits for it. */
  #leaveOut(step: StepState): void {
    step.taken = true
    step.answered = true
    this.gate.done(step.items)
  }

  /** What ended the order of the tape before the run was free to leave it. */
  get divergence(): HarvestError | undefined {
    return this.#divergence
  }

  get problems(): readonly HarvestError[] {
    return this.#problems.all
  }

  get drift(): readonly Drift[] {
    return this.#drift
  }

  /** Names of tools whose code ran. */
  get ranForReal(): ReadonlySet<string> {
    return this.#ranForReal
  }

  /** Questions that had a place on the tape. */
  get served(): number {
    return this.#served
  }

  /** Those of them that were asked byte for byte. */
  get identical(): number {
    return this.#identical
  }

  /** Something was asked or answered behind the kept steps that is not on the tape. */
  get isOther(): boolean {
    return this.#isOther
  }

  /** The run left the order of its tape: what follows is answered by what is asked, and not by its place. */
  get departed(): boolean {
    return this.#departed
  }

  /** A question was asked as recorded, byte for byte. */
  askedTheSame(): void {
    this.#identical++
  }

  /** A question or an answer is not the recorded one. */
  differs(): void {
    this.#isOther = true
  }

  /** A changed answer of a kept step is on its way, until {@link answerArrived}. */
  answerSent(): void {
    this.#answering++
  }

  answerArrived(): void {
    this.#answering--
  }

  /** The code of a tool runs, in the place of its recorded result. */
  runsForReal(tool: string): void {
    this.#ranForReal.add(tool)
  }

  /** A request that costs something is under way, until {@link paid}. */
  pays(control: ExchangeControl, isModel: boolean): void {
    this.#underWay.set(control, { isModel })
  }

  paid(control: ExchangeControl): void {
    this.#underWay.delete(control)
  }

  /** What the recording process had for a question that is not on the tape. */
  sharedAnswer(question: MatchRequest, { headers }: LiveRequest): SharedAnswer | undefined {
    return this.#sharedAnswers.findForRun({ question, headers, isForWorld: this.plan.tail.from === 'live' })
  }

  get over(): boolean {
    return this.#over
  }

  /** The agent has ended: what is under way is ended for it. */
  isEnding = false

  finish(): void {
    this.waitsForModel = [...this.#underWay.values()].some(({ isModel }) => isModel)
    this.isEnding = true
    // A run that is over pays for no more tokens.
    for (const control of this.#underWay.keys()) control.abort()
    this.#over = true
    this.gate.stop()
    this.#timers.stop()
  }

  /** Time is real: models are asked for real from here on. */
  get isReal(): boolean {
    return this.#real !== undefined
  }

  /** Milliseconds since the run began, on the clock the agent has. */
  get now(): number {
    return this.#real === undefined ? this.gate.now : this.#real.now + uptime() - this.#real.since
  }

  /** Whether every kept step was asked for. */
  hasKept(): boolean {
    while (this.kept[this.#firstKept]?.taken) this.#firstKept++
    return this.#firstKept === this.kept.length
  }
  #firstKept = 0

  /** Looks whether the kept steps are all answered: then chance, and with a live tail time, are the fork's own. */
  look(): void {
    if (this.#isFree || this.over) return
    while (this.#keptItems[this.#firstOpen]?.state === 'done') this.#firstOpen++
    if (this.#firstOpen < this.#keptItems.length || this.#answering > 0 || !this.hasKept()) return
    this.#isFree = true
    const { seed = '', clockOffsetMs = 0 } = this.plan
    const isParents = this.plan.tail.from === 'tape' && seed === '' && clockOffsetMs === 0
    if (!isParents || this.#departed) this.#drawAnew()
    if (this.plan.tail.from === 'live') this.goReal()
  }

  /** Whether the kept steps are asked and answered. */
  get isFree(): boolean {
    this.look()
    return this.#isFree
  }

  #drawAnew(): void {
    const { chance, clockOffsetMs = 0, seed = '', tail } = this.plan
    if (chance === 'recorded') return this.draws.shiftClock(clockOffsetMs)
    const isTimer = (): boolean => this.gate.lastFired !== undefined
    const by = tail.from === 'live' ? 'real' : 'chance'
    // Without a seed nothing but what was asked for is another one.
    this.draws.startAnew(this.plan.draws, clockOffsetMs, by === 'real' || seed !== '' ? { by, isTimer } : undefined)
  }

  /** From here on the order of the tape binds nothing but the kept steps and what is under way. */
  depart(): void {
    if (this.#departed) return
    this.#departed = true
    this.gate.leaveTape()
    for (const { items } of this.steps.slice(this.plan.keep)) if (items[0]?.state === 'waiting') this.gate.done(items)
    this.gate.done(this.#pushes.filter(({ item }) => item.state === 'waiting').map(({ item }) => item))
    if (this.#isFree) this.#drawAnew()
  }

  goReal(): void {
    if (this.#real !== undefined) return
    this.#real = { now: this.gate.now, since: uptime() }
    for (const { timer } of this.gate.takeTimers()) this.#timers.schedule(timer)
    this.gate.stop()
  }

  schedule(timer: VirtualTimer): void {
    if (this.over) return
    this.look()
    if (this.isReal) this.#timers.schedule(timer)
    else this.gate.schedule(timer)
  }

  held(timer: VirtualTimer): void {
    if (this.isReal) this.#timers.held(timer)
    else this.gate.held(timer)
  }

  /**
   * Does something `afterMs` from now: at its virtual time, or where time is real, in a turn of its own, after what is due
   * before it.
   */
  later(afterMs: number, work: () => void): void {
    if (this.isReal) {
      this.#due.push({ due: this.now + afterMs, work })
      realImmediate(() => {
        const [next] = this.#due.sort((a, b) => a.due - b.due).splice(0, 1)
        if (!this.over) next?.work()
      })
      return
    }
    this.gate.later({ ms: afterMs, due: this.now + afterMs, cancelled: false, isHolding: true, fire: work })
  }

  /** Notes a problem; an agent that tries for ever is given up. */
  problem(error: HarvestError): HarvestError {
    if (!this.over) this.#problems.add(error)
    return error
  }

  /** Notes a problem and ends the run with it. */
  giveUp(error: HarvestError): HarvestError {
    if (!this.over) this.#problems.giveUp(error)
    return error
  }

  /** The run left its tape before it was free to. */
  diverged(error: HarvestError): HarvestError {
    this.#divergence ??= error
    return this.problem(error)
  }

  #leave(): void {
    this.#isOther = true
    this.depart()
    // A number of its own: what the agent does next is behind it.
    this.leftAt ??= this.account.numbers.fresh(this.now)[0]
  }

  offTape(what: string, madeAt: Error | undefined, instead?: readonly string[], isTool?: boolean): HarvestError {
    this.#leave()
    const site = madeAt ? siteIn(madeAt) : userSite()
    return this.problem(offTape(this.tape, what, site, this.plan.tail.from, instead, isTool))
  }

  place(madeAt?: Error): problem.ProblemLocation {
    const site = madeAt ? siteIn(madeAt) : userSite()
    return { tape: this.tape, site, after: this.#last, made: this.account.made }
  }

  question(live: LiveRequest): MatchRequest {
    const url = this.#recordedHost(askedUrl(this.tape, live))
    const ask = (): MatchRequest => questionOf(requestWith(live, { url }), this.redactor, { cuts: this.#cuts })
    const asked = ask()
    return this.#lateValues?.learnAsked(asked, this.steps) === true ? ask() : asked
  }

  /** The arguments of a call. */
  argsOf({ kind, name, args: [given] }: SeamCall): Json {
    const args = encodeOn(this.tape, given, this.redactor, { isArgs: true })
    const open = (): Iterable<Json> => this.#calls.openArgs({ kind, name })
    const redacted = this.#lateValues?.redacted(args, open()) ?? args
    return recordedCut(redacted, open()) ?? redacted
  }

  encode(value: unknown): Json {
    return encodeOn(this.tape, value, this.redactor)
  }

  /** As {@link encode}, of what the agent ends with, which no recorder cuts. */
  encodeEnd(value: unknown): Json {
    return encodeWhole(this.tape, value, this.redactor)
  }

  /** A step was asked for. */
  take(step: StepState): void {
    step.taken = true
    step.served = true
    this.#served++
    this.#last = step
  }

  /** What the served call `n` did when it was recorded is part of its answer. */
  skipInside(n: number): void {
    for (const step of this.#calls.inside(n)) {
      if (step.taken) continue
      step.taken = true
      step.answered = true
      this.gate.done(step.items)
      this.skipInside(step.event.n)
    }
  }

  drifted(step: StepState, found: readonly FoundDrift[]): void {
    for (const one of found) this.#drift.push(this.changeOf(step, one))
  }

  /** A difference from the question of a step. Reported, and no more: what a fork proves is for whoever compares it. */
  changeOf({ event: { n }, number }: StepState, found: FoundDrift): Drift {
    return this.#changes.drift({ n, number }, found, 'report', undefined)
  }

  escape(kind: string, target: string, madeAt: Error | undefined): Error | undefined {
    const site = madeAt ? siteIn(madeAt) : userSite()
    const refused = this.outside.reach(kind, target, site)
    if (refused === undefined) return undefined
    if (!this.isReal) return this.problem(problem.escaped(this.place(madeAt), kind, refused))
    this.#leave()
    const { tail } = this.plan
    const areToolsReal = tail.from === 'live' && tail.tools === 'live'
    return this.problem(blockedLive(this.tape, { kind, target: refused, site }, areToolsReal))
  }

  spawn(given: readonly string[], { cwd }: ChildSettings): ChildMode {
    const command = this.redactor.json(given) as readonly string[]
    const at = this.#spawns.findIndex((event) => sameCommand(event, { command, cwd }))
    const error = this.#spawns[at]?.error
    const isRpc = (): boolean => at < 0 && this.steps.some(({ event }) => isRpcMessage(event))
    const spoken = childMode(this.tape, given, this.redactor) ?? (isRpc() ? 'rpc' : undefined)
    const mode = error === undefined ? spoken : { error }
    if (mode === undefined) throw this.offTape(`the child process ${command.join(' ')}`, undefined)
    if (at >= 0) this.#spawns.splice(at, 1)
    this.account.noted({ kind: 'spawn', command, ...(error !== undefined && { error }) })
    return mode
  }

  /** What the mark of this name is to hand over: the first one behind the kept steps. */
  takeMark(name: string): Json | undefined {
    const data = this.#marks.get(name)
    if (data === undefined) return undefined
    this.#marks.delete(name)
    this.depart()
    return data
  }

  listen(url: string, say: (text: string, frame?: PushFrame) => void, ends = url): void {
    const [names, endNames] = [url, ends].map((name) => [name, this.redactor.url(name)]) as [string[], string[]]
    for (const name of names) this.#children.set(name, say)
    for (const name of endNames) this.#ends.set(name, say)
    const heard = this.#pushes.filter((push) => (push.isFrame ? endNames : names).includes(push.url))
    this.gate.ready(heard.map(({ item }) => item))
  }

  /** Whether the end of a child is still to come from the tape. */
  saysEnd(url: string): boolean {
    const names = [url, this.redactor.url(url)]
    return this.#pushes.some(
      ({ isFrame, item, ...push }) => isFrame && item.state === 'waiting' && names.includes(push.url),
    )
  }

  /** A child ends that the tape says nothing of. A replay of the branch has it from there. */
  ended(url: string, how: string): void {
    if (areEndsNoted(this.tape))
      this.account.noted({ kind: 'push', url: this.redactor.url(url), text: how, frame: 'close' })
  }

  #spin(): never {
    throw this.giveUp(problem.spinning(this.place()))
  }
}
