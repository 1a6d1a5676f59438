// Over 300 lines: what a generated test module calls, in the order in which it does.
import path from 'node:path'
import { url as inspectorUrl } from 'node:inspector'
import { threadId } from 'node:worker_threads'
import { inject, recordArtifact, type RunnerTestCase, type TestContext, type TestOptions, vi } from 'vitest'
import { type Case, caseErrorPlace, hasUncheckedRules, loadCase, requireTapeFile } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import { guardLoading, isGreenAt, replayTape, standInKeys } from '../replay/index.ts'
import { reachOf } from '../replay/tools.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import { confine, inWork } from '../seam/intercept/index.ts'
import { keepDefinitions } from '../seam/source.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { acceptRun, pinsNow, renewed, withWrittenUpdate } from './accept.ts'
import { acceptancesFor, acceptedBy, proofsFor, withAll } from './accept-questions.ts'
import { type CaseAgent, type AgentLink, loadAgent } from './agent-link.ts'
import type { RedCase } from './ask-report.ts'
import { CaseFailure, type SourceLocation } from './case-failure.ts'
import { CaseWork, withWork } from './case-work.ts'
import { type CaseOptions, caseOptions } from './case-options.ts'
import { questionsOf, reportOf } from './case-report.ts'
import { questionAnnotations } from './question-annotations.ts'
import {
  acceptArtifact,
  type CaseReport,
  type HarvestProvided,
  listedArtifact,
  redArtifact,
  startArtifact,
} from './channel.ts'
import { printableListed } from './listed.ts'
import { tellReporter } from './unheard.ts'
import { forgetCaseBefore, forgetFixtures } from './forget-case.ts'
import { neverAnswered } from './never-answered.ts'
import { isOwnStray, type Stray, unhandled } from '../playback/problems.ts'
import { withStrays } from './stray-rejections.ts'
import { withReads } from './read-files.ts'
import { stepsFromHere } from './steps-from-here.ts'
import { startTimeLimit, type TimeLimit } from './time-limit.ts'
import { noConsent, unapproved } from './tools-choice.ts'
import { type Difference, judge } from '../verdict/index.ts'

// After its limit a replay still gets this long to say how far it came.
const graceMs = 1_000

// A case that is not over by then has not left its thread: its own time limit is a timer, and did not come to fire.
const blockedMs = graceMs + 2_000

/** What a generated module passes to `test()`. */
export interface OpenedCase {
  readonly options: TestOptions
  readonly replay: (context: TestContext) => Promise<void>
}

/**
 * The worker's side of a case: reads the case and its tape, loads the agent and replays it when the test runs.
 * Called by generated modules only.
 *
 * @param file - absolute path of the case
 * @param name - the case in Vitest's report
 * @param link - its agent; `undefined` when the config knows no such agent
 */
export function openCase(file: string, name: string, link: AgentLink | undefined): OpenedCase {
  forgetCaseBefore(file)
  return {
    // Read while the `describe` of the case is collected.
    get options() {
      forgetFixtures()
      // The time limit is our own (see startTimeLimit); a retry would hide that a replay is not deterministic.
      return { timeout: 0, retry: 0, meta: { harvest: { case: name } } }
    },
    async replay(context) {
      try {
        await replayCase(file, link, context)
      } catch (error) {
        await recordArtifact(context.task, { type: redArtifact })
        throw asFailure(error, file, context.task)
      }
    },
  }
}

