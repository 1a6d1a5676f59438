import { HarvestError } from '../errors/index.ts'
import { confirmPairs } from './confirm.ts'
import { Counter, passed, type Undecidable } from './curve.ts'
import { fisherExact, holm } from '../stats/fisher.ts'
import type { Arm } from './fork-budget.ts'
import { isHopeless, isTooLittle } from './lost-forks.ts'
import { MutationArms } from './mutation-arms.ts'
import type { MutationBlame, MutationOptions, MutationVerdict, Responsible } from './mutation-verdict.ts'
import { type Inquiry, openInquiry } from './settings.ts'
import type { ForkDraw, ForkSource } from './types.ts'

/**
 * Finds the positions whose answers the outcome of a run hangs on: with a mutated answer it flips more often than with
 * the recorded one, the rest resampled either way.
 *
 * The control is measured: a noisy tail flips outcomes by itself, and the earlier the position, the more often. It is
 * looked where flips are likeliest (KL-LUCB with its practical rate, which has no guarantee and needs none here); claims
 * rest on fresh pairs alone. All of them together are false at most delta of the time. Copies of one mutant count as one.
 * With a deterministic tail: one fork per mutant, exact.
 *
 * @throws HarvestError HARVEST_BLAME_NO_MUTANTS when the source has none; as `blameFailedRun` otherwise
 * @see Kaufmann and Kalyanakrishnan, COLT 2013, for KL-LUCB
 */
export async function blameMutations(source: ForkSource, options: MutationOptions = {}): Promise<MutationBlame> {
  const inquiry = openInquiry(source, options)
  const recorded = passed(source.recorded)
  const able = requireMutants(source)
  if (recorded === undefined) throw noMutants(source)
  // Of what a model says, and of an answer of another shape, no single value can be changed: it may decide all the same.
  const untried = source.positions.map((_, i) => i).filter((position) => !able.includes(position))
  const state: State = { inquiry, arms: new MutationArms(source, able), lost: new Counter(), recorded }
  const done = (verdict: MutationVerdict, isDeterministic = false): MutationBlame => ({
    verdict: undecidable(state, isTooLittle) ?? (verdict.kind === 'none' ? noneOf(untried) : verdict),
    isDeterministic,
    positions: state.arms.summary(isDeterministic),
  })
  if (inquiry.tail === 'deterministic') return done(await mutateExactly(state, able), true)
  const { plan = 'adaptive', top = 3 } = options
  if (plan !== 'adaptive') return done(await fixedPlan(state, able, plan.pairs))
  await explore(state)
  if (undecidable(state)) return done({ kind: 'none' })
  return done(await certify(state, top))
}

interface State {
  readonly inquiry: Inquiry
  readonly arms: MutationArms
  /** All forks, for the share that tells nothing. */
  readonly lost: Counter
  readonly recorded: boolean
}

/** Looks where flips are likeliest: both the foremost and its rivals, until it leads or nothing flips often enough. */
async function explore(state: State): Promise<void> {
  const { arms, inquiry } = state
  const { forkBudget, tau } = inquiry
  await drawControls(state)
  await drawMutants(state, arms.positions)
  const most = 6 * arms.positions.length + 60
  while (arms.forks < most && forkBudget.stopped === undefined) {
    const ranked = arms.ranked(inquiry.delta)
    const [leader, ...rivals] = ranked
    if (leader === undefined || ranked.every(({ upper }) => upper < tau)) return
    const rival = Math.max(0, ...rivals.map(({ upper }) => upper))
    if (leader.lower >= tau && leader.lower >= rival - 0.1) return
    const open = [leader, ...rivals.toSorted((a, b) => b.upper - a.upper)].filter(({ isOpen }) => isOpen)
    if (open.length === 0) return
    await drawMutants(
      state,
      open.slice(0, Math.max(2, Math.ceil(forkBudget.parallel / 2))).map(({ position }) => position),
    )
    if (undecidable(state)) return
  }
}

