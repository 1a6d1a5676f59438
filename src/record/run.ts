// Over 300 lines: one recorded run: every event takes its number here.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import {
  cappedValue,
  type Cutting,
  type LateRedactor,
  lineAgain,
  redactedValue,
  type Redactor,
} from '../privacy/index.ts'
import type { Codes } from '../seam/code-of.ts'
import { addOnsOutOfSight } from '../seam/add-ons.ts'
import type { ExchangeStart } from '../seam/observe/observer.ts'
import type { BodyUse } from '../seam/reading.ts'
import { seamState } from '../seam/source.ts'
import type { SeamDrawKind } from '../seam/source.ts'
import { urlOfCommand } from '../seam/stdio.ts'
import {
  begunFlag,
  type CallEvent,
  contentsFlag,
  contextsFlag,
  createTapeWriter,
  type Closing,
  currentFlags,
  cutsFlag,
  cutsOfEvent,
  type DrawsEvent,
  encodeValue,
  formatVersion,
  headersFlag,
  endsFlag,
  fieldsFlag,
  hostsFlag,
  lateFlag,
  readTape,
  redactorFlag,
  regionFlag,
  regionVariables,
  socketsFlag,
  tenantsFlag,
  tenantVariables,
  unclearedReason,
  unsearchedIn,
  unsearchedReason,
  writtenLines,
  type Json,
  LateWorks,
  type LateWork,
  type Moment,
  type OpenStep,
  type Outcome,
  type RecordedPins,
  type RecordedRules,
  type RedactedPrint,
  type Step,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
  type TapeWriter,
  type WrittenLine,
} from '../tape/index.ts'
import { version } from '../version.ts'
import { type Bodies, ExchangeDraft } from './exchange.ts'
import { asDetail, type RunAccount, type RunHandle, type RetentionDecision } from './run-stats.ts'
import { DrawnValues, drawnSecret } from './drawn-secrets.ts'
import { failureOf } from './failure.ts'
import { RecordedInput } from './recorded-input.ts'
import { observerOf, type RunObserver } from './observer.ts'
import { DrawLog, LiveMoments, type Moments } from './moments.ts'
import type { Arriving, Recording } from './recording.ts'
import { finish, type WorkInParts } from './endings.ts'
import { encodedOutcome, type RunNote, redactedNote, redactedOutcome } from './redact-event.ts'
import { handleOf } from './run-handle.ts'
import { type NotedTimers, TimerLog } from './timers.ts'
import { watchedRun } from './watched-run.ts'
import type { WatchedRun } from './watch.ts'

export interface RecordedRunOptions {
  /** Names run and agent, and decides whether the tape is kept. */
  readonly account: RunAccount
  /** What the agent is called with. */
  readonly input?: unknown
  /** Name of this process on its tapes. */
  readonly process?: string
  /** What the application says of the run, for the header. */
  readonly said?: () => Pick<TapeHeader, 'subjects' | 'session' | 'attributes'>
  /** Bytes kept of one body. */
  readonly bodyCap: number
  /** Bytes of the tape. */
  readonly tapeCap: number
  /** The run is over, and written now: it was counted and judged while it went on. */
  readonly past?: Past
  readonly path: string
  readonly pins: RecordedPins
  readonly redactor: Redactor
  /** Whose key makes the fingerprints of what is redacted; absent: none are made. */
  readonly printed?: NonNullable<TapeHeader['printed']>
  /** The application's own rules, for the header: a replay must redact as the recorder did. */
  readonly redact?: RecordedRules
  readonly warn: (error: HarvestError) => void
  readonly codes: Codes
  readonly command?: { readonly argv: readonly string[]; readonly cwd: string }
}

/** A run that is written down when it is over. */
export interface Past {
  readonly moments: Moments
  /** As the header has it. */
  readonly startedAt: string
  /** What the agent was called with, encoded at that time. */
  readonly input?: Json
}

/** How a run ended that is written down when it is over. */
export interface PastEnd {
  /** Encoded when it was there. */
  readonly outcome: Outcome
  readonly verdict: RetentionDecision
  readonly timers: NotedTimers
  readonly reads: NotedReads
  /** What it made of what the agent was called with, encoded when it ended. */
  readonly given: Pick<TapeClose, 'input'>
  /** Why something is missing. */
  readonly incomplete?: string
}

export type LiveOutcome =
  | { readonly status: 'returned'; readonly value: unknown }
  | { readonly status: 'threw'; readonly error: unknown }
  | Extract<Outcome, { status: 'exited' }>

