// Over 300 lines: one command, from its case to what it writes and says.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { typedExpectations } from '../../blame/expectation.ts'
import { evidenceOf } from '../../blame/fix-control.ts'
import type { FixAnswer, FixProgress, FixRequest } from '../../blame/fix-task.ts'
import { lockFix } from '../../blame/ledger-lock.ts'
import { type Case, parseCase, requireTapeFile } from '../../cases/index.ts'
import { HarvestError, withFacts } from '../../errors/index.ts'
import { isInGit } from '../../errors/usual-steps.ts'
import { hearSignals } from '../../jobs/program.ts'
import { interruptedFacts, runTask } from '../../jobs/run.ts'
import { unattended } from '../../provenance/unattended.ts'
import { forksFolder, placeFix, prepareFix, readPrices, type PreparedFix } from '../../recordings/index.ts'
import { commitsBefore } from '../../provenance/index.ts'
import type { Screen } from '../../report/output.ts'
import { money } from '../../report/spending.ts'
import { type Json, readTape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'
import { requireRoom } from '../../tape/kept-files.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { askYesNo, canAsk } from '../ask.ts'
import type { Command, CommandInput } from '../command.ts'
import { endedEarly, stoppedText } from '../ended-early.ts'
import { exit } from '../exit.ts'
import { findCaseToRun } from '../find.ts'
import { type Choice, chooseRun, countText, powerText, requireShown, unjudgedText } from '../fixing/choose.ts'
import { fixJson, runsJson } from '../fixing/json.ts'
import { printDifference, printPlan, printRuns, printShown } from '../fixing/print.ts'
import { readFixRequest } from '../fixing/request.ts'
import { showFix, type Shown } from '../fixing/shown.ts'
import { stepsToAnswer } from '../fixing/to-answer.ts'
import { branchTape } from '../forking/branch-tape.ts'
import { stepsToModels } from '../blame/to-models.ts'
import { stepsAfterBudget } from '../budget-step.ts'
import { mostPaidGrades } from '../../blame/grading.ts'
import { added, asUse, noUses, times } from '../../live/budget.ts'
import type { Use } from '../../live/index.ts'
import { passedLines } from '../passed-limit.ts'
import { noteUnknownInCase, noteUnknownNames, noteUnmet } from '../known-bad.ts'
import { knownRuns, otherRuns } from '../known-runs.ts'
import { describeSpent, readLivePlan, saysToPay } from '../live.ts'
import { toolsWords } from '../live-grading.ts'
import { fixSpec } from '../spec/fix.ts'
import { pathWord } from '../named-tape.ts'
import { badValue } from '../parse.ts'
import { printAnswer } from '../next-lines.ts'
import { type NextStep, printSteps, stepsToRun, testsElsewhere } from '../next-steps.ts'
import { anewText } from '../forking/anew.ts'
import type { MadeAnew } from '../../fork/index.ts'
import { typedAgain } from '../typed-again.ts'

/** Lets a fixed agent run on where it leaves its incident, and puts a good run in the place of the incident's tape. */
export const fixCommand: Command = {
  ...fixSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const { kase, text } = openCase(recordings, given.args[0] ?? '')
    const tapeFile = resolve(requireTapeFile(kase))
    await requireRevision(given)
    using _lock = lockOf(given, kase, tapeFile, recordings)
    const { answer, interrupted } = await runOn(given, { kase, text, tapeFile, recordings }, screen)
    if (!given.has('json')) printPlan(kase, answer, screen)
    if (interrupted !== undefined) return stopped(answer, interrupted, kase, given, screen)
    if (answer.runs.length === 0) return needsLive(answer, kase, given, screen)
    if (!given.has('json')) {
      printRuns(answer, toolsWords(given), screen)
      const { limits } = readLivePlan(given, fixSpec)
      // Nothing was to be kept where no model may be asked.
      if (given.has('live'))
        for (const line of passedLines(limits, asUse(answer.spent), answer.perGrade)) screen.line(line)
    }
    const steps = stepsToAll(answer, tapeFile, given)
    const chosenFor = { kase, given, steps }
    const choice = chooseRun(answer, chosenFor)
    requireShown(answer, chosenFor)
    const { replacement, shown } = await show(given, { kase, text, tapeFile, answer, choice, recordings }, screen)
    if (!given.has('json')) {
      printShown(choice, { answer, shown }, screen)
      printDifference(replacement, screen)
    }
    const isWritten = await mayWrite(given, screen)
    if (isWritten) placeFix(replacement)
    const end = (shown: Screen): void => {
      if (isWritten) printWritten(replacement, given.value('dir'), shown)
      else shown.line(`\nnothing is written yet\n→ to write it: ${typedAgain({ yes: true })}`)
    }
    printAnswer(fixJson(answer, { choice, shown, replacement, isWritten }), end, { given, spec: fixCommand, screen })
    return isWritten ? exit.ok : exit.divergence
  },
}

