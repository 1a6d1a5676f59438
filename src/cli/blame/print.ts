import { passedTexts } from '../passed-limit.ts'
import type { StepReport } from '../../blame/index.ts'
import type { BlamedRun } from '../../blame/run-blame.ts'
import { usualParallel } from '../../blame/usual-parallel.ts'
import { neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import { controlLine } from '../forking/control.ts'
import { type Screen, table } from '../../report/output.ts'
import { typedValues } from '../typed-again.ts'
import { describeMutations, describeRepairs } from './answers.ts'
import { confidenceOf, describeVerdict, interval, unclearText } from './verdict.ts'
import { costText } from '../../live/said-spent.ts'

/** Prints what blame found: what it says, the steps, and what it rests on. */
export function printBlame(blamed: BlamedRun, screen: Screen): void {
  const { verdict, mutations, repairs } = blamed
  const said = [
    ...(verdict === undefined ? [] : [describeVerdict(blamed, verdict)]),
    ...(repairs === undefined ? [] : [describeRepairs(blamed, repairs)]),
    ...(mutations === undefined ? [] : [describeMutations(blamed, mutations)]),
  ]
  for (const [first = '', ...more] of said) {
    screen.line(screen.paint('bold', first))
    for (const line of more) screen.line(line)
  }
  screen.line()
  const columns = mutations !== undefined ? mutatedColumns : repairs === undefined ? curveColumns : allColumns
  const rows = blamed.steps.map((step) => columns.cells(step, blamed))
  screen.line(table([columns.head.map((cell) => screen.paint('dim', cell)), ...rows]))
  screen.line()
  if (blamed.spent.forks > 0) for (const line of columns.legend) screen.line(screen.paint('dim', line))
  for (const line of finePrint(blamed)) screen.line(screen.paint('dim', line))
}

interface Columns {
  readonly head: readonly string[]
  cells(step: StepReport, blamed: BlamedRun): readonly string[]
  /** What the numbers mean. */
  readonly legend: readonly string[]
}

const curveColumns: Columns = {
  head: ['step', 'what', 'resampled', 'lost by replaying it', 'commitment'],
  cells: (step, { spent }) => [
    ...named(step),
    rateOf(step),
    lostBy(step),
    spent.forks === 0 ? '' : (step.commitment ?? ''),
  ],
  legend: [
    'resampled: runs that replay all earlier steps and resample this one and the rest; how many end well (Wilson, 95 %)',
    'lost by replaying it: how far that share falls when this step is replayed too (with its interval)',
  ],
}

const allColumns: Columns = {
  ...curveColumns,
  head: [...curveColumns.head, 'necessary', 'sufficient', 'repair set'],
  cells: (step, blamed) => [
    ...curveColumns.cells(step, blamed),
    yesNo(step.isNecessary),
    yesNo(step.isSufficient),
    yesNo(step.isInRepairSet),
  ],
}

const mutatedColumns: Columns = {
  head: ['step', 'what', 'changes tried', 'outcome flips', 'responsible'],
  cells: (step, blamed) => [
    ...named(step),
    step.mutated === undefined ? 'not tried' : `${step.mutated.tried} of ${step.mutated.mutants}`,
    flipsOf(step),
    responsibleOf(step, blamed),
  ],
  legend: [
    'changes tried: tested changes of one value in this answer, of all possible ones',
    'outcome flips: the share of runs with such a change that end differently (with its interval)',
  ],
}

/** What does not stand the test may decide all the same: only one where each was clear, or all was tried exactly, does not. */
function responsibleOf({ isResponsible, mutated }: StepReport, { mutations }: BlamedRun): string {
  const isAllTried = mutated !== undefined && mutated.tried === mutated.mutants
  const isClear = mutations?.verdict.kind === 'none' || (mutations?.isDeterministic === true && isAllTried)
  return isResponsible === false && !isClear ? 'not shown' : yesNo(isResponsible)
}

function named({ steps, label }: StepReport): readonly string[] {
  return [steps.join(', '), neutralLine(label, 56)]
}

function rateOf({ isFromTape, resampled }: StepReport): string {
  if (isFromTape === true) return 'from the tape'
  const ok = resampled?.ok ?? 0
  const forks = ok + (resampled?.failed ?? 0)
  const lost = (resampled?.undefined ?? 0) + (resampled?.ungraded ?? 0)
  if (forks === 0) return lost === 0 ? 'not tried' : `none of ${lost} could be judged`
  return `${ok} of ${forks} ok${interval({ ok, forks }, lost)}`
}

function lostBy({ drop, display }: StepReport): string {
  if (drop === undefined) return ''
  return display === undefined ? drop.toFixed(2) : `${drop.toFixed(2)} (${range(display)})`
}

function flipsOf({ mutated }: StepReport): string {
  if (mutated?.rate === undefined) return ''
  const rate = mutated.rate.toFixed(2)
  return mutated.display === undefined ? rate : `${rate} (${range(mutated.display)})`
}

function range({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${low.toFixed(2)} to ${high.toFixed(2)}`
}

function yesNo(is: boolean | undefined): string {
  return is === undefined ? '' : is ? 'yes' : 'no'
}

/** What a verdict rests on, so that it can be repeated and questioned. */
function finePrint(blamed: BlamedRun): readonly string[] {
  const { delta, tau, spent, reused, models, commit, gradedBy, tail, recorded, tools, unclear, methods, repairs } =
    blamed
  const { estimand, perturbation, repairedBy, mutations, control, selfAgreement, limitPassed } = blamed
  const earlier = reused.forks === 0 ? '' : `; of earlier sessions ${spentText(reused)}`
  const lost = unclear.reduce((sum, { forks }) => sum + forks, 0)
  const display = mutations === undefined ? methods['display'] : methods['mutated.display']
  return [
    ...(control?.differs === undefined ? [] : [controlLine(control.differs)]),
    `graded by ${neutralLine(gradedBy, 200)}; the ${control?.differs === undefined ? 'recorded run' : 'unchanged replay'}: ${recorded}`,
    ...(selfAgreement === undefined ? [] : [agreementText(selfAgreement)]),
    `estimand ${estimand}: ${perturbation}; live models, tools ${neutralLine(tools)}${repairedBy === undefined ? '' : `, repaired with ${neutralLine(repairedBy)}`}`,
    `confidence ${confidenceOf(delta)}, minimum effect ${tau}; claims: ${methods['verdict'] ?? 'none'}`,
    ...(tail === 'exact' ? [] : [`intervals: ${display ?? 'none'}`]),
    ...(repairs === undefined || tail === 'exact' ? [] : [`repairs: ${methods['repairs'] ?? 'none'}`]),
    `${spentText(spent.now)}${earlier}; models ${neutralLine(models.join(', ') || 'none')}; commit ${neutralLine(commit?.slice(0, 10) ?? 'unknown')}`,
    ...(limitPassed === undefined ? [] : passedTexts(limitPassed.by, limitPassed.grade)),
    ...(spent.now.forks > 0 ? roundsText() : []),
    ...(lost > 0
      ? [`${counted(lost, 'fork')} ${lost === 1 ? 'is' : 'are'} ungraded and not counted${whyLost(blamed)}`]
      : []),
  ]
}

/** A verdict that is undecidable says why itself. */
function whyLost({ verdict, unclear: [first] }: Pick<BlamedRun, 'unclear' | 'verdict'>): string {
  return first === undefined || verdict?.kind === 'undecidable' ? '' : `; most often: ${unclearText(first)}`
}

/** Forks of one round are chosen before any of them is known: more at once than by default are more in all. */
export function roundsText(): readonly string[] {
  const parallel = Number(typedValues('parallel').at(-1) ?? usualParallel)
  if (parallel <= usualParallel) return []
  return [
    `--parallel ${parallel}: up to ${parallel} forks start before the first is looked at, so more are made than with the usual ${usualParallel}`,
  ]
}

function agreementText({ same, of }: NonNullable<BlamedRun['selfAgreement']>): string {
  return `the oracle agrees with itself: ${same} of ${of} single grades are those of the majority`
}

function spentText({ forks, modelCalls, costUsd, grading }: BlamedRun['reused']): string {
  const cost = forks === 0 && grading === undefined ? '$0' : dollars(costUsd)
  const part = grading === undefined ? '' : `, of which ${gradingText(grading)}`
  return `${counted(forks, 'fork')}, ${counted(modelCalls, 'model call')}, ${cost}${part}`
}

/** What an oracle used that asks models. */
export function gradingText({
  modelCalls,
  costUsd,
}: Pick<NonNullable<BlamedRun['reused']['grading']>, 'costUsd' | 'modelCalls'>): string {
  return `grading ${counted(modelCalls, 'model call')}, ${dollars(costUsd)}`
}

/** The cost of live calls, to a hundredth of a cent. */
export function dollars(costUsd: number | undefined): string {
  return costUsd === 0 ? '$0' : costText(costUsd)
}