const nothingYet = (): Partial<CallEvent> => ({})
const { natives } = seamState()
const { epoch } = natives
/** Milliseconds an answer may take before what came of it is written: most are complete sooner. */
const behindMs = 25
/** How long after that it is looked at again while nothing comes. */
const againMs = 250

/** A run that is kept: numbers every moment, redacts, and appends to the tape. */
export class RecordedRun implements Recording {
  readonly id: string
  readonly path: string
  readonly #redactor: Redactor
  readonly #makesPrints: boolean
  /** The source agents see; calls inside a tool see a view of it that knows the tool. */
  readonly root: RunObserver
  readonly account: RunAccount
  /** The run as the function it runs sees it. */
  readonly handle: RunHandle
  readonly codes: Codes
  readonly warn: (error: HarvestError) => void
  readonly #open = new Set<ExchangeDraft>()
  /** Requests that are to be redacted before anything else is. */
  #due: readonly ExchangeDraft[] = []
  /** What the agent was called with, of a run that is written as it goes. */
  #given: RecordedInput | undefined
  /** Not completed, with what there is of their answers. */
  readonly #calls = new Map<CallEvent, () => Partial<CallEvent>>()
  readonly #unrecorded = new Set<string>()
  /** Children that have not said a word of JSON-RPC, by URL. */
  readonly #mute = new Map<string, string>()
  readonly bodyCap: number
  readonly #tapeCap: number
  readonly #moments: Moments
  readonly #draws: DrawLog
  readonly #drawn = new DrawnValues()
  readonly timers: TimerLog
  readonly reads = new Map<number, BodyUse>()
  readonly #isPast: boolean
  #writer: TapeWriter | undefined
  readonly #arriving = new Set<Arriving>()
  #timer: NodeJS.Timeout | undefined
  #over = false
  #incomplete: string | undefined
  /** Bodies that could not be searched and were not kept. */
  #unsearched = 0
  /** How many spellings were known by a name when the last line was written. */
  #named: number
  /** Bytes of the tape in which a value may stand in clear that was named since. */
  #namedAfter = 0
  /** Redacts what it found there. */
  #lateRedactor: LateRedactor | undefined
  /** What the last line says, once it is there. */
  #closing: Closing | undefined
  /** What is still to be done to end it. */
  #rest: WorkInParts | undefined
  readonly #late = new LateWorks()
  /** What its agent did meanwhile. */
  #lateFirst: LateWork[] = []