interface OpenedCase {
  readonly kase: Case
  /** What it was read from: a case that reads otherwise in the end is not written over. */
  readonly text: string
}

function openCase(recordings: string, word: string): OpenedCase {
  const { case: found, error } = findCaseToRun(recordings, word)
  if (found === undefined || error !== undefined) throw error ?? new TypeError(`${word} is neither read nor refused`)
  const text = readFileSync(found.file, 'utf8')
  return { kase: parseCase(text, found.file), text }
}

/**
 * Keeps other fixes of the case from running meanwhile, before anything is spent. One that may neither pay nor write locks nothing.
 *
 * @throws HarvestError `HARVEST_RECORDINGS_WRITE`, `HARVEST_FIX_RUNNING`
 */
function lockOf(given: CommandInput, { id }: Case, tapeFile: string, recordings: string): Disposable | undefined {
  if (!saysToPay(given) && !given.has('yes')) return undefined
  const folder = forksFolder(recordings, tapeFile)
  requireRoom(folder, 0)
  return lockFix(folder, id)
}

function agentOf(given: CommandInput): { readonly agent?: string } {
  const agent = given.value('agent')
  return agent === undefined ? {} : { agent }
}

/** What git does not know is refused before anything is asked. */
async function requireRevision(given: CommandInput): Promise<void> {
  const revision = given.value('without')
  if (revision === undefined || revision === 'none') return
  const known = await commitsBefore(process.cwd(), undefined, revision)
  if (known.length === 0) throw badValue(fixSpec, 'without', revision, 'a revision that git knows, or none')
}

async function runOn(
  given: CommandInput,
  { kase, text, tapeFile, recordings }: Omit<Fixed, 'answer' | 'choice'>,
  screen: Screen,
): Promise<{ readonly answer: FixAnswer; readonly interrupted?: HarvestError }> {
  const { limits, timeoutMs } = readLivePlan(given, fixSpec)
  const asked = readFixRequest(given, kase, tapeFile, recordings)
  const { all } = typedExpectations(asked)
  const tape = requireReplayable(readTape(tapeFile))
  const request: FixRequest = { ...asked, known: otherRuns(kase.agent, recordings, tape) }
  if (!given.has('any-name')) {
    if (all.length > 0) noteUnknownNames(all, tape, screen, { isAsked: true })
    else if (request.oracle === undefined) noteUnknownInCase(kase, tape, screen)
  }
  const passing = knownRuns(kase, recordings, tape).filter(({ passes }) => passes)
  const known = [...passing.map(({ file }) => file), request.reference ?? []].flat()
  if (request.oracle === undefined) await noteUnmet(request, { tape, case: kase, files: known }, screen)
  screen.progress('replaying')
  let soFar: FixAnswer | undefined
  const running = runTask(
    {
      tape: tapeFile,
      ...agentOf(given),
      case: { file: resolve(kase.file), text },
      timeoutMs,
      task: { name: 'fix', options: JSON.parse(JSON.stringify(request)) as Json },
    },
    {
      prices: readPrices(recordings) ?? {},
      limits,
      onReport: (told) => {
        const { anew, runs, ok, known } = told as unknown as Partial<FixProgress & { anew: MadeAnew }>
        if (anew !== undefined) {
          if (!given.has('json')) screen.note(anewText(anew))
          return
        }
        soFar = known
        screen.progress(`${runs} of ${request.runs} runs, ${ok} ok`)
      },
    },
  )
  try {
    const answer = await running
    screen.progress('')
    return { answer: answer as unknown as FixAnswer }
  } catch (error) {
    if (soFar === undefined || !HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) throw error
    screen.progress('')
    return { answer: soFar, interrupted: interruptedAfter(soFar, error) }
  }
}

/** Says whether runs that ended are kept, no matter which phase was ended: jobs know that only of their own. */
function interruptedAfter({ isKept }: FixAnswer, error: unknown): HarvestError {
  const facts = interruptedFacts(isKept)
  return HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')
    ? withFacts(error, facts)
    : new HarvestError('HARVEST_CLI_INTERRUPTED', facts, { cause: error })
}

/** What was known when someone ended it: fewer runs than were asked for choose nothing. */
function stopped(
  answer: FixAnswer,
  interrupted: HarvestError,
  kase: Case,
  given: CommandInput,
  screen: Screen,
): number {
  const { runs, controls } = answer
  const of = runsAsked(given, answer.isControlled)
  const made = runs.length + controls.length
  const print = (shown: Screen): void => {
    printRuns(answer, toolsWords(given), shown)
    shown.line(stoppedText({ made, of }, 'runs'))
  }
  printAnswer({ ...runsJson(kase.id, answer), interrupted: { made, of }, written: null }, print, {
    given,
    spec: fixCommand,
    screen,
  })
  return endedEarly(interrupted, screen)
}

