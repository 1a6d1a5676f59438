// Over 300 lines: one budget: what it reserves, settles, stops and says was spent.
import { counted } from '../errors/words.ts'
import { HarvestError, withFacts } from '../errors/index.ts'
import type { KeptRun } from '../fork/index.ts'
import { noPrice } from '../live/index.ts'
import { usedText } from '../live/said-spent.ts'
import { margin } from './graded-use.ts'
import { requireSteadyGrades, SteadyGrades } from './grading.ts'
import { added, emptySpent, type ForksSpent, withRecorded } from './spent.ts'
import type { ForkDraw, ForkSource, ForkSpec } from './types.ts'
import { usualParallel } from './usual-parallel.ts'

/** What blame may use. Forks that the ledger already has cost nothing and are not counted. */
export interface ForkLimits {
  /** Forks made now. Default 400, and fewer where a certificate is far away. */
  readonly forks?: number
  /** US dollars spent now. Default: no limit. Needs a source that knows prices. */
  readonly costUsd?: number
  /** Milliseconds after which no fork is started any more; those under way end. Default: no limit. */
  readonly timeMs?: number
}

/** One fork that was made, as one line of a ledger. */
export interface ForkCacheEntry {
  readonly spec: ForkSpec
  readonly draw: ForkDraw
  /** When it ended, ISO 8601. */
  readonly at: string
  /** Names the session that made it; absent: an earlier version. */
  readonly session?: string
}

/** Where forks are written as they come, and where those of an earlier session are read from. */
export interface ForkCache {
  readonly entries: readonly ForkCacheEntry[]
  /** @param run - what the fork did; absent: unknown */
  append(entry: ForkCacheEntry, run?: KeptRun): void | Promise<void>
}

export interface ForkBudgetOptions {
  readonly limits?: ForkLimits
  /** Forks under way at once. Default 8. */
  readonly parallel?: number
  readonly forkCache?: ForkCache
  /** Times a fork is tried again when it could not be made (a lost connection); each try is counted. Default 2. */
  readonly retries?: number
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number
  readonly signal?: AbortSignal
}

/** Why no fork is made any more. */
export type Stop = 'forks' | 'costUsd' | 'timeMs' | 'signal'

/** How it goes on behind "the limit". */
export const stopTexts: Readonly<Record<Stop, string>> = {
  forks: 'of forks',
  costUsd: 'in dollars',
  timeMs: 'of time',
  signal: 'of the signal',
}

/** A fork that is to be made, without the number that tells it from its like. */
export type Arm = Omit<ForkSpec, 'seed'>

/** Where forks are asked for. */
export type Forks = Pick<ForkBudget, 'draw' | 'parallel' | 'spent' | 'stopped' | 'isOpenEnded'>

/** Forks that are made where it is unknown how many. */
export const mostForks = 400

/**
 * Makes forks within limits: reserves the price of a fork's whole tail before it starts, settles to what it used, and
 * starts none that may pass a limit.
 *
 * Forks of one kind are numbered, so a session that asks for the same gets the same: from the ledger, as far as it goes.
 * An earlier session is thereby carried on, and none of its forks is thrown away; what is tested with e-values and
 * confidence sequences may be carried on like that.
 *
 * @throws HarvestError HARVEST_BLAME_PRICE when there is a limit in dollars and the source knows no price
 */
export class ForkBudget {
  readonly #source: ForkSource
  readonly #limits: ForkLimits & { readonly forks: number }
  readonly #options: ForkBudgetOptions
  readonly #parallel: number
  readonly #now: () => number
  readonly #startedAt: number
  readonly #signal: AbortSignal
  readonly #known = new Map<string, ForkDraw>()
  readonly #grades: SteadyGrades
  #isSteady = false
  readonly #next = new Map<string, number>()
  readonly #ratios: number[] = []
  #underWay = 0
  #started = 0
  readonly #reserved = new Set<ForkSpec>()
  #retries = 0
  #stop: Stop | undefined
  #made = emptySpent
  #reused = emptySpent

