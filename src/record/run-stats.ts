import { type HarvestError, neutralLine } from '../errors/index.ts'
import { outsideRuns, queueMicrotask } from '../seam/source.ts'
import type { ExchangeEvent, KeptReason, Retention, RunUsage } from '../tape/index.ts'
import { budgetSpent } from '../errors/budget-spent.ts'
import type { HeardExchange, Metered } from './usage.ts'
import { type BudgetEvent, UsageCounter } from './usage-counter.ts'
import type { TailSampler } from './tail-sampler.ts'
import type { WatchedRun } from './watch.ts'
import type { Fate } from './stats.ts'

/** Why a run is worth a look, regardless of chance. */
export interface RunFailure extends KeptReason {
  readonly because: 'error' | 'timeout' | 'unrecorded'
}

/** How a run ended, as far as keeping it is concerned. */
export interface RunEnd {
  readonly durationMs: number
  /** It threw, or its tape is not whole. */
  readonly failure?: RunFailure
  /** What happened in it; asked where something is watched for. */
  readonly happened?: () => WatchedRun
}

/** What becomes of a tape, and what its last line says about it. */
export interface RetentionDecision {
  readonly isKept: boolean
  readonly kept?: readonly KeptReason[]
  readonly retention?: Retention
  readonly usage?: RunUsage
}

/** What {@link Recorder.run} hands to the function it runs. */
export interface RunHandle {
  /** Name of the tape. */
  readonly id: string
  /** Aborted with a `HARVEST_BUDGET` error when a hard limit is passed. Hand it to the model client. */
  readonly signal: AbortSignal
  /** What the run used so far; `undefined` where no option makes the recorder count. */
  readonly usage: RunUsage | undefined
  /** Keeps this run regardless of chance. Returns whether the run still went on. */
  flag(reason: string): boolean
  /** Keeps the tape of this run until someone lifts the hold. Returns whether the run still went on. */
  hold(reason: string): boolean
}

const none: readonly KeptReason[] = []

/** A run says a reason once, and no more of them than a person reads. */
const reasonCap = 32

/** The book of one run: what it used, what it was flagged for, which limits it passed. Holds no bodies. */
export class RunAccount {
  readonly run: string
  readonly agent: string
  /** Chance keeps it. */
  readonly isSampled: boolean
  readonly #sampler: TailSampler
  readonly #usageCounter: UsageCounter | undefined
  #abort: AbortController | undefined
  /** Made for the first: most runs have none. */
  #reasons: Map<string, KeptReason> | undefined
  #hold: string | undefined
  #spent: HarvestError | undefined

  constructor(sampler: TailSampler, run: string, agent: string, isSampled: boolean) {
    this.isSampled = isSampled
    this.run = run
    this.agent = agent
    this.#sampler = sampler
    this.#usageCounter = sampler.isMetering ? new UsageCounter(sampler.limits) : undefined
  }

  /** Whether what exchanges use is counted. */
  get isCounting(): boolean {
    return this.#usageCounter !== undefined
  }

  /** Whether it is compared with limits while the run goes on. */
  get hasBudget(): boolean {
    return this.#sampler.budget !== undefined
  }

  /** Whether what happens in it has to be there when it is judged. */
  get isWatched(): boolean {
    return this.#sampler.isWatching
  }

  get signal(): AbortSignal {
    return this.#controller().signal
  }

  get usage(): RunUsage | undefined {
    return this.#usageCounter?.usage
  }

  /** Read and written; `undefined` where no option makes the recorder count. */
  get tokens(): number | undefined {
    return this.#usageCounter?.tokens
  }

  /** `undefined` where it is not counted or not known. */
  get costUsd(): number | undefined {
    return this.#usageCounter?.costUsd
  }

  /** Why wrapped tools are called no more. */
  get spent(): HarvestError | undefined {
    return this.#spent
  }

  get hold(): string | undefined {
    return this.#hold
  }

  get reasons(): readonly KeptReason[] {
    return this.#reasons === undefined ? none : [...this.#reasons.values()]
  }

  flag(reason: string): void {
    this.#note({ because: 'flag', detail: reason })
  }

  setHold(reason: string): void {
    this.#hold ??= shortened(reason)
    this.#note({ because: 'flag', detail: reason })
  }

  /** A wrapped tool is called. */
  called(tool: string): void {
    if (this.#sampler.tools.has(tool)) this.#note({ because: 'tool', detail: tool })
  }

  /** What became of the run; said once. */
  ended(fate: Fate, kept?: readonly KeptReason[]): void {
    this.#sampler.counts.ended(fate, kept)
  }

  /** Something went wrong in recording the run. */
  failed(): void {
    this.#sampler.counts.failures++
  }

  /** A part of a body, or of the tape, was left out. */
  capped(): void {
    this.#sampler.counts.capped++
  }

  /** The run is over: whether it is kept, and what is said about it. */
  judged(ended: RunEnd): RetentionDecision {
    return this.#sampler.judge(this, ended)
  }

  /** An exchange is over. */
  exchanged(event: ExchangeEvent): void {
    if (this.#usageCounter !== undefined) this.#add(this.#usageCounter, this.#sampler.read(event))
  }

  /** An exchange is over of a run that is not written. */
  heard(exchange: HeardExchange): void {
    if (this.#usageCounter !== undefined) this.#add(this.#usageCounter, this.#sampler.readHeard(exchange))
  }

  #add(counter: UsageCounter, metered: Metered | undefined): void {
    for (const tool of metered?.tools ?? []) this.called(tool)
    if (metered?.model === undefined) return
    for (const passed of counter.add(metered)) this.#passed({ run: this.run, agent: this.agent, ...passed })
  }

  #passed(event: BudgetEvent): void {
    const { of, level, limit, used } = event
    this.#note({ because: 'budget', detail: `${of} ${used} > ${limit}, ${level}` })
    if (level === 'hard') {
      this.#spent ??= budgetSpent(event)
      const spent = this.#spent
      // The agent hears of it in a turn of its own, as of any abort, and not in the middle of an answer.
      queueMicrotask(() => this.#controller().abort(spent))
    }
    outsideRuns(() => this.#sampler.overBudget(event))
  }

  /** Made when someone asks: most runs have no budget, and their signal is not used. */
  #controller(): AbortController {
    this.#abort ??= new AbortController()
    return this.#abort
  }

  #note(reason: KeptReason): void {
    const detail = shortened(reason.detail ?? '')
    const reasons = (this.#reasons ??= new Map<string, KeptReason>())
    const isFull = reason.because === 'flag' && reasons.size >= reasonCap
    if (!isFull) reasons.set(`${reason.because} ${detail}`, { ...reason, detail })
  }
}

/** Text of the application or a model, short enough to be looked through for secrets before it is written. */
function shortened(text: string): string {
  return text.slice(0, detailCap)
}

const detailCap = 2000
/** So much of a text that was cut may be the beginning of a secret that nothing finds any more. */
const endCap = 512

/** Text as it may stand on the last line: without secrets, in one line that is safe to print. */
export function asDetail(text: string, redact: (text: string) => string): string {
  const clean = redact(text)
  if (text.length < detailCap) return neutralLine(clean, 200)
  return neutralLine(`${clean.slice(0, Math.max(0, clean.length - endCap)).replace(/(?<!\S)\S*$/, '')}…`, 200)
}