async function certify(state: State, top: number): Promise<MutationVerdict> {
  const { arms, inquiry, recorded } = state
  const positions: Responsible[] = []
  let isStopped = inquiry.forkBudget.stopped !== undefined
  for (const { position, mean } of arms.ranked(inquiry.delta).slice(0, top)) {
    if (mean < inquiry.tau / 2) break
    const alpha = inquiry.delta / top
    const mutants = new Set<number>()
    const result = await confirmPairs(inquiry, () => mutated(position, arms.next(position)), control(position), alpha, {
      resampled(arm, draw) {
        note(state, arm, draw)
        if (arm.mutated !== undefined && passed(draw.grade) !== undefined) mutants.add(arm.mutated.mutant)
      },
      hit: (isOk) => isOk !== recorded,
    })
    if (result === 'stopped') isStopped = true
    if (typeof result === 'string') continue
    const { difference, evidence, kept, resampled } = result
    positions.push({
      position,
      how: 'certified',
      mutated: { flips: resampled.ok, forks: resampled.forks },
      control: { flips: kept.ok, forks: kept.forks },
      difference,
      mutants: mutants.size,
      evidence,
      alpha,
    })
  }
  const isClear = arms.ranked(inquiry.delta).every(({ upper }) => upper < inquiry.tau)
  return verdictOf(positions, isStopped, isClear)
}

async function fixedPlan(state: State, able: readonly number[], pairs: number): Promise<MutationVerdict> {
  const { arms, inquiry, recorded } = state
  const rows: Responsible[] = []
  for (const position of able) {
    const counts = { mutated: { flips: 0, forks: 0 }, control: { flips: 0, forks: 0 } }
    const mutants = new Set<number>()
    const wanted = Array.from({ length: pairs }, () => [mutated(position, arms.next(position)), control(position)])
    const draws = await inquiry.forkBudget.draw(wanted.flat())
    wanted.flat().forEach((arm, i) => {
      const draw = draws[i]
      if (draw === undefined) return
      note(state, arm, draw)
      const isOk = passed(draw.grade)
      if (isOk === undefined) return
      const count = arm.mutated === undefined ? counts.control : counts.mutated
      count.forks++
      count.flips += Number(isOk !== recorded)
      if (arm.mutated !== undefined) mutants.add(arm.mutated.mutant)
    })
    if (inquiry.forkBudget.stopped !== undefined) return { kind: 'unresolved' }
    const difference = rateOf(counts.mutated) - rateOf(counts.control)
    rows.push({ position, how: 'fisher', ...counts, difference, mutants: mutants.size })
  }
  const values = rows.map(({ control: c, mutated: m }) =>
    m.forks === 0 || c.forks === 0
      ? 1
      : fisherExact({ hits: m.flips, runs: m.forks }, { hits: c.flips, runs: c.forks }),
  )
  const corrected = holm(values)
  const responsible = rows
    .map((row, i) => ({ ...row, pValue: corrected[i] ?? 1 }))
    .filter(({ difference, pValue }) => pValue <= inquiry.delta && difference >= inquiry.tau)
  return verdictOf(responsible, false, false)
}

/** One fork per mutant, at most six per position, and one control each. */
async function mutateExactly(state: State, able: readonly number[]): Promise<MutationVerdict> {
  const { arms, inquiry, recorded } = state
  const { forkBudget, source } = inquiry
  const responsible: Responsible[] = []
  for (const position of able) {
    const count = Math.min(6, source.mutants?.(position) ?? 0)
    const wanted = [
      control(position),
      ...Array.from({ length: count }, () => mutated(position, arms.next(position))),
    ] as const
    const [base, ...draws] = await forkBudget.draw(wanted)
    if (base !== undefined) note(state, wanted[0], base)
    let flips = 0
    let forks = 0
    draws.forEach((draw, i) => {
      const arm = wanted[i + 1]
      if (draw === undefined || arm === undefined) return
      note(state, arm, draw)
      const isOk = passed(draw.grade)
      if (isOk === undefined) return
      forks++
      if (isOk !== recorded && draw.isInert !== true) {
        flips++
      }
    })
    inquiry.report('explore')
    if (forkBudget.stopped !== undefined) return { kind: 'unresolved' }
    if (base === undefined || passed(base.grade) !== recorded || flips === 0) continue
    responsible.push({
      position,
      how: 'exact',
      mutated: { flips, forks },
      control: { flips: 0, forks: 1 },
      difference: flips / forks,
      mutants: forks,
    })
  }
  return verdictOf(responsible, false, true)
}

