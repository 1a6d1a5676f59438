// Over 300 lines: one replay: the state that all who answer share.
import type { HarvestError } from '../errors/index.ts'
import { type Cutting, type Redactor, redactorOfTape } from '../privacy/index.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import type { Pairs } from '../seam/pairs.ts'
import { sentHeaders, sentToName } from '../seam/shape.ts'
import { captureStack, siteIn, userSite } from '../seam/caller.ts'
import { TurnCount } from '../seam/turns.ts'
import {
  type ChildMode,
  type ExchangeSink,
  type LiveRequest,
  requestWith,
  type Responder,
} from '../seam/intercept/index.ts'
import { type ChildSettings, messageOf, unnamedChild, urlOfCommand } from '../seam/stdio.ts'
import {
  type Chunk,
  headersFlag,
  type Json,
  lossesIn,
  queryBuilt,
  type MarkEvent,
  type MessageEvent,
  type PushEvent,
  type PushFrame,
  type SpawnEvent,
  type Tape,
  type TapeEvent,
  type WholeBody,
  isEnding,
} from '../tape/index.ts'
import { isAllowed } from '../playback/allow.ts'
import { OutsideIo } from '../playback/outside-io.ts'
import { AnswerReads } from './answer-reads.ts'
import { BegunRequests } from './begun.ts'
import { BodyAwaits } from './body-awaits.ts'
import { AnnouncedOrder } from './announced-order.ts'
import { type AnnouncementDifference, announcementProblem, Announcements, type SaidOtherwise } from './announcements.ts'
import { InputOfReplay } from './input-left.ts'
import { leftUndone } from './run-verdict.ts'
import { withStates } from './state-changes.ts'
import { States } from './states.ts'
import { writtenOrigin } from '../match/address.ts'
import { askedUrl, besideOf, optionsNoted } from '../match/asked-url.ts'
import { Calls } from '../match/calls.ts'
import { Changes } from './change.ts'
import { settingsChanged } from './child-settings.ts'
import { childMode, isRpcMessage } from './child-mode.ts'
import { Clients } from './clients.ts'
import { sameCommand, spawnsOf } from './commands.ts'
import { Credentials, keyNamesOf, pathOf } from '../match/credentials.ts'
import { encodeOn, encodeWhole, recordedCut } from '../match/encode.ts'
import { Draws } from '../playback/reads.ts'
import { driftPolicy } from '../match/drift-policy.ts'
import { ExpectedRequest } from './expected.ts'
import { Scheduler } from '../playback/scheduler.ts'
import { type GateItem } from '../match/delivery.ts'
import { type HeaderComparison, meaningOnTape } from '../match/header-drift.ts'
import { HeaderRedactor } from '../match/header-redactor.ts'
import { recordedHosts } from '../match/hosts-option.ts'
import { IdempotencyKeys } from '../match/idempotency.ts'
import { type FrameWait, frameWaits } from './frame-waits.ts'
import { Functions } from './functions.ts'
import { HiddenParts, isOrderUnknown } from './hidden-parts.ts'
import { isLeftUnread } from './left-early.ts'
import { LateRun } from './late.ts'
import { type LostAwait, LostAwaits, type LostFrames } from './lost-awaits.ts'
import { MovedWaits } from './moved-waits.ts'
import { observePush, observeValues } from './observe-answer.ts'
import { type Match, type FoundDrift, Matcher, type MatchRequest } from '../match/matcher.ts'
import { isRead } from '../playback/independence.ts'
import { isAborted, isGivenUp, StepOrder } from '../playback/order.ts'
import { ProblemList } from '../playback/problem-list.ts'
import * as problem from '../playback/problems.ts'
import { RecordedTimers } from '../playback/recorded-timers.ts'
import type { LateValues } from '../match/late-values.ts'
import { type NotCompared, type Places, RedactedValues } from '../match/redacted.ts'
import { saidNames } from '../match/said-names.ts'
import { ProgressTokens } from '../match/rpc.ts'
import { skipRenewals } from './renewals.ts'
import { RecordedBudget } from './recorded-budget.ts'
import { responderOf } from './responder.ts'
import {
  type CallState,
  describeStep,
  type ExchangeState,
  questionOf,
  type StepState,
  stepStates,
} from '../match/step.ts'
import { requestCuts } from '../match/cut-request.ts'
import { sharedWhileLoading } from './loading.ts'
import { type SharedAnswers, sharedAnswersOf } from './shared-answers.ts'
import { Tools } from './tools.ts'
import type { SharedRequest, TranscodedStep, UnansweredCall } from '../match/types.ts'
import { type Drift, type DriftClass, type DriftPolicy, type NotRevived, type ReplayOptions } from '../match/types.ts'

export interface RunSettings extends ReplayOptions {
  readonly hangMs?: number
  /** Once the run is over, timers that it left are fired, to see what they throw; they reach nothing. @internal */
  readonly late?: boolean
  /** A whole program is the run: it ends when nothing keeps its process going. */
  readonly program?: boolean
  /** @internal */
  readonly ungated?: boolean
  /** Every step of the replay's own record names the place it was made at. Costs a formatted stack each. @internal */
  readonly sites?: boolean
  /** Called while the agent asks for a step: its code is on the stack. @internal */
  readonly onAsked?: (step: StepState) => void
  /** Called with the headers of each request; without a step, nothing on the tape answers it. @internal */
  readonly onSent?: (step: ExchangeState | undefined, live: LiveRequest, redactor: Redactor) => void
  /** Called with each difference of a step, when it is found. @internal */
  readonly onDrift?: (drift: Drift) => void
  /** See the scheduler's option of this name. @internal */
  readonly before?: (burst: readonly GateItem[]) => Promise<void> | undefined
}