/** From runs that a limit or a model kept from their end to all of them. */
function stepsToAll(
  { runs, controls, isControlled, perGrade = noUses }: FixAnswer,
  tapeFile: string,
  given: CommandInput,
): readonly NextStep[] {
  const codes = [...runs, ...controls].flatMap(({ fork }) => fork.problems.map(({ code }) => code))
  if (codes.length === 0) return []
  const tape = readTape(tapeFile)
  const prices = readPrices(given.value('dir') ?? 'recordings') ?? {}
  const { limits } = readLivePlan(given, fixSpec)
  const asked = runsAsked(given, isControlled)
  return [
    ...stepsToModels(codes, tape),
    ...stepsAfterBudget({
      codes,
      runs: () => [[tape, asked]],
      grading: perGrade,
      furtherGrades: mostPaidGrades(asked) - asked,
      limits,
      prices,
    }),
  ]
}

/** Live runs that are asked for, with those beside them. */
function runsAsked(given: CommandInput, isControlled: boolean): number {
  return Number(given.value('runs') ?? 3) * (isControlled ? 2 : 1)
}

/** Nothing is asked without a word for it; what it may use is known by now. */
function needsLive(answer: FixAnswer, kase: Case, given: CommandInput, screen: Screen): number {
  const [fixed, runs] = [runsAsked(given, false), runsAsked(given, answer.isControlled)]
  const { perRun, perGrade = noUses } = answer
  const grades = mostPaidGrades(runs)
  const inAll = added(times(runs, perRun), times(grades, perGrade))
  const print = (shown: Screen): void => {
    shown.line()
    shown.line(
      `its models have to be asked: ${answer.isControlled ? `${fixed} runs, and ${fixed} as recorded` : `${runs} runs`}, at most ${useText(inAll)}`,
    )
    if (answer.perGrade !== undefined)
      shown.line(
        `of which at most ${grades} grades: ${useText(times(grades, perGrade))}, if each uses what that of the recorded run did`,
      )
    if (answer.spent.modelCalls > 0) shown.line(`used up to here: ${describeSpent(answer.spent, toolsWords(given))}`)
    const power = answer.isControlled ? powerText(fixed) : undefined
    if (power !== undefined) shown.line(power)
    for (const { text } of answer.refused) shown.line(`nothing answers ${text} yet`)
    const steps = stepsToAnswer(answer, given, true)
    const ask = { about: 'to ask them', command: typedAgain({ live: true }) }
    printSteps(steps.length === 0 ? [ask] : steps, (text) => shown.line(text))
  }
  printAnswer({ ...runsJson(kase.id, answer), written: null }, print, { given, spec: fixCommand, screen })
  return exit.divergence
}

function useText({ calls, tokens, costUsd }: Use): string {
  const cost = costUsd === undefined ? 'cost unknown' : `about ${money(Number(costUsd.toPrecision(2)))}`
  return `${calls} calls, ${tokens} tokens, ${cost}`
}

interface Fixed extends OpenedCase {
  readonly tapeFile: string
  readonly answer: FixAnswer
  readonly choice: Choice
  readonly recordings: string
}

/** Shows the new case green with the fix and red without it, before anything is written. */
async function show(
  given: CommandInput,
  { kase, text, tapeFile, answer, choice, recordings }: Fixed,
  screen: Screen,
): Promise<{ readonly replacement: PreparedFix; readonly shown: Shown }> {
  const tape = requireClosed(readTape(tapeFile))
  const branch = branchTape(choice.run.fork.branch, tape)
  const at = choice.run.fork.madeAt
  const replaced = (without: string): PreparedFix =>
    prepareFix({
      recordings,
      case: kase,
      text,
      tape,
      branch,
      history: { at, graded: gradedText(choice, answer), without },
      ...agentOf(given),
      ok: given.values('ok'),
      bad: given.values('bad'),
      ...(given.value('oracle') === undefined ? {} : { oracle: given.value('oracle') ?? '' }),
      lesson: {
        ...(given.value('lesson-wrong') === undefined ? {} : { wrong: given.value('lesson-wrong') ?? '' }),
        ...(given.value('lesson-right') === undefined ? {} : { right: given.value('lesson-right') ?? '' }),
      },
    })
  const revision = given.value('without')
  const shown = await showHeard(answer, (signal) =>
    showFix(replaced('not shown'), {
      case: kase,
      tapeFile,
      ...(revision === undefined ? {} : { without: revision }),
      ...agentOf(given),
      asksAsRecorded: answer.isControlled,
      onProgress: (progress) => screen.progress(progress),
      signal,
    }),
  )
  screen.progress('')
  const { verdict } = shown.withFix
  if (verdict?.isGreen !== true) throw notGreen(kase.id, verdict?.isGreen === false ? verdict.message : '')
  const { without, tried } = shown
  if (without === undefined && revision !== 'none') throw notRed(kase.id, tried)
  return {
    replacement: replaced(without === undefined ? 'not shown' : `${without.code} at ${without.commit.slice(0, 10)}`),
    shown,
  }
}