async function replayCase(file: string, link: AgentLink | undefined, context: TestContext): Promise<void> {
  const { task } = context
  const provided = inject('vitest-harvest')
  const kase = loadCase(file)
  tell(task, { case: kase.id, expect: kase.expect, agent: kase.agent })
  await announce(task, kase.timeout ?? provided.settings.timeoutMs)
  try {
    refuseRules(kase)
    requireConfined(kase)
    const tape = openTape(kase)
    const options = caseOptions(kase, provided.settings, provided.tools)
    requireConsent(kase, tape, options, provided)
    const reads = new Set<string>()
    const run = await withReads(inject('vitest-harvest').root, reads, () =>
      runAgent(kase, tape, link, options, provided, context),
    )
    if (reads.size > 0) tell(task, { case: kase.id, reads: [...reads].map((file) => neutralLine(file, 300)) })
    await conclude(kase, run, options, provided, context)
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    const line = lineOf(kase, error)
    // Red before its replay could be judged: its tape can be looked at all the same.
    const told = stepsFromHere(error, kase, path.dirname(provided.acceptedFile))
    await attachReport({ kase, error: told, line }, context)
    throw failure(kase, { error: told, line })
  }
}

/** Loaded by red cases alone. */
async function attachReport(red: RedCase, context: TestContext): Promise<void> {
  const { leaveReport } = await import('./ask-report.ts')
  const report = await leaveReport(red, context)
  if (report !== undefined) tell(context.task, { ...context.task.meta.harvest, case: red.kase.id, report })
}

/** Before any of the agent's modules is loaded: what runs tools is decided by what their tape shows of them. */
function requireConsent(kase: Case, tape: Tape, { replay }: CaseOptions, { tools, settings }: HarvestProvided): void {
  if (replay.tools === undefined) return
  const open = unapproved(reachOf(tape, replay.tools), tools, settings.tools)
  if (open.length > 0) throw noConsent(kase.id, open)
  keepDefinitions()
}

/**
 * Waits until the main process knows: from then on this thread may be blocked, or its process end. Said again, it is that
 * the thread is not blocked so far.
 */
async function announce(task: RunnerTestCase, timeoutMs: number): Promise<void> {
  const limitMs = inspectorUrl() === undefined ? timeoutMs + blockedMs : null
  await withoutStack(() =>
    recordArtifact(task, { type: startArtifact, process: process.pid, thread: threadId, limitMs }),
  )
}