  constructor(source: ForkSource, options: ForkBudgetOptions = {}) {
    this.#source = source
    this.#options = options
    this.#grades = new SteadyGrades(source)
    this.#limits = { ...options.limits, forks: options.limits?.forks ?? mostForks }
    this.#parallel = Math.max(1, Math.floor(options.parallel ?? usualParallel))
    this.#now = options.now ?? Date.now
    this.#startedAt = this.#now()
    this.#signal = options.signal ?? new AbortController().signal
    // Those of earlier versions are taken to be of one session.
    for (const { spec, draw, session = '' } of options.forkCache?.entries ?? [])
      this.#known.set(`${armKey(spec)}#${spec.seed}`, { ...draw, session })
    if (this.#limits.costUsd !== undefined && source.expect({ keep: 0, seed: 0 }).costUsd === undefined)
      throw noPrice(source.unpriced ?? 'unknown', '--max-runs 100', 'HARVEST_BLAME_PRICE')
  }

  /** Forks under way at once. */
  get parallel(): number {
    return this.#parallel
  }

  /** The number of forks has no limit of its own: those that would hardly lead to a verdict need not be made. */
  get isOpenEnded(): boolean {
    return this.#options.limits?.forks === undefined
  }

  /** Why no fork is made any more; `undefined` while some are. */
  get stopped(): Stop | undefined {
    return this.#stop
  }

  /** What the forks made now used, what those from the ledger had used, and how many tries failed. */
  get spent(): { readonly now: ForksSpent; readonly reused: ForksSpent; readonly retries: number } {
    const { used } = this.#source.gradedRecorded?.() ?? {}
    const now = used === undefined || used.modelCalls === 0 ? this.#made : withRecorded(this.#made, used)
    return { now, reused: this.#reused, retries: this.#retries }
  }

  /**
   * Makes these forks, started in this order, and gives how they ended in this order; `undefined` for those that a
   * limit did not allow.
   *
   * @throws what the source threw, after the tries are used up and the forks under way have ended; HarvestError
   *   HARVEST_ORACLE_FLAKY when one and the same run was given two grades
   */
  async draw(arms: readonly Arm[]): Promise<(ForkDraw | undefined)[]> {
    try {
      return await this.#draw(arms)
    } catch (error) {
      throw this.#withSpent(error)
    }
  }

  /** Who is refused after forks were made must hear what they used. */
  #withSpent(error: unknown): unknown {
    const { forks, modelCalls } = this.spent.now
    if (!HarvestError.is(error, 'HARVEST_ORACLE_FLAKY') || forks + modelCalls === 0) return error
    return withFacts(error, { where: { ...error.facts.where, spent: this.spentText } })
  }

  /** What was used now, for people. */
  get spentText(): string {
    const { now } = this.spent
    return `${counted(now.forks, 'fork')}, ${usedText(now)}`
  }

  async #draw(arms: readonly Arm[]): Promise<(ForkDraw | undefined)[]> {
    const draws = new Array<ForkDraw | undefined>(arms.length).fill(undefined)
    const running = new Set<Promise<void>>()
    const failures: unknown[] = []
    let isMaking = false
    for (const [index, arm] of arms.entries()) {
      const spec = this.#number(arm)
      const known = this.#known.get(`${armKey(spec)}#${spec.seed}`)
      if (known !== undefined) {
        this.#reused = added(this.#reused, known)
        draws[index] = known
        this.#grades.add(armKey(spec), known)
        continue
      }
      let price = await this.#admit(spec, running)
      if (price !== undefined && failures.length === 0 && !this.#isSteady) {
        await requireSteadyGrades(this.#source)
        this.#isSteady = true
        // Grades may have had to be paid.
        if (this.#source.regrade !== undefined) price = await this.#admit(spec, running)
      }
      if (price === undefined || failures.length > 0) break
      isMaking = true
      const one: Promise<void> = this.#make(spec, price)
        .then((draw) => {
          draws[index] = draw
          if (draw !== undefined) this.#grades.add(armKey(spec), draw)
        })
        .then(
          () => undefined,
          (error: unknown) => {
            failures.push(error)
          },
        )
        .finally(() => running.delete(one))
      running.add(one)
    }
    await Promise.all(running)
    if (failures.length > 0) throw failures[0]
    if (isMaking) await this.#control()
    return draws
  }

  /** A fork that keeps everything, with every round: it costs nothing, and its grade is known. */
  async #control(): Promise<void> {
    const grade = await this.#source.regrade?.()
    if (grade !== undefined) this.#grades.control(grade)
  }

  #number(arm: Arm): ForkSpec {
    const key = armKey(arm)
    const seed = this.#next.get(key) ?? 0
    this.#next.set(key, seed + 1)
    return { ...arm, seed }
  }

