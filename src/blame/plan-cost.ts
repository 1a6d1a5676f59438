import { glances } from './earlier.ts'
import type { ReportOptions } from './report.ts'
import type { ForkSource } from './types.ts'
import { usualParallel } from './usual-parallel.ts'

/** What blame is expected to use, before a fork is made. */
export interface CostPlan {
  /** When it is easy: a step that decides nearly alone. */
  readonly low: ExpectedUse
  /** When a step decides, and runs fail now and then by themselves too. */
  readonly likely: ExpectedUse
  /** All that the limits allow. */
  readonly high: ExpectedUse
  /** Instead of all of these, when what is resampled comes out the same each time. */
  readonly deterministic: ExpectedUse
}

export interface ExpectedUse {
  readonly forks: number
  readonly modelCalls: number
  /** US dollars; absent when the source knows no prices. */
  readonly costUsd?: number
}

/**
 * What blame of this run is expected to use, for a dry run. Makes no fork.
 *
 * The numbers of forks are those measured on simulated agents of 20 to 200 steps; the use of each fork is that of its own
 * tail, averaged over where it may part from the tape. The forks that look for an earlier cause are among them.
 */
export function planCost(source: ForkSource, options: ReportOptions = {}): CostPlan {
  const count = Math.max(1, source.positions.length)
  const parallel = options.parallel ?? usualParallel
  const limit = options.limits?.forks ?? 400
  const isCurve = options.curve ?? (source.recorded !== 'ok' || options.mutations !== true)
  // Rounds of several forks at once know less when they choose: about one round and a half is spent on that.
  const rounds = parallel > 1 ? 1.5 * parallel : 0
  const tail = meanUse(source, count)
  const whole = source.expect({ keep: 0, seed: 0 })
  const suspects = options.suspects?.length ?? source.positions.filter(({ isExogenous }) => isExogenous).length
  const mutated = source.positions.filter((_, i) => (source.mutants?.(i) ?? 0) > 0).length
  const use = (curve: number, repairs: number, mutations: number): ExpectedUse => {
    const ofTail = (isCurve ? curve : 0) + (options.mutations === true ? mutations : 0)
    const ofWhole = options.repairs === true ? repairs : 0
    const forks = ofTail + ofWhole
    const share = Math.min(1, limit / Math.max(1, forks))
    const modelCalls = share * (ofTail * tail.modelCalls + ofWhole * whole.modelCalls)
    const isPriced = tail.costUsd !== undefined && whole.costUsd !== undefined
    const exactUsd = share * (ofTail * (tail.costUsd ?? 0) + ofWhole * (whole.costUsd ?? 0))
    const costUsd = Math.ceil(exactUsd * 100) / 100
    return { forks: Math.round(share * forks), modelCalls: Math.round(modelCalls), ...(isPriced ? { costUsd } : {}) }
  }
  return {
    low: use(28 + 2 * Math.log2(count) + rounds + glances, 15 + 17 * suspects, 5 * mutated + 60),
    likely: use(55 + 5 * Math.log2(count) + rounds + glances, 15 + 28 * suspects, 6 * mutated + 100),
    high: use(limit, limit, limit),
    deterministic: use(Math.ceil(Math.log2(count)) + 5, 3 + 4 * suspects, 4 * mutated),
  }
}

function meanUse(source: ForkSource, count: number): { readonly modelCalls: number; readonly costUsd?: number } {
  let modelCalls = 0
  let costUsd: number | undefined = 0
  for (let keep = 0; keep < count; keep++) {
    const expected = source.expect({ keep, seed: 0 })
    modelCalls += expected.modelCalls / count
    costUsd = costUsd === undefined || expected.costUsd === undefined ? undefined : costUsd + expected.costUsd / count
  }
  return { modelCalls, ...(costUsd === undefined ? {} : { costUsd }) }
}
