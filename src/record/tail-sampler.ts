import type { HarvestError } from '../errors/index.ts'
import type { PriceTable } from '../providers/index.ts'
import { seamState } from '../seam/source.ts'
import type { ExchangeEvent, KeptReason, RetentionClass, RunUsage } from '../tape/index.ts'
import { type BudgetEvent, type BudgetLimit, limitsOf, usageUnknown } from './usage-counter.ts'
import { type RunEnd, RunAccount, type RetentionDecision } from './run-stats.ts'
import { loadMeter, loadWatch } from './load-usage.ts'
import type { RunWatch } from './watch.ts'
import type { HeardExchange, HeardMeter, Metered } from './usage.ts'
import type { BudgetOptions, KeepOptions, RecorderOptions } from './options.ts'
import { RunningQuantile } from './quantile.ts'
import { type Duration, retentionOf } from './retention.ts'
import { isSampled } from './sample.ts'
import { RunCounts } from './stats.ts'
import { quietly } from './warn.ts'

/** `kept`: no matter what happens; `left out`: nothing of it is looked at; `undecided`: it is judged when it is over. */
export type Prospect = 'kept' | 'left out' | 'undecided'

interface Quantiles {
  readonly tokens?: RunningQuantile
  readonly costUsd?: RunningQuantile
}

const defaultRetention = { clean: '7d', flagged: '90d', incident: '1y' } as const satisfies Record<
  RetentionClass,
  Duration
>
const runsBeforeOutliers = 100
const notKept: RetentionDecision = { isKept: false }
/**
 * How far above the quantile a run stands out. Runs that all use 30 or 60 tokens have a quantile of 59.99 by estimate:
 * without a margin every third run of such an agent would be kept.
 */
const clearly = 1.01

/** Decides for all runs of one recorder which are kept, why, and for how long. Holds a few numbers per agent, no run. */
export class TailSampler {
  readonly budget: BudgetOptions | undefined
  readonly limits: readonly BudgetLimit[]
  readonly tools: ReadonlySet<string>
  readonly #sample: number | undefined
  readonly #keep: KeepOptions
  readonly #isSelective: boolean
  readonly #retention: Readonly<Record<RetentionClass, Duration>> | undefined
  readonly #prices: PriceTable | undefined
  readonly #meter: ((event: ExchangeEvent, prices: PriceTable | undefined) => Metered | undefined) | undefined
  readonly #heardMeter: HeardMeter | undefined
  readonly #watch: RunWatch | undefined
  readonly #onBudget: ((event: BudgetEvent) => void) | undefined
  readonly #tell: (error: HarvestError) => void
  readonly #told = new Set<string>()
  readonly #agents = new Map<string, Quantiles>()
  readonly #decidesAtStart: boolean
  /** What became of the runs. */
  readonly counts = new RunCounts()

  /**
   * @param tell - hears each thing worth a warning once
   * @throws HarvestError `HARVEST_RECORDER_METER`
   */
  constructor(options: RecorderOptions, tell: (error: HarvestError) => void) {
    const { sample, keep, budget, prices, retention, onBudget } = options
    this.#decidesAtStart = options.decide === 'start'
    this.budget = budget
    this.limits = limitsOf(budget)
    this.tools = new Set(keep?.tools)
    this.#sample = sample
    this.#keep = keep ?? {}
    this.#isSelective = sample !== undefined || keep !== undefined
    this.#retention = retention && { ...defaultRetention, ...given(retention) }
    this.#prices = prices
    this.#onBudget = onBudget
    this.#tell = tell
    const isMetered = budget ?? prices ?? keep?.outliers ?? keep?.tools
    this.#watch = keep?.when === undefined ? undefined : loadWatch().watchFor(keep.when)
    if (isMetered === undefined) return
    const { meter, heardMeter } = loadMeter()
    this.#meter = meter
    this.#heardMeter = heardMeter(prices, this.tools)
  }

  /**
   * The book of one run.
   *
   * @param isDrawn - chance keeps it, see {@link TailSampler.prospectOf}
   */
  open(run: string, agent: string, isSampled = true): RunAccount {
    return new RunAccount(this, run, agent, isSampled)
  }

  /** Whether exchanges are read for what they used. */
  get isMetering(): boolean {
    return this.#meter !== undefined
  }

  /** Whether runs are asked for what happened in them. */
  get isWatching(): boolean {
    return this.#watch !== undefined
  }

  /** What is known of a run before it begins. */
  prospectOf(run: string): Prospect {
    const sample = this.#sample
    if (sample === undefined || sample === 1 || isSampled(run, sample)) return 'kept'
    return this.#decidesAtStart ? 'left out' : 'undecided'
  }

  /** What an exchange used; what a limit cannot count is reported once per model. */
  read(event: ExchangeEvent): Metered | undefined {
    return this.#checked(this.#meter?.(event, this.#prices))
  }

  /** The same of one that was only heard. */
  readHeard(heard: HeardExchange): Metered | undefined {
    return this.#checked(this.#heardMeter?.(heard))
  }

