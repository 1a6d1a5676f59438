import type { Spent } from '../../live/index.ts'
import { here } from '../../errors/here.ts'
import { type BranchDifference, type Grade, isGraded as isOfGrade } from '../../blame/index.ts'
import { neutralLine, shellWord } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { FinishedFork, TailRequest } from '../../fork/index.ts'
import type { ControlDifference } from '../../jobs/index.ts'
import { outcomeNotCompared, stepsOf } from '../../tape/index.ts'
import { costText } from '../../live/said-spent.ts'
import { describeOutcome } from '../../report/describe.ts'
import { describeRate, describeSpent } from '../live.ts'
import { neutralLines, type Screen, table } from '../../report/output.ts'
import type { ForkAsk } from './ask.ts'
import { type Beside, printBeside } from './beside.ts'
import { gradingText } from '../blame/print.ts'
import { sumSpent } from './sum-spent.ts'
import { areGraded, areLive, areToolsReal, gradedOk, type Together, type BranchSummary, withGrade } from './branches.ts'
import { changeLine, type ChangeSummary } from './changes.ts'
import { controlLine } from './control.ts'
import type { Grader } from './grading.ts'
import type { Parent } from './make.ts'
import { typedAgain } from '../typed-again.ts'

/** What was kept, what was changed, and who answers behind it. */
export function printAsk(
  { tape, case: kase }: Pick<Parent, 'tape' | 'case'>,
  ask: ForkAsk,
  changes: readonly ChangeSummary[],
  screen: Screen,
): void {
  screen.line(
    `${neutralLine(kase?.id ?? tape.header.id, 80)}: ${stepsOf(tape).length} steps, agent ${neutralLine(kase?.agent ?? tape.header.agent, 60)}`,
  )
  screen.line(keptLine(ask.keep))
  for (const change of changes) screen.line(`changed: ${changeLine(change)}`)
  if (ask.agent !== undefined) screen.line(`changed: the agent → ${neutralLine(ask.agent, 60)}`)
  if (ask.clockOffsetMs !== undefined) screen.line(`changed: the clock → ${clockText(ask.clockOffsetMs)}`)
  const modes = Object.entries(ask.modes ?? {}).map(([step, mode]) => `; step ${step} ${modeWords[mode]}`)
  screen.line(`behind: ${tailLine(ask.tail)}${modes.join('')}`)
  const recorded = tape.close === undefined ? 'unknown' : describeOutcome(tape.close.outcome)
  screen.line(`recorded: ${recorded}\n`)
}

const modeWords = { replayed: 'as recorded', held: 'held as recorded', live: 'asked for real' } as const

/** `48 h ahead`, in the largest unit that says it without a fraction. */
function clockText(ms: number): string {
  const [unit = 'ms', size = 1] =
    Object.entries({ h: 3_600_000, min: 60_000, s: 1_000 }).find(([, length]) => ms % length === 0) ?? []
  return `${Math.abs(ms) / size} ${unit} ${ms < 0 ? 'behind' : 'ahead'}`
}

function keptLine(keep: number): string {
  if (keep === 0) return 'kept: nothing, the run is another one from its beginning'
  const steps = keep === 1 ? 'step 1' : `steps 1 to ${keep}`
  return `kept: ${steps}, asked for byte for byte as recorded; no call, no cost`
}

function tailLine(tail: TailRequest): string {
  switch (tail.from) {
    case 'tape':
      return 'the tape answers where the same is asked'
    case 'reference':
      return `another tape answers, ${fileName(tail.file)}`
    case 'script':
      return `a script answers, ${fileName(tail.file)}#${neutralLine(tail.export, 40)}`
    case 'live':
      return `models are asked${tail.baseUrl === undefined ? '' : ` at ${neutralLine(tail.baseUrl, 80)}`}, ${tail.tools === 'live' ? 'tools run for real' : 'tools answer from the tape'}`
    default:
      return tail satisfies never
  }
}

function fileName(file: string): string {
  return neutralLine(here(file), 120)
}