  constructor(options: RecordedRunOptions) {
    this.account = options.account
    this.id = options.account.run
    this.path = options.path
    this.#redactor = options.redactor
    this.#named = options.redactor.named
    this.codes = options.codes
    this.#makesPrints = options.printed !== undefined
    this.warn = options.warn
    this.bodyCap = options.bodyCap
    this.#tapeCap = options.tapeCap
    const { past } = options
    this.#isPast = past !== undefined
    this.#moments = past?.moments ?? new LiveMoments()
    this.#draws = new DrawLog(this.#moments)
    this.timers = new TimerLog(() => this.#moments.soon())
    this.handle = handleOf(this.account, this)
    this.root = observerOf(this, undefined)
    this.attempt(() => {
      if (past === undefined && 'input' in options) this.#given = new RecordedInput(options.input)
      const encoded = this.#given?.json ?? past?.input
      const input = encoded === undefined ? {} : { input: this.redactor.json(encoded) }
      this.#writer = createTapeWriter({
        path: options.path,
        header: {
          harvest: formatVersion,
          id: this.id,
          agent: this.account.agent,
          ...input,
          startedAt: past?.startedAt ?? new Date(epoch()).toISOString(),
          recorder: `vitest-harvest/${version}`,
          flags: [
            ...currentFlags,
            headersFlag,
            redactorFlag,
            begunFlag,
            contentsFlag,
            contextsFlag,
            fieldsFlag,
            lateFlag,
            hostsFlag,
            socketsFlag,
            endsFlag,
            cutsFlag,
            ...namedByCode(),
          ],
          pins: options.pins,
          ...(options.process === undefined ? {} : { process: options.process }),
          ...options.said?.(),
          ...(options.redact === undefined ? {} : { redact: options.redact }),
          ...(options.printed === undefined ? {} : { printed: options.printed }),
          ...this.#prints(),
          ...(options.command ? { command: options.command } : {}),
        },
      })
      this.#noteNamed()
    })
  }

  /** Whether there is a tape: not when it could not be begun or ended. */
  get hasTape(): boolean {
    return this.#writer !== undefined
  }

  get over(): boolean {
    return this.#over
  }

  /** What is still to be done to end it, where there is more than one line to write; for whoever closed it. */
  get rest(): WorkInParts | undefined {
    return this.#rest
  }

  /** The rest of a request will be heard in a moment. */
  get isHearing(): boolean {
    return [...this.#open].some((draft) => draft.isComing)
  }

  moment(after?: Moment): Moment {
    return this.#moments.next(after)
  }

  encode(value: unknown): Json {
    return this.clean(this.capped(encodeValue(value)))
  }

  capped(value: Json, how?: Cutting): Json {
    return cappedValue(value, Math.floor(this.bodyCap / 2), how)
  }

  clean(value: Json): Json {
    return redactedValue(value, this.redactor)
  }

  cleanName(name: string): string {
    return this.redactor.name(name)
  }

  /** Puts a step on the tape that has just begun. */
  begin(event: () => Step): void {
    // Of a run that is over, all that began is written when it has ended.
    if (this.#over || this.#isPast) return
    this.attempt(() => this.append({ part: 'begun', event: event() }))
  }

  /** An answer comes in pieces: those of the next moments are written together, when it is not complete by then. */
  arriving(answer: Arriving): void {
    this.#arriving.add(answer)
    this.#timer ??= natives.setTimeout(this.#writeArrived, behindMs).unref()
  }

  readonly #writeArrived = (): void => {
    this.#timer = undefined
    if (this.#over) return
    for (const answer of this.#arriving) {
      this.attempt(() => {
        const event = answer.soFar()
        if (event !== undefined) this.append({ part: 'pieces', event })
      })
      if (!answer.isBehind) this.#arriving.delete(answer)
    }
    if (this.#arriving.size > 0) this.#timer = natives.setTimeout(this.#writeArrived, againMs).unref()
  }

  /** Writes one event; what was drawn before it goes first, in the same write. */
  append(event: TapeEvent | OpenStep): void {
    this.#write(event, this.#draws.take())
  }

  /** Redacts and writes what a run says about itself. */
  note(note: RunNote): void {
    this.attempt(() => this.append(redactedNote(note, this.redactor)))
  }

  drew(kind: SeamDrawKind, caller: string, value: unknown): void {
    if (this.#over) return
    const json = Buffer.isBuffer(value) ? value.toString('base64') : (value as Json)
    if (this.#draws.add([kind, caller, json])) this.flushDraws()
  }

  flushDraws(): void {
    const drawn = this.#draws.take()
    if (drawn !== undefined) this.#write(drawn)
  }

  /** @param bodies - those of an exchange that is over; default: they are still to come */
  exchange(start: ExchangeStart, where: { readonly in?: number }, bodies?: Bodies): ExchangeDraft {
    return new ExchangeDraft(this, start, where, bodies)
  }

  opened(draft: ExchangeDraft): void {
    this.#open.add(draft)
  }

  /**
   * Redacts the requests under way, in the order they were made and before the answer that arrives now: a replay sees
   * them in that order, and placeholders are numbered by first appearance. They are redacted when the next thing of this
   * run is, mostly when the answer is complete: one stretch of work costs less than two.
   */
  redactRequests(): void {
    // What is due already was made before these and is under way still: the order stays.
    this.#due = [...this.#open]
  }

  /** Does what {@link redactRequests} put off. Before anything of this run is redacted, and before a request grows. */
  redactDue(): void {
    if (this.#due.length === 0) return
    const due = this.#due
    this.#due = []
    this.attempt(() => {
      for (const draft of due) draft.redactRequest()
    })
  }

  /** Everything of the run passes through it, in order. */
  get redactor(): Redactor {
    this.redactDue()
    return this.#redactor
  }

  settled(draft: ExchangeDraft): void {
    if (!this.#open.delete(draft) || this.#over) return
    this.attempt(() => this.#exchanged(draft))
  }

  spawned(command: readonly string[]): void {
    const url = urlOfCommand(command)
    this.#mute.set(url, (this.redactor.json(command) as readonly string[]).join(' '))
    // Numbered here and not at the first message: a replay meets both at once.
    this.redactor.url(url)
  }

  spokeTo(url: string): void {
    this.#mute.delete(url)
  }

  called(event: CallEvent): void {
    this.#calls.set(event, nothingYet)
    if (event.kind === 'tool' && !this.#isPast) this.account.called(event.name)
    this.begin(() => event)
  }

  leftOpen(event: CallEvent, soFar: () => Partial<CallEvent>): void {
    if (this.#calls.has(event)) this.#calls.set(event, soFar)
  }

  /** Completes a call, once, and writes it. */
  answered(event: CallEvent, rest: () => Partial<CallEvent>): void {
    if (this.#over || !this.#calls.delete(event)) return
    this.attempt(() => this.append({ ...event, ...rest() }))
  }

  unrecorded(what: string): void {
    if (!this.#over) this.#unrecorded.add(what)
  }

  /** Does recorder work; a failure is a warning and an incomplete tape, never an error of the agent. */
  attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (this.#incomplete !== undefined) return
      this.#incomplete = reasonOf(error)
      this.account.failed()
      this.warn(recordingFailed({ run: this.id, tape: this.path }, error))
    }
  }

  /** Ends it, but for its {@link rest}. */
  close(outcome: LiveOutcome): void {
    if (this.#over) return
    const [n, at] = this.#endSteps()
    const timers = this.timers.close()
    const failure = failureOf(outcome, this.#incomplete, this.#unrecorded)
    const happened = (): WatchedRun => this.#happened(outcome, [n, at])
    const verdict = this.account.judged({ durationMs: at, ...(failure && { failure }), happened })
    let given: PastEnd['given'] = {}
    this.attempt(() => (given = this.#given?.left() ?? {}))
    this.#writeEnd([n, at], { verdict, timers, reads: notedReads(this.reads), given }, () => encodedOutcome(outcome))
  }

  /** What is on the tape so far: a run that is written as it goes holds nothing of it. */
  #happened(outcome: LiveOutcome, [n, at]: Moment): WatchedRun {
    const end = { n, at, outcome: redactedOutcome(encodedOutcome(outcome), this.redactor) }
    const { header, events } = this.hasTape ? readTape(this.path) : { header: undefined, events: [] }
    return watchedRun(this.account, events, header?.input, end)
  }

  /** Ends a run that was over before, but for its {@link rest}. */
  closePast(end: PastEnd): void {
    this.#writeEnd(this.#endSteps(), end, () => end.outcome)
  }

  /** Writes what is still to be written of the steps. When the run ended. */
  #endSteps(): Moment {
    this.attempt(() => {
      this.flushDraws()
      // What is still under way was never answered, as far as this run is concerned.
      for (const draft of this.#open) this.#exchanged(draft)
      for (const [call, soFar] of this.#calls) this.append({ ...call, ...soFar() })
    })
    this.#open.clear()
    this.#calls.clear()
    for (const command of this.#mute.values()) this.#unrecorded.add(`child process ${command}`)
    const end = this.moment()
    this.#over = true
    if (this.#timer !== undefined) natives.clearTimeout(this.#timer)
    if (this.#unsearched > 0) this.#incomplete ??= unsearchedReason(this.#unsearched)
    return end
  }

  #writeEnd(
    [n, at]: Moment,
    { verdict, timers, reads, given, incomplete }: Omit<PastEnd, 'outcome'>,
    outcome: () => Outcome,
  ): void {
    let closing: Closing | undefined
    // Whether this run called into them is not seen: that they are there is no reason to keep its tape.
    for (const name of addOnsOutOfSight()) this.#unrecorded.add(`native add-on ${name}`)
    this.attempt(() => {
      const left = given.input?.left
      // As a replay, which compares it before it looks at the outcome.
      const input = left === undefined ? given.input : { left: this.redactor.json(left) }
      const ended = redactedOutcome(outcome(), this.redactor)
      if (this.#redactor.namedInVain > 0)
        this.#incomplete ??= `more values were named as secret than are looked for in a run: ${this.#redactor.namedInVain} of them may stand in clear`
      const missing = this.#incomplete ?? incomplete
      closing = {
        n,
        at,
        outcome: ended,
        ...(missing === undefined ? {} : { incomplete: this.redactor.text(missing) }),
        // Command lines and addresses, as they came.
        ...(this.#unrecorded.size === 0
          ? {}
          : { unrecorded: [...this.#unrecorded].sort().map((what) => this.redactor.text(what)) }),
        ...(this.#redactor.dropped.length === 0 ? {} : { droppedHeaders: this.#redactor.dropped }),
        ...this.#said(verdict),
        ...this.#prints(),
        ...timers,
        ...reads,
        ...(input && { input }),
      }
    })
    this.attempt(() => this.#noteNamed())
    const work = this.#ending(closing, verdict)
    if (closing !== undefined && this.#namedAfter > 0 && this.hasTape) this.#rest = work
    else finish(work)
  }

  *#ending(closing: Closing | undefined, { kept }: RetentionDecision): WorkInParts {
    let last: Closing | undefined
    try {
      if (closing !== undefined) last = yield* this.#withoutLate(closing)
    } catch (error) {
      this.attempt(() => {
        throw error
      })
    }
    this.#rest = undefined
    let isWhole = false
    this.attempt(() => {
      if (last === undefined) return
      this.#writer?.close(last)
      isWhole = this.hasTape
      if (isWhole) this.#closing = last
    })
    if (!isWhole) this.#writer = undefined
    else if (this.#redactor.hides(this.#drawn.spellings)) this.warn(drawnSecret({ run: this.id, tape: this.path }))
    this.account.ended(isWhole ? 'kept' : 'unrecorded', kept)
    for (const work of this.#lateFirst.splice(0)) this.late(work)
  }

  /** The run was over when its agent did this: no step, but a replay can tell that there was something. */
  late(work: LateWork): void {
    if (this.#rest !== undefined) return void this.#lateFirst.push(work)
    const { kind, name, path } = work
    const closing = this.#closing
    if (closing === undefined) return
    this.attempt(() => {
      const redact = (text: string): string => {
        const redacted = this.#redactor.text(text)
        return this.#lateRedactor?.text(redacted) ?? redacted
      }
      if (this.#late.add({ kind, name: redact(name), ...(path !== undefined && { path: redact(path) }) }))
        this.#writer?.closeAgain({ ...closing, late: this.#late.all })
    })
  }

  /**
   * A value may have stood on the tape before a name said that it is secret: then the tape is written once more, without it.
   *
   * @returns the last line without it
   */
  *#withoutLate(closing: Closing): Generator<number, Closing, undefined> {
    let incomplete = closing.incomplete
    try {
      yield* this.#rewriteLate()
    } catch (error) {
      const why = this.#redactor.text(reasonOf(error))
      incomplete = [unclearedReason, why, ...(incomplete === undefined ? [] : [incomplete])].join(': ')
      this.attempt(() => {
        throw error
      })
    }
    const late = this.#lateRedactor
    if (late === undefined) return { ...closing, ...(incomplete !== undefined && { incomplete }) }
    const prints = [...(closing.prints ?? []), ...late.prints]
    return { ...(late.json(closing as unknown as Json) as unknown as Closing), ...(prints.length > 0 && { prints }) }
  }

  *#rewriteLate(): WorkInParts {
    const writer = this.#writer
    if (this.#namedAfter === 0 || writer === undefined) return
    writer.refuseElsewhere()
    const search = this.#redactor.late()
    for (const line of writtenLines(this.path, Math.min(this.#namedAfter, writer.bytes))) {
      lineAgain(line, search)
      yield line.bytes
    }
    if (search.met.size === 0) return
    const late = this.#redactor.late(search.met)
    yield* writer.rewrite(linesAgain(writtenLines(this.path, writer.bytes), late))
    this.#lateRedactor = late
  }

  /** What was named in this line may stand in clear in those before it. */
  #noteNamed(): void {
    const { named } = this.#redactor
    if (named === this.#named || this.#writer === undefined) return
    this.#named = named
    const isHeld =
      this.#isPast ||
      [...this.#open].some((draft) => draft.holdsRedacted) ||
      [...this.#calls.values()].some((soFar) => soFar !== nothingYet)
    this.#namedAfter = isHeld ? Number.POSITIVE_INFINITY : this.#writer.bytes
  }

  /** Redacted after everything else: a replay has not seen these texts when it numbers its placeholders. */
  #said({ kept, retention, usage }: RetentionDecision): Omit<RetentionDecision, 'isKept'> {
    const redact = (text: string): string => this.redactor.text(text)
    const hold = retention?.hold === undefined ? {} : { hold: asDetail(retention.hold, redact) }
    return {
      ...(kept && {
        kept: kept.map(({ because, detail }) => ({ because, ...(detail ? { detail: asDetail(detail, redact) } : {}) })),
      }),
      ...(retention && { retention: { ...retention, ...hold } }),
      ...(usage && { usage }),
    }
  }

  #exchanged(draft: ExchangeDraft): void {
    const event = draft.event()
    // Counted first: an exchange whose line cannot be written was paid for all the same.
    if (!this.#isPast) this.account.exchanged(event)
    this.append(event)
  }

  /** @param drawn - what goes before it, in the same write */
  #write(event: TapeEvent | OpenStep, drawn?: DrawsEvent): void {
    if (this.#over || this.#incomplete !== undefined) return
    if (drawn !== undefined) this.#drawn.note(drawn.draws)
    // What is said of an open step is said again when it is settled.
    if ('kind' in event) {
      for (const _ of cutsOfEvent(event)) this.account.capped()
      if (event.kind === 'draws') this.#drawn.note(event.draws)
      if (event.kind === 'exchange') this.#unsearched += unsearchedIn(event)
    }
    const line = this.#makesPrints ? withPrints(event, this.#prints()) : event
    this.attempt(() => (drawn === undefined ? this.#writer?.append(line) : this.#writer?.append(drawn, line)))
    this.#noteNamed()
    const { bytes = 0 } = this.#writer ?? {}
    if (bytes <= this.#tapeCap) return
    this.account.capped()
    this.#incomplete ??= `the tape reached its cap of ${Number((this.#tapeCap / 2 ** 20).toFixed(2))} MB`
  }

  /** Fingerprints of what was redacted since the line before. */
  #prints(): { readonly prints?: readonly RedactedPrint[] } {
    if (!this.#makesPrints) return {}
    const prints = this.#redactor
      .takeReplaced()
      .flatMap(({ placeholder, print }): RedactedPrint[] => (print === undefined ? [] : [[placeholder, print]]))
    return prints.length === 0 ? {} : { prints }
  }
}

function* linesAgain(lines: Iterable<WrittenLine>, redactor: LateRedactor): Generator<WrittenLine, void, undefined> {
  for (const line of lines) yield lineAgain(line, redactor)
}

/** What the last line has of the answers that are read. */
export type NotedReads = Pick<Closing, 'unread' | 'inPart'>

/** What there is of them when the run is over. That none was left unread tells a tape that notes it. */
export function notedReads(reads: ReadonlyMap<number, BodyUse>): NotedReads {
  if (reads.size === 0) return {}
  const each = (...how: BodyUse[]): readonly number[] =>
    [...reads].flatMap(([n, one]) => (how.includes(one) ? [n] : []))
  return { unread: each('unread', 'taken'), inPart: each('part') }
}

function withPrints(line: TapeEvent | OpenStep, prints: Pick<TapeEvent, 'prints'>): TapeEvent | OpenStep {
  if (prints.prints === undefined) return line
  return 'part' in line ? { ...line, event: { ...line.event, ...prints } } : { ...line, ...prints }
}

export function recordingFailed(where: { readonly run: string; readonly tape?: string }, error: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDING_FAILED',
    {
      what: 'A run could not be recorded completely; the agent is not affected',
      where,
      why: reasonOf(error),
      fix: isTaken(error)
        ? [
            'give each run an id of its own: recorder.run({ agent, id: `ticket-${ticket.id}-${Date.now()}`, input }, …)',
            'or omit `id`: each run gets a new one',
          ]
        : ['check that the folder exists, is writable and has space'],
    },
    { cause: error },
  )
}

/** What the code alone names: organization and project, a region. */
function namedByCode(): readonly string[] {
  const isSet = (variable: string): boolean => (process.env[variable] ?? '').trim() !== ''
  const hasRegion = regionVariables.some(isSet) || hasAwsConfiguration()
  return [
    ...(tenantVariables.some(([, variable]) => isSet(variable)) ? [] : [tenantsFlag]),
    ...(hasRegion ? [] : [regionFlag]),
  ]
}

/** Whether a file may name a region. A service records many runs, and a file is looked for once: the SDK reads it once too. */
function hasAwsConfiguration(): boolean {
  const named = process.env['AWS_CONFIG_FILE']
  let isThere = awsFiles.get(named)
  if (isThere === undefined) awsFiles.set(named, (isThere = existsSync(named ?? join(homedir(), '.aws', 'config'))))
  return isThere
}

/** By what the environment names; `undefined` is the one at home. */
const awsFiles = new Map<string | undefined, boolean>()

/** Whether a tape of this id is there: a run id was used twice. */
function isTaken(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EEXIST'
}

export function reasonOf(error: unknown): string {
  if (!HarvestError.is(error)) return error instanceof Error ? error.message : String(error)
  const { what, where, why } = error.facts
  return [what, where?.['error'], why].filter(Boolean).join(': ')
}
