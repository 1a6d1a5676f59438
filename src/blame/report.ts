import { armOf, isResampled } from './arms.ts'
import { confidenceSequence } from '../stats/confidence-sequence.ts'
import { passed, type Tally } from './curve.ts'
import { drawnBehind } from './code-alone.ts'
import { blameEarlier, type NecessaryEarlier } from './earlier.ts'
import { blameFailedRun, type FailedRunBlame } from './failed-run.ts'
import { ForkBudget } from './fork-budget.ts'
import { blameMutations } from './mutations.ts'
import type { MutatedPosition, MutationBlame, MutationOptions } from './mutation-verdict.ts'
import { newcombe } from '../stats/newcombe.ts'
import { blameRepairs, type RepairBlame } from './repairs.ts'
import { type ForksSpent, sumOf } from './spent.ts'
import type { ForkSource } from './types.ts'
import type { BlameVerdict, Commitment } from './verdict.ts'
import { type Interval, wilson } from '../stats/wilson.ts'
import { usualEffect } from './settings.ts'

export interface ReportOptions extends MutationOptions {
  /** Ask which step of a failed run decided. Default: whether it failed. */
  readonly curve?: boolean
  /** Ask which recorded answers are necessary and sufficient, and for a smallest set of repairs. Default false. */
  readonly repairs?: boolean
  /** Ask which answers the outcome hangs on, by mutating them. Default false. */
  readonly mutations?: boolean
  /** Positions that may be repaired; default as for {@link blameRepairs}. */
  readonly suspects?: readonly number[]
  /** What is done to a step, for the report. Default: it is resampled. */
  readonly perturbation?: string
  /** The models that were asked. */
  readonly models?: readonly string[]
  /** The commit of the agent. */
  readonly commit?: string
}

/** All that blame found out about a run; plain data, fit for JSON. */
export interface BlameReport {
  /** Every fork resamples all that follows: what happens after an intervention, not what would have happened that time. */
  readonly estimand: 'interventional'
  readonly perturbation: string
  readonly delta: number
  readonly tau: number
  /** `exact`: all resampled answers were the same, so no interval is given. */
  readonly tail: 'exact' | 'noisy'
  /** What all forks used that this rests on; `now` is the part of this session, the rest came from earlier sessions. */
  readonly spent: ForksSpent & { readonly now: ForksSpent; readonly retries: number }
  readonly models?: readonly string[]
  readonly commit?: string
  /** Absent when only mutations were asked about. */
  readonly verdict?: BlameVerdict
  /** Where a step decided: earlier ones that were necessary too, in causal order; empty where none was shown. */
  readonly earlier?: readonly NecessaryEarlier[]
  readonly mutations?: MutationBlame
  readonly repairs?: RepairBlame
  readonly steps: readonly StepReport[]
  /** How every interval and claim of the report was made, by the name of its field. */
  readonly methods: Readonly<Record<string, string>>
}

/** What is known of one position. */
export interface StepReport {
  readonly position: number
  /** 1-based steps of the tape. */
  readonly steps: readonly number[]
  readonly label: string
  readonly isExogenous: boolean
  /** Forks that keep all before this position and resample it; absent when none was made. */
  readonly resampled?: Tally
  /** Its answer comes from the tape, kept or not. */
  readonly isFromTape?: true
  /** The rate at which they end well. */
  readonly value?: number
  /** For `value`: valid at any time, one position at a time. Absent when exact. */
  readonly sequence?: Interval
  /** How much is lost when this position is kept too: `value` less that of the next position. */
  readonly drop?: number
  /** For `drop`, for display only. Absent when exact. */
  readonly display?: Interval
  /** The share of forks without a grade. */
  readonly undefinedRate?: number
  /** The run was lost here. `likeliest`: not shown. */
  readonly commitment?: 'certified' | 'exact' | 'likeliest'
  readonly isNecessary?: boolean
  readonly isSufficient?: boolean
  readonly isInRepairSet?: boolean
  readonly mutated?: MutatedPosition
  /** Its mutation flips the outcome, certified. */
  readonly isResponsible?: boolean
}

/**
 * Asks all that is to be asked about a run, within one budget, and makes one report of it.
 *
 * @throws HarvestError as {@link blameFailedRun}, {@link blameMutations} and {@link blameRepairs}
 */
export async function blameSource(source: ForkSource, options: ReportOptions = {}): Promise<BlameReport> {
  const forkBudget = options.forkBudget ?? new ForkBudget(source, options)
  const shared = { ...options, forkBudget }
  const isCurve = options.curve ?? (source.recorded !== 'ok' || options.mutations !== true)
  const { delta = 0.05, tau = usualEffect } = options
  // It is free, and no step would show it.
  const behind = isCurve && passed(source.recorded) === false ? await drawnBehind(source, tau) : undefined
  const failed = isCurve
    ? behind === undefined
      ? await blameFailedRun(source, shared)
      : ofDraws(behind, delta)
    : undefined
  // What the curve found out about the tail need not be found out again.
  const tail = failed === undefined ? options.tail : failed.isDeterministic ? 'deterministic' : 'noisy'
  const known = tail === undefined ? shared : { ...shared, tail }
  const earlier =
    failed?.verdict.kind === 'confirmed' && behind === undefined ? await blameEarlier(source, failed, known) : undefined
  const repairs = options.repairs === true ? await blameRepairs(source, known) : undefined
  const mutations = options.mutations === true ? await blameMutations(source, known) : undefined
  const isExact = failed?.isDeterministic ?? mutations?.isDeterministic ?? repairs?.how === 'exact'
  const { now, reused, retries } = forkBudget.spent
  return {
    estimand: 'interventional',
    perturbation: options.perturbation ?? 'each step resampled',
    delta,
    tau,
    tail: isExact ? 'exact' : 'noisy',
    spent: { ...sumOf(now, reused), now, retries },
    ...(options.models === undefined ? {} : { models: options.models }),
    ...(options.commit === undefined ? {} : { commit: options.commit }),
    ...(failed === undefined ? {} : { verdict: failed.verdict }),
    ...(earlier === undefined ? {} : { earlier }),
    ...(mutations === undefined ? {} : { mutations }),
    ...(repairs === undefined ? {} : { repairs }),
    steps: stepsOf(source, { failed, mutations, repairs }),
    methods: methodsOf(isExact),
  }
}

