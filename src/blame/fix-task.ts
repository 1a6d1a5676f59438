// Over 300 lines: the way of a fix, from the replay of its case to the runs that are graded, with what refuses it.
import { accessOf } from '../fork/access.ts'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type Case, parseCase } from '../cases/index.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { allowanceOf } from '../fork/ask-budget.ts'
import { asData } from '../fork/fork-task.ts'
import {
  type FinishedFork,
  type ForkPlan,
  forkTape,
  type ForkOptions,
  type HeardCall,
  hearModelCalls,
  requireNoKeptState,
  type UnchangedRun,
  unchangedRun,
} from '../fork/index.ts'
import { forgetFork, keepFork, type MadeAnew, readKeptForks, requirePlace, wholePairs } from '../fork/kept-forks.ts'
import { isControlFirst } from '../fork/pair-order.ts'
import { doAgain } from '../fork/kept-run.ts'
import { recordedQuestions } from '../fork/recorded-question.ts'
import { timeLimit } from '../fork/time-limit.ts'
import type { Task, TaskContext } from '../jobs/index.ts'
import { mostOf, noUses } from '../live/budget.ts'
import { type Budget, type Spent, unpaid, type Use } from '../live/index.ts'
import { asksModel } from '../providers/index.ts'
import { codeDigest, gitState, isCodeOf } from '../provenance/index.ts'
import { changedQuestions, replayTape, standInKeys, type GreenSteps, isGreenAt } from '../replay/index.ts'
import type { Drift, ReplayResult } from '../match/types.ts'
import { type Json, parseTape, readTape, serializeTape, stepsOf, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { version } from '../version.ts'
import { type OfflineRun, runOffline } from './changed-from.ts'
import { chooseJudging } from './choose-oracle.ts'
import { gradeEnded, gradeRecorded, notToPay, requireGoodReference } from './grade-task.ts'
import { leastRuns } from './fix-control.ts'
import { KeptGrades } from './kept-grades.ts'
import { loadOracle, type NamedOracle } from './named-oracle.ts'
import { paidRegrades, requireSteadyGrades } from './grading.ts'
import { asUse, gradeWithin, ofAnswered, type PaidGrade, spendGrading, useOf } from './graded-use.ts'
import { createOracle, type GradeGiven, type Oracle } from './oracle.ts'
import { loadStandIns, type StandInsFile } from './stand-ins.ts'
import { isDecidedByCode, withRecordedCalls } from './recorded-calls.ts'
import { referenceOf } from './reference-run.ts'
import { type RefusedCall, refusedCalls, runThatAnswers, stillRefused } from './refused-calls.ts'
import type { Grade, GradingUse, KnownRun } from './types.ts'
import { waysToName } from './ways-to-name.ts'

/** What the task `fix` is asked for; its job has the case. Files are absolute paths. */
export interface FixRequest {
  readonly ok: readonly string[]
  readonly bad: readonly string[]
  /** A function that grades. */
  readonly oracle?: NamedOracle
  /** Who answers tools behind the first changed step: the tape, functions that stand in for them, or the world. */
  readonly tools: 'tape' | 'live' | StandInsFile
  /** A tape that answers what this one cannot. */
  readonly reference?: string
  /** Other runs that may answer it. */
  readonly known: readonly KnownRun[]
  /** How often the agent runs on with live models. */
  readonly runs: number
  /** No runs asked as recorded are made beside them: nothing is to be shown. */
  readonly isUnshown?: true
  /** Models may be asked. */
  readonly isLive: boolean
  /** Someone said that models may be paid for grades: else the first one that asks a model is the last. */
  readonly mayPay: boolean
  /** Server of the live models. */
  readonly baseUrl?: string
  /** Folder in which runs are kept. */
  readonly folder: string
  /** Runs of earlier sessions do not count. */
  readonly isFresh: boolean
}

/** A run of the fixed agent, from its first changed step on. */
export interface FixRun {
  readonly fork: FinishedFork
  readonly grade: Grade
  /** It left its tape and is graded by the calls it made until then: it is not whole, so it becomes no tape. */
  readonly isOffTape?: true
  /** What it asked for that nothing has an answer to. */
  readonly refused: readonly RefusedCall[]
  /** Why it is not graded. */
  readonly because?: string
  readonly isReused: boolean
}

/** The result of a fix, before anything is written. */
export interface FixAnswer {
  readonly steps: number
  /** Steps that are answered from the tape. */
  readonly keep: number
  /** No model had to be asked: the recorded answers are enough. */
  readonly isOffline: boolean
  /** What is other than recorded, for people. */
  readonly changed: readonly string[]
  readonly gradedBy: string
  /** Grade of the recorded run. */
  readonly recorded: Grade
  /** What nothing answers that is on the tape or was given: of the runs, and before them as far as no model is asked. */
  readonly refused: readonly RefusedCall[]
  /** A good run that answers one of these. */
  readonly otherRun?: string
  /** Empty when models would have to be asked and may not be. */
  readonly runs: readonly FixRun[]
  /** Its model may be right by chance: a run that is right shows nothing until runs asked as recorded are not. */
  readonly isControlled: boolean
  /** The same runs with models asked as recorded, each made after the run it stands beside; empty unless controlled. */
  readonly controls: readonly FixRun[]
  /** The same command has the live runs again: all of them were kept. */
  readonly isKept: boolean
  /** What models used in this session, those that graded too. */
  readonly spent: Spent
  /** The part of it that grading used; absent where no model was asked for that. */
  readonly grading?: GradingUse
  /** What one grade used at most; absent where no model was asked for any in this session. */
  readonly perGrade?: Use
  /** What one live run uses at most, as far as the recorded steps tell. */
  readonly perRun: { readonly calls: number; readonly tokens: number; readonly costUsd?: number }
}

/** What is said while runs are made. */
export interface FixProgress {
  readonly runs: number
  readonly ok: number
  readonly known: FixAnswer
}

/** Lets the fixed agent run on from the first step that it does otherwise, and grades what it comes to. */
export const fixTask: Task = async (asked, context) => {
  const request = asked as unknown as FixRequest
  const { tape } = context
  const kase = caseOf(context)
  const oracle = await oracleOf(request, context)
  const { folder, isFresh } = request
  const code = await codeDigest(process.cwd())
  if (code !== undefined && request.isLive) requirePlace(tape, folder)
  const keptGrades = new KeptGrades(oracle, { folder, code, isFresh, surroundings: context.surroundings })
  const session: Session = { request, context, oracle, heard: [], keptGrades, agreed: new Set() }
  const { unchanged, offline } = await runRecorded(context)
  const { replayed } = unchanged
  const changed = changesOf(replayed, context.accepted(replayed))
  // A question that was accepted is another one all the same: only the model says what the agent makes of it. Where there is
  // nothing to fix no grade is paid for.
  if (context.isGreen(replayed) && changed.length === 0) {
    throw nothingFixed(kase, {
      hasTools: tape.events.some(({ kind }) => kind === 'tool'),
      isSame: await isCodeOf(process.cwd(), kase.pins?.commit),
      right: request,
    })
  }
  const { grade: recorded } = await steadyGrade(
    async () => ({ grade: await gradeRecorded(oracle, tape) }),
    `fix of ${tape.digest}`,
    session,
  )
  if (kase.expect === 'fail' && recorded === 'ok') throw notBad(kase.id, tape, oracle)
  const reference = request.reference === undefined ? undefined : requireClosed(readTape(request.reference))
  if (reference !== undefined) await requireGoodReference(oracle, reference)
  const isControlled = request.isUnshown !== true && !offline.isWhole && !isDecidedByCode(tape, offline, oracle)
  if (isControlled && request.isLive && request.runs < leastRuns()) throw tooFewRuns(kase.id)
  const steps = stepsOf(tape)
  const stoodFor = steps.slice(offline.keep).filter(asksModel)
  const foreseen = await foreseenIn(offline, reference, session)
  const answerOf = ({ runs, controls, isKept }: LiveRuns): FixAnswer => ({
    steps: steps.length,
    keep: offline.isWhole ? steps.length : (runs[0]?.fork.prefix.steps ?? offline.keep),
    isOffline: offline.isWhole,
    changed,
    gradedBy: oracle.about,
    recorded,
    refused: runs.length === 0 ? foreseen : refusedIn(runs),
    runs,
    isControlled,
    controls,
    isKept,
    spent: context.budget.total,
    ...(session.heard.length === 0
      ? {}
      : {
          grading: useOf(session.heard.flat(), context.prices),
          perGrade: session.heard.map((calls) => asUse(useOf(calls, context.prices))).reduce(mostOf, noUses),
        }),
    perRun: allowanceOf(
      // Behind the last recorded step a call is taken to be as large as the last one.
      stoodFor.length > 0 ? stoodFor : steps.filter(asksModel).slice(-1),
      offline.fork.events,
      context.prices,
    ),
  })
  const asksModels = session.heard.length > 0 || session.agreed.size > 0
  if (offline.isWhole && asksModels && !request.mayPay) throw notToPay()
  // What was left by the first replay may be why the second one asks no model.
  if (offline.isWhole) await requireNoKeptState(tape, unchanged, context)
  const made = offline.isWhole
    ? {
        runs: [await graded(asData(offline.fork, { seed: '1', tail: { from: 'tape' } }), session)],
        controls: [],
        isKept: false,
      }
    : request.isLive
      ? await runSteadily(session, unchanged, (names) =>
          runLive(offline.keep, isControlled, session, names, (known) => tellRuns(answerOf(known), context)),
        )
      : { runs: [], controls: [], isKept: false }
  const answer = answerOf(made)
  // Grading may cost money: then no other run is graded.
  const known = asksModels ? [] : request.known
  const otherRun = await runThatAnswers(answer.refused, known, { tape, oracle, given: reference })
  return JSON.parse(JSON.stringify({ ...answer, ...(otherRun === undefined ? {} : { otherRun }) })) as Json
}

/** The calls of today's code that nothing answers, before any model is asked. */
async function foreseenIn(
  { fork }: OfflineRun,
  reference: Tape | undefined,
  { request, context }: Session,
): Promise<readonly RefusedCall[]> {
  if (request.tools === 'live') return []
  const calls = refusedCalls(fork.branch.tape, context.tape, fork.problems)
  // Behind a question to a model it is not known what is called; nor is one refused that was asked of a service.
  if (calls[0]?.tool === undefined) return []
  const tools = await loadStandIns(request.tools, context.importModule)
  return stillRefused(
    calls.filter(({ tool }) => tool !== undefined),
    { reference, tools },
  )
}

/** Each once. */
function refusedIn(runs: readonly FixRun[]): readonly RefusedCall[] {
  return [...new Map(runs.flatMap(({ refused }) => refused.map((one) => [one.asked, one] as const))).values()]
}

/** Says what is known when someone ends the command. */
function tellRuns(known: FixAnswer, { say }: Pick<TaskContext, 'say'>): void {
  const { runs, controls } = known
  // A branch may be large, and is said nothing of.
  const shown = (all: readonly FixRun[]): readonly FixRun[] =>
    all.map(({ fork: { run: _, ...fork }, ...of }) => ({ ...of, fork: { ...fork, branch: '' } }))
  const progress: FixProgress = {
    runs: runs.length,
    ok: runs.filter(({ grade }) => grade === 'ok').length,
    known: { ...known, runs: shown(runs), controls: shown(controls) },
  }
  say(JSON.parse(JSON.stringify(progress)) as Json)
}

function caseOf({ case: given }: TaskContext) {
  if (given === undefined) throw new TypeError('a fix has a case')
  return parseCase(given.text, given.file)
}

async function oracleOf(request: FixRequest, context: TaskContext): Promise<Required<Oracle>> {
  const { tape } = context
  const kase = caseOf(context)
  const { ok, bad, oracle: named } = request
  const judge = named === undefined ? undefined : await loadOracle(named, context)
  const judging = chooseJudging(tape, { ok, bad, ...(judge === undefined ? {} : { judge }), case: kase })
  // That a known-bad run ends otherwise than it did does not make it a good one; one that threw has to return at least.
  if (judging.by !== 'case' || kase.expect === 'pass') return createOracle(judging)
  if (tape.close?.outcome.status === 'threw') return createOracle({ by: 'ending' })
  throw oracleMissing(kase.id, tape)
}

/** Today's code on the recorded answers: as its case replays it, and as far as it asks what was recorded. */
async function runRecorded(
  context: TaskContext,
): Promise<{ readonly unchanged: UnchangedRun; readonly offline: OfflineRun }> {
  const { tape, replay } = context
  using limit = timeLimit(context)
  const takeBack = standInKeys(tape)
  try {
    const { signal } = limit
    const replayed = await replayTape(tape, await context.load(), { ...replay, signal })
    const offline = await runOffline(tape, await context.load(), forkOptions(context, signal))
    takeBack()
    return { unchanged: unchangedRun(replayed), offline }
  } finally {
    takeBack()
  }
}

function forkOptions({ replay }: TaskContext, signal: AbortSignal): ForkOptions {
  return { signal, ...accessOf(replay) }
}

/** What differs, in the order in which it shows; a fix often changes several things. What was accepted is not its doing. */
function changesOf({ drift, problems }: ReplayResult, accepted: GreenSteps): readonly string[] {
  const questions = changedQuestions(drift.filter(isCounted))
  const parts = questions.map((question) => {
    const { part, steps, words } = question
    const before = isGreenAt(question, accepted) ? ', accepted before' : ''
    return `${part} (step ${steps[0] ?? '?'}${before}): ${words}`
  })
  return [...parts, ...problems.slice(0, 1).map(({ facts }) => facts.what)]
}

function isCounted({ policy }: Drift): boolean {
  return policy !== 'ignore' && policy !== 'report'
}

interface Session {
  readonly request: FixRequest
  readonly context: TaskContext
  readonly oracle: Required<Oracle>
  /** The model calls of all grades that made some. */
  readonly heard: (readonly HeardCall[])[]
  readonly keptGrades: KeptGrades
  /** Grades of which it is known that who is paid for them gives them again to the same run. */
  readonly agreed: Set<Grade>
}

/**
 * Live runs of an agent that keeps nothing from one to the next: else a later one may be right for what an earlier one left.
 *
 * @param make - names the runs that it keeps
 * @throws HarvestError `HARVEST_CONTROL`; the runs that were made are then forgotten
 */
async function runSteadily<T>(
  { request, context }: Session,
  unchanged: UnchangedRun,
  make: (made: string[]) => Promise<T>,
): Promise<T> {
  const replaying = { ...context, load: () => context.load() }
  await requireNoKeptState(context.tape, unchanged, replaying)
  const made: string[] = []
  const runs = await make(made)
  try {
    await requireNoKeptState(context.tape, unchanged, replaying)
  } catch (error) {
    for (const key of made) forgetFork(request.folder, key)
    throw error
  }
  return runs
}

interface LiveRuns {
  readonly runs: readonly FixRun[]
  readonly controls: readonly FixRun[]
  readonly isKept: boolean
}

/**
 * Runs the agent so often, one run after the other: what the first one costs counts before the next one begins. Steps whose
 * order the offline run could not tell are found to differ before any model is asked, and then fewer are kept.
 *
 * @param isControlled - beside each run one is made with its models asked as recorded, in an order left to chance
 * @param tell - hears of all runs until then, as each one ends
 */
async function runLive(
  most: number,
  isControlled: boolean,
  session: Session,
  made: string[],
  tell: (known: LiveRuns) => void,
): Promise<LiveRuns> {
  const { request, context } = session
  const code = await codeDigest(process.cwd())
  const tools = await loadStandIns(request.tools, context.importModule)
  const reference = request.reference === undefined ? undefined : requireClosed(readTape(request.reference))
  // Followed by what the reference run alone knows an answer to.
  const tape = reference === undefined ? context.tape : referenceOf(context.tape, reference).tape
  const git = await gitState(process.cwd())
  const planAt = (keep: number, n: number, isControl: boolean): ForkPlan =>
    isControl
      ? planOf(keep, `control ${n + 1}`, session, git, { asking: recordedQuestions(context.tape, keep) })
      : planOf(keep, `${n + 1}`, session, git)
  const keyAt = (plan: ForkPlan): string | undefined =>
    code === undefined ? undefined : keyOf(plan, session, { code, reference: reference?.digest })
  const runs: FixRun[] = []
  const controls: FixRun[] = []
  let keep = most
  let isKept = code !== undefined
  let known: KeptPairs | undefined
  while (runs.length < request.runs || (isControlled && controls.length < request.runs)) {
    if (known?.keep !== keep) {
      const arms = isControlled ? [false, true] : [false]
      const asked = Array.from({ length: request.runs }, (_, n) => arms.map((arm) => planAt(keep, n, arm))).flat()
      known = await readPairs(keep, asked.map(keyAt), arms.length, session)
      if (known.anew !== undefined) context.say({ anew: { ...known.anew } })
      // Those of before count together or not at all.
      if (known.isNone)
        return runLive(most, isControlled, { ...session, request: { ...request, isFresh: true } }, made, tell)
    }
    // How many steps are kept, the first run tells.
    const isControl =
      isControlled &&
      (controls.length === runs.length
        ? runs.length > 0 && isControlFirst(context.tape, runs.length)
        : controls.length < runs.length)
    const n = (isControl ? controls : runs).length
    const plan = planAt(keep, n, isControl)
    const key = keyAt(plan)
    const kept = known.forks[isControlled ? 2 * n + Number(isControl) : n]
    const fork =
      kept === undefined
        ? await forkOnce(tape, plan, { ...session, ...(tools === undefined ? {} : { tools }) }, key && request.folder)
        : pinnedTo(kept, plan.code, context.tapeFile)
    if (!isControl && fork.prefix.divergence !== undefined && keep > 0) {
      keep -= 1
      if (controls.length > runs.length) controls.pop()
      continue
    }
    if (kept === undefined && key !== undefined) {
      isKept = keepFork(request.folder, key, fork, context.surroundings.reads(fork.run?.keyVariables)) && isKept
      made.push(key)
    }
    const run = await graded(fork, session, { isControl, isReused: kept !== undefined })
    if (isControl) controls.push(run)
    else runs.push(run)
    tell({ runs, controls, isKept })
    if (run.fork.problems.some(({ code: problem }) => problem.startsWith('HARVEST_BUDGET_'))) break
  }
  return { runs, controls, isKept }
}

/** Runs of earlier sessions that count, each followed by its control where there are any; `undefined` for one to be made. */
interface KeptPairs {
  readonly keep: number
  readonly forks: readonly (FinishedFork | undefined)[]
  /** What was kept and does not count. */
  readonly anew?: MadeAnew
  /** None of them counts. */
  readonly isNone: boolean
}

/** @param size - 2: each is followed by its control, and what a provider said to one in another session says nothing of the other */
async function readPairs(
  keep: number,
  keys: readonly (string | undefined)[],
  size: number,
  { request, context }: Session,
): Promise<KeptPairs> {
  const { folder, isFresh } = request
  const read = await readKeptForks(
    keys.map((key) => (key === undefined || isFresh ? undefined : { folder, key })),
    context.surroundings,
    (run, at) => doAgain(run, { ...context, folder: at, parent: context.tape }),
  )
  const counted = size === 1 ? read : wholePairs(read)
  const anew = read.anew ?? counted.anew
  return { keep, forks: counted.forks, ...(anew === undefined ? {} : { anew }), isNone: read.anew !== undefined }
}

/** A run kept from before, as one of today's code: that is the same, and may be committed by now. */
function pinnedTo(kept: FinishedFork, code: ForkPlan['code'], tapeFile: string): FinishedFork {
  const { header, events, close } = parseTape(kept.branch, join(dirname(tapeFile), 'branch.tape.jsonl'))
  const { commit: _commit, dirty: _dirty, ...pins } = header.pins
  const own = events.slice(header.parent?.events ?? 0)
  return { ...kept, branch: serializeTape({ ...header, pins: { ...code, ...pins } }, own, close) }
}

function planOf(
  keep: number,
  seed: string,
  { request, context }: Session,
  code: ForkPlan['code'],
  asking: Pick<Extract<ForkPlan['tail'], { from: 'live' }>, 'asking'> = {},
): ForkPlan {
  const { tools, baseUrl } = request
  return {
    keep,
    kept: 'canonical',
    seed,
    tail: {
      from: 'live',
      tools: tools === 'live' ? 'live' : 'tape',
      budget: context.budget,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...asking,
    },
    ...(code === undefined ? {} : { code }),
  }
}

async function forkOnce(
  tape: Tape,
  plan: ForkPlan,
  { context, tools }: Session & { readonly tools?: ForkOptions['tools'] },
  folder: string | undefined,
): Promise<FinishedFork> {
  using limit = timeLimit(context)
  const options = { ...forkOptions(context, limit.signal), ...(tools === undefined ? {} : { tools }) }
  const fork = await forkTape(tape, await context.load(), plan, options)
  return asData(fork, { seed: plan.seed ?? '', tail: { from: 'live' } }, folder)
}

/** All that makes a run the same run; how it is graded is asked again. */
function keyOf(
  { keep, seed }: ForkPlan,
  { request, context }: Session,
  { code, reference }: { readonly code: string; readonly reference: string | undefined },
): string {
  const { tools, baseUrl } = request
  const { tape, case: kase } = context
  const said = [tape.digest, kase?.file, code, version, keep, seed, tools, reference, baseUrl]
  return `fix-${createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 24)}`
}

/**
 * The grade of one run. A function is asked again and again, for a grade that comes and goes calls a run a fix that is not.
 * Whoever is paid for it is asked again about the first run of each grade alone, and once about runs that are the same.
 *
 * @param run - a text that is the same for the same run
 * @throws HarvestError HARVEST_ORACLE_FLAKY
 */
async function steadyGrade(grade: () => Promise<GradeGiven>, run: string, session: Session): Promise<GradeGiven> {
  const { request, context, oracle, keptGrades, agreed } = session
  if (!oracle.mayVary) return grade()
  const known = keptGrades.get(run)
  if (known !== undefined) {
    agreed.add(known)
    return { grade: known }
  }
  const heard = async (): Promise<PaidGrade> => {
    const made = request.mayPay
      ? await gradeWithin(oracle.about, grade, context)
      : await heardAlone(grade, context.budget)
    if (made.calls.length > 0) session.heard.push(made.calls)
    return made
  }
  const { given, calls } = await heard()
  const isPaid = calls.length > 0
  let left = isPaid ? (request.isLive && !agreed.has(given.grade) ? paidRegrades : 0) : Number.POSITIVE_INFINITY
  let isMeasured = request.isLive
  const regrade = async () => {
    const again = left-- > 0 ? await heard().catch(unpaid) : undefined
    if (HarvestError.is(again)) isMeasured = false
    return again === undefined || HarvestError.is(again) ? undefined : again.given.grade
  }
  await requireSteadyGrades({ recorded: given.grade, regrade }, waysToName(context.tape))
  if (isPaid && isMeasured) {
    agreed.add(given.grade)
    keptGrades.keep(run, given.grade)
  }
  return given
}

async function heardAlone(grade: () => Promise<GradeGiven>, budget: Budget): Promise<PaidGrade> {
  const { came: given, calls } = await hearModelCalls(grade)
  spendGrading(budget, calls)
  return { given: ofAnswered(given, calls), calls }
}

/**
 * A run with a problem is no run of the fixed agent. One that left its tape did make the calls it made up to there: as in
 * blame it is graded by them. One asked as recorded is graded as one without the fix: what the fix calls otherwise before its
 * model is asked does not count.
 */
async function graded(
  fork: FinishedFork,
  session: Session,
  { isControl = false, isReused = false }: { readonly isControl?: boolean; readonly isReused?: boolean } = {},
): Promise<FixRun> {
  const { context, oracle } = session
  const { tape, tapeFile } = context
  const [problem] = fork.problems
  // A branch names its parent as seen from the parent's own folder.
  const branch = parseTape(fork.branch, join(dirname(tapeFile), 'branch.tape.jsonl'))
  const { events: made } = branch
  const common = { refused: refusedCalls(branch, tape, fork.problems), isReused }
  const events = isControl ? withRecordedCalls(made, tape, fork.prefix.steps) : made
  if (problem !== undefined) {
    const grade = problem.code === 'HARVEST_NOT_RECORDED' ? oracle.gradeCalls({ ...fork, events, tape }) : undefined
    if (grade !== undefined) return { fork, grade, isOffTape: true, ...common }
    return { fork, grade: 'ungraded', because: problem.message, ...common }
  }
  const ended = { tape, outcome: fork.outcome, events }
  const others = events === made ? [] : ['with the recorded calls']
  const runText = JSON.stringify([tape.digest, fork.prefix.steps, fork.fingerprint, ...others])
  const given = await steadyGrade(() => gradeEnded(oracle, ended), runText, session).catch(unpaid)
  if (HarvestError.is(given)) {
    const { code, message } = given
    return { fork: { ...fork, problems: [{ code, message }] }, grade: 'ungraded', because: message, ...common }
  }
  const { grade, because } = given
  return { fork, grade, ...(because === undefined ? {} : { because }), ...common }
}

function notBad(id: string, tape: Tape, { about: by }: Oracle): HarvestError {
  return new HarvestError('HARVEST_FIX_ORACLE', {
    what: 'The oracle grades the incident `ok`, so it cannot recognise a fix',
    where: { case: id, 'graded by': by },
    // A function and expectations exclude each other.
    fix: waysToName(tape, true),
  })
}

function tooFewRuns(id: string): HarvestError {
  return new HarvestError('HARVEST_FIX_NOT_SHOWN', {
    what: 'So few runs cannot show a fix, and no model was asked',
    where: { case: id },
    why: 'Runs with the fix are held against as many whose models are asked as recorded.',
    fix: [`with enough runs: --runs ${leastRuns()}`],
  })
}

function oracleMissing(id: string, tape: Tape): HarvestError {
  return new HarvestError('HARVEST_FIX_ORACLE', {
    what: 'No oracle: name what the fixed agent does',
    where: { case: id },
    why: 'A run that ends differently from the incident can still be wrong.',
    fix: [
      ...waysToName(tape),
      'to say it once and for all, in the case: ok: [<right>]',
      "to grade runs by a function: --oracle '<file#export>'",
    ],
  })
}

function nothingFixed(
  { id, expect }: Case,
  {
    hasTools,
    isSame,
    right: { ok, bad, oracle },
  }: {
    readonly hasTools: boolean
    /** The code is that of the case. */
    readonly isSame: boolean
    readonly right: Pick<FixRequest, 'ok' | 'bad' | 'oracle'>
  },
): HarvestError {
  const right = [
    ...ok.map((text) => ` --ok ${shellWord(text)}`),
    ...bad.map((text) => ` --bad ${shellWord(text)}`),
    ...(oracle === undefined || oracle.at !== undefined ? [] : [` --oracle ${shellWord(oracle.name)}`]),
  ].join('')
  return new HarvestError('HARVEST_FIX_UNCHANGED', {
    what:
      expect === 'fail'
        ? "Today's code still reproduces the incident"
        : 'The case is green, so there is nothing to fix',
    where: { case: id },
    ...(expect === 'fail' && hasTools
      ? { why: 'Wrapped tools answer from the tape: a fix inside one does not show.' }
      : {}),
    fix:
      expect === 'fail'
        ? [
            'fix the agent first',
            // Code that changes nothing about the incident is as good as the recorded one.
            `to see which step decided: npx vitest-harvest blame ${shellWord(id)} --dry-run${isSame ? '' : ' --cross-version'}${right}`,
            ...(hasTools ? [`if you fixed a tool: npx vitest-harvest test ${shellWord(id)} --tools run --yes`] : []),
          ]
        : [
            `to run its test: npx vitest-harvest test ${shellWord(id)}`,
            'to find a run that went wrong: npx vitest-harvest ls --inbox',
          ],
  })
}
