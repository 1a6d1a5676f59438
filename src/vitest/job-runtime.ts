// Over 300 lines: one job, from its agent to its answer, in the process that runs it.
import { appendFileSync } from 'node:fs'
import { inject, type TestContext, vi } from 'vitest'
import { type Case, greenSteps, parseCase, stillCounted } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { moreThan } from '../errors/steps.ts'
import { type Budget, type BudgetLimits, openBudget, runLive, type Spent, unpaid } from '../live/index.ts'
import { added, noUses } from '../live/budget.ts'
import { recordedUse, reserveRun } from '../live/reserved-run.ts'
import {
  answeredAgainIn,
  askedNone,
  keptWaiting,
  threwAtOnceText,
  unreachedFacts,
  unreachedIn,
} from '../live/unreached.ts'
import { thrownText } from '../match/redact-message.ts'
import {
  beatFile,
  type FinishedJob,
  type Job,
  type JobResult,
  jobsVariable,
  type JobVerdict,
  spentFile,
} from '../jobs/index.ts'
import { asksModel, type PriceTable } from '../providers/index.ts'
import { mergeDrift } from '../match/drift-policy.ts'
import { type GreenSteps, guardLoading, replayTape, standInKeys } from '../replay/index.ts'
import { reportOf } from '../replay/program.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import type { LiveGrading, OpenLiveGrading } from '../blame/live-grading.ts'
import { type Json, readTape, stepsOf, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { hearUnkept } from '../tape/kept-files.ts'
import { renderBaseline, traceOfRun } from '../trace/index.ts'
import { type CaseAgent, type AgentLink, lineOfThrown, loadAgent } from './agent-link.ts'
import { acceptancesFor, proofsFor, withAll } from './accept-questions.ts'
import { caseOptions } from './case-options.ts'
import type { HarvestProvided } from './channel.ts'
import { readJobs } from './job-module.ts'
import { startBeat } from './beat.ts'
import { refuseOtherAgents } from './other-agents.ts'
import { loadTask } from './tasks.ts'
import { startTimeLimit } from './time-limit.ts'
import { filesOfRun } from './loaded-files.ts'
import { withReads } from './read-files.ts'
import type { ToolsChoice } from './tools-choice.ts'
import { type CaseVerdict, judge } from '../verdict/index.ts'

/** Runs every job of the list this process was given; called by the generated module only. */
export async function runJobs(
  agents: readonly AgentLink[],
  context: TestContext,
  importModule: (file: string) => Promise<object>,
): Promise<void> {
  const file = process.env[jobsVariable]
  if (file === undefined) throw new TypeError(`${jobsVariable} is not set: this module is run by harvest commands`)
  endWithRunner()
  const { jobs, results, parallel = 1, limits = {}, prices = {}, carried, isOtherCode = false } = readJobs(file)
  // Whoever ends this process, or what throws, still says what was used.
  const saySpent = (total: Spent): void => appendFileSync(spentFile(results), `${JSON.stringify(total)}\n`)
  const budget = openBudget(limits, prices, saySpent)
  if (carried !== undefined) budget.carry(carried)
  const provided = inject('vitest-harvest')
  const write = (result: JobResult): void => appendFileSync(results, `${JSON.stringify(result)}\n`)
  hearUnkept(({ code, facts }) => write({ unkept: { code, facts } }))
  const beat = startBeat(beatFile(results))
  const waiting = jobs.entries()
  const work = async (): Promise<void> => {
    for (const [index, job] of waiting) {
      const say = (progress: Json): void => write({ job: index, progress })
      const around = {
        agents,
        provided,
        budget,
        context,
        limits,
        prices,
        parallel,
        say,
        saySpent,
        allow: beat.allow,
        importModule,
        isOtherCode,
      }
      write(await attempt(index, job, around))
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  beat.end()
}

/** A worker of Vitest 4 outlives the process that started it: killed commands would leave runs that ask models for real. */
function endWithRunner(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
}

/** What every job of a list has in common. */
interface Surroundings {
  readonly agents: readonly AgentLink[]
  readonly provided: HarvestProvided
  readonly budget: Budget
  readonly context: TestContext
  readonly limits: BudgetLimits
  readonly prices: PriceTable
  readonly parallel: number
  say(progress: Json): void
  readonly saySpent: (total: Spent) => void
  /** A run may take so many milliseconds. */
  readonly allow: (ms: number) => void
  importModule(file: string): Promise<object>
  readonly isOtherCode: boolean
}

async function attempt(index: number, job: Job, around: Surroundings): Promise<JobResult> {
  try {
    return { job: index, ...(await runJob(job, around)) }
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { job: index, failed: { code: error.code, facts: error.facts } }
  }
}

/** Commands that fork and compare runs answer tools their own way. */
const answered: ToolsChoice = { asked: 'serve', yes: false }

async function runJob(job: Job, around: Surroundings) {
  const { agents, provided, budget, context } = around
  const { settings } = provided
  if (!around.isOtherCode) refuseOtherAgents(job.tape, provided)
  const tape = requireClosed(readTape(job.tape))
  const kase = job.case === undefined ? undefined : parseCase(job.case.text, job.case.file)
  const { replay, match, timeoutMs } = kase === undefined ? settings : caseOptions(kase, settings, answered)
  around.allow(job.timeoutMs ?? timeoutMs)
  const recorded = kase?.agent ?? tape.header.agent
  const name = job.agent ?? recorded
  const ofTape = {
    tape,
    // The agent of an import may be another's, which this project does not have.
    ...(name !== recorded && agents.some((one) => one.name === recorded)
      ? { otherAgent: { named: name, recorded } }
      : {}),
    ...(kase === undefined ? {} : { caseId: kase.id, isKnownBad: kase.expect === 'fail' }),
    load: (other = name) => load(other, agents, { allow: replay.allow, tape, recorded }),
    replay,
    accepted: (run: ReplayResult) => greenIn(kase, run, provided),
    isGreen: (run: ReplayResult) => kase !== undefined && judge(kase, run, match, greenIn(kase, run, provided)).isGreen,
    difference: (run: ReplayResult) => {
      const { because } = kase === undefined ? {} : judge(kase, run, match)
      return because?.aspect === 'question' ? undefined : because?.error
    },
    timeoutMs: job.timeoutMs ?? timeoutMs,
    signal: context.signal,
  }
  if (job.isControl === true) {
    const { controlOptionsOf, controlOf, controlData, requireNoKeptState } = await import('../fork/index.ts')
    const replaying = await controlOptionsOf(ofTape)
    const control = await controlOf(tape, replaying)
    if (job.mode === 'live') await requireNoKeptState(tape, control, replaying)
    return { ...describe(control.replayed), control: controlData(tape, control) }
  }
  if (job.task !== undefined) {
    const { limits, prices, parallel, say, saySpent, importModule } = around
    // What packages read when they are loaded counts, too: before any agent is.
    const { watchReads } = await import('./watch-reads.ts')
    const surroundings = watchReads(provided.root)
    const run = await loadTask(job.task.name)
    const answer = await run(job.task.options, {
      ...ofTape,
      tapeFile: job.tape,
      ...(job.case === undefined ? {} : { case: job.case }),
      importModule: (file) => guardLoading(() => importFile(file, importModule), replay.allow),
      match: match as Json,
      prove: settings.prove,
      parallel,
      budget,
      limits,
      prices,
      surroundings,
      say,
      saySpent,
    })
    return { answer }
  }
  const isLive = job.mode === 'live'
  const grading = await gradingOf({ ...job, timeoutMs: job.timeoutMs ?? timeoutMs }, tape, around, replay.allow)
  const policies = mergeDrift(replay.drift, job.options?.drift)
  const drift = policies === undefined ? {} : { drift: policies }
  const { prices } = around
  const paid = isLive
    ? await reserveRun(budget, added(recordedUse(stepsOf(tape), prices), grading?.expected() ?? noUses))
    : undefined
  const once = async (more: ReplayOptions = {}): Promise<ReplayResult> => {
    using limit = startTimeLimit(job.timeoutMs ?? timeoutMs, context.signal, { own: true })
    // Models that are asked for real want a real key.
    const takeBack = isLive ? () => undefined : standInKeys(tape)
    try {
      const agent = await load(name, agents, { allow: replay.allow, tape, recorded })
      const { signal } = limit
      const work = paid
        ? runLive(grading?.tape ?? tape, agent, {
            ...(replay.allow === undefined ? {} : { allow: replay.allow }),
            signal,
            budget: paid.budget,
            ...grading?.options,
          })
        : replayTape(tape, agent, { ...replay, ...job.options, ...drift, ...more, signal })
      return await limit.race(work, () => hangs(job.tape, job.timeoutMs ?? timeoutMs), 1_000)
    } finally {
      takeBack()
      // What grades it is set apart for itself.
      paid?.release()
    }
  }
  if (job.probe !== undefined) return probe(job.probe, once, provided.setVariables)
  const reads = new Set<string>()
  const run = await (job.namesFiles === true ? withReads(provided.root, reads, () => once()) : once())
  const files = job.namesFiles === true ? filesOfRun(provided.root, reads) : undefined
  const unreached = isLive ? unreachedBy(run) : undefined
  const graded = unreached === undefined ? await grading?.grade(run).catch(unpaid) : undefined
  const grade = HarvestError.is(graded) ? undefined : graded
  const problems = HarvestError.is(graded) ? [...run.problems, graded] : run.problems
  return {
    ...describe({ ...run, problems }, greenSteps(stillCounted(job.accepted ?? [], provided.settings.acceptedMaxDays))),
    ...(grade === undefined ? {} : { grade }),
    ...(unreached === undefined ? {} : { unreached }),
    ...(run.answeredFrom === undefined ? {} : { answeredFrom: run.answeredFrom }),
    ...(files === undefined ? {} : { files }),
    agents: agents.map((one) => one.name),
    ...(kase === undefined ? {} : { verdict: verdictOf(judge(kase, run, match, greenIn(kase, run, provided))) }),
    ...(isLive ? { spentSoFar: budget.total } : {}),
  }
}

/** Why a live run could not ask its model. */
function unreachedBy(run: ReplayResult): FinishedJob['unreached'] {
  const { events, outcome, comparison, problems, tape } = run
  const again = answeredAgainIn(events, tape.events)
  if (again !== undefined) return unreachedFacts(again)
  const isCut = problems.length > 0 && problems.every(({ code }) => code === 'HARVEST_RUN_ABORTED')
  const waited = isCut ? keptWaiting(run) : undefined
  if (waited !== undefined) return waited
  // A budget and a time-out leave calls without an answer, too.
  if (problems.length > 0) return undefined
  const isSame = comparison.outcomeEqual === true
  const lost = unreachedIn(events, tape.events, isSame)
  if (lost !== undefined) return unreachedFacts(lost)
  if (outcome.status === 'returned' && !stepsOf({ events }).some(asksModel) && stepsOf(tape).some(asksModel))
    return { because: askedNone }
  const isBefore = !isSame && outcome.status === 'threw' && stepsOf({ events }).length === 0 && stepsOf(tape).length > 0
  return isBefore ? { because: threwAtOnceText(thrownText(outcome.error, tape)) } : undefined
}

/** How a live run is graded, where its command says that. */
async function gradingOf(
  { grading, case: given, timeoutMs }: Job & { readonly timeoutMs: number },
  tape: Tape,
  { importModule, budget, prices }: Surroundings,
  allow: readonly string[] | undefined,
): Promise<OpenLiveGrading | undefined> {
  if (grading === undefined) return undefined
  const { openLiveGrading } = await import('../blame/live-grading.ts')
  return openLiveGrading(grading as unknown as LiveGrading, {
    tape,
    ...(given === undefined ? {} : { case: given }),
    importModule: (file) => guardLoading(() => importFile(file, importModule), allow),
    timeoutMs,
    budget,
    prices,
  })
}

/** What is varied makes agents wait for what never comes: they need not be waited for long. Not options of the public type. */
const probed = { hangMs: 1_500, sites: true } as ReplayOptions

/** Changes that were accepted or proven. */
function greenIn(kase: Case | undefined, run: ReplayResult, provided: HarvestProvided): GreenSteps {
  const { green } = acceptancesFor(kase ?? run.tape.header, provided)
  const proofs = kase === undefined ? [] : proofsFor(kase, run, provided)
  return withAll(green, proofs)
}

/** Looks for what makes the run irreproducible; the result is that of the first replay, as it always is. */
async function probe(
  how: NonNullable<Job['probe']>,
  once: (more: ReplayOptions) => Promise<ReplayResult>,
  setVariables: readonly string[] = [],
) {
  let first: ReplayResult | undefined
  const { examine, replayPlainly } = await import('../doctor/examine.ts')
  const replay = async (): Promise<ReplayResult> => {
    const run = await once(probed)
    first ??= run
    return run
  }
  const examination = await (how === 'plain' ? replayPlainly(replay) : examine(replay, setVariables))
  if (first === undefined) throw new TypeError('an examination replays')
  return { ...describe(first), examination }
}

interface LoadedFor {
  readonly allow: readonly string[] | undefined
  readonly tape: Tape
  /** Who made the run, as its case or its tape calls it. */
  readonly recorded: string
}

function load(name: string, agents: readonly AgentLink[], { allow, tape, recorded }: LoadedFor): Promise<CaseAgent> {
  const link = agents.find((one) => one.name === name)
  const known = agents.map((one) => one.name)
  const loaded = loading.then(() => {
    // Every run gets the agent's modules fresh: what one left in a variable must not reach the next.
    vi.resetModules()
    return guardLoading(() => loadAgent(link, name, known, name === recorded), allow, tape, true)
  })
  // What fails is thrown at whoever asked for it; the next one is loaded all the same.
  loading = loaded.catch(() => undefined)
  return loaded
}

/** One after the other: of two that are loaded at once, both get the modules of one of them. */
let loading: Promise<unknown> = Promise.resolve()

async function importFile(file: string, importModule: (file: string) => Promise<object>): Promise<object> {
  try {
    return await importModule(file)
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_TASK_IMPORT',
      {
        what: 'Cannot load a module that this command names',
        where: { file, error: lineOfThrown(cause) },
        fix: ['name the file and its export: ./src/model.ts#answer'],
      },
      { cause },
    )
  }
}

function verdictOf({ verdict, unproven, accepted, notJudged, because }: CaseVerdict): JobVerdict {
  const proof = { verdict, unproven, accepted, notJudged }
  if (because === undefined) return { ...proof, differences: [], isGreen: true }
  const { error, aspect } = because
  const differences = aspect === 'question' ? [] : [{ code: error.code, message: error.message }]
  const said = [error.facts.what, error.facts.detail].filter((part) => part !== undefined).join('\n\n')
  return { ...proof, differences, isGreen: false, code: error.code, message: error.message, said, aspect }
}

/** What a command learns of a run. */
function describe(run: ReplayResult, accepted?: GreenSteps) {
  return {
    report: reportOf(run, accepted),
    outcome: { status: run.outcome.status, value: run.redactedOutcome },
    trace: renderBaseline(traceOfRun(run)) as readonly Json[],
  }
}

function hangs(tape: string, limitMs: number): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered',
    where: { tape },
    why: 'It waits for something that is not on the tape, or it blocks the thread.',
    fix: ["to see the recorded steps: npx vitest-harvest show '<tape>'", `to give it more time: ${moreThan(limitMs)}`],
  })
}
