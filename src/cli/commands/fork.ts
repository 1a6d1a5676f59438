// Over 300 lines: one command with its two questions, what comes of a change and which decisions count.
import type { BudgetLimits, Spent } from '../../live/index.ts'
import { keepAnswer, readPrices } from '../../recordings/index.ts'
import { here } from '../../errors/here.ts'
import { type Json, readTape, type Tape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { forkSpec } from '../spec/debug.ts'
import type { Command, CommandInput } from '../command.ts'
import { endedAt, endedEarly, endOf, printEnded, withoutSpent } from '../ended-early.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { findRun } from '../find.ts'
import { type ForkAsk, readAsk, readTail } from '../forking/ask.ts'
import { withControls, apart, isAnswered, tellBeside } from '../forking/beside.ts'
import { hasOpenCall, tellBranches, together, type Together, type BranchSummary } from '../forking/branches.ts'
import { tellChange, type ChangeSummary, typeNotes } from '../forking/changes.ts'
import { branchTape } from '../forking/branch-tape.ts'
import { gradedBeside, numberIn, pinsJson } from '../forking/control.ts'
import { alternativesOf, besideDecisions, decisionsOf, withDecided } from '../forking/alternatives.ts'
import { bestAlternative, type DecisionReport, printDecisions, reportDecisions } from '../forking/critical.ts'
import { type Grader, graderOf, requireGrade } from '../forking/grading.ts'
import { makeForks, type MakeOptions, type Parent } from '../forking/make.ts'
import { lookAtNames } from '../forking/names.ts'
import { parentOf, refuseOtherForkCode } from '../forking/parent.ts'
import { printAsk, printBranches, printReused, spentLines } from '../forking/print.ts'
import { otherTail } from '../forking/other-tails.ts'
import { Purse } from '../forking/purse.ts'
import { saveBranches } from '../forking/save.ts'
import { lookAtDecisions } from '../forking/decided-calls.ts'
import { acrossVersions, readLivePlan, readWhole, saysToPay } from '../live.ts'
import { neutralLines, type Screen } from '../../report/output.ts'
import { type LimitedRuns, roomForAll, stepsAfterBudget } from '../budget-step.ts'
import { printAnswer } from '../next-lines.ts'
import { finerAnswer } from '../finer-answer.ts'
import { printSteps } from '../next-steps.ts'
import { typedAgain } from '../typed-again.ts'

/** Replays a run up to a step, changes something there, and lets the agent run on. */
export const forkCommand: Command = {
  ...forkSpec,
  run: (given, screen) => runFork(given, screen),
}

/** @param more - `limits` in the place of those of the command line; `onPurse` hears what pays, before anything is paid */
export async function runFork(
  given: CommandInput,
  screen: Screen,
  { limits, onPurse }: { readonly limits?: BudgetLimits; readonly onPurse?: (purse: Purse) => void } = {},
): Promise<number> {
  const parent = readParent(given)
  const notes = lookAtDecisions(given, parent.tape, forkCommand)
  if (!given.has('any-name')) for (const note of notes) screen.note(note)
  lookAtNames(parent, given, screen)
  const purse = purseOf(parent, given, limits)
  onPurse?.(purse)
  return purse.saying(() => (given.has('critical') ? critical : fork)({ parent, purse }, given, screen))
}

interface Paid {
  readonly parent: Parent
  readonly purse: Purse
}

async function fork({ parent, purse }: Paid, given: CommandInput, screen: Screen): Promise<number> {
  const ask = readAsk(given, parent.tape, forkCommand)
  const grader = await graderOf(parent, given, purse)
  for (const note of typeNotes(parent.tape, ask.changes ?? [])) screen.note(note)
  const changes = (ask.changes ?? []).map((change) => tellChange(parent.tape, change))
  const first = readWhole(given, forkCommand, 'seed') ?? 1
  const times = readWhole(given, forkCommand, 'runs') ?? 1
  if (given.has('live')) await refuseOtherForkCode(parent, given)
  const pairs = withControls(Array.from({ length: times }, (_, n) => ({ ...ask, seed: `${first + n}` })))
  const forks = await makeForks(parent, pairs.requests, {
    ...makeOptions(given, screen, purse),
    together: pairs.together,
  })
  const graded = await gradedBeside(grader, forks)
  const drawn = apart(await tellBranches(parent.tape, forks, graded), pairs.together)
  const [changed, controls] = [drawn.changed.filter(isMade), drawn.controls.filter(isMade)]
  const interrupted = endOf(forks, graded)
  if (interrupted !== undefined && changed.length === 0) throw interrupted
  const { branches, unsaved } = given.has('save') ? saveBranches(parent, changed) : { branches: changed }
  const sum = together(branches)
  const beside = tellBeside(sum, controls)
  const { data } = forks.control
  const answer = asJson(parent.tape, ask, changes, branches, sum, graded)
  if (interrupted === undefined) keep(parent, answer)
  const runs = limited(parent.tape, branches, controls, purse)
  const options = { ...makeOptions(given, screen, purse), onProgress: () => {}, onAnew: () => {} }
  const tail = interrupted === undefined ? await otherTail(parent, branches, options) : undefined
  const print = (shown: Screen): void => {
    printAsk(parent, ask, changes, shown)
    const isGood = parent.case?.expect === 'pass'
    printBranches(branches, sum, graded, shown, {
      differs: data.differs,
      beside,
      grading: purse.grading,
      ...(interrupted === undefined ? {} : { spent: purse.forks }),
      isGood,
    })
    for (const line of purse.passed) shown.line(line)
    printEnded(forks, graded, shown)
    const isOffTape = branches.some(({ problems }) => problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED'))
    // No tape holds what a tool answers to a call that was not made.
    const isNewCall = branches.some((branch) => hasOpenCall(branch, parent.tape))
    if (tail !== undefined)
      shown.line(`→ to go on with the answers of another run, which was tried: ${typedAgain({ tail })}`)
    if (isOffTape && !given.has('live') && isNewCall)
      shown.line(
        `→ to run its tools for real, with their side effects, and ask the models: ${typedAgain({ live: true, ...acrossVersions(parent.tape, parent.case?.pins), tools: 'live', tail: undefined })}`,
      )
    else if (isOffTape && !given.has('live')) {
      shown.line(
        `→ to continue with live models: ${typedAgain({ live: true, ...acrossVersions(parent.tape, parent.case?.pins), tail: undefined })}`,
      )
      shown.line(
        `→ if they decide on other calls, with tools run for real, side effects and all: ${typedAgain({ live: true, ...acrossVersions(parent.tape, parent.case?.pins), tools: 'live', tail: undefined })}`,
      )
    } else if (isOffTape && given.value('tools') !== 'live')
      shown.line(
        `→ to run tools for real, with their side effects: ${typedAgain({ ...roomForAll(runs), tools: 'live' })}`,
      )
    printSteps(stepsAfterBudget(runs), (text) => shown.line(text))
  }
  const told = {
    ...answer,
    ...fromHere(answer),
    ...(interrupted === undefined ? {} : { spent: purse.forks }),
    ...endedAt(forks, graded),
    madeAnew: forks.anew,
    ...(forks.notCompared === undefined ? {} : { notCompared: forks.notCompared }),
    ...pinsJson(parent.tape, data),
    ...(beside === undefined ? {} : { beside }),
    ...gradingJson(purse),
  }
  printAnswer(told, print, { given, spec: forkCommand, screen })
  if (unsaved !== undefined) screen.note(neutralLines(unsaved.message))
  if (interrupted !== undefined) return endedEarly(withoutSpent(interrupted), screen)
  if (unsaved !== undefined) return exitCodeOf(unsaved)
  return isAnswered(sum, beside, given.has('live')) ? exit.ok : exit.divergence
}

/** Forks that were not made yet when someone ended the command say nothing. */
function isMade({ fork, problems }: BranchSummary): boolean {
  return fork !== undefined || !problems.some(({ code }) => code === 'HARVEST_CLI_INTERRUPTED')
}

/** What the budget may have kept from its end. */
function limited(
  tape: Tape,
  branches: readonly BranchSummary[],
  controls: readonly BranchSummary[],
  { limits, prices, mostOfGrade: grading }: Purse,
): LimitedRuns {
  const all = [...branches, ...controls]
  const codes = all.flatMap(({ problems }) => problems.map(({ code }) => code))
  return { codes, runs: () => [[tape, all.length]], grading, limits, prices }
}

/** Without `--live` a limit is for what grades: no run asks a model then. */
function purseOf(
  { recordings }: Parent,
  given: CommandInput,
  limits: BudgetLimits = readLivePlan(given, forkCommand).limits,
): Purse {
  const mayPay = saysToPay(given)
  return new Purse(mayPay ? limits : {}, readPrices(recordings) ?? {}, mayPay)
}

/** For a report: forks of another plan stand beside these, the same plan's are replaced. */
function keep({ recordings, tape }: Parent, answer: ForkJson): void {
  const key = JSON.stringify([answer.keep, answer.changed, answer.tail])
  const at = new Date().toISOString()
  keepAnswer(recordings, tape, 'fork', { at, key, answer: JSON.parse(JSON.stringify(answer)) as Json })
}

async function critical({ parent, purse }: Paid, given: CommandInput, screen: Screen): Promise<number> {
  const tail = readTail(given, forkCommand)
  const named = await graderOf(parent, given, purse)
  // A run whose end was not seen is graded as today's code ends it: that is known before anything is spent.
  const isUnseen = parent.tape.close?.outcome.status === 'unknown' && named !== undefined
  const quiet = { ...makeOptions(given, screen, purse), onProgress: () => {}, onAnew: () => {} }
  const seen = isUnseen ? await gradedBeside(named, await makeForks(parent, [], quiet)) : named
  const grader = requireGrade(seen, parent.tape)
  const reference = tail.from === 'reference' ? requireClosed(readTape(tail.file)) : undefined
  const times = readWhole(given, forkCommand, 'runs') ?? 1
  if (given.has('live')) await refuseOtherForkCode(parent, given)
  const planned = alternativesOf(parent.tape, tail, reference, times)
  const pairs = besideDecisions(planned)
  const forks = await makeForks(parent, pairs.requests, {
    ...makeOptions(given, screen, purse),
    together: pairs.together,
  })
  const graded = isUnseen ? grader : await gradedBeside(grader, forks)
  const drawn = await tellBranches(parent.tape, forks, graded)
  const interrupted = endOf(forks, graded)
  const told = drawn.filter(isMade)
  const { changed, controls } = apart(drawn, pairs.together)
  const { data } = forks.control
  const runs = changed.map(({ fork: made }) => made && branchTape(made.branch, parent.tape))
  const alternatives = withDecided(planned, runs, (step) => numberIn(data, step))
  const decisions = reportDecisions(decisionsOf(parent.tape), alternatives, changed, graded.recorded, controls)
  const spent = interrupted === undefined ? together(told).spent : purse.forks
  const print = (shown: Screen): void => {
    if (decisions.length === 0) return shown.line('No model decides anything in this run.')
    printDecisions(decisions, { grader: graded, differs: data.differs }, shown)
    printEnded(forks, graded, shown)
    printReused(told, shown)
    const lost = told.find(isUnreached)
    const runs = limited(parent.tape, changed, controls, purse)
    const toAll = stepsAfterBudget(runs)
    printSteps(toAll, (text) => shown.line(text))
    if (toAll.length === 0 && lost === undefined && decisions.some(({ verdict }) => verdict === 'open'))
      printSteps([finerAnswer(times)], (text) => shown.line(text))
    const areToolsReal = tail.from === 'live' && tail.tools === 'live'
    if (lost !== undefined) shown.line(neutralLines(lost.problems[0]?.message ?? ''))
    for (const line of spentLines(spent, purse.grading, areToolsReal)) shown.line(line)
    for (const line of purse.passed) shown.line(line)
    if (graded.takesAnyOther) shown.line(`→ to grade runs by what is right: ${typedAgain({ ok: '<right>' })}`)
    // Another decision asks for another call: no tape holds what a tool answers to it.
    if (decisions.some(({ tried }) => tried.some(isOffTape)) && !areToolsReal)
      shown.line(
        `→ to judge those that leave the tape, with models asked and tools run for real, side effects and all: ${typedAgain({ ...roomForAll(runs), live: true, ...acrossVersions(parent.tape, parent.case?.pins), tools: 'live', tail: undefined })}`,
      )
  }
  const answer = {
    ...fromHere({ tape: parent.tape.source, tail }),
    gradedBy: graded.by,
    recorded: graded.recorded,
    ...endedAt(forks, graded),
    madeAnew: forks.anew,
    ...(forks.notCompared === undefined ? {} : { notCompared: forks.notCompared }),
    ...pinsJson(parent.tape, data),
    decisions,
    best: bestAlternative(decisions, graded) ?? null,
    spent,
    ...gradingJson(purse),
  }
  printAnswer(answer, print, { given, spec: forkCommand, screen })
  if (interrupted !== undefined) return endedEarly(withoutSpent(interrupted), screen)
  const isJudged =
    decisions.some(({ verdict }) => verdict !== 'unknown') || decisions.every(({ tried }) => tried.length === 0)
  return isJudged && !told.some(isUnreached) ? exit.ok : exit.divergence
}

function isUnreached({ problems }: BranchSummary): boolean {
  return problems.some(({ code }) => code === 'HARVEST_FORK_MODEL_UNREACHABLE')
}

function isOffTape({ outcome, because }: DecisionReport['tried'][number]): boolean {
  return outcome === 'not judged' && because === 'HARVEST_NOT_RECORDED'
}

/** Files as each command that is typed here finds them. */
function fromHere({ tape, tail }: Pick<ForkJson, 'tail' | 'tape'>): Pick<ForkJson, 'tail' | 'tape'> {
  return { tape: here(tape), tail: 'file' in tail ? { ...tail, file: here(tail.file) } : tail }
}

/** For programs: what grading used, beside what the forks did. */
function gradingJson({ grading }: Purse): { readonly grading?: Spent } {
  return grading === undefined ? {} : { grading }
}

function makeOptions(given: CommandInput, screen: Screen, purse: Purse): MakeOptions {
  const { parallel, timeoutMs } = readLivePlan(given, forkCommand)
  return {
    parallel,
    isFresh: given.has('no-cache'),
    purse,
    timeoutMs,
    onProgress: (made, of) => screen.progress(`${made} of ${of} forks`),
    ...(given.has('json') ? {} : { onAnew: (text: string) => screen.note(text) }),
  }
}

function readParent(given: CommandInput): Parent {
  const found = findRun(given.args[0] ?? '', given.value('dir'), { isExact: given.has('save') })
  return parentOf(requireReplayable(readTape(found.file)), found, given)
}

export type ForkJson = ReturnType<typeof asJson>

function asJson(
  tape: Tape,
  { keep, tail }: ForkAsk,
  changed: readonly ChangeSummary[],
  branches: readonly BranchSummary[],
  sum: Together,
  grader: Grader | undefined,
) {
  return {
    tape: tape.source,
    keep,
    changed,
    tail,
    gradedBy: grader?.by ?? null,
    recorded: grader?.recorded ?? null,
    branches: branches.map(({ seed, fork, compared, grade, problems, isReused, saved }) => ({
      seed,
      judged: compared !== undefined,
      outcome: fork?.outcome ?? null,
      grade: grade ?? null,
      differs: compared ?? null,
      problems,
      prefix: fork?.prefix ?? null,
      spent: fork?.spent ?? null,
      inert: fork?.isInert ?? null,
      fingerprint: fork?.fingerprint ?? null,
      reused: isReused,
      madeAt: fork?.madeAt ?? null,
      saved: saved ?? null,
    })),
    ...sum,
  }
}