  #checked(metered: Metered | undefined): Metered | undefined {
    const { model, missing } = metered ?? {}
    if (model === undefined || missing === undefined) return metered
    const counted = [this.budget, this.#keep.outliers].flatMap((options) => Object.keys(options ?? {}))
    const matters = counted.includes('costUsd') || (counted.includes('tokens') && missing === 'tokens')
    if (matters && !this.#told.has(`${missing} ${model}`)) {
      this.#told.add(`${missing} ${model}`)
      this.#tell(usageUnknown(model, missing))
    }
    return metered
  }

  overBudget(event: BudgetEvent): void {
    quietly(() => this.#onBudget?.(event))
  }

  /** Whether the run is kept. Its numbers count for the agent's later runs either way. */
  judge(account: RunAccount, ended: RunEnd): RetentionDecision {
    const stoodOut: KeptReason[] = []
    if (this.#isSelective) this.#mishaps(ended, stoodOut)
    if (this.#keep.outliers !== undefined) this.#outliers(account, this.#keep.outliers, stoodOut)
    for (const reason of account.reasons) stoodOut.push(reason)
    this.#watched(ended, stoodOut)
    const isAll = this.#sample === undefined
    const byChance = !isAll && this.#sample < 1 && account.isSampled
    if (!isAll && this.#sample < 1 && !byChance && stoodOut.length === 0) return notKept
    const kept: KeptReason[] = [...(byChance ? [{ because: 'sample' as const }] : []), ...stoodOut]
    const { hold } = account
    const kind = classOf(ended, account, stoodOut)
    const endedAt = seamState().natives.epoch()
    const keepFor = this.#retention?.[kind]
    return {
      isKept: true,
      ...(kept.length === 0 ? {} : { kept }),
      ...(this.#retention === undefined && hold === undefined
        ? {}
        : { retention: retentionOf(kind, { endedAt, ...(keepFor && { keepFor }), ...(hold && { hold }) }) }),
      ...(this.isMetering ? { usage: account.usage as RunUsage } : {}),
    }
  }

  #watched({ happened }: RunEnd, reasons: KeptReason[]): void {
    if (this.#watch !== undefined && happened !== undefined) reasons.push(...this.#watch(happened(), this.#tell))
  }

  #mishaps({ failure, durationMs }: RunEnd, reasons: KeptReason[]): void {
    const { errors = true, unrecorded = errors, timeoutMs } = this.#keep
    if (failure === undefined && timeoutMs === undefined) return
    const counts = { timeout: errors || timeoutMs !== undefined, unrecorded, error: errors }
    if (failure !== undefined && counts[failure.because]) reasons.push(failure)
    if (timeoutMs !== undefined && durationMs > timeoutMs && failure?.because !== 'timeout')
      reasons.push({ because: 'timeout', detail: `${Math.round(durationMs)} ms > ${timeoutMs} ms` })
  }

  #outliers(
    { agent, tokens, costUsd }: RunAccount,
    outliers: NonNullable<KeepOptions['outliers']>,
    reasons: KeptReason[],
  ): void {
    const { after = runsBeforeOutliers } = outliers
    const quantiles = this.#quantilesOf(agent)
    for (const reason of [
      standsOut('tokens', tokens, quantiles.tokens, after),
      standsOut('cost', costUsd, quantiles.costUsd, after),
    ])
      if (reason !== undefined) reasons.push(reason)
  }

  #quantilesOf(agent: string): Quantiles {
    let known = this.#agents.get(agent)
    if (known === undefined) {
      const { tokens, costUsd } = this.#keep.outliers ?? {}
      known = {
        ...(tokens === undefined ? {} : { tokens: new RunningQuantile(tokens) }),
        ...(costUsd === undefined ? {} : { costUsd: new RunningQuantile(costUsd) }),
      }
      this.#agents.set(agent, known)
    }
    return known
  }
}

/** Why a run stands out among those before it, if it does; it counts as one of them from now on. */
function standsOut(
  because: 'tokens' | 'cost',
  used: number | undefined,
  quantile: RunningQuantile | undefined,
  after: number,
): KeptReason | undefined {
  if (used === undefined || quantile === undefined) return undefined
  const usual = quantile.value
  const before = quantile.count
  quantile.add(used)
  if (before < after || usual === undefined || used <= usual * clearly) return undefined
  return { because, detail: `${used} > ${Number(usual.toPrecision(4))} of ${before} runs before` }
}

function classOf({ failure }: RunEnd, account: RunAccount, stoodOut: readonly KeptReason[]): RetentionClass {
  const isIncident =
    (failure !== undefined && failure.because !== 'unrecorded') ||
    account.spent !== undefined ||
    stoodOut.some(({ because }) => because === 'timeout')
  if (isIncident) return 'incident'
  return stoodOut.length > 0 || account.hold !== undefined ? 'flagged' : 'clean'
}

/** Without what is given as undefined. */
function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}
