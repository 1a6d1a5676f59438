import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isUnreached } from '../../live/unreached.ts'
import { requireTapeFile } from '../../cases/index.ts'
import { type Interval, wilson } from '../../stats/index.ts'
import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import type { Spent } from '../../live/index.ts'
import type { FinishedJob, Job } from '../../jobs/index.ts'
import { keepLiveRuns, type LiveRuns, readPrices } from '../../recordings/index.ts'
import { type Json, readTape } from '../../tape/index.ts'
import { chosen, type Loaded, requireOneChoice } from '../chosen-cases.ts'
import { liveGradingOf, toolsWords, usualTools, withUsualTools } from '../live-grading.ts'
import { keysRight, type VerdictName, verdicts } from '../../replay/index.ts'
import { rerunSpec } from '../spec/test.ts'
import { type Command, type CommandInput, program } from '../command.ts'
import { printAnswer } from '../next-lines.ts'
import { type NextStep, printSteps } from '../next-steps.ts'
import { typedAgain } from '../typed-again.ts'
import { exit } from '../exit.ts'
import { type JobOutcome, runJobs } from '../../jobs/run.ts'
import {
  describeInterval,
  describeSpent,
  percent,
  readLivePlan,
  readNumber,
  refuseOtherCode,
  spentBy,
  toConfirm,
} from '../live.ts'
import { usage } from '../parse.ts'
import { neutralLines, type Screen, table } from '../../report/output.ts'

/** Asks the models of cases again, several times, and says how often the agent still does what the case wants. */
export const rerunCommand: Command = {
  ...rerunSpec,
  async run(given, screen) {
    requireOneChoice(given)
    if (!given.has('live'))
      throw usage(
        rerunCommand,
        'HARVEST_CLI_ARGUMENT',
        'rerun calls live models, which costs money: confirm with --live',
        toConfirm(given, 1),
      )
    const plan = readLivePlan(given, rerunCommand)
    const minimum = readNumber(given, rerunCommand, 'min-pass-rate', 0, 1)
    const cases = chosen(given)
    for (const kase of cases) {
      const { tape, case: text } = jobOf(kase, plan.timeoutMs, undefined)
      await refuseOtherCode(kase.case.pins ?? {}, given, {
        tape,
        caseId: kase.case.id,
        ...(text === undefined ? {} : { case: text }),
      })
    }
    const jobs = cases.flatMap((kase) => {
      const grading = liveGradingOf(given, kase.case, rerunCommand)
      return Array.from({ length: plan.times }, () => jobOf(kase, plan.timeoutMs, grading))
    })
    screen.progress(`0 of ${jobs.length} runs`)
    const ended = await runJobs(jobs, {
      parallel: plan.parallel,
      limits: plan.limits,
      prices: readPrices(given.value('dir') ?? 'recordings') ?? {},
      onProgress: (count) => screen.progress(`${count} of ${jobs.length} runs`),
    })
    const rates = cases.map((kase, i) => rateOf(kase, ended.slice(i * plan.times, (i + 1) * plan.times)))
    const spent = spentBy(ended)
    const isMet = rates.every((rate) => (minimum === undefined ? passes(rate) : meets(rate, minimum)))
    printAnswer(
      { cases: rates, spent, minimum: minimum ?? null, met: isMet },
      (shown) => print(rates, { spent, minimum, isMet, given }, shown),
      { given, spec: rerunCommand, screen },
    )
    keepLiveRuns(given.value('dir') ?? 'recordings', liveRunsOf(rates))
    return isMet ? exit.ok : exit.divergence
  },
}

/** What the weekly check reads: the rates, and nothing of the runs. */
function liveRunsOf(rates: readonly PassRate[]): ReadonlyMap<string, LiveRuns> {
  const at = new Date().toISOString()
  return new Map(rates.filter(({ runs }) => runs > 0).map(({ case: id, runs, passed }) => [id, { at, runs, passed }]))
}

