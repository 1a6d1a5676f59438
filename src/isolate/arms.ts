import { type ForkDraw, type Forks, type RunLayer, type Stop, stopTexts } from '../blame/index.ts'
import { type Interval, sprt, wilson } from '../stats/index.ts'

/**
 * Runs in which the same layers are not as recorded, and what they say.
 *
 * - `cured`: the failure goes away in more of them than chance explains
 * - `fails`: it stays, but for so few that they are less than the smallest effect
 * - `unknown`: not decided; `because` says why
 * - `fixed`: there is nothing of these layers in the run that could be another one
 * - `not tried`: `because` says why
 */
export interface ArmReport {
  readonly varied: readonly RunLayer[]
  readonly says: 'cured' | 'fails' | 'unknown' | 'fixed' | 'not tried'
  /** Runs that were graded, and those of them that failed. */
  readonly runs: number
  readonly failed: number
  /** Runs that cannot be judged; they are not counted. */
  readonly ungraded: number
  /** Of the share that fails: Wilson, 95 %, for display. Absent without a run. */
  readonly interval?: Interval
  readonly because?: string
  readonly modelCalls: number
  /** US dollars; absent when unknown. */
  readonly costUsd?: number
}

export interface ArmPlan {
  /** Smallest share of cured runs that is an effect. */
  readonly minEffect: number
  /** How often the arm may say what is not so, either way. */
  readonly error: number
}

/** Runs after which an arm that is neither here nor there gives up. */
const mostRuns = 150
/** With a larger share of runs that cannot be judged, the others say nothing of the arm. */
const mostUngraded = 0.2

/** How many runs an arm makes where the failure stays in each of them, and how many at most; `parallel` are made at once. */
export function runsOfArm(
  { minEffect, error }: ArmPlan,
  parallel: number,
): { readonly stays: number; readonly most: number } {
  let stays = 1
  while (stays < mostRuns && sprt(0, stays, { good: minEffect, bad: minEffect / 4, error }) === undefined) stays++
  return { stays: Math.min(mostRuns, Math.ceil(stays / parallel) * parallel), most: mostRuns }
}

/** Makes runs of an arm until a sequential test tells whether they are cured. */
export async function drawArm(forks: Forks, varied: readonly RunLayer[], plan: ArmPlan): Promise<ArmReport> {
  const tally = new Tally(varied, plan)
  while (tally.says === undefined) {
    const size = Math.min(forks.parallel, mostRuns - tally.made)
    const draws = await forks.draw(Array.from({ length: size }, () => ({ keep: 0, layers: varied })))
    for (const draw of draws) if (draw !== undefined) tally.add(draw)
    if (tally.says === undefined && (forks.stopped !== undefined || tally.made >= mostRuns)) break
  }
  return tally.report(forks.stopped)
}

/** An arm that is not made. */
export function unmadeArm(varied: readonly RunLayer[], says: 'fixed' | 'not tried', because?: string): ArmReport {
  return {
    varied,
    says,
    runs: 0,
    failed: 0,
    ungraded: 0,
    modelCalls: 0,
    costUsd: 0,
    ...(because === undefined ? {} : { because }),
  }
}

class Tally {
  readonly #varied: readonly RunLayer[]
  readonly #plan: ArmPlan
  #ok = 0
  #failed = 0
  #ungraded = 0
  #reason: string | undefined
  #modelCalls = 0
  #costUsd: number | undefined = 0
  /** What the runs say, from the first one on that decided it. */
  says: 'cured' | 'fails' | 'unknown' | undefined

  constructor(varied: readonly RunLayer[], plan: ArmPlan) {
    this.#varied = varied
    this.#plan = plan
  }

  get made(): number {
    return this.#ok + this.#failed + this.#ungraded
  }

  add({ grade, because, modelCalls, costUsd }: ForkDraw): void {
    this.#modelCalls += modelCalls
    this.#costUsd = costUsd === undefined || this.#costUsd === undefined ? undefined : this.#costUsd + costUsd
    if (grade === 'ok') this.#ok++
    else if (grade === 'ungraded' || grade === 'undefined') {
      this.#ungraded++
      this.#reason ??= because
    } else this.#failed++
    this.says ??= this.#decide()
  }

  #decide(): 'cured' | 'fails' | 'unknown' | undefined {
    if (this.#ungraded > mostUngraded * Math.max(this.made, 10)) return 'unknown'
    const { minEffect, error } = this.#plan
    const said = sprt(this.#ok, this.#failed, { good: minEffect, bad: minEffect / 4, error })
    if (said === undefined) return undefined
    return said === 'good' ? 'cured' : 'fails'
  }

  report(stopped: Stop | undefined): ArmReport {
    const runs = this.#ok + this.#failed
    const says = this.says ?? 'unknown'
    const because = says === 'unknown' ? this.#whyUnknown(stopped) : undefined
    return {
      varied: this.#varied,
      says,
      runs,
      failed: this.#failed,
      ungraded: this.#ungraded,
      ...(runs === 0 ? {} : { interval: wilson(this.#failed, runs) }),
      ...(because === undefined ? {} : { because }),
      modelCalls: this.#modelCalls,
      ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
    }
  }

  #whyUnknown(stopped: Stop | undefined): string {
    if (this.says === 'unknown') return this.#reason ?? 'too many runs could not be judged'
    return stopped === undefined ? `still open after ${this.made} runs` : `stopped by the limit ${stopTexts[stopped]}`
  }
}
