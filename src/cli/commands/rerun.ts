import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { typedExpectations } from '../../blame/expectation.ts'
import { requireKnownNames } from '../../blame/known-names.ts'
import { requireTapeFile, saysGood } from '../../cases/index.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { Spent } from '../../live/index.ts'
import type { Job } from '../../jobs/index.ts'
import { keepLiveRuns, type LiveRuns, readPrices } from '../../recordings/index.ts'
import { type Json, readTape } from '../../tape/index.ts'
import { chosen, type Loaded, requireOneChoice } from '../chosen-cases.ts'
import { noteUnknownInCase } from '../known-bad.ts'
import { asUse } from '../../live/budget.ts'
import { isOfKeptState } from '../../fork/index.ts'
import { withSpent } from '../../live/said-spent.ts'
import { passedLines } from '../passed-limit.ts'

import { liveGradingOf, readReference, toolsWords } from '../live-grading.ts'
import { verdicts } from '../../replay/index.ts'
import { type PassRate, rateOf } from '../rerunning/rates.ts'
import { dearestOf, stepsAfterRates } from '../rerunning/steps.ts'
import { rerunSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { endedEarly, stoppedText } from '../ended-early.ts'
import { printAnswer } from '../next-lines.ts'
import { printSteps } from '../next-steps.ts'
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
    const cases = chosen(given)
    if (!given.has('live'))
      throw usage(
        rerunCommand,
        'HARVEST_CLI_ARGUMENT',
        'rerun calls live models, which costs money: confirm with --live',
        toConfirm(given, 1),
      )
    const plan = readLivePlan(given, rerunCommand)
    const minimum = readNumber(given, rerunCommand, 'min-pass-rate', 0, 1)
    for (const kase of cases) {
      const { tape, case: text } = jobOf(kase, plan.timeoutMs, undefined)
      await refuseOtherCode(kase.case.pins ?? {}, given, {
        tape,
        caseId: kase.case.id,
        ...(text === undefined ? {} : { case: text }),
      })
    }
    requireKnown(cases, given, screen)
    const jobs = cases.flatMap((kase) => {
      const grading = liveGradingOf(given, kase.case, rerunCommand)
      return Array.from({ length: plan.times }, () => jobOf(kase, plan.timeoutMs, grading))
    })
    // Replayed without a model: whether today's code can be compared with the recorded run decides what helps.
    screen.progress(`0 of ${jobs.length} runs`)
    const controls = await runJobs(
      cases.map((kase): Job => ({ ...jobOf(kase, plan.timeoutMs, undefined), isControl: true })),
    )
    // Runs that change each other have no rate.
    const kept = controls.find((control) => isOfKeptState(control))
    if (kept !== undefined) throw kept
    const prices = readPrices(given.value('dir') ?? 'recordings') ?? {}
    let used: Spent | undefined
    const ended = await runJobs(jobs, {
      parallel: plan.parallel,
      limits: plan.limits,
      prices,
      keepsEnded: true,
      onSpent: (heard) => (used = heard),
      onProgress: (count) => screen.progress(`${count} of ${jobs.length} runs`),
    })
    const stopped = ended.find((run) => HarvestError.is(run, 'HARVEST_CLI_INTERRUPTED'))
    const isDone = (run: JobOutcome | undefined): boolean => run !== undefined && run !== stopped
    const done = ended.filter(isDone)
    const [first] = ended
    // Nothing ran for one reason: that is the answer.
    const isForOne = HarvestError.is(first) && ended.every((run) => HarvestError.is(run, first.code))
    if (isForOne && first.code !== 'HARVEST_BUDGET_USED') throw withSpent(first, used)
    const rates = cases.map((kase, i) => rateOf(kase, ended.slice(i * plan.times, (i + 1) * plan.times).filter(isDone)))
    // Also of runs that did not end, and of calls that were open.
    const spent = used ?? spentBy(ended)
    const isMet =
      stopped === undefined && rates.every((rate) => (minimum === undefined ? passes(rate) : meets(rate, minimum)))
    printAnswer(
      {
        cases: rates,
        spent,
        minimum: minimum ?? null,
        met: isMet,
        ...(stopped === undefined ? {} : { interrupted: { made: done.length, of: ended.length } }),
      },
      (shown) => {
        print(rates, { spent, minimum, isMet, given, cases }, shown)
        for (const line of passedLines(plan.limits, asUse(spent), dearestOf(ended))) shown.line(line)
        if (stopped !== undefined) {
          shown.line(stoppedText({ made: done.length, of: ended.length }, 'runs'))
          return
        }
        printSteps(stepsAfterRates(rates, { cases, controls, ended, plan, prices, given }), (text) => shown.line(text))
      },
      { given, spec: rerunCommand, screen },
    )
    // Fewer runs than were asked for, and those that ended first: no rate to go by later.
    if (HarvestError.is(stopped)) return endedEarly(stopped, screen)
    keepLiveRuns(given.value('dir') ?? 'recordings', liveRunsOf(rates))
    return isMet ? exit.ok : exit.divergence
  },
}

/** Refuses a condition that no run could meet, before a model is asked. */
function requireKnown(cases: readonly Loaded[], given: CommandInput, screen: Screen): void {
  if (given.has('any-name')) return
  const { all } = typedExpectations({ ok: given.values('ok'), bad: given.values('bad') })
  if (all.length === 0) {
    if (given.has('oracle')) return
    for (const { case: kase } of cases) noteUnknownInCase(kase, readTape(requireTapeFile(kase)), screen)
    return
  }
  const { reference } = readReference(given)
  for (const { case: kase } of cases) {
    const tapes = [requireTapeFile(kase), ...(reference === undefined ? [] : [reference])].map((file) => readTape(file))
    requireKnownNames(all, { tapes, ...(kase.outcome === undefined ? {} : { outcome: kase.outcome }) })
  }
}

/** What the weekly check reads: the rates, and nothing of the runs. */
function liveRunsOf(rates: readonly PassRate[]): ReadonlyMap<string, LiveRuns> {
  const at = new Date().toISOString()
  return new Map(rates.filter(({ runs }) => runs > 0).map(({ case: id, runs, passed }) => [id, { at, runs, passed }]))
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
  {
    spent,
    minimum,
    isMet,
    given,
    cases,
  }: Gate & { readonly spent: Spent; readonly given: CommandInput; readonly cases: readonly Loaded[] },
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
  const isAsked = ['ok', 'bad', 'oracle'].some((option) => given.has(option))
  const isGradedByCase = (at: number): boolean => {
    const kase = cases[at]?.case
    return kase !== undefined && (kase.oracle !== undefined || saysGood(kase))
  }
  for (const [at, { case: id, expect, reasons, gradedBy, offTapeOpen }] of rates.entries()) {
    if (expect === 'fail' && gradedBy === null && !isAsked && !isGradedByCase(at))
      screen.line(`\n${id} is known bad: a run passes when it returns and does not go the recorded way`)
    if (offTapeOpen > 0)
      screen.line(
        `\n${id}: ${counted(offTapeOpen, 'run')} left the tape, so how they would have ended is not known; the interval holds for either`,
      )
    for (const { code, count, example } of reasons) {
      screen.line(`\n${id}: ${count} × ${code}`)
      screen.line(neutralLines(example).replace(/^/gm, '  '))
    }
  }
  screen.line()
  screen.line(describeSpent(spent, toolsWords(given)))
  if (minimum !== undefined) screen.line(`lower end of every interval ≥ ${minimum}: ${isMet ? 'yes' : 'no'}`)
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