/** How often one case passed. */
export interface PassRate {
  readonly case: string
  readonly expect: 'pass' | 'fail'
  /** Runs that ended and were judged. */
  readonly runs: number
  /** Of a known-bad case: runs that did not go the recorded bad way. */
  readonly passed: number
  /** Runs by their verdict: a run that was not `same` did something else than the case says. */
  readonly verdicts: Readonly<Record<VerdictName, number>>
  /** What says which runs are good; `null`: the case itself. */
  readonly gradedBy: string | null
  /** Runs that asked for what is not on the tape; not passed, unless the calls they made are graded ok. */
  readonly offTape: number
  /** Of these, graded ok. */
  readonly offTapeOk: number
  /** Runs the budget did not pay for, that could not begin or not ask their model, or that cannot be graded; not judged. */
  readonly notRun: number
  /** Wilson score interval at 95 %; absent when nothing was judged. */
  readonly interval?: Interval
  /** Why runs did not pass, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly count: number; readonly example: string }[]
}

function jobOf({ file, case: { tape } }: Loaded, timeoutMs: number, grading: Json | undefined): Job {
  return {
    tape: resolve(dirname(file), tape),
    case: { file: resolve(file), text: readFileSync(file, 'utf8') },
    mode: 'live',
    timeoutMs,
    ...(grading === undefined ? {} : { grading }),
  }
}

function rateOf({ case: { id, expect } }: Loaded, ended: readonly JobOutcome[]): PassRate {
  const judged = ended.filter((run) => !isNotRun(run))
  const isOffTape = (run: JobOutcome): boolean => codesOf(run).includes('HARVEST_NOT_RECORDED')
  const isPass = (run: JobOutcome): boolean => {
    if (isNotRun(run)) return false
    if (!HarvestError.is(run) && run.grade !== undefined) return run.grade.grade === 'ok'
    if (HarvestError.is(run) || codesOf(run).length > 0) return false
    // A known-bad run that now throws, as without its key, is not known to be fixed.
    if (expect === 'fail' && run.outcome.status === 'threw') return false
    return (run.verdict?.isGreen === true) === (expect === 'pass')
  }
  const passed = judged.filter(isPass).length
  return {
    case: id,
    expect,
    runs: judged.length,
    passed,
    verdicts: countsOf(judged.map(verdictIn)),
    gradedBy: ended.flatMap((run) => (HarvestError.is(run) ? [] : (run.grade?.by ?? [])))[0] ?? null,
    offTape: judged.filter(isOffTape).length,
    offTapeOk: judged.filter((run) => isOffTape(run) && isPass(run)).length,
    notRun: ended.length - judged.length,
    ...(judged.length === 0 ? {} : { interval: wilson(passed, judged.length) }),
    reasons: reasonsOf(ended.filter((run) => !isPass(run)).map((run) => reasonOf(run))),
  }
}

/** Problems of the run itself, beside what the case says about it. */
function codesOf(run: JobOutcome): readonly string[] {
  return HarvestError.is(run) ? [run.code] : run.report.problems.map(({ code }) => code)
}

/** A run that asked for what is not on the tape, or that failed by itself, did something else than its case says. */
function verdictIn(run: JobOutcome): VerdictName {
  if (HarvestError.is(run) || codesOf(run).length > 0) return 'different'
  return run.verdict?.verdict ?? run.report.verdict.verdict
}

function countsOf(names: readonly VerdictName[]): PassRate['verdicts'] {
  const count = (name: VerdictName): number => names.filter((one) => one === name).length
  return { same: count('same'), different: count('different'), unproven: count('unproven') }
}

/**
 * What was not paid for, could not ask its model, or cannot be graded, is not judged; what went off its tape is, as not
 * passed.
 */
function isNotRun(run: JobOutcome): boolean {
  if (HarvestError.is(run) || run.unreached !== undefined) return true
  const codes = codesOf(run)
  const isUngraded = run.grade?.grade === 'ungraded' && !codes.includes('HARVEST_NOT_RECORDED')
  return isUngraded || codes.some((code) => code.startsWith('HARVEST_BUDGET_'))
}

function reasonOf(run: JobOutcome): readonly [code: string, example: string] {
  if (HarvestError.is(run)) return [run.code, run.facts.what]
  if (run.unreached !== undefined) return ['ungraded', saidText(run.unreached)]
  const [problem] = run.report.problems
  if (problem !== undefined) return [problem.code, problem.message]
  if (run.grade !== undefined) return [run.grade.grade, run.grade.because ?? `The run is graded ${run.grade.grade}`]
  if (run.verdict?.isGreen === false) return [run.verdict.code, run.verdict.said]
  return ['reproduced', 'The agent went the recorded bad way again']
}

/** `A model answered with status 401: Incorrect API key provided` */
function saidText({ because, said }: NonNullable<FinishedJob['unreached']>): string {
  return said === undefined || because.endsWith(said) ? because : `${because}: ${neutralLine(said, 200)}`
}

function reasonsOf(reasons: readonly (readonly [string, string])[]): PassRate['reasons'] {
  const groups = Object.entries(Object.groupBy(reasons, ([code]) => code))
  return groups
    .map(([code, list = []]) => ({ code, count: list.length, example: list[0]?.[1] ?? '' }))
    .sort((a, b) => b.count - a.count)
}

/** Without a gate every run has to pass. */
function passes({ runs, passed, notRun }: PassRate): boolean {
  return runs > 0 && passed === runs && notRun === 0
}

/** What was not judged is not known to pass: a gate that was not paid for is not met. */
function meets({ interval, notRun }: PassRate, minimum: number): boolean {
  return interval !== undefined && notRun === 0 && interval.low >= minimum
}

interface Gate {
  readonly minimum: number | undefined
  readonly isMet: boolean
}

function print(
  rates: readonly PassRate[],
  { spent, minimum, isMet, given }: Gate & { readonly spent: Spent; readonly given: CommandInput },
  screen: Screen,
): void {
  const isGraded = rates.some(({ gradedBy }) => gradedBy !== null)
  const graded = isGraded ? ['off tape, ok'] : []
  const head = ['case', 'passed', 'rate', '95 % (Wilson)', 'off tape', ...graded, 'not run'].map((cell) =>
    screen.paint('dim', cell),
  )
  screen.line(table([head, ...rates.map((rate) => cells(rate, isGraded))], [1, 2, 3, 4, 5, 6]))
  for (const { case: id, gradedBy } of rates)
    if (gradedBy !== null) screen.line(`${id}: graded by ${neutralLine(gradedBy, 80)}`)
  for (const { case: id, verdicts: counts, gradedBy } of rates) {
    if (gradedBy !== null) continue
    const said = verdicts.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`)
    if (said.length > 0) screen.line(`${id}: ${said.join(', ')}`)
  }
  for (const { case: id, expect, reasons, gradedBy } of rates) {
    if (expect === 'fail' && gradedBy === null)
      screen.line(`\n${id} is known bad: a run passes when it does not go the recorded way`)
    for (const { code, count, example } of reasons) {
      screen.line(`\n${id}: ${count} × ${code}`)
      screen.line(neutralLines(example).replace(/^/gm, '  '))
    }
  }
  screen.line()
  screen.line(describeSpent(spent, toolsWords(given)))
  if (minimum !== undefined) screen.line(`lower end of every interval ≥ ${minimum}: ${isMet ? 'yes' : 'no'}`)
  printSteps(stepsAfterRates(rates, given), (text) => screen.line(text))
}

/** From runs that did not pass to why: calls without an answer, what counts as right, or the step that decides. */
function stepsAfterRates(rates: readonly PassRate[], given: CommandInput): readonly NextStep[] {
  const failed = rates.find((rate) => rate.passed < rate.runs)
  const isOffTape = rates.some(({ offTape }) => offTape > 0)
  const isAnswered = given.has('tools') || given.has('reference')
  return [
    ...(isOffTape && !isAnswered && failed !== undefined
      ? [
          {
            about: withUsualTools('to answer unrecorded calls'),
            command: typedAgain({ tools: usualTools }),
          },
        ]
      : []),
    ...(failed === undefined ? [] : stepsAfterFailure(failed)),
    ...stepsToReach(rates, given),
  ]
}

/** From models that could not be asked to what may be wrong. */
function stepsToReach(rates: readonly PassRate[], given: CommandInput): readonly NextStep[] {
  const lost = rates.find(({ reasons }) => reasons.some(({ example }) => isUnreached(example)))
  const found = lost === undefined ? undefined : chosen(given).find(({ case: { id } }) => id === lost.case)
  if (found === undefined) return []
  return [{ about: keysRight(readTape(requireTapeFile(found.case))), command: typedAgain({}) }]
}

function stepsAfterFailure({ case: id, expect, gradedBy }: PassRate): readonly NextStep[] {
  const blame = `${program} blame ${shellWord(id)}`
  return [
    ...(gradedBy === null ? [{ about: 'to grade runs by what is right', command: typedAgain({ ok: '<right>' }) }] : []),
    // The recorded run of a case that passes is good: what is asked is which of its answers would make it bad.
    expect === 'fail'
      ? { about: 'to see which step decides', command: `${blame} --dry-run --cross-version` }
      : { about: 'to see which answers decide', command: `${blame} --mutate --dry-run --cross-version` },
  ]
}

function cells(
  { case: id, runs, passed, interval, offTape, offTapeOk, notRun }: PassRate,
  isGraded: boolean,
): string[] {
  const range = interval === undefined ? 'nothing judged' : describeInterval(interval)
  return [
    id,
    `${passed}/${runs}`,
    runs === 0 ? '–' : percent(passed / runs),
    range,
    `${offTape}`,
    ...(isGraded ? [`${offTapeOk}`] : []),
    `${notRun}`,
  ]
}