  /** Waits until the fork may start and gives what is reserved for it; `undefined` when a limit forbids it. */
  async #admit(spec: ForkSpec, running: ReadonlySet<Promise<void>>): Promise<number | undefined> {
    while (this.#underWay >= this.#parallel && running.size > 0) await Promise.race(running)
    if (this.#stop !== undefined) return undefined
    if (this.#signal.aborted) this.#stop = 'signal'
    else if (this.#started >= this.#limits.forks) this.#stop = 'forks'
    else if (this.#now() - this.#startedAt >= (this.#limits.timeMs ?? Number.POSITIVE_INFINITY)) this.#stop = 'timeMs'
    if (this.#stop !== undefined) return undefined
    const limit = this.#limits.costUsd
    if (limit === undefined) return 0
    for (;;) {
      // A grade may have shown that those of forks under way cost more than was known when they began.
      const reserved = [...this.#reserved].reduce((sum, one) => sum + this.#price(one), 0)
      const price = this.#price(spec)
      if ((this.#made.costUsd ?? 0) + this.#recordedUsd() + reserved + price <= limit) return price
      // What is reserved for the others is rarely used up: wait for one of them.
      if (running.size === 0) {
        this.#stop = 'costUsd'
        return undefined
      }
      await Promise.race(running)
    }
  }

  /** What is reserved for a fork; for its grade as much as that waits for. */
  #price(spec: ForkSpec): number {
    const { costUsd = 0, gradingUsd = 0 } = this.#source.expect(spec)
    return (costUsd - gradingUsd) * this.#margin() + gradingUsd * Math.max(margin, this.#margin())
  }

  /** What grading the recorded run has cost, and what is reserved for grading it again. */
  #recordedUsd(): number {
    const graded = this.#source.gradedRecorded?.()
    if (graded === undefined) return 0
    const { used, toCome } = graded
    // An unknown cost fits into no limit.
    if (used.costUsd === undefined || toCome.costUsd === undefined) return Number.POSITIVE_INFINITY
    return used.costUsd + toCome.costUsd * this.#margin()
  }

  async #make(spec: ForkSpec, price: number): Promise<ForkDraw | undefined> {
    this.#underWay++
    this.#started++
    this.#reserved.add(spec)
    try {
      const made = await this.#tries(spec)
      if (made === undefined) return undefined
      const { run, ...draw } = made
      if (price > 0) this.#learn(spec, draw)
      this.#made = added(this.#made, draw.costUsd === undefined && price > 0 ? { ...draw, costUsd: price } : draw)
      await this.#options.forkCache?.append({ spec, draw, at: new Date(this.#now()).toISOString() }, run)
      return draw
    } finally {
      this.#underWay--
      this.#reserved.delete(spec)
    }
  }

  async #tries(spec: ForkSpec): Promise<ForkDraw | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#source.draw(spec, this.#signal)
      } catch (error) {
        if (this.#signal.aborted) {
          this.#stop = 'signal'
          return undefined
        }
        // A refusal of ours is meant; trying again would not change it.
        if (HarvestError.is(error) || attempt >= (this.#options.retries ?? 2)) throw error
        this.#retries++
        // It is unknown what a lost fork used: it counts as what it was expected to.
        const { costUsd } = this.#source.expect(spec)
        if (costUsd !== undefined) this.#made = { ...this.#made, costUsd: (this.#made.costUsd ?? 0) + costUsd }
      }
    }
  }

  /** Of the agent's own calls: what grades use is learned by the dearest. */
  #learn(spec: ForkSpec, { costUsd, grading }: ForkDraw): void {
    const { costUsd: expected = 0, gradingUsd = 0 } = this.#source.expect(spec)
    if (costUsd !== undefined && expected > gradingUsd)
      this.#ratios.push((costUsd - (grading?.costUsd ?? 0)) / (expected - gradingUsd))
  }

  /** By how much a reservation exceeds what is expected: nineteen of twenty forks so far stayed below it. */
  #margin(): number {
    if (this.#ratios.length < 10) return 1.5
    const sorted = this.#ratios.toSorted((a, b) => a - b)
    return Math.max(1, sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 1)
  }
}

/** One text per kind of fork. */
function armKey({ keep, pinned, repaired, mutated, only, layers }: Arm): string {
  if (layers !== undefined) return layers.join('+')
  if (pinned === undefined && repaired === undefined && mutated === undefined && only === undefined) return `${keep}`
  const sorted = (values: readonly number[] = []): string => values.toSorted((a, b) => a - b).join(',')
  const mutant = mutated === undefined ? '' : `${mutated.position}.${mutated.mutant}`
  return `${keep}|${sorted(pinned)}|${sorted(repaired)}|${mutant}|${sorted(only)}`
}
