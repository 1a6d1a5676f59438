import { appendFileSync } from 'node:fs'
import { inject, type TestContext, vi } from 'vitest'
import { parseCase } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { type Job, type JobResult, jobsVariable, type JobVerdict } from '../fork/index.ts'
import { guardLoading, replayTape, standInKeys } from '../replay/index.ts'
import { describeEvent } from '../replay/step.ts'
import type { ReplayResult } from '../replay/types.ts'
import { encodeValue, type Json, readTape, requireClosed } from '../tape/index.ts'
import { renderBaseline, traceOf } from '../trace/index.ts'
import { type AgentLink, loadAgent } from './agent-link.ts'
import { caseOptions } from './case-options.ts'
import type { HarvestProvided } from './channel.ts'
import { readJobs } from './job-module.ts'
import { startTimeLimit } from './time-limit.ts'
import { judge } from './verdict.ts'

/** Runs every job of the list this process was given; called by the generated module only. */
export async function runJobs(agents: readonly AgentLink[], context: TestContext): Promise<void> {
  const file = process.env[jobsVariable]
  if (file === undefined) throw new TypeError(`${jobsVariable} is not set: this module is run by harvest commands`)
  const { jobs, results, parallel = 1 } = readJobs(file)
  const provided = inject('vitest-harvest')
  const write = (result: JobResult): void => appendFileSync(results, `${JSON.stringify(result)}\n`)
  const waiting = jobs.entries()
  const work = async (): Promise<void> => {
    for (const [index, job] of waiting) write(await attempt(index, job, agents, provided, context))
  }
  await Promise.all(Array.from({ length: parallel }, work))
}

async function attempt(
  index: number,
  job: Job,
  agents: readonly AgentLink[],
  provided: HarvestProvided,
  context: TestContext,
): Promise<JobResult> {
  try {
    return { job: index, ...(await runJob(job, agents, provided, context)) }
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { job: index, failed: { code: error.code, facts: error.facts } }
  }
}

async function runJob(job: Job, agents: readonly AgentLink[], { settings }: HarvestProvided, context: TestContext) {
  const tape = requireClosed(readTape(job.tape))
  const kase = job.case === undefined ? undefined : parseCase(job.case.text, job.case.file)
  const options =
    kase === undefined
      ? { replay: settings.replay, match: settings.match, timeoutMs: settings.timeoutMs }
      : caseOptions(kase, settings)
  const name = job.agent ?? kase?.agent ?? tape.header.agent
  using limit = startTimeLimit(job.timeoutMs ?? options.timeoutMs, context.signal)
  const takeBack = standInKeys(tape)
  try {
    vi.resetModules()
    const link = agents.find((one) => one.name === name)
    const agent = await guardLoading(
      () =>
        loadAgent(
          link,
          name,
          agents.map((one) => one.name),
        ),
      options.replay.allow,
    )
    const run = await limit.race(
      replayTape(tape, agent, { ...options.replay, ...job.options, signal: limit.signal }),
      () => hangs(job.tape),
      1_000,
    )
    return { ...describe(run), ...(kase === undefined ? {} : { verdict: verdictOf(judge(kase, run, options.match)) }) }
  } finally {
    takeBack()
  }
}

function verdictOf(verdict: ReturnType<typeof judge>): JobVerdict {
  if (verdict.isGreen) return { isGreen: true }
  const { error, aspect } = verdict.because
  return { isGreen: false, code: error.code, message: error.message, aspect }
}

/** The part of a result that can leave the process. */
function describe(run: ReplayResult) {
  const { tape, problems, drift, escapes, unused, ranForReal, receipt, outcome } = run
  return {
    report: {
      tape: tape.header.id,
      problems: problems.map(({ code, message }) => ({ code, message })),
      drift,
      escapes,
      unused: unused.map(describeEvent),
      ranForReal,
      receipt,
      outcomeDiffers: receipt.outcomeEqual ? [] : ['answer of the agent'],
    },
    outcome: {
      status: outcome.status,
      value: encodeValue(outcome.status === 'returned' ? outcome.value : outcome.error),
    },
    trace: renderBaseline(traceOf(run.events)) as readonly Json[],
  }
}

function hangs(tape: string): HarvestError {
  return new HarvestError('HARVEST_AGENT_HANGS', {
    what: 'The agent never answered',
    where: { tape },
    why: 'It waits for something that is not on the tape, or never gives control back.',
    fix: ['to see the recorded steps: npx harvest show <tape>'],
  })
}