/** Vitest would take a stack and map each of its lines, for a place that is not read. */
function withoutStack<T>(record: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return record()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function openTape(kase: Case): Tape {
  return requireClosed(readTape(requireTapeFile(kase)))
}

async function runAgent(
  kase: Case,
  tape: Tape,
  link: AgentLink | undefined,
  { replay, timeoutMs }: CaseOptions,
  { settings, root }: HarvestProvided,
  { signal, task }: TestContext,
): Promise<ReplayResult> {
  const beats: Promise<void>[] = []
  await using _told = { [Symbol.asyncDispose]: async () => void (await Promise.all(beats)) }
  using limit = startTimeLimit(timeoutMs, signal, {
    own: true,
    onAlive: () => void beats.push(announce(task, timeoutMs)),
  })
  using _keys = lentKeys(tape)
  // Every case gets the agent's modules fresh: what one run left in a variable must not reach the next.
  const isFresh = settings.isolate !== 'none'
  if (isFresh) vi.resetModules()
  const late = (where: string) => () => hangs(kase, { waited: `${timeoutMs} ms`, where })
  const work = new CaseWork(
    kase.id,
    replay.allow ?? [],
    (one) => tellReporter(task.id, { type: listedArtifact, listed: printableListed([one], root) }),
    redactorForMessages(tape),
  )
  const agent = await limit.race(
    inWork(work, () =>
      guardLoading(() => loadAgent(link, kase.agent, Object.keys(settings.agents)), replay.allow, tape, isFresh),
    ),
    late('while its modules were loading'),
  )
  const options = { ...replay, signal: limit.signal, late: true } as ReplayOptions
  const replayed = inWork(work, () => withStrays(() => replayTape(tape, agent satisfies CaseAgent, options)))
  const { result, strays } = await limit.race(replayed, late('the agent never gave control back'), graceMs)
  return withWork(withProblems(kase, result, strays, limit), work)
}

function lentKeys(tape: Tape): Disposable {
  const takeBack = standInKeys(tape)
  return { [Symbol.dispose]: takeBack }
}

/** Says what the time limit cut off, and adds what the run left unhandled, to the problems of a replay. */
function withProblems(kase: Case, run: ReplayResult, strays: readonly Stray[], limit: TimeLimit): ReplayResult {
  const problems = run.problems.map((problem) =>
    limit.isOver && problem.code === 'HARVEST_RUN_ABORTED' ? hangs(kase, problem.facts.where ?? {}) : problem,
  )
  // A divergence the agent did not await is a problem already.
  const own = strays.filter(isOwnStray)
  const news = own.map((stray) => unhandled({ case: kase.id }, stray, run.tape))
  return { ...run, problems: [...problems, ...news] }
}

/** A flag that Node did not follow must not look like one that holds. */
function requireConfined({ id }: Case): void {
  const { confine: how } = inject('vitest-harvest/set')
  if (confine(how)) return
  throw new HarvestError('HARVEST_NOT_CONFINED', {
    what: `Node does not enforce \`confine: '${how}'\``,
    where: { case: id, node: process.version, flags: process.execArgv.join(' ') || 'none' },
    why: 'The worker was started without the permission flags, or with flags that disable them.',
    fix: [
      'remove `execArgv` and `poolOptions` of the recordings from the Vitest config, and --allow-… from NODE_OPTIONS',
      "or without it: confine: 'seam'",
    ],
  })
}

async function conclude(
  kase: Case,
  run: ReplayResult,
  { match }: CaseOptions,
  provided: HarvestProvided,
  context: TestContext,
): Promise<void> {
  const { task } = context
  const { update: mode, approval } = provided
  const git = inject('vitest-harvest/git')
  const { green, entries, expired } = acceptancesFor(kase, provided)
  const proofs = proofsFor(kase, run, provided)
  const proven = withAll(green, proofs)
  const verdict = judge(kase, run, match, proven, expired)
  const questions = questionsOf(kase, run, verdict, entries, proofs)
  const around = { root: provided.root, ...confinedAs() }
  let report: CaseReport = { ...reportOf(kase, run, git, around), verdict: verdict.verdict, questions }
  tell(task, report)
  await annotateDrift(run, context)
  const accepted = acceptedBy(provided, verdict.unproven, run, kase.accepted)
  const covered = withAll(proven, accepted)
  const { because, open } = verdict
  const isUpdate = (mode === 'all' || mode === 'pins') && verdict.isGreen
  // Acceptances are a person's word: renewing pins takes none away.
  const obsolete = mode === 'all' ? questions.obsolete : []
  const update = isUpdate
    ? renewed({ kase, run, git }, { obsolete, isCovered: verdict.accepted.length > 0 })
    : open && acceptRun({ kase, run, match, open, mode, git, approval, accepted: covered })
  // What is different stays red no matter what was asked: then nothing of it is accepted.
  const isAccepting = accepted.length > 0 && (because?.aspect === 'question' || update !== undefined)
  if (isAccepting) {
    await recordArtifact(task, {
      type: acceptArtifact,
      file: kase.file,
      name: kase.id,
      entries: accepted,
      ...(kase.pins !== undefined && { pins: pinsNow(kase.pins, run, git) }),
      acceptedFile: provided.acceptedFile,
    })
    report = {
      ...report,
      questions: questionsOf(kase, run, judge(kase, run, match, covered), [...entries, ...accepted], proofs),
    }
  }
  const isAccepted = isAccepting && verdict.unproven.every((one) => isGreenAt(one, covered))
  if (mode !== 'none' && (update !== undefined || isAccepted)) {
    tell(task, { ...report, verdict: 'same', updated: mode, verdictBefore: verdict.verdict })
    if (update !== undefined) await recordArtifact(task, update)
    return
  }
  if (because === undefined) return
  const { divergedAt } = because
  const failed = { ...report, ...(divergedAt !== undefined && { divergedAt }) }
  tell(task, failed)
  await annotateFailure(failed, run, context)
  const accepting = { kase, run, match, git, approval, accepted: withAll(covered, verdict.unproven) }
  const error = open === undefined ? because.error : withWrittenUpdate(because.error, { ...accepting, open })
  const told = { ...because, error: stepsFromHere(error, kase, path.dirname(provided.acceptedFile), run.tape) }
  await attachReport({ kase, run, ...told }, context)
  throw failure(kase, told, run.tape)
}

/** Said where any case of the set is confined. */
function confinedAs(): Pick<CaseReport, 'confined'> {
  const { confine: how, isApart } = inject('vitest-harvest/set')
  return how === 'seam' && !isApart ? {} : { confined: how }
}

/** Machines read these: JUnit writes them as properties of the test. */
async function annotateFailure(report: CaseReport, run: ReplayResult, { annotate }: TestContext): Promise<void> {
  const { commit, models, tape, served, recorded, divergedAt } = report
  await annotate(neutralLine(`${tape}, ${served} of ${recorded} steps served`), 'tape')
  if (commit !== undefined) await annotate(neutralLine(commit), 'commit')
  if (models !== undefined && models.length > 0) await annotate(neutralLine(models.join(', ')), 'models')
  if (divergedAt !== undefined) await annotate(divergedAt, 'diverged at')
  for (const [message, type] of questionAnnotations(report)) await annotate(message, type)
  const leaks = run.escapes.filter(({ allowed }) => allowed)
  if (leaks.length > 0)
    await annotate(neutralLine(leaks.map(({ kind, target }) => `${kind} ${target}`).join(', ')), 'escapes let through')
}

async function annotateDrift({ drift }: ReplayResult, { annotate }: TestContext): Promise<void> {
  if (drift.length === 0) return
  const shown = drift
    .slice(0, 3)
    .map((one) => `${one.class} at step ${one.stepNumber}${one.path === '' ? '' : `, ${one.path}`}`)
  const more = drift.length > shown.length ? `; and ${drift.length - shown.length} more` : ''
  await annotate(neutralLine(shown.join('; ') + more, 300), 'drift')
}

function tell(task: RunnerTestCase, report: CaseReport): void {
  task.meta.harvest = { ...task.meta.harvest, ...report }
}

function failure(kase: Case, { error, line, expected, actual }: Omit<Difference, 'aspect'>, tape?: Tape): CaseFailure {
  return new CaseFailure({
    error,
    ...(tape !== undefined && { tape }),
    place: { file: kase.file, line, column: 1 },
    ...(kase.title !== undefined && { title: kase.title }),
    ...(kase.lesson !== undefined && { lesson: kase.lesson }),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  })
}

/** Errors before there is a case to blame point at where the case file is wrong, or at its first line. */
function asFailure(error: unknown, file: string, task: RunnerTestCase): unknown {
  const failed = HarvestError.is(error)
    ? new CaseFailure({ error, place: caseErrorPlace(error) ?? firstLine(file) })
    : error
  if (failed instanceof CaseFailure && task.meta.harvest) tell(task, { ...task.meta.harvest, code: failed.code })
  return failed
}

function firstLine(file: string): SourceLocation {
  return { file, line: 1, column: 1 }
}

/** The line of the case that an error before the replay is about. */
function lineOf({ lines }: Case, { code }: HarvestError): number {
  if (code === 'HARVEST_RULES_UNSUPPORTED') return lines.rules ?? lines.case
  return code.startsWith('HARVEST_TAPE_') || code.startsWith('HARVEST_CASE_TAPE_') ? lines.tape : lines.agent
}

function refuseRules(kase: Case): void {
  if (!hasUncheckedRules(kase)) return
  throw new HarvestError('HARVEST_RULES_UNSUPPORTED', {
    what: 'This version cannot check the rules of this case',
    where: { case: kase.id },
    why: 'An unchecked rule would look like a satisfied one.',
    fix: ['update vitest-harvest to a version that checks rules', 'or remove `rules:` from the case'],
  })
}

function hangs({ id }: Case, where: Readonly<Record<string, string>>): HarvestError {
  return neverAnswered({ case: id }, where, '`timeout:` in the case, in milliseconds')
}