function noneOf(untried: readonly number[]): MutationVerdict {
  return untried.length === 0 ? { kind: 'none' } : { kind: 'unshown', untried }
}

function verdictOf(positions: readonly Responsible[], isStopped: boolean, isClear: boolean): MutationVerdict {
  if (positions.length > 0)
    return { kind: 'responsible', positions: positions.toSorted((a, b) => b.difference - a.difference) }
  return { kind: isStopped ? 'unresolved' : isClear ? 'none' : 'unshown' }
}

async function drawMutants(state: State, positions: readonly number[]): Promise<void> {
  const wanted = positions.map((position) => mutated(position, state.arms.next(position)))
  const draws = await state.inquiry.forkBudget.draw(wanted)
  wanted.forEach((arm, i) => {
    const draw = draws[i]
    if (draw !== undefined) note(state, arm, draw)
  })
  state.inquiry.report('explore')
}

/** A few controls along the run, so that early positions are not looked at for the noise of their long tails. */
async function drawControls(state: State): Promise<void> {
  const { positions } = state.arms
  const places = Math.min(12, positions.length)
  const wanted = Array.from({ length: places }, (_, i) => {
    const position = positions[Math.floor((i * positions.length) / places)] ?? 0
    return [control(position), control(position)]
  }).flat()
  const draws = await state.inquiry.forkBudget.draw(wanted)
  wanted.forEach((arm, i) => {
    const draw = draws[i]
    if (draw !== undefined) note(state, arm, draw)
  })
}

function note({ arms, lost, recorded }: State, arm: Arm, draw: ForkDraw): void {
  const isOk = lost.add(draw)
  if (arm.mutated === undefined) {
    if (isOk !== undefined) arms.addControl(arm.keep - 1, isOk !== recorded)
  } else arms.add(arm.mutated.position, arm.mutated.mutant, draw, isOk === undefined ? undefined : isOk !== recorded)
}

/** The forks that tell nothing, when they are so many that it is no use to go on; or, in the end, too many for a verdict. */
function undecidable({ arms, lost }: State, isTooMuch = isHopeless): Undecidable | undefined {
  const forks = lost.graded + lost.lost
  if (!isTooMuch(lost.lost, forks)) return undefined
  return { kind: 'undecidable', forks, undefined: lost.undefined, ungraded: lost.ungraded, positions: arms.lost }
}

/** Everything as recorded up to the position, which gets a mutated answer; what lies behind is resampled. */
function mutated(position: number, mutant: number): Arm {
  return { keep: position + 1, mutated: { position, mutant } }
}

/** The same fork without the mutation. */
function control(position: number): Arm {
  return { keep: position + 1 }
}

function rateOf({ flips, forks }: { readonly flips: number; readonly forks: number }): number {
  return forks === 0 ? 0 : flips / forks
}

/**
 * The positions with an answer that has an alternative.
 *
 * @throws HarvestError `HARVEST_BLAME_NO_MUTANTS` when no answer has one
 */
export function requireMutants(source: ForkSource): readonly number[] {
  const able = source.positions.map((_, i) => i).filter((position) => (source.mutants?.(position) ?? 0) > 0)
  if (able.length === 0) throw noMutants(source)
  return able
}

function noMutants(source: ForkSource): HarvestError {
  return new HarvestError('HARVEST_BLAME_NO_MUTANTS', {
    what: 'Nothing to mutate: no answer has an alternative, or the run is ungraded',
    where: { graded: source.recorded, steps: `${source.positions.length}` },
    why: 'Mutation blame changes one answer at a time and checks whether the outcome flips.',
    // Of a good run, or one without a grade, no step is resampled.
    fix:
      passed(source.recorded) === false
        ? ['to resample steps instead, and see first what that costs: --dry-run, without --mutate']
        : ["to see what the run holds: npx vitest-harvest show '<tape>'"],
  })
}