/** One replay of one tape. */
export class ReplayRun {
  readonly tape: Tape
  readonly steps: readonly (ExchangeState | CallState)[]
  readonly redactor: Redactor
  readonly redactMessage: (text: string) => string
  /** Names of marks and of those who speak, as they stand on the tape. */
  readonly saidName: (name: string) => string
  readonly headers: HeaderRedactor
  readonly matcher: Matcher
  readonly calls: Calls
  readonly gate: Scheduler
  readonly draws: Draws
  readonly order: StepOrder
  readonly idempotency = new IdempotencyKeys()
  readonly progress = new ProgressTokens()
  readonly clients: Clients
  /** Absent: the tape does not say who asked. */
  readonly credentials: Credentials | undefined
  readonly #comparison: HeaderComparison
  readonly #values: RedactedValues
  readonly #lateValues: LateValues | undefined
  readonly #timers: RecordedTimers
  readonly #cuts: readonly WholeBody[]
  readonly #keyNames: ReadonlyMap<string, ReadonlySet<string>>
  readonly expected = new ExpectedRequest(this)
  readonly hidden: HiddenParts
  readonly lostAwaits: LostAwaits
  readonly bodyAwaits: BodyAwaits
  readonly #movedWaits: MovedWaits
  readonly reads: AnswerReads
  readonly late: LateRun
  readonly begun: BegunRequests
  readonly functions = new Functions(this)
  readonly budget: RecordedBudget
  readonly tools: Tools
  readonly messages: Announcements
  readonly marks: Announcements
  readonly states: States
  readonly input: InputOfReplay
  readonly #announced: AnnouncedOrder
  /** By the number of a call in this replay's own record: the recorded call whose body it ran. */
  readonly bodies = new Map<number, number>()
  /** The source the agent sees. */
  readonly root: Responder
  readonly drift: Drift[] = []
  readonly outside: OutsideIo
  readonly notCompared: NotCompared[] = []
  /** Answers of wrapped functions that the tape gives back as something less, and that were not revived. */
  readonly notRevived: NotRevived[] = []
  readonly ranForReal: string[] = []
  readonly transcoded: TranscodedStep[] = []
  /** What the recording process had already, and this one asked for. */
  readonly shared: SharedRequest[] = []
  readonly sharedAnswers: SharedAnswers
  readonly events: TapeEvent[] = []
  readonly refused: UnansweredCall[] = []
  /** Answers that the agent read to their end when recorded, and does not now. */
  readonly #givenUp: {
    readonly step: StepState
    readonly live: string
    readonly recorded: string
    readonly site?: string | undefined
  }[] = []
  /** Requests that the agent gave up. */
  readonly #abandoned = new Set<StepState>()
  /** Readers of answers in pieces, who may leave them without a word. */
  readonly #readers: {
    readonly step: CallState
    readonly madeAt: Error
    readonly idleAfter: () => number | undefined
  }[] = []
  readonly #passedOver = new Set<string>()
  /** Headers of answers that the agent looks for, and of which no tape says whether there were any. */
  readonly #missedHeaders = new Set<string>()
  /** Answers of which the agent waits for more than is recorded, and where it does. */
  readonly #readOn = new Map<StepState, Error>()
  /** Answers that the recorded agent did not read to their end, and whether this one leaves as much of them. */
  readonly #leftUnread = new Map<StepState, () => boolean>()
  /** Where requests were made whose answers the recorded agent gave up. */
  readonly #madeAt = new Map<StepState, Error>()
  readonly #settings: RunSettings
  readonly #policy: Readonly<Record<DriftClass, DriftPolicy>>
  readonly changes: Changes
  readonly #recordedHost: (url: string) => string
  readonly #problems: ProblemList
  readonly #children = new Map<string, (text: string, frame?: PushFrame) => void>()
  /** By whom the end of a child is heard. */
  readonly #ends = new Map<string, (text: string, frame?: PushFrame) => void>()
  /** Address of a WebSocket → the recorded one. */
  readonly #connected = new Map<string, string>()
  /** Tool calls that others went before, with the problem that is if they are made. */
  readonly #skipped = new Map<StepState, HarvestError>()
  /** Reads that later ones did not wait for, with the last of those: a problem if the agent ends without their answer. */
  readonly #heldBack = new Map<StepState, Passing>()
  /** Reads that later ones were made before: the same thing if they are made after all, and ask for nothing that those were answered. */
  readonly #awaited = new Map<ExchangeState | CallState, Passing[]>()
  /** Problems whose cause only the end of the run tells. */
  readonly #causes = new Map<HarvestError, problem.Cause>()
  /** Problems that stopped nothing: what differed was served. */
  readonly #served = new Set<HarvestError>()
  /** By the number of a recorded call: since it was made now. */
  readonly #turns = new Map<number, TurnCount>()
  readonly #madeTurns = new WeakMap<Error, ReadonlyMap<number, number | undefined>>()
  readonly #working = new Set<Promise<unknown>>()
  /** Recorded calls whose bodies asked the world. */
  readonly #wentOut = new Set<number>()
  readonly #pushes: readonly PushItem[]
  readonly #frameWaits: ReadonlyMap<StepState, FrameWait>
  /** Steps that the recorded run ended without an answer to: asked for each time the gate runs dry. */
  readonly #unanswered: readonly StepState[]
  /** Requests that the recorded agent gave up. */
  readonly #cancelled: readonly ExchangeState[]
  readonly #spawns: SpawnEvent[]
  /** Commands that the tape does not have, and that may be those of a server on it. */
  readonly #strangers: (readonly string[])[] = []
  /** The address of the child that stands for the one whose command the tape does not have: the first that is started. */
  #standIn: string | undefined
  /** The steps were made in their recorded order so far. */
  #isInOrder = true
  /** The agent is an async generator. */
  hasYielded = false
  pending = 0
  identical = 0
  #made = 0
  last: StepState | undefined
  #n = 0
  #over = false

  constructor(tape: Tape, settings: RunSettings, onGivenUp: (error: HarvestError) => void) {
    this.tape = tape
    this.#settings = settings
    this.#problems = new ProblemList(onGivenUp)
    this.#policy = driftPolicy(settings.drift)
    this.budget = new RecordedBudget(tape)
    this.changes = new Changes(tape.header.agent)
    this.sharedAnswers = sharedAnswersOf(tape)
    this.#recordedHost = recordedHosts(settings.hosts, tape.events)
    this.steps = stepStates(tape)
    this.begun = new BegunRequests(this.steps)
    this.late = new LateRun(tape)
    this.reads = new AnswerReads(tape)
    this.hidden = new HiddenParts(tape, () => this.redactor)
    this.clients = new Clients(tape)
    this.#values = new RedactedValues(tape, settings.constants)
    this.redactor = redactorOfTape(tape, this.#values.numbering)
    this.#lateValues = this.#values.lateValues(tape, this.redactor)
    this.redactMessage = redactorForMessages(tape)
    this.outside = new OutsideIo(this.redactMessage, settings.escapes === 'report' ? 'all' : settings.allow)
    this.saidName = saidNames(tape, this.redactor)
    this.headers = new HeaderRedactor(this.redactor)
    const meaning = meaningOnTape(tape, this.redactor)
    const isWhole = tape.header.flags.includes(headersFlag)
    const isForeign = tape.header.imported !== undefined
    this.credentials = isWhole ? new Credentials(meaning) : undefined
    this.#comparison = { own: tape.header.redact?.headers ?? [], isWhole, isForeign, meaning }
    const { command, input, session, attributes } = tape.header
    observeValues(this, command?.argv, input, session, attributes)
    const exchanges = this.steps.filter((step): step is ExchangeState => step.event.kind === 'exchange')
    this.#cuts = requestCuts(tape)
    this.#keyNames = keyNamesOf(exchanges.map(({ event }) => event.url))
    this.calls = new Calls(this.steps)
    this.tools = new Tools(settings.tools)
    this.messages = new Announcements(tape, 'message', settings.messages)
    this.marks = new Announcements(tape, 'mark', settings.marks)
    const expected = withStates(tape, settings.states ?? [])
    this.states = new States(tape, expected)
    this.input = new InputOfReplay(tape, expected)
    this.order = new StepOrder(this.steps)
    this.#movedWaits = new MovedWaits(tape, this.steps, this.order)
    const asRecorded = (['message', 'mark'] as const).filter((kind) => settings[`${kind}s`] === undefined)
    this.#announced = new AnnouncedOrder(tape, this, asRecorded)
    const isDue = (step: ExchangeState): boolean => this.order.isDue(step)
    this.matcher = new Matcher(exchanges, settings.serve ?? 'reworded', tape.header, isDue, { isByOrder: true })
    this.draws = new Draws(
      tape,
      () => this.gate.now,
      () => this.#spin(),
    )
    const hasReturned = (): boolean => this.lostAwaits.hasReturned
    this.#timers = new RecordedTimers(tape, () => this.last ?? this.steps[0], hasReturned)
    this.#pushes = pushItems(tape, ({ url, text, frame }) => {
      observePush(this, { text, frame })
      const said = this.progress.renamed(url, text)
      if (said !== undefined) (frame === undefined ? this.#children : this.#ends).get(url)?.(said, frame)
      // What a model asks for so is part of the trace.
      if (isSocket(url) || messageOf(text) === undefined)
        this.events.push({ kind: 'push', n: this.nextN(), at: this.gate.now, url, text, ...(frame && { frame }) })
    })
    const children = this.#pushes.filter(({ event }) => !isSocket(event.url))
    this.lostAwaits = new LostAwaits(tape, children)
    this.bodyAwaits = new BodyAwaits(tape, children)
    this.#frameWaits = frameWaits(tape, this.steps)
    this.#unanswered = this.steps.filter(isUnanswered)
    this.#cancelled = exchanges.filter(isAborted)
    this.#spawns = spawnsOf(tape)
    this.gate = new Scheduler(
      [...this.steps.flatMap((step) => gateItems(step)), ...this.#pushes.map(({ item }) => item)],
      {
        isBusy: () => this.pending > 0,
        isOver: () => this.over,
        onTurn: () => this.draws.turned(),
        onFault: (error) => void this.problem(problem.undeliverable(this.place(), error)),
        onHang: () => this.giveUp(this.#hangs(hangMs(settings) ?? 0)),
        endAt: tape.close?.at ?? Number.POSITIVE_INFINITY,
        hangMs: hangMs(settings),
        stuckMs: () => this.#stuckMs,
        timers: this.#timers,
        ungated: settings.ungated ?? false,
        ...(settings.before === undefined ? {} : { before: settings.before }),
      },
    )
    this.root = responderOf(this, undefined)
  }

  /** With what its agent's modules asked for, of which they may have been answered after they were loaded. */
  allShared(): readonly SharedRequest[] {
    return [...sharedWhileLoading(this.tape), ...this.shared]
  }

  get hasShared(): boolean {
    return this.shared.length > 0 || sharedWhileLoading(this.tape).length > 0
  }

  get over(): boolean {
    return this.#over
  }

  get problems(): HarvestError[] {
    return this.#problems.all
  }

  /** The agent answered, or nothing waits for its answer any more. */
  finish(): void {
    this.#over = true
    this.gate.stop()
  }

  /**
   * Notes a problem. The agent goes on with the error in its hands: SDKs wrap and retry, so what counts is kept here.
   * An agent that tries for ever is given up.
   *
   * @param cause - asked at the end of the run: what turned out to be behind the error
   */
  problem(error: HarvestError, cause?: problem.Cause): HarvestError {
    if (this.over) return error
    if (this.#problems.add(error) && cause) this.#causes.set(error, cause)
    return error
  }

  /** Notes a problem and ends the run with it: nothing waits for the agent any more. */
  giveUp(error: HarvestError): HarvestError {
    if (!this.over) this.#problems.giveUp(error)
    return error
  }

  place(madeAt?: Error): problem.ProblemLocation {
    return { tape: this.tape, site: madeAt ? siteIn(madeAt) : userSite(), after: this.last, made: this.#made }
  }

  /** Whether every byte has to be the recorded one. */
  get isStrict(): boolean {
    return this.#settings.strict ?? false
  }

  /** Whether every step names its place. */
  get namesSites(): boolean {
    return this.#settings.sites ?? false
  }

  /** For the replay's own record, where that is to have it. */
  siteOf(madeAt?: Error): { readonly site?: string } {
    const site = this.namesSites ? this.place(madeAt).site : undefined
    return site === undefined ? {} : { site }
  }

  take(step: ExchangeState | CallState): void {
    this.begin(step)
    this.gate.ready(step.items)
  }

  /** Notes what `step` was made without waiting for; what it merely went without is a problem once it is made after all. */
  checkOrder(step: ExchangeState | CallState, madeAt?: Error): void {
    if (isOrderUnknown(this.tape)) return
    skipRenewals(this, step)
    const since = this.#besideSince(step, madeAt)
    const { early = this.order.unsaid(step), skipped, beside, awaited } = this.order.look(step, since)
    if (early) {
      if (!early.taken) this.order.passed(early)
      const passing = { step, place: this.place(madeAt) }
      const [first = passing] = this.#awaited.get(early) ?? []
      this.problem(
        problem.outOfOrder(passing.place, step, early),
        problem.unlessAsked(first.place, early, awaited, describeStep(first.step)),
      )
    }
    const frame = this.#frameWaits.get(step)
    if (frame && !this.#wasHeard(frame)) {
      const error = problem.outOfOrder(this.place(madeAt), step, frame.said)
      if (!frame.said.taken) this.#skipped.set(frame.said, error)
      else if (this.gate.isTouched) this.problem(error)
    }
    for (const one of beside) {
      // Answered last of all: only an agent that waits for both gets any further before it.
      this.gate.holdBack(one.items)
      this.#heldBack.set(one, { step, place: this.place(madeAt) })
    }
    for (const one of awaited)
      this.#awaited.set(one, [...(this.#awaited.get(one) ?? []), { step, place: this.place(madeAt) }])
    for (const one of skipped)
      if (!this.#skipped.has(one)) this.#skipped.set(one, problem.outOfOrder(this.place(madeAt), step, one))
  }

  #wasHeard({ heard }: FrameWait): boolean {
    return this.#pushes.some(({ item }) => item.n === heard && item.state === 'done')
  }

  /**
   * A step that is made now waited for nothing since the call with this number was made: it comes as many turns after it as
   * when recorded, and the answers that came in between then are still to come.
   */
  #besideSince({ event }: StepState, madeAt?: Error): number | undefined {
    const made = madeAt && this.#madeTurns.get(madeAt)
    const live = (n: number): number | undefined => (made ? made.get(n) : this.#turns.get(n)?.turns)
    return event.turns?.find(([n, turns]) => live(n) === turns)?.[0]
  }

  /** The agent makes a request at this stack, which is asked some turns later. */
  making(madeAt: Error): void {
    if (this.#turns.size === 0) return
    // Those of calls that are long past would be copied for each request of the run.
    for (const [n, { turns }] of this.#turns) if (turns === undefined) this.#turns.delete(n)
    if (this.#turns.size === 0) return
    this.#madeTurns.set(madeAt, new Map([...this.#turns].map(([n, { turns }]) => [n, turns])))
  }

  /** A call of the agent, from which turns are counted. */
  countFrom({ event }: CallState): void {
    this.#turns.set(event.n, new TurnCount())
  }

  /** As {@link checkOrder}, of a step that was due when nothing else was made since: answers came at most, and it still is. */
  checkDue(step: ExchangeState): void {
    skipRenewals(this, step)
  }

  /**
   * A read is made that later ones went before. It changed places with them, or is under way beside them: as long as all that
   * follows waits for it, nothing is different.
   */
  #checkAwaited(begun: ExchangeState | CallState): void {
    for (const passing of this.#awaited.get(begun) ?? []) {
      this.gate.holdBack(begun.items)
      this.#heldBack.set(begun, passing)
    }
    this.#awaited.delete(begun)
  }

  /**
   * A request no recorded answer is for. Whether it stands in the place of a step the agent left out is known when the
   * run is over.
   */
  unanswered(question: MatchRequest, miss: Exclude<Match, { kind: 'found' }>, madeAt: Error | undefined): HarvestError {
    const place = this.place(madeAt)
    const near = miss.kind === 'ambiguous' ? undefined : 'step' in miss ? miss.step : miss.nearest
    this.refused.push({
      kind: 'exchange',
      name: `${question.method} ${question.url}`,
      asked: question.bodyText,
      ...(near === undefined ? {} : { nearest: near.number }),
    })
    return this.problem(
      problem.noAnswer(place, question, miss),
      problem.missCause(place, question, miss, { steps: this.steps, order: this.order }),
    )
  }

  /** The agent made a step; its answer may be delivered once it is `ready`. */
  begin(step: ExchangeState | CallState): void {
    this.#checkAwaited(step)
    const late = this.#skipped.get(step)
    if (late) this.problem(late)
    step.taken = true
    step.served = true
    if (this.last !== undefined && step.event.n < this.last.event.n) this.#isInOrder = false
    this.last = step
    this.#announced.taken(step)
    if (step.event.kind === 'exchange' && closes(step.event))
      this.gate.ready(this.#pushes.filter(({ closing }) => closing === step.event.n).map(({ item }) => item))
    this.#made++
    this.#settings.onAsked?.(step)
    this.#movedWaits.begun(step, this.gate.heard, this.gate.relaxed > 0)
    this.gate.asked(step.items[0])
    this.lostAwaits.begun(step)
    this.bodyAwaits.begun(step)
  }

  /** The agent sent a request; without a step, nothing on the tape answers it. */
  sent(step: ExchangeState | undefined, live: LiveRequest): void {
    this.#settings.onSent?.(step, live, this.redactor)
  }

  /** The next number for an event of this replay's own record. */
  nextN(): number {
    return this.#n++
  }

  /**
   * Notes a difference that does not keep a step from being served.
   *
   * @param step - absent: it happened in no step
   */
  drifted(step: StepState | undefined, madeAt: Error | undefined, found: FoundDrift): void {
    const policy = this.#policyOf(found.class)
    if (policy === 'ignore') return
    const place = this.place(madeAt)
    const at = { n: step?.event.n ?? 0, number: step?.number ?? 0 }
    const drift = this.changes.drift(at, found, policy, place.site)
    this.drift.push(drift)
    this.#settings.onDrift?.(drift)
    if (policy === 'fail') this.#serve(this.#driftProblem(place, step, drift, found))
  }

  #driftProblem(
    at: problem.ProblemLocation,
    step: StepState | undefined,
    drift: Drift,
    found: FoundDrift,
  ): HarvestError {
    if (found.sharedBy !== undefined) return problem.sharedKey(this.tape, drift, found.sharedBy)
    if (step && drift.class === 'arguments') return problem.otherArguments(at, step, drift)
    if (step && drift.class === 'results') return problem.otherResult(this.tape, step, drift)
    return problem.driftRefused(this.tape, drift, this.#settings.strict === true)
  }

  /** A byte comparison takes every difference for one. */
  #policyOf(name: DriftClass): DriftPolicy {
    // No byte on the tape comes from the code of a function that does not run.
    return this.#settings.strict && name !== 'functions' ? 'fail' : this.#policy[name]
  }

  #serve(error: HarvestError): void {
    this.#served.add(this.problem(error))
  }

  /** The agent sent a message between agents or left a mark, inside the call `inside` of this replay's own record. */
  announced(
    said: Pick<MessageEvent, 'kind' | 'from' | 'to' | 'body'> | Pick<MarkEvent, 'kind' | 'name' | 'data'>,
    inside: number | undefined,
  ): void {
    const event = { ...said, n: this.nextN(), at: this.gate.now, ...(inside === undefined ? {} : { in: inside }) }
    this.events.push(event)
    const list = event.kind === 'message' ? this.messages : this.marks
    const site = (): string | undefined => this.place().site
    list.made(event, inside === undefined ? undefined : this.bodies.get(inside), site)
    if (inside === undefined) this.#announced.made(event, site)
  }

  /** The agent called `state`, inside the call `inside` of this replay's own record. */
  snapshot(name: string, value: unknown, inside: number | undefined): void {
    const body = inside === undefined ? undefined : this.bodies.get(inside)
    const site = (): string | undefined => this.place().site
    const left = this.states.called(name, () => this.encode(value), body, site)
    if (left === undefined) return
    this.noteHidden([...this.hidden.of(`state ${name}`, value), ...this.hidden.ofCut(`state ${name}`, left.data)])
    const where = inside === undefined ? {} : { in: inside }
    this.events.push({ kind: 'state', n: this.nextN(), at: this.gate.now, ...where, name, ...left })
  }

  /** Whether a body that ended may still be about to ask for what the tape has of it: requests take a few turns to get here. */
  isAsking({ event }: CallState): boolean {
    return !this.#wentOut.has(event.n) && this.calls.inside(event.n).some(({ taken }) => !taken)
  }

  /** The body of a recorded call ended: what it has not asked for by now it will not ask for. */
  bodyEnded(step: CallState, name: string, madeAt: Error): void {
    const found = this.bodyAwaits.found(step)
    for (const { step: action, isCertain } of found.steps) {
      if (isCertain) this.#serve(problem.notAwaitedInside(this.tape, name, siteIn(madeAt), action))
      else this.#listLostAwait(action)
    }
    const code = { name, site: siteIn(madeAt) }
    const inside = this.calls.inside(step.event.n)
    for (const lost of this.#firstLost(found.frames, found.steps, inside)) {
      if (lost.isCertain) this.#serve(problem.childNotAwaited(this.tape, this.steps, lost.frames, { code }))
      else this.#listLostFrames(lost)
    }
    const left = this.calls.inside(step.event.n).filter(({ taken }) => !taken)
    if (left.length === 0) return
    // Where its requests really went out, the tape is not asked for them.
    if (!this.#wentOut.has(step.event.n)) this.#serve(problem.leftOutInside(this.tape, name, siteIn(madeAt), left))
    this.skipInside(step.event.n)
  }

  /** The run ends only once a body that runs has ended. */
  waitFor(body: Promise<unknown>): void {
    this.#working.add(body)
    void body.finally(() => this.#working.delete(body))
  }

  /** All bodies that were begun have ended. */
  async bodiesEnded(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working)
  }

  /** What happened inside a recorded call is needed no more. */
  skipInside(n: number): void {
    for (const step of this.calls.inside(n)) {
      if (step.taken) continue
      step.taken = true
      step.answered = true
      this.gate.done(step.items)
      this.skipInside(step.event.n)
    }
  }

  /** Where a request really goes: `undefined` when the tape answers it. */
  wayOut({ via, url }: LiveRequest, inside: number | undefined): string | undefined {
    if (via === 'stdio') return undefined
    const server = this.tools.serverOf(url)
    if (server !== undefined) return server
    return inside !== undefined && this.bodies.has(inside) && this.tools.isLive(url) ? url : undefined
  }

  /** A request of the body of the call `inside` went out for real. */
  wentOut(inside: number): void {
    const body = this.bodies.get(inside)
    if (body !== undefined) this.#wentOut.add(body)
  }

  /** Whether the body of a recorded call ran in this replay. */
  readonly ran = (n: number): boolean => [...this.bodies.values()].includes(n)

  /**
   * Compares the values the agent brought since the last time.
   *
   * @param step - where they stand in the place of recorded ones; absent: in no step
   */
  compareValues(step: StepState | undefined, madeAt: Error | undefined, places: () => Places): void {
    const replaced = this.redactor.takeReplaced()
    if (replaced.length === 0) return
    const { drift, notCompared } = this.#values.compare(replaced, places())
    const at = step ?? this.last ?? this.steps[0]
    const numbers = step === undefined ? {} : { step: step.event.n, stepNumber: step.number }
    for (const one of notCompared) this.notCompared.push({ ...one, ...numbers })
    for (const found of drift) this.drifted(at, madeAt, found)
    this.#judgeNotCompared(notCompared, at, madeAt)
  }

  #judgeNotCompared(parts: readonly NotCompared[], at: StepState | undefined, madeAt: Error | undefined): void {
    if (this.#settings.redacted !== 'fail') return
    for (const { path, placeholder, why } of parts)
      this.drifted(at, madeAt, { class: 'redacted', path, recorded: placeholder, live: `not compared: ${why}` })
  }

  /** How many steps the agent has made. */
  get made(): number {
    return this.#made
  }

  /** Every request on the tape is whole, and spelled as a client spells it. */
  get isPlain(): boolean {
    return this.#cuts.length === 0 && this.tape.header.imported === undefined
  }

  /** Whether the tape is asked for this very address: no option of the replay stands between. */
  isAskedAt(url: string): boolean {
    return this.#recordedHost(url) === url
  }

  /** Says which parts of a value the tape holds nothing of. */
  noteHidden(parts: readonly NotCompared[], step?: StepState): void {
    const numbers = step === undefined ? {} : { step: step.event.n, stepNumber: step.number }
    this.notCompared.push(...parts.map((part) => ({ ...part, ...numbers })))
    this.#judgeNotCompared(parts, step ?? this.last ?? this.steps[0], undefined)
  }

  /** Something that was laid over `fetch` or `node:http` before the replay, by an agent or in a test, is not asked. */
  passedOver(name: string): void {
    if (this.#passedOver.has(name)) return
    this.#passedOver.add(name)
    // Mock servers are among it: it is said, and decides nothing.
    this.notCompared.push(...this.hidden.over(name))
  }

  /** The agent looks for a header in an answer, which has none of that name on the tape. */
  missedHeader(name: string): void {
    if (this.#missedHeaders.has(name)) return
    const missed = this.hidden.ofMissedHeader(name)
    if (missed.length === 0) return
    this.#missedHeaders.add(name)
    this.noteHidden(missed)
  }

  /** The headers of a request as a tape has them, before they are redacted. */
  sentHeaders({ via, url, headers, beside = [] }: LiveRequest): Pairs {
    // Of `node:http` the recorder does not know the port: what is beside says the rest.
    const sent = via === 'undici' ? sentHeaders(url, headers) : headers
    if (sent === headers && beside.length === 0) return headers
    return [...sent, ...beside].map(([name, value]) => [
      name,
      name === sentToName ? writtenOrigin(this.#recordedHost(`${value}/`)) : value,
    ])
  }

  question(live: LiveRequest): MatchRequest {
    const url =
      live.via === 'stdio' && live.url === this.#standIn ? unnamedChild : this.#recordedHost(askedUrl(this.tape, live))
    const options = this.#keyNames.size === 0 ? {} : { keyNames: this.#keyNames.get(pathOf(url)) }
    const ask = (): MatchRequest =>
      questionOf(requestWith(live, { url }), this.redactor, {
        ...options,
        cuts: this.#cuts,
        isOnTape: (asked) => this.matcher.holds(asked),
      })
    const asked = ask()
    return this.#lateValues?.learnAsked(asked, this.steps) === true ? ask() : asked
  }

  /** How the headers of a request are compared with those of the step that answers it. */
  comparison(step: ExchangeState, via: LiveRequest['via']): HeaderComparison {
    return {
      ...this.#comparison,
      isModelCall: () => step.model !== undefined,
      method: step.event.method,
      ...besideOf(this.tape, step, via),
    }
  }

  /** A recorded query that the agent built further is no green replay: the tape does not say to what. */
  requireWholeQuery(step: CallState): void {
    const built = step.event.lost?.find((one) => one.startsWith(queryBuilt))
    if (built !== undefined) this.#serve(problem.queryBuiltFurther(this.place(), step, built))
  }

  /** A recorded answer reaches the agent as the tape has it. */
  served(name: string, step: CallState): void {
    const { result, error, yields = [] } = step.event
    const answers = { result, error, piece: yields[0]?.[2] }
    for (const [part, value] of Object.entries(answers)) {
      const [loss] = value === undefined ? [] : lossesIn(value)
      if (loss) this.notRevived.push({ name, stepNumber: step.number, part, ...loss })
    }
  }

  /**
   * As {@link encode}, of what the agent brings.
   *
   * @param recorded - values of the tape in whose place it may stand
   */
  encodeAs(value: unknown, recorded: () => Iterable<Json>, json = this.encode(value)): Json {
    const redacted = this.#lateValues?.redacted(json, recorded()) ?? json
    return recordedCut(redacted, recorded()) ?? redacted
  }

  recordedMarks(name: string): readonly Json[] {
    return this.tape.events.flatMap((event) =>
      event.kind === 'mark' && event.name === name ? [event.data ?? null] : [],
    )
  }

  recordedMessages(from: string, to: string): readonly Json[] {
    return this.tape.events.flatMap((event) =>
      event.kind === 'message' && event.from === from && event.to === to ? [event.body] : [],
    )
  }

  encode(value: unknown, how?: Cutting): Json {
    return encodeOn(this.tape, value, this.redactor, how)
  }

  /** As {@link encode}, of what the agent ends with, which no recorder cuts. */
  encodeEnd(value: unknown): Json {
    return encodeWhole(this.tape, value, this.redactor)
  }

  escape(kind: string, target: string, madeAt?: Error): Error | undefined {
    const place = this.place(madeAt)
    const refused = this.outside.reach(kind, target, place.site)
    return refused === undefined ? undefined : this.problem(problem.escaped(place, kind, refused, madeAt))
  }

  spawn(given: readonly string[], settings: ChildSettings): ChildMode | undefined {
    const command = this.redactor.json(given) as readonly string[]
    const started = this.#takeSpawn(command, settings)
    if (started?.error !== undefined) return { error: started.error }
    const mode = childMode(this.tape, given, this.redactor)
    // One that the recorded run did not start was there before: a fresh process starts it.
    const isOnceMore = !started && isStartedIn(this.tape, command)
    if (mode !== undefined && !isOnceMore) return mode
    // Another command for a server on the tape.
    if (!started && !isOnceMore && this.steps.some(({ event }) => isRpcMessage(event))) {
      this.#strangers.push(command)
      return 'rpc'
    }
    if (isAllowed(this.#settings.allow ?? [], 'child_process', command.join(' '))) {
      this.escape('child_process', command.join(' '))
      return undefined
    }
    this.outside.escapes.push({ kind: 'child_process', target: command.join(' '), allowed: false })
    const program = urlOfCommand(command.slice(0, 1))
    const recorded = this.#spawns.find((event) => urlOfCommand(event.command.slice(0, 1)) === program)?.command
    throw this.problem(
      isOnceMore || recorded !== undefined
        ? problem.startedOtherwise(this.place(), command, recorded)
        : problem.notOnTape(this.place(), command),
    )
  }

  /** The recorded start of a child, of several the one with the same settings; others make it another question. */
  #takeSpawn(command: readonly string[], settings: ChildSettings): SpawnEvent | undefined {
    const redacted = this.redactor.text(settings.cwd)
    // Tapes of before it was redacted hold it as it is.
    const cwdFor = (event: SpawnEvent): string => (event.cwd === settings.cwd ? settings.cwd : redacted)
    const same = this.#spawns.filter((event) => sameCommand(event, { command, cwd: cwdFor(event) }))
    const changes = same.map((event) =>
      settingsChanged(event, { ...settings, cwd: cwdFor(event) }, this.redactor, optionsNoted(this.tape)),
    )
    const at = Math.max(
      changes.findIndex((found) => found.length === 0),
      0,
    )
    const event = same[at]
    if (event === undefined) return undefined
    this.#spawns.splice(this.#spawns.indexOf(event), 1)
    observeValues(this, event)
    const policy = this.#policyOf('headers')
    const step = { n: event.n, number: (this.last?.number ?? 0) + 1 }
    for (const found of policy === 'ignore' ? [] : (changes[at] ?? [])) {
      this.#report(step, found, policy, this.place().site)
    }
    return event
  }

  /** A WebSocket was opened under an address that stands for the recorded one: `localhost` for `127.0.0.1`. */
  connected(url: string, recorded: string): void {
    this.#connected.set(url, recorded)
  }

  listen(url: string, say: (text: string, frame?: PushFrame) => void, ends = url): void {
    // Tapes of before this was redacted hold it as it is.
    const known = (name: string): string[] => [name, this.redactor.url(name), this.#connected.get(name) ?? name]
    const names = known(url)
    const isUnnamed = this.steps.some(({ event }) => event.kind === 'exchange' && event.url === unnamedChild)
    if (isUnnamed && this.#standIn === undefined) {
      this.#standIn = url
      names.push(unnamedChild)
    }
    const endNames = ends === url ? names : known(ends)
    for (const name of names) this.#children.set(name, say)
    for (const name of endNames) this.#ends.set(name, say)
    const isHeard = (push: PushItem): boolean =>
      (push.isFrame ? endNames : names).includes(push.url) && push.closing === undefined
    this.gate.ready(this.#pushes.filter(isHeard).map(({ item }) => item))
  }

  /** The agent asks for more pieces of an answer than are recorded, or stops. */
  readsOn(step: StepState, isReading: boolean): void {
    if (isReading) this.#readOn.set(step, captureStack())
    else this.#readOn.delete(step)
  }

  /** Where the agent makes a request whose answer the recorded one gave up or left unread: this one may read on. */
  asks(step: ExchangeState, madeAt: Error | undefined, sink: ExchangeSink): void {
    const isUnread = isLeftUnread(step)
    if (madeAt !== undefined && (isAborted(step) || isUnread)) this.#madeAt.set(step, madeAt)
    if (isUnread && sink.isFull) this.#leftUnread.set(step, () => this.reads.isPaused(step) || sink.isFull!())
  }

  /** An answer of which the agent waits for more than the tape has, because the recorded one did not. */
  get #readFurther(): StepState | undefined {
    const isRead = (step: StepState): boolean =>
      this.#leftUnread.get(step)?.() === false && step.items.at(-1)?.state === 'done'
    return this.steps.find(
      (step) => !step.answered && (this.#readOn.has(step) || (step.taken && (isAborted(step) || isRead(step)))),
    )
  }

  /** The agent wants more of an answer than the recorded one read. */
  readFurther(step: StepState): HarvestError {
    const { event } = step
    const pieces = event.kind === 'exchange' ? event.response?.chunks : event.yields
    const place = this.place(this.#readOn.get(step) ?? this.#madeAt.get(step))
    return problem.readsOn(place, step, pieces?.length ?? 0)
  }

  /** The agent gives up a request, answered or not, or one that went out for real is over. */
  abandoned(step: StepState): void {
    this.#abandoned.add(step)
  }

  /** Requests that the recorded agent gave up, and this one has not: no answer to them is on the tape, or not all of it. */
  get keptOn(): readonly ExchangeState[] {
    return this.#cancelled.filter((step) => step.served && !this.#abandoned.has(step))
  }

  /** The agent gives up an answer of which it had only some pieces, and had all when recorded. */
  gaveUp(step: StepState, pieces: number, all: number): void {
    if (this.over) return
    const end = isGivenUp(step) ? '' : 'to its end, '
    this.#givenUp.push({
      step,
      recorded: `read ${end}${countOf(all)}`,
      live: `given up after ${pieces} of ${countOf(all)}`,
    })
  }

  /** The agent begins to read an answer in pieces. */
  opened(step: CallState, idleAfter: () => number | undefined): void {
    this.#readers.push({ step, madeAt: captureStack(), idleAfter })
  }

  /** Answers that the agent left open, with less of them read than when recorded. */
  #findLeftOpen(): void {
    for (const { step, madeAt, idleAfter } of this.#readers) {
      const { event } = step
      const all = event.yields?.length ?? 0
      const isEndRead = event.settled !== undefined && !isGivenUp(step)
      const pieces = idleAfter()
      if (pieces === undefined || pieces >= all + (isEndRead ? 1 : 0)) continue
      const recorded = `read ${isEndRead ? 'to its end, ' : ''}${countOf(all)}`
      this.#givenUp.push({ step, recorded, live: `left open after ${pieces} of ${countOf(all)}`, site: siteIn(madeAt) })
    }
  }

  /** Why nothing happens any more: an answer that was given up when recorded never goes on. */
  #hangs(waitedMs: number): HarvestError {
    const open = this.#readFurther
    if (open !== undefined) return this.readFurther(open)
    return problem.hanging(this.place(), waitedMs, this.awaited)
  }

  /** What an agent may wait for that does not go on. */
  get awaited(): problem.Awaited {
    const [next] = this.unused
    return { unended: this.#unended, ...(next && { next }) }
  }

  get #unended(): readonly StepState[] {
    return this.#unanswered.filter(({ served }) => served)
  }

  /**
   * Where a step was made that the recorded run ended without an answer to, or did not read to its end, an agent that does not go on waits
   * for that. It gets the time that the recorded one took by here, for what no tape sees; one that works on something real gets all of it.
   */
  get #stuckMs(): number | undefined {
    const isWaiting = this.#unended.length > 0 || this.#readFurther !== undefined
    if (!isWaiting || this.bodies.size > 0 || this.outside.escapes.length > 0) return undefined
    const nextAt = this.gate.nextAt ?? this.tape.close?.at ?? 0
    return leastStuckMs + 3 * Math.max(0, nextAt - this.gate.now)
  }

  #spin(): never {
    throw this.giveUp(problem.spinning(this.place()))
  }

  /**
   * What is wrong once the agent has answered.
   *
   * @param isOwnError - it threw an error of its own where it returned when recorded
   */
  conclude(isOwnError = false): void {
    this.#concludeRun(isOwnError)
    if (this.#missedHeaders.size === 0) return
    const explained = this.problems.map((error) => problem.withMissedHeaders(error, [...this.#missedHeaders]))
    this.problems.splice(0, this.problems.length, ...explained)
  }

  #concludeRun(isOwnError: boolean): void {
    skipRenewals(this)
    this.#findCauses(isOwnError && this.refused.length === 0)
    const isSound = this.problems.every((error) => this.#served.has(error))
    for (const [step, by] of isSound ? this.#heldBack : [])
      if (!step.answered) this.problems.push(problem.outOfOrder(by.place, by.step, step))
    for (const one of this.calls.tooOften) this.problems.push(problem.readTooOften(this.tape, one))
    const isStopped = this.problems.some((error) => !this.#served.has(error))
    const { changes } = this.clients
    if (changes.length > 0) {
      const explained = this.problems.map((error) => problem.withClients(error, changes))
      this.problems.splice(0, this.problems.length, ...explained)
    }
    if (this.#passedOver.size > 0) {
      const explained = this.problems.map((error) => problem.withPassedOver(error, [...this.#passedOver]))
      this.problems.splice(0, this.problems.length, ...explained)
    }
    if (this.notRevived.length > 0) {
      const explained = this.problems.map((error) => problem.withLosses(error, this.notRevived))
      this.problems.splice(0, this.problems.length, ...explained)
    }
    // What it had by then may be why it stopped.
    this.#judge('states', 'state', isStopped ? this.states.made : this.states.differences(this.ran))
    if (isStopped) return
    // What was not waited for may not be made in time: the cause comes first.
    this.#judgeAwaits()
    const unused = this.unused
    if (unused.length > 0) this.problems.push(problem.unusedSteps(this.tape, unused))
    else this.#judgeChildren()
    this.#judgeTimers()
    const [messages, marks] = [this.messages.differences(this.ran), this.marks.differences(this.ran)]
    this.#judge('agentMessages', 'message', messages)
    this.#judge('marks', 'mark', marks)
    this.#judgePlaces(this.#mayBeMoved('agentMessages', messages), this.#mayBeMoved('marks', marks))
    // What came before may be why.
    if (this.#isWhole) this.#judgeInput()
  }

  /** Whether nothing stopped the agent: what it left out or announced otherwise is what a case may expect of it. */
  get #isWhole(): boolean {
    return this.problems.every(({ code }) => leftUndone.has(code))
  }

  #judgeInput(): void {
    const compared = this.input.compare(this)
    if (compared === undefined) return
    this.#judge('states', this.input.otherwise(compared.found), this.states.leftInput(compared))
  }

  /** Whether each expected one was made in its turn. One that says something else is enough where that is refused. */
  #mayBeMoved(of: DriftClass, found: readonly AnnouncementDifference[]): boolean {
    return found.length === 0 || (this.#policyOf(of) !== 'fail' && found.every(({ kind }) => kind === 'changed'))
  }

  /** Where messages and marks stand, each kind for itself: of one whose list differs nothing says which is which. */
  #judgePlaces(areMessages: boolean, areMarks: boolean): void {
    if (areMessages) this.#judgeMoved(this.#announced.amongSteps('message'))
    if (!areMarks) return
    const isBoth = areMessages && this.#policyOf('agentMessages') !== 'ignore'
    this.#judgeMoved((isBoth ? this.#announced.amongMessages() : undefined) ?? this.#announced.amongSteps('mark'))
  }

  #judgeMoved(moved: ReturnType<AnnouncedOrder['amongSteps']>): void {
    if (moved === undefined) return
    const { of, ...difference } = moved
    const at = { step: this.last?.event.n ?? 0, stepNumber: this.last?.number ?? 0 }
    this.#judge(of === 'mark' ? 'marks' : 'agentMessages', of, [{ ...difference, ...at }])
  }

  /** Children that stand in no step: one that was never spoken to, and one that speaks by itself and was not started. */
  #judgeChildren(): void {
    const [stranger] = this.#strangers
    if (stranger) this.problems.push(problem.notOnTape(this.place(), stranger))
    for (const event of this.tape.events) {
      if (event.kind !== 'spawn' || !this.#spawns.includes(event)) continue
      // The code that starts it did not run.
      if (event.in !== undefined && !this.ran(event.in)) continue
      if (childMode(this.tape, event.command, this.redactor) !== 'lines') continue
      this.problems.push(problem.notStarted(this.tape, event.command))
      return
    }
  }

  #judgeTimers(isOver = false): void {
    const policy = this.#policyOf('timers')
    if (policy === 'ignore') return
    // Packages set timers to the time that is left: another one when calls change places or are reported in another form,
    // and of a package that reads the clock more or less often, or for steps in another order, as it may be later or sooner.
    const isAsRecorded = this.gate.relaxed === 0 && this.transcoded.length === 0
    const length = this.tape.close?.at ?? 0
    const isMaybeLeft = (caller: string, by: number): boolean =>
      by <= length && !(this.#isInOrder && this.draws.isClockAsRecorded(caller))
    for (const changed of this.#timers.changed(this.steps, this.bodies.size > 0)) {
      const { caller, recorded, live, count, place } = changed
      // What a package leaves is for its connections.
      if (changed.isLeft !== isOver || (isOver && caller !== 'app')) continue
      const by = recorded === undefined || live === undefined ? 0 : Math.abs(live - recorded)
      if (caller !== 'app' && (!isAsRecorded || isMaybeLeft(caller, by))) continue
      const part = caller === 'app' ? 'timer' : `timer of ${caller}`
      const set = (count: number): string => (count === 0 ? 'not set' : `set ${times(count)}`)
      const { unheeded } = count
      const isSet = `${set(count.live + unheeded)}${unheeded > 0 ? `, given to nothing ${times(unheeded)}` : ''}`
      const [before, now] =
        recorded === undefined || live === undefined
          ? [`${recorded ?? live} ms, ${set(count.recorded)}`, isSet]
          : [`${recorded} ms`, `${live} ms`]
      const found = { class: 'timers', path: part, part, recorded: before, live: now } as const
      const at = { n: place?.event.n ?? 0, number: place?.number ?? 0 }
      this.#report(at, found, policy)
    }
  }

  #judgeAwaits(): void {
    const policy = this.#policyOf('awaits')
    this.#findLeftOpen()
    for (const { step, recorded, live, site } of policy === 'ignore' ? [] : this.#givenUp) {
      const found = { class: 'awaits', path: 'end of the answer', part: describeStep(step), recorded, live } as const
      this.#report({ n: step.event.n, number: step.number }, found, policy, site)
    }
    for (const { step, recorded, live } of policy === 'ignore' ? [] : this.reads.changed(this.steps)) {
      if (this.#abandoned.has(step)) continue
      const found = { class: 'awaits', path: 'body of the answer', part: describeStep(step), recorded, live } as const
      this.#report({ n: step.event.n, number: step.number }, found, policy)
    }
    for (const { action, recorded, live } of policy === 'ignore' ? [] : this.#movedWaits.found) {
      const words = {
        recorded: `after step ${recorded.number}`,
        live: `after step ${live.number}; it may not wait for ${describeStep(recorded)} any more`,
      }
      const found = { class: 'awaits', path: 'order', part: describeStep(action), ...words } as const
      this.#report({ n: action.event.n, number: action.number }, found, policy)
    }
    for (const step of this.keptOn) {
      const [n, number] = [step.event.n, step.number]
      const madeAt = this.#madeAt.get(step)
      const site = madeAt && siteIn(madeAt)
      if (isCancelledAction(step)) this.problems.push(problem.keptOn(this.tape, step, site))
      else if (policy !== 'ignore') this.#report({ n, number }, keptOnDrift(step), policy, site)
    }
    for (const { step, isCertain } of this.lostAwaits.found) {
      if (this.bodyAwaits.isTold(step)) continue
      if (isCertain) this.problems.push(problem.notAwaited(this.tape, step, this.lostAwaits.hasThrown))
      else this.#listLostAwait(step)
    }
    for (const lost of this.#firstLost(this.lostAwaits.foundFrames, this.lostAwaits.found, this.steps)) {
      const { hasThrown } = this.lostAwaits
      if (this.bodyAwaits.isTold(lost.frames[0])) continue
      if (lost.isCertain) this.problems.push(problem.childNotAwaited(this.tape, this.steps, lost.frames, { hasThrown }))
      else this.#listLostFrames(lost)
    }
  }

  /** Of what children were to say: behind a step that was left out or not waited for, that is the cause. */
  #firstLost(
    lost: readonly LostFrames[],
    awaits: readonly LostAwait[],
    steps: readonly StepState[],
  ): readonly LostFrames[] {
    const causes = [...steps.filter(({ taken }) => !taken), ...awaits.map(({ step }) => step)]
    return lost.filter(({ frames: [first] }) => causes.every(({ event }) => event.n > first.n))
  }

  #listLostFrames({ frames: [first] }: LostFrames): void {
    const policy = this.#policyOf('awaits')
    if (policy === 'ignore') return
    const part = problem.childFrame(first)
    const found = { class: 'awaits', path: '', part, recorded: 'came', live: 'not awaited' } as const
    const at = this.steps.findLast(({ event }) => event.n < first.n)
    this.#report({ n: at?.event.n ?? 0, number: at?.number ?? 0 }, found, policy)
  }

  #listLostAwait(step: StepState): void {
    const policy = this.#policyOf('awaits')
    if (policy === 'ignore') return
    const part = describeStep(step)
    const found = { class: 'awaits', path: '', part, recorded: 'answered', live: 'not awaited' } as const
    this.#report({ n: step.event.n, number: step.number }, found, policy)
  }

  /** What the agent did after it returned, once there was time for it. */
  judgeLate(): void {
    // An agent that was stopped goes on with an error in its hands.
    if (!this.#isWhole) return
    const policy = this.#policyOf('awaits')
    const at = { n: this.last?.event.n ?? 0, number: this.last?.number ?? 0 }
    const { differences } = this.late
    if (differences.length === 0) this.#judgeTimers(true)
    for (const { action, site, found } of differences) {
      if (action) this.problems.push(problem.lateAction(this.tape, action, site))
      if (action || policy === 'ignore') continue
      this.#report(at, found, policy, site)
    }
  }

  /** Lists a difference that nothing waits for an answer to; under `fail` it is a problem as well. */
  #report(
    at: { readonly n: number; readonly number: number },
    found: FoundDrift,
    policy: DriftPolicy,
    site?: string,
  ): void {
    const drift = this.changes.drift(at, found, policy, site)
    this.drift.push(drift)
    if (policy !== 'fail') return
    const isStrict = this.#settings.strict === true
    this.problems.push(problem.driftRefused(this.tape, drift, isStrict, this.lostAwaits.hasThrown))
  }

  #judge(of: DriftClass, kind: SaidOtherwise, found: readonly AnnouncementDifference[]): void {
    const policy = this.#policyOf(of)
    if (policy === 'ignore' || found.length === 0) return
    for (const { step, stepNumber, name, path, recorded, live, site } of found) {
      const difference = { class: of, path, part: name, recorded, live }
      this.drift.push(this.changes.drift({ n: step, number: stepNumber }, difference, policy, site))
    }
    if (policy === 'fail') this.problems.push(announcementProblem(this.tape, kind, found))
  }

  /**
   * Puts what was behind a problem in its place; what has the same cause is one problem.
   *
   * @param hasFailed - the agent threw, and nothing of the replay was why: a step that it made all the same, as in a `finally`, is
   * not made before its turn. What it left out is the consequence, and is listed as that
   */
  #findCauses(hasFailed: boolean): void {
    const isLeftOut = (error: HarvestError): boolean => this.#causes.get(error)?.()?.leftOut !== undefined
    if (hasFailed && this.problems.every(isLeftOut)) this.problems.splice(0)
    const left = new Set<StepState>()
    for (let i = 0; i < this.problems.length; i++) {
      const error = this.problems[i]
      const found = error && this.#causes.get(error)?.()
      if (!found) continue
      const isKnown = found.leftOut !== undefined && left.has(found.leftOut)
      if (found.leftOut) left.add(found.leftOut)
      this.problems.splice(i, 1, ...(isKnown ? [] : [found.error]))
      if (isKnown) i--
    }
  }

  /** Whether the agent may be about to do what it did when recorded. */
  get isWaitedFor(): boolean {
    return this.unused.length > 0 || this.keptOn.length > 0
  }

  get unused(): readonly StepState[] {
    return this.steps.filter((step) => !step.taken)
  }
}

/** An action that the recorded agent gave up before any answer. */
function isCancelledAction({ event, model }: ExchangeState): boolean {
  return model === undefined && event.response === undefined && !isRead(event)
}

function keptOnDrift(step: ExchangeState): FoundDrift {
  const { response } = step.event
  const recorded = response === undefined ? 'given up' : `given up after ${countOf(response.chunks.length)}`
  return { class: 'awaits', path: 'end of the answer', part: describeStep(step), recorded, live: 'not given up' }
}

function countOf(pieces: number): string {
  return pieces === 1 ? '1 piece' : `${pieces} pieces`
}

/** A step that went before another one, and where it was made. */
interface Passing {
  readonly step: ExchangeState | CallState
  readonly place: problem.ProblemLocation
}

/** What the gate delivers for a step, its request first. */
export function gateItems(step: ExchangeState | CallState): readonly GateItem[] {
  const { event, items } = step
  const isAnswered =
    event.kind === 'exchange'
      ? event.response !== undefined || event.error !== undefined
      : event.settled !== undefined || event.sync === true
  const abortedAt = event.kind === 'exchange' ? event.aborted?.[1] : undefined
  const request: GateItem = { n: event.n, at: event.at, state: 'waiting', isAnswered, step: event.n }
  if (abortedAt !== undefined) Object.assign(request, { abortedAt })
  items.push(request)
  // With a place for what is put in later: an object that grows takes a second one.
  const piece = (n: number, at: number): void =>
    void items.push({ n, at, state: 'waiting', deliver: undefined, index: 0, step: event.n })
  if (event.kind === 'exchange') {
    if (event.response) {
      piece(...event.response.moment)
      bodyItems(event.response.chunks, event.n, items)
      if (event.response.end) piece(...event.response.end)
    }
    if (event.error)
      items.push({
        n: event.error.moment[0],
        at: event.error.moment[1],
        state: 'waiting',
        isAlone: true,
        step: event.n,
      })
  } else {
    for (const [n, at] of event.yields ?? []) piece(n, at)
    if (event.settled) piece(...event.settled)
    // A read is no action: nothing waits for it, and where it is made means nothing.
    if (event.kind === 'value') for (const item of items) item.place = 'free'
  }
  return items
}

/** One for all pieces that came in one burst, with nothing of another answer between them. */
function bodyItems(chunks: readonly Chunk[], step: number, items: GateItem[]): void {
  let last: GateItem | undefined
  for (let index = 0; index < chunks.length; index++) {
    const [n, at] = chunks[index]!
    if (last?.at === at && last.n + index - last.index! === n) last.more!++
    else items.push((last = { n, at, state: 'waiting', deliver: undefined, index, more: 0, step }))
  }
}

/** What children said without being asked, by who said it. */
export function pushItems(tape: Tape, say: (event: PushEvent) => void): readonly PushItem[] {
  const closings = new Map<string, number>()
  const gotLines = new Set<string>()
  return tape.events.flatMap((event): readonly PushItem[] => {
    if (event.kind === 'exchange' && event.method === 'SEND') gotLines.add(event.url)
    // A child that gets lines ends when it has written its own, even if its input stays open.
    if (event.kind === 'exchange' && closes(event) && !(event.method === 'END' && gotLines.has(event.url)))
      closings.set(event.url, event.n)
    if (event.kind !== 'push') return []
    const isClosing = event.frame === 'close' || event.frame === 'end'
    const closing = isClosing ? closings.get(event.url) : undefined
    const item = { n: event.n, at: event.at, state: 'waiting' as const, deliver: () => say(event) }
    return [
      {
        event,
        url: event.url,
        item,
        isFrame: event.frame !== undefined,
        ...(closing === undefined ? {} : { closing }),
      },
    ]
  })
}

/** Whether an agent ends a connection or a child by this. */
function closes(event: Extract<TapeEvent, { readonly kind: 'exchange' }>): boolean {
  return event.method === 'CLOSE' || isEnding(event)
}

/** What a peer says by itself. */
interface PushItem {
  readonly event: PushEvent
  readonly item: GateItem
  readonly url: string
  /** It is more than a text: the end of a child, or what only a WebSocket brings. */
  readonly isFrame: boolean
  /** The step by which the agent closed the connection, where this answers it: a client echoes what comes unasked. */
  readonly closing?: number
}

function isSocket(url: string): boolean {
  return /^wss?:/.test(url)
}

/** Whether a recorded run started this program, with any arguments. */
function isStartedIn({ events }: Tape, command: readonly string[]): boolean {
  return events.some((event) => event.kind === 'spawn' && urlOfCommand(event.command) === urlOfCommand(command))
}

/** Real ms without anything happening before an agent counts as waiting for what the tape has no answer to. */
const leastStuckMs = 1_000

/** Whether the recorded run was over before anything of an answer came. What is said to a peer gets none, and a stream may have no end. */
function isUnanswered(step: StepState): boolean {
  const { event } = step
  if (isGivenUp(step)) return false
  if (event.kind !== 'exchange') return event.settled === undefined && event.sync !== true
  return event.via !== 'stdio' && event.via !== 'websocket' && event.response === undefined && event.error === undefined
}

function hangMs(settings: RunSettings): number | undefined {
  return settings.program ? undefined : (settings.hangMs ?? 10_000)
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