interface BesideBranches {
  readonly differs?: ControlDifference | undefined
  readonly beside?: Beside | undefined
  /** What models used that graded them. */
  readonly grading?: Spent | undefined
  /** What forks used where some were begun and did not end. Default: what these and those beside them did. */
  readonly spent?: Spent
  /** Their parent is of a case that passes: there is no incident. */
  readonly isGood?: boolean
}

/** One row per fork, then how they ended. */
export function printBranches(
  branches: readonly BranchSummary[],
  sum: Together,
  grader: Pick<Grader, 'by' | 'recorded'> | undefined,
  screen: Screen,
  { differs, beside, grading, spent: paid, isGood = false }: BesideBranches = {},
): void {
  if (differs !== undefined) screen.line(`${controlLine(differs)}\n`)
  const same = sameAs(differs)
  const isGraded = areGraded(sum)
  const titles = ['seed', 'outcome', ...(isGraded ? ['grade'] : []), 'tool calls', 'first difference', 'cost']
  const rows = branches.map((branch) => cells(branch, isGraded, same))
  screen.line(table([titles.map((cell) => screen.paint('dim', cell)), ...rows], [0]))
  screen.line()
  for (const [text, seeds] of Map.groupBy(branches, endOf))
    screen.line(neutralLines(`seed ${seedsText(seeds.map(({ seed }) => seed))}: ${text}`))
  for (const { seed, saved } of branches)
    if (saved !== undefined) screen.line(`seed ${seed} is saved: ${neutralLine(saved, 200)}`)
  const [branchFile] = branches.flatMap(({ saved }) => (saved === undefined ? [] : [saved]))
  if (branchFile !== undefined) {
    const name = shellWord(branchFile)
    screen.line(`→ to read it: npx vitest-harvest show ${name}`)
    screen.line(`→ to make a case of it: npx vitest-harvest promote ${name} --as '<id>'`)
    if (!isGood)
      screen.line("→ to put the run of a fixed agent in the place of its incident: npx vitest-harvest fix '<case>'")
  }
  screen.line(`\n${screen.paint('bold', sumLine(sum, same, areLive(branches)))}`)
  if (beside !== undefined) printBeside(sum, beside, screen)
  if (sum.judged > 0 && branches.every(({ fork }) => fork?.isInert === true))
    screen.line(
      "every answer behind the kept steps is the tape's: another seed changes only what the code draws itself, such as random numbers and ids",
    )
  if (grader !== undefined && isGraded) {
    const without = sum.forks - withGrade(sum)
    const counts = [
      ...Object.entries(sum.grades ?? {})
        .filter(([grade]) => isOfGrade(grade as Grade))
        .map(([grade, count]) => `${count} ${grade}`),
      ...Object.entries(sum.byCalls ?? {}).map(
        ([grade, count]) => `${count} ${grade} by calls made before they left the tape`,
      ),
      ...(without === 0 ? [] : [`${without} with no grade, not counted`]),
    ]
    const ok = gradedOk(sum)
    if (areLive(branches) && beside === undefined)
      screen.line(
        ok === undefined
          ? 'too few runs have a grade for a rate of good ones'
          : `${describeRate(ok.hits, ok.runs, ok.lost)} are graded ok`,
      )
    screen.line(
      `graded by ${neutralLine(grader.by, 120)}: ${counts.join(', ')}; ${differs === undefined ? 'the recorded run' : "today's code unchanged"} is ${grader.recorded}`,
    )
  }
  printReused(branches, screen)
  const spent = paid ?? sumSpent([sum.spent, ...(beside === undefined ? [] : [beside.spent])])
  for (const line of spentLines(spent, grading, areToolsReal(branches))) screen.line(line)
}

/** What forks and their grades used; no line where that is nothing. */
export function spentLines(forks: Spent, grading: Spent | undefined, areReal: boolean): readonly string[] {
  const all = grading === undefined ? forks : sumSpent([forks, grading])
  return [
    ...(all.modelCalls + (all.open ?? 0) === 0 ? [] : [describeSpent(all, areReal ? 'for real' : 'from the tape')]),
    ...(grading === undefined ? [] : [`of which ${gradingText(grading)}`]),
  ]
}