function ofDraws(commitment: Commitment, deltaLeft: number): FailedRunBlame {
  return { verdict: { kind: 'confirmed', commitments: [commitment] }, isDeterministic: false, curve: [], deltaLeft }
}

interface Found {
  readonly failed: FailedRunBlame | undefined
  readonly mutations: MutationBlame | undefined
  readonly repairs: RepairBlame | undefined
}

function stepsOf(source: ForkSource, found: Found): StepReport[] {
  return source.positions.map(({ resampled, isExogenous, label, steps }, position) => ({
    position,
    steps,
    label,
    isExogenous,
    ...(isResampled({ resampled }) ? {} : { isFromTape: true as const }),
    ...(found.failed === undefined ? {} : curveOf(found.failed, position, armOf(source, position + 1))),
    ...(found.repairs === undefined ? {} : repairsOf(found.repairs, position)),
    ...(found.mutations === undefined ? {} : mutationsOf(found.mutations, position)),
  }))
}

/** @param next - the number of kept positions that keeps this one, too */
function curveOf(
  { curve, isDeterministic, verdict }: FailedRunBlame,
  position: number,
  next: number,
): Partial<StepReport> {
  const here = curve[position]
  if (here === undefined) return {}
  const graded = here.ok + here.failed
  const all = graded + here.undefined + here.ungraded
  const commitment = commitmentOf(verdict, position)
  return {
    ...(all === 0 ? {} : { resampled: here, undefinedRate: (here.undefined + here.ungraded) / all }),
    ...(graded === 0 ? {} : { value: here.ok / graded }),
    ...(graded === 0 || isDeterministic ? {} : { sequence: confidenceSequence(here.ok, graded) }),
    ...dropOf(curve, position, next, isDeterministic),
    ...(commitment === undefined ? {} : { commitment }),
  }
}

function dropOf(curve: readonly Tally[], position: number, kept: number, isExact: boolean): Partial<StepReport> {
  const here = curve[position]
  if (here === undefined || here.ok + here.failed === 0) return {}
  const next = curve[kept]
  const first = { hits: here.ok, runs: here.ok + here.failed }
  if (next === undefined) {
    // Behind the last position lies the recorded run alone, and it failed.
    return { drop: first.hits / first.runs, ...(isExact ? {} : { display: wilson(first.hits, first.runs) }) }
  }
  const second = { hits: next.ok, runs: next.ok + next.failed }
  if (second.runs === 0) return {}
  const drop = first.hits / first.runs - second.hits / second.runs
  return { drop, ...(isExact ? {} : { display: newcombe(first, second) }) }
}

function commitmentOf(verdict: BlameVerdict, position: number): StepReport['commitment'] {
  switch (verdict.kind) {
    case 'confirmed': {
      const how = verdict.commitments.find((one) => one.position === position)?.how
      return how === 'draws' ? undefined : how
    }
    case 'diffuse':
    case 'unresolved':
      return verdict.likeliest?.position === position ? 'likeliest' : undefined
    case 'never':
    case 'undecidable':
    case 'unsure':
      return undefined
  }
}

function repairsOf({ necessary, outcome, repairSet, sufficient, suspects }: RepairBlame, position: number) {
  const isAsked = suspects.includes(position) && (outcome === 'found' || outcome === 'not_needed')
  if (!isAsked) return {}
  return {
    isNecessary: necessary.includes(position),
    isSufficient: sufficient.includes(position),
    isInRepairSet: repairSet?.includes(position) === true,
  }
}

function mutationsOf({ positions, verdict }: MutationBlame, position: number): Partial<StepReport> {
  const mutated = positions.find((one) => one.position === position)
  if (mutated === undefined) return {}
  const named = verdict.kind === 'responsible' ? verdict.positions : []
  return { mutated, isResponsible: named.some((one) => one.position === position) }
}

function methodsOf(isExact: boolean): Record<string, string> {
  if (isExact) return { verdict: 'exact: deterministic tail, one fork of each kind, no interval' }
  return {
    verdict:
      'sequential test on fresh pairs of forks that rates differ by more than half of the minimum effect; all claims together are false at most 1 − confidence of the time',
    sequence: 'Beta(1/2, 1/2) mixture confidence sequence, 95 %, valid at any time, for one position',
    display: 'Newcombe hybrid score (last step: Wilson), 95 % at a fixed number of forks; for display only',
    'mutated.display': 'Wilson, 95 % at a fixed number of mutants; for display only',
    'mutated.simultaneous':
      'Clopper-Pearson, 95 % for all positions together (Bonferroni), at a fixed number of mutants',
    repairs:
      "Wald's sequential test against the measured clean rate, error .02, or .05 over the number of suspects; what is named: confidence sequences, 99 %, that lie apart",
  }
}