/** What ends this process is heard also where no agent runs: else a checkout would stay. */
async function showHeard(answer: FixAnswer, work: (signal: AbortSignal) => Promise<Shown>): Promise<Shown> {
  using heard = hearSignals()
  try {
    const shown = await work(heard.signal)
    heard.signal.throwIfAborted()
    return shown
  } catch (error) {
    // git hears the same signal, and fails.
    const isEnded = heard.signal.aborted || HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')
    throw isEnded ? interruptedAfter(answer, error) : error
  }
}

/** What is kept of the runs in the case. */
function gradedText({ count }: Choice, { gradedBy, isControlled, runs, controls }: FixAnswer): string {
  const beside = isControlled ? `; asked as recorded ${countText(evidenceOf(runs, controls).asRecorded)}` : ''
  const { ok, graded, unjudged } = count
  return `${ok} of ${graded} ok by ${gradedBy}${unjudgedText(unjudged)}${beside}`
}

/** CI and coding agents accept no behaviour; a person says yes beforehand or at the terminal. */
async function mayWrite(given: CommandInput, screen: Screen): Promise<boolean> {
  const isAsked = given.has('yes') || (!given.has('json') && canAsk() && (await askWrite(screen)))
  if (!isAsked) return false
  const because = unattended(process.env)
  if (because === undefined || process.env['HARVEST_ALLOW_CI_UPDATE'] === '1') return true
  throw new HarvestError('HARVEST_FIX_REFUSED', {
    what: 'CI and coding agents do not replace the tape of a case',
    where: { because },
    fix: [
      'on a developer machine: the same command',
      `to allow it here: HARVEST_ALLOW_CI_UPDATE=1 ${typedAgain({ yes: true })}`,
    ],
  })
}

function askWrite(screen: Screen): Promise<boolean> {
  screen.line()
  return askYesNo('Write it?')
}

function printWritten({ content, caseFile, tapeFile }: PreparedFix, dir: string | undefined, screen: Screen): void {
  const files = [caseFile, tapeFile].map(pathWord).join(' ')
  screen.line('\nwritten')
  for (const line of testsElsewhere(dir)) screen.line(line)
  printSteps(stepsToRun(content.id, 'to run it', dir), (text) => screen.line(text))
  screen.line(`→ to commit it, together with the fix: git add ${files}`)
}

function notGreen(id: string, said: string): HarvestError {
  return new HarvestError('HARVEST_FIX_NOT_GREEN', {
    what: 'The new run is red with the fix, and nothing was written',
    where: { case: id },
    detail: said.replace(/^/gm, '  '),
    why: 'The agent uses something that is not on its tape.',
    fix: ['wrap what it reads in tool() or value()', 'then, with new runs: --no-cache'],
  })
}

function notRed(id: string, tried: Shown['tried']): HarvestError {
  const skip = `to skip this check: ${typedAgain({ without: 'none' })}`
  if (tried.length === 0)
    return new HarvestError('HARVEST_FIX_NOT_RED', {
      what: 'There is no code without the fix to compare with, and nothing was written',
      where: { case: id },
      why: 'It is looked for in the commits before this code; a case is to be red there.',
      fix: isInGit('package.json') ? ["to name code without the fix: --without '<revision>'", skip] : [skip],
    })
  const other = tried.some(({ asksOtherwise }) => asksOtherwise === true)
  return new HarvestError('HARVEST_FIX_NOT_RED', {
    what: other
      ? 'Code without the fix asks its models otherwise, too, and nothing was written'
      : 'The case was not red without the fix, and nothing was written',
    where: {
      case: id,
      ...Object.fromEntries(tried.map(({ commit, because }) => [`at ${commit.slice(0, 10)}`, because])),
    },
    why: other
      ? 'The runs beside those of the fix asked as recorded: an environment variable, a package or earlier code may be what helps.'
      : 'A case that is green without the fix cannot keep the bug away.',
    fix: [
      ...(other ? ['once the environment is as it was when recorded: the same command'] : []),
      "to name code without the fix: --without '<revision>'",
      skip,
    ],
  })
}