/** Says which of these were made before, and how they are made again. */
export function printReused(branches: readonly BranchSummary[], screen: Screen): void {
  const reused = branches.filter(({ isReused }) => isReused)
  const [first] = reused
  if (first?.fork !== undefined) {
    screen.line(
      `${counted(reused.length, 'fork')} reused: made by the same code on ${neutralLine(first.fork.madeAt.slice(0, 10))}`,
    )
    screen.line(`→ to run ${reused.length === 1 ? 'it' : 'them'} again: ${typedAgain({ 'no-cache': true })}`)
  }
}

/** What an end is called that the change did not make. */
function sameAs(differs: ControlDifference | undefined): string {
  return differs === undefined ? 'as recorded' : "as today's code unchanged"
}

function cells(
  { seed, fork, compared, grade, problems, request }: BranchSummary,
  isGraded: boolean,
  same: string,
): readonly string[] {
  const cost = fork === undefined ? '' : paidText(fork, request.tail)
  if (compared === undefined)
    return [seed, 'not judged', ...(isGraded ? [grade ?? ''] : []), '', problems[0]?.code ?? '', cost]
  return [
    seed,
    { true: same, false: 'other', null: 'not compared' }[`${compared.outcome.same}`],
    ...(isGraded ? [isOfGrade(grade) ? grade : 'no grade'] : []),
    compared.trace.same ? same : 'other',
    compared.first === undefined ? 'none' : differenceText(compared.first),
    cost,
  ]
}

function paidText({ spent: { modelCalls, costUsd } }: FinishedFork, tail: TailRequest): string {
  if (tail.from !== 'live') return 'none'
  return costUsd === undefined ? `${modelCalls} calls` : costText(costUsd)
}

/** `step 4 answers refund(amount: 10), not refund(amount: 2500)`. */
export function differenceText(difference: BranchDifference): string {
  const { kind, step, before } = difference
  const was = before === undefined ? '' : neutralLine(before, 60)
  switch (kind) {
    case 'missing':
      return `step ${step} is missing: ${was}`
    case 'asked': {
      const now = neutralLine(difference.after, 60)
      if (before === difference.after) return `step ${step}: ${now} otherwise`
      return `step ${step}: ${now}${was === '' ? '' : `, not ${was}`}`
    }
    case 'answered':
      return `step ${step} answers ${neutralLine(difference.after, 60)}, not ${was}`
    default:
      return difference satisfies never
  }
}

/** How a fork ended, or why it cannot be judged; recorded text in it is not neutral yet. */
function endOf({ fork, compared, problems }: BranchSummary): string {
  if (fork === undefined || compared === undefined) {
    const [problem] = problems
    return problem === undefined ? 'it has no answer' : problem.message
  }
  const { status, value } = fork.outcome
  return describeOutcome(status === 'returned' ? { status, value } : { status, error: value })
}

function seedsText(seeds: readonly string[]): string {
  return seeds.length > 6 ? `${seeds.slice(0, 5).join(', ')} and ${seeds.length - 5} more` : seeds.join(', ')
}

function sumLine(
  { forks, judged, asRecorded, distinct, interval, byCalls }: Together,
  same: string,
  isLive: boolean,
): string {
  const left = forks === judged ? '' : `; ${forks - judged} could not be judged`
  if (judged === 0) return byCalls === undefined ? 'no fork could be judged' : 'no fork came to its end on the tape'
  if (asRecorded === null) return `the outcome is ${outcomeNotCompared}${left}`
  const single = asRecorded === 1 ? 'the outcome survives' : 'the outcome is another one'
  if (judged === 1) return forks === 1 ? single : `in the one of ${forks} forks that could be judged, ${single}`
  if (interval === undefined && isLive)
    return `undecided: ${forks - judged} of ${forks} runs ${byCalls === undefined ? 'could not be judged' : 'left the tape'}; of the others ${asRecorded} of ${judged} end ${same}`
  if (interval === undefined)
    return `${asRecorded} of ${judged} end ${same}; all are the same run, which counts once${left}`
  const runs = distinct === judged ? '' : `; ${counted(distinct, 'distinct run')}`
  return `${describeRate(asRecorded, judged, isLive ? forks - judged : 0)} end ${same}${runs}${left}`
}
