import {
  type ExpectedUse,
  type Grade,
  type GradingUse,
  mostForks,
  openForks,
  type RunBlameOptions,
  type RunLayer,
} from '../blame/index.ts'
import type { Tape } from '../tape/index.ts'
import { runsOfArm } from './arms.ts'
import { allArms, planOfArms } from './isolate.ts'
import { heldOf, timingOf } from './run.ts'

/** An arm as it would be made. */
export interface PlannedArm {
  readonly varied: readonly RunLayer[]
  /** Why it is not made. */
  readonly because?: string
  /** What it uses where the failure stays in each of its runs; absent: it is not made. */
  readonly stays?: ExpectedUse
}

/** What isolating a layer is expected to use. Plain JSON. */
export interface IsolationEstimate {
  /** Id of the tape. */
  readonly tape: string
  readonly gradedBy: string
  readonly recorded: Grade
  /** Where today's code, unchanged, already differs from the recording: that run is graded then. */
  readonly differs?: { readonly step?: number; readonly what: string }
  readonly arms: readonly PlannedArm[]
  /** Where the failure stays in every run of every arm, and the code is named. */
  readonly stays: ExpectedUse
  /** All that the limits allow. */
  readonly high: ExpectedUse
  /** Runs that vary tools for real, at most; 0: tools answer from the tape. */
  readonly realTools: number
  /** Forks of earlier sessions that need not be made again. */
  readonly reused: number
  /** What grading the recorded run used; absent: nothing was spent. */
  readonly grading?: GradingUse
}

/**
 * Replays and grades the run, and says which arms would be made of it and what they are expected to cost. Nothing is spent but
 * by an oracle that asks a model.
 *
 * @throws HarvestError as `isolateRun`
 */
export async function estimateIsolation(tape: Tape, options: RunBlameOptions): Promise<IsolationEstimate> {
  const { delta, tau, tools = 'tape', parallel = 8 } = options
  const { source, oracle, forkCache, limits } = await openForks(tape, options)
  const plan = planOfArms({
    ...(delta === undefined ? {} : { delta }),
    ...(tau === undefined ? {} : { minEffect: tau }),
  })
  const runs = runsOfArm(plan, parallel)
  const held = heldOf(tape, timingOf(tape), tools)
  const useOf = (varied: readonly RunLayer[], forks: number): ExpectedUse => {
    const { modelCalls, costUsd } = source.expect({ keep: 0, seed: 0, layers: varied })
    return { forks, modelCalls: forks * modelCalls, ...(costUsd === undefined ? {} : { costUsd: forks * costUsd }) }
  }
  const made = allArms.filter((varied) => varied.every((layer) => held[layer] === undefined))
  const arms = allArms.flatMap((varied): readonly PlannedArm[] => {
    if (made.includes(varied)) return [{ varied, stays: useOf(varied, runs.stays) }]
    const because = held[varied[0]]?.because
    return varied.length === 1 && because !== undefined ? [{ varied, because }] : []
  })
  const most = sumOf(made.map((varied) => useOf(varied, runs.most)))
  const share = Math.min(1, (limits.forks ?? mostForks) / Math.max(1, most.forks))
  const high = {
    forks: Math.floor(share * most.forks),
    modelCalls: Math.floor(share * most.modelCalls),
    ...(most.costUsd === undefined ? {} : { costUsd: Math.min(share * most.costUsd, limits.costUsd ?? Infinity) }),
  }
  const grading = source.gradedRecorded?.().used
  const { differs } = source.control
  return {
    tape: tape.header.id,
    gradedBy: oracle.about,
    recorded: source.recorded,
    ...(differs === undefined ? {} : { differs }),
    arms,
    stays: sumOf(arms.flatMap((arm) => arm.stays ?? [])),
    high,
    realTools: made.filter((varied) => varied.some((layer) => layer === 'tools')).length * runs.most,
    reused: forkCache?.entries.length ?? 0,
    ...(grading === undefined || grading.modelCalls === 0 ? {} : { grading }),
  }
}

function sumOf(uses: readonly ExpectedUse[]): ExpectedUse {
  return uses.reduce(
    (sum, { forks, modelCalls, costUsd }) => ({
      forks: sum.forks + forks,
      modelCalls: sum.modelCalls + modelCalls,
      ...(costUsd === undefined || sum.costUsd === undefined ? {} : { costUsd: sum.costUsd + costUsd }),
    }),
    { forks: 0, modelCalls: 0, costUsd: 0 } as ExpectedUse,
  )
}
