import fc from 'fast-check'
import {
  decisionOf,
  ForkBudget,
  type ForksSpent,
  type Grade,
  type LimitPassed,
  limitPassed,
  openForks,
  type OtherRuns,
  requireNoKeptState,
  type RunBlameOptions,
  type Stop,
} from '../blame/index.ts'
import { applyFaults, faultSchedule, kindsNamed, possibleFaults, runChangesOf } from '../faults/index.ts'
import type { ForkPlan } from '../fork/index.ts'
import { stepsOf, type Tape } from '../tape/index.ts'
import { isolateLayers, type Isolation, type IsolateOptions, type IsolateVerdict } from './isolate.ts'

/** What was found out about the layers of a real run. Plain JSON. */
export interface IsolatedRun extends Isolation {
  /** Id of the tape. */
  readonly tape: string
  readonly agent: string
  readonly gradedBy: string
  /** What the run comes to with everything from the tape: it fails, or nothing is asked. */
  readonly recorded: Grade
  /** Where today's code, unchanged, already differs from the recording. */
  readonly differs?: { readonly step?: number; readonly what: string }
  /** What is asked for and no known run has, or who grades none ok: that the failure stays says nothing about the code. */
  readonly neverSeen?: readonly string[]
  /** Beside `neverSeen`: runs that may help. */
  readonly knownRuns?: OtherRuns
  readonly delta: number
  readonly minEffect: number
  /** Families of faults that vary clock and order; empty: this run has neither. */
  readonly timing: readonly string[]
  readonly spent: { readonly now: ForksSpent; readonly reused: ForksSpent }
  /** The limit that ended it; absent: none did. */
  readonly stoppedBy?: Stop
  /** Absent: all limits were kept. */
  readonly limitPassed?: LimitPassed
  readonly methods: Readonly<Record<string, string>>
}

/**
 * Replays a failed run, and finds the layer that triggers its failure. Its verdict is what the runs point to; who tells it on
 * tells no more than {@link claimOf}.
 *
 * @throws HarvestError as `runBlame`: before anything is spent, where the run does not replay or is no failure
 */
export async function isolateRun(
  tape: Tape,
  options: RunBlameOptions & { readonly onArm?: IsolateOptions['onArm'] },
): Promise<IsolatedRun> {
  const { delta = 0.05, tau = 0.2, tools = 'tape', onArm, parallel, signal } = options
  const families = timingOf(tape)
  const timing = (seed: number) => retimed(tape, families, seed)
  const { source, oracle, forkCache, limits, neverSeen, knownRuns } = await openForks(tape, { ...options, timing })
  const forks = new ForkBudget(source, {
    limits,
    ...(parallel === undefined ? {} : { parallel }),
    ...(forkCache === undefined ? {} : { forkCache }),
    ...(signal === undefined ? {} : { signal }),
  })
  const found = await isolateLayers(forks, {
    delta,
    minEffect: tau,
    held: heldOf(tape, families, tools),
    ...(onArm === undefined ? {} : { onArm }),
  })
  await requireNoKeptState({ source, forkCache }, forks)
  const { differs } = source.control
  const { now, reused } = forks.spent
  const isCured = found.arms.some(({ runs, failed }) => failed < runs)
  const unseen = found.verdict.kind === 'found' && !isCured ? await neverSeen() : []
  const others = unseen.length === 0 ? {} : await knownRuns()
  return {
    ...found,
    ...(unseen.length === 0 ? {} : { neverSeen: unseen }),
    ...(Object.keys(others).length === 0 ? {} : { knownRuns: others }),
    tape: tape.header.id,
    agent: options.agent,
    gradedBy: oracle.about,
    recorded: source.recorded,
    ...(differs === undefined ? {} : { differs }),
    delta,
    minEffect: tau,
    timing: families,
    spent: { now, reused },
    ...(forks.stopped === undefined ? {} : { stoppedBy: forks.stopped }),
    ...limitPassed({ source, limits, forkBudget: forks }),
    methods: {
      verdict: `Wald's sequential test of the share of cured runs, ${tau} against ${tau / 4}; all claims together are false at most 1 − confidence of the time`,
      interval: 'Wilson, 95 % at a fixed number of runs; for display only',
    },
  }
}

/** What is known of an isolated run: where each run is bad and none is known that is good, who grades may call every run bad. */
export function claimOf(isolated: IsolatedRun): IsolatedRun {
  return isolated.neverSeen === undefined ? isolated : { ...isolated, verdict: neverRight }
}

const neverRight: IsolateVerdict = {
  kind: 'unresolved',
  open: ['code'],
  because: 'no run met the condition, and it is not known that a run can',
}

/** What of this run's timing can be another one: `order` where answers were under way together, `clock` where one was read. */
export function timingOf(tape: Tape): readonly string[] {
  const hasOrder = possibleFaults(tape, kindsNamed(['order'])).length > 0
  const readsClock = tape.events.some((event) => event.kind === 'draws' && event.draws.some(([kind]) => kind === 'now'))
  return [...(hasOrder ? ['order'] : []), ...(readsClock ? ['clock'] : [])]
}

function retimed(tape: Tape, families: readonly string[], seed: number): Pick<ForkPlan, 'changes' | 'clockOffsetMs'> {
  const schedules = faultSchedule(tape, { faults: families, densities: [0.5] })
  const [schedule = []] = fc.sample(schedules, { seed, numRuns: 1 })
  const { clockOffsetMs } = runChangesOf(tape, schedule)
  return { changes: applyFaults(tape, schedule), ...(clockOffsetMs === undefined ? {} : { clockOffsetMs }) }
}

/** Layers that cannot be other ones in this run, and why. */
export function heldOf(tape: Tape, families: readonly string[], tools: 'tape' | 'live'): IsolateOptions['held'] {
  const steps = stepsOf(tape)
  const hasModel = steps.some((step) => decisionOf(step) !== undefined)
  const hasTools = steps.some((step) => decisionOf(step) === undefined)
  const notAsked = { says: 'not tried', because: 'tools run for real only with --tools live' } as const
  return {
    ...(families.length > 0 ? {} : { timing: { says: 'fixed', because: 'it reads no clock, and no answers overlap' } }),
    ...(hasModel ? {} : { model: { says: 'fixed', because: 'no model was asked' } }),
    ...(hasTools ? {} : { tools: { says: 'fixed', because: 'no tool or service was asked' } }),
    ...(hasTools && tools === 'tape' ? { tools: notAsked } : {}),
  }
}
