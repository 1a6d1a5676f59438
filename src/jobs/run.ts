// Over 300 lines: one run of Vitest, what it is asked, and how it may end.
import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, readFileSync, rmSync, statSync, watchFile, unwatchFile, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folderAbove, foldersBelow } from '../errors/above.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { moreThan } from '../errors/steps.ts'
import type { BudgetLimits, Spent, Use } from '../live/index.ts'
import { withSpent } from '../live/said-spent.ts'
import {
  type Beat,
  beatFile,
  configNames,
  type FailedJob,
  type FinishedJob,
  type FinishedTask,
  type Job,
  type JobList,
  type JobResult,
  jobModuleName,
  jobsVariable,
  type NotKept,
  spentFile,
  type TaskName,
} from './index.ts'
import type { PriceTable } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { isOfSystem, tellUnkept, tryRoom, unwritable } from '../tape/kept-files.ts'
import { openTemporaryFolder } from '../tape/temporary-folder.ts'
import { threadBlocked } from './blocked.ts'
import { type ProgramExit, outputOf, runProgram } from './program.ts'
import { ownPath } from '../own-files.ts'

type JobAnswer = Exclude<JobResult, NotKept>

export interface JobsOptions {
  /** How many run at once. Default 1. */
  readonly parallel?: number
  /** What the models of all live jobs together may use. */
  readonly limits?: BudgetLimits
  /** Looked in before the list prices. */
  readonly prices?: PriceTable
  /** What of the limits is used already, or is set apart for what follows. */
  readonly carried?: Use
  /** Folder of the project. Default: the current one. */
  readonly cwd?: string
  /** More arguments of Vitest. */
  readonly vitestArguments?: readonly string[]
  /** Ends Vitest and what it started. */
  readonly signal?: AbortSignal
  /** More environment of the agents. */
  readonly env?: Readonly<Record<string, string>>
  /** Where someone ends it, those that have ended are answered, each other by the error. Default: it is thrown. */
  readonly keepsEnded?: boolean
  /** Hears in the end what models used, all jobs together: also where that is an error. */
  readonly onSpent?: (spent: Spent) => void
  /** Hears how many jobs have ended. */
  readonly onProgress?: (ended: number) => void
  /** One by one: a job that blocks its thread ends with its error, and those behind it run. Default: it ends them all. */
  readonly goesOn?: boolean
}

/** A job that ended, or the error that kept it from running. */
export type JobOutcome = FinishedJob | HarvestError

/**
 * Runs agents of the project's Vitest config, as cases would run them: in the project's own Vitest, started once for
 * all jobs.
 *
 * @returns one per job, in their order
 * @throws HarvestError `HARVEST_AGENTS_UNREACHABLE` when Vitest ended before all jobs had, `HARVEST_CLI_INTERRUPTED` when
 *   someone ended it
 */
export async function runJobs(jobs: readonly Job[], options: JobsOptions = {}): Promise<readonly JobOutcome[]> {
  const { onProgress } = options
  const ended = await runAll(jobs, options, (results) => onProgress?.(results.length))
  return ended.map((result) => {
    if (!HarvestError.is(result) && 'answer' in result) throw new TypeError('this job is a task: runTask')
    return result
  })
}

/**
 * Lets the project's own Vitest do a task that runs the agent as often as it needs to.
 *
 * @param job - with a `task`
 * @param options - `onReport` hears each time the task says how far it is
 * @throws HarvestError of the task, and those of {@link runJobs}
 */
export async function runTask(
  job: Job & { readonly task: NonNullable<Job['task']> },
  { onReport, ...options }: Omit<JobsOptions, 'onProgress'> & { readonly onReport?: (progress: Json) => void } = {},
): Promise<Json> {
  let heard = 0
  const [ended] = await runAll([job], options, (results) => {
    for (const result of results.slice(heard)) if ('progress' in result) onReport?.(result.progress)
    heard = results.length
  })
  if (ended === undefined || HarvestError.is(ended)) throw ended ?? new TypeError('no answer')
  if (!('answer' in ended)) throw new TypeError(`the task ${job.task.name} gave no answer`)
  return ended.answer
}

/**
 * As {@link runTask}, for many at once that share one budget.
 *
 * @returns one per job, in their order: its answer, or the error that ended it
 */
export async function runTasks(
  jobs: readonly (Job & { readonly task: NonNullable<Job['task']> })[],
  {
    onReport,
    ...options
  }: Omit<JobsOptions, 'onProgress'> & {
    readonly onReport?: (job: number, progress: Json) => void
  } = {},
): Promise<readonly (Json | HarvestError)[]> {
  const ended = await runAll(jobs, options, (results) => {
    for (const result of results) if ('progress' in result) onReport?.(result.job, result.progress)
  })
  return ended.map((result) => {
    if (HarvestError.is(result)) return result
    if (!('answer' in result)) throw new TypeError('a task gave no answer')
    return result.answer
  })
}

/** What ends the Vitest of each call that is not over. */
const running = new Set<AbortController>()

/** Ends all jobs of this process that run: whoever waits for them hears that they were interrupted. */
export function endJobs(): void {
  for (const one of running) one.abort()
}

const scope = new AsyncLocalStorage<AbortSignal>()

/** Does `work`: the signal ends the jobs that it began, and each that it begins later. */
export function endedBy<T>(signal: AbortSignal, work: () => T): T {
  return scope.run(signal, work)
}

async function runAll(
  jobs: readonly Job[],
  options: JobsOptions,
  onResults: (results: readonly JobAnswer[]) => void,
): Promise<readonly (FinishedJob | FinishedTask | HarvestError)[]> {
  if (jobs.length === 0) return []
  // The real path: Vitest compares the paths of files it finds with those it was given.
  const folder = onDisk(tmpdir(), () => openTemporaryFolder('jobs'))
  const list = join(folder, 'jobs.json')
  const results = join(folder, 'results.jsonl')
  const module = join(folder, jobModuleName)
  const {
    parallel = 1,
    limits = {},
    prices = {},
    carried,
    env = {},
    cwd = process.cwd(),
    vitestArguments: more = [],
    signal,
    goesOn = false,
    keepsEnded = false,
    onSpent,
  } = options
  const own = new AbortController()
  const outer = scope.getStore()
  const end = outer === undefined ? own.signal : AbortSignal.any([own.signal, outer])
  running.add(own)
  const isOtherCode = options.cwd !== undefined
  const asked: JobList = { jobs, results, parallel, limits, prices, ...(carried && { carried }), isOtherCode }
  try {
    onDisk(list, () => {
      writeFileSync(list, JSON.stringify(asked))
      writeFileSync(module, '')
      writeFileSync(results, '')
    })
    let isUnkept = false
    const read = (): readonly JobAnswer[] => {
      const all = readResults(results)
      const [unkept] = all.flatMap((result) => ('unkept' in result ? [result.unkept] : []))
      if (unkept !== undefined && !isUnkept) tellUnkept(new HarvestError(unkept.code, unkept.facts))
      isUnkept ||= unkept !== undefined
      return all.filter((result): result is JobAnswer => !('unkept' in result))
    }
    watchFile(results, { interval: 200 }, () => onResults(read()))
    using watched = endBlocked(beatFile(results), () => own.abort())
    const ended = await runProgram(
      { argv: ['node', runner, ...vitestArguments, ...more, module], cwd },
      {
        env: { ...env, [jobsVariable]: list },
        output: 'capture',
        isTied: true,
        signal: signal === undefined ? end : AbortSignal.any([end, signal]),
      },
    )
    // What came since the file was last looked at, too.
    const all = read()
    onResults(all)
    const isInterrupted = interrupting.has(ended.code) || end.aborted
    const spent = lastSpent(spentFile(results), isInterrupted)
    if (spent !== undefined) onSpent?.(spent)
    if (watched.limitMs !== undefined) {
      const more = `to give it more time: ${moreThan(watched.limitMs)}`
      const blocked = threadBlocked({ limit: `${watched.limitMs / 1_000} s` }, more)
      if (!goesOn) throw withSpent(blocked, spent)
      const isDone = new Set(all.map(({ job }) => job))
      const at = jobs.findIndex((_, index) => !isDone.has(index))
      const behind = await runAll(jobs.slice(at + 1), options, () => {})
      return [...inOrder(jobs.slice(0, at), all, ended, { spent: undefined, folder }), blocked, ...behind]
    }
    // Whoever ends this process ends what it started, too.
    if (!isInterrupted) return sayingSpent(inOrder(jobs, all, ended, { spent, folder }), spent)
    const byWhom = interrupted(isUnkept ? [] : jobs)
    if (!keepsEnded) throw withSpent(byWhom, spent)
    return sayingSpent(inOrder(jobs, all, byWhom, { spent, folder }), spent)
  } finally {
    running.delete(own)
    unwatchFile(results)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes what a run of Vitest is asked by. */
function onDisk<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw isOfSystem(error) ? notAsked(path, error) : error
  }
}

function notAsked(path: string, error: unknown): HarvestError {
  return unwritable(path, error, {
    what: 'Cannot write a temporary file',
    why: 'The disk is full, or the folder of temporary files is not writable: commands and the agents talk by files there.',
  })
}

/** The worker may be as late as this beside the time that a run may take. */
const lateMs = 10_000
/** So many looks, a second apart, find it late: one alone may come before it, when the machine slept. */
const looks = 3

/** Ends a worker whose thread is blocked: no timer fires there any more that could end its run. */
function endBlocked(file: string, end: () => void): Disposable & { readonly limitMs: number | undefined } {
  let late = 0
  let limitMs: number | undefined
  const timer = setInterval(() => {
    const beat = lastBeat(file)
    late = beat !== undefined && Date.now() - beat.at > beat.limitMs + lateMs ? late + 1 : 0
    if (beat === undefined || late < looks || limitMs !== undefined) return
    limitMs = beat.limitMs
    // It hears nothing, not even that the process is gone that started it.
    kill(beat.pid)
    end()
  }, 1_000)
  return {
    get limitMs() {
      return limitMs
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** `undefined`: there was none yet, the worker is done, or it is being written. */
function lastBeat(file: string): (Beat & { readonly at: number }) | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    return text.endsWith('}') ? { ...(JSON.parse(text) as Beat), at: statSync(file).mtimeMs } : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const runner = ownPath('vitest/run-vitest')

// Nothing of what a run of tests does beside running: no report, no coverage, no type check.
const vitestArguments = [
  'run',
  '--reporter=dot',
  '--coverage.enabled=false',
  '--typecheck.enabled=false',
  '--passWithNoTests=false',
  '--bail=0',
]

/** The lines that are whole: the last one may be on its way. */
function readResults(file: string): readonly JobResult[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JobResult)
}

function inOrder(
  jobs: readonly Job[],
  results: readonly JobAnswer[],
  ended: ProgramExit | HarvestError,
  { spent, folder }: { readonly spent: Spent | undefined; readonly folder: string },
): readonly (FinishedJob | FinishedTask | HarvestError)[] {
  const byJob = new Map(results.flatMap((result) => ('progress' in result ? [] : [[result.job, result] as const])))
  return jobs.map((_, index) => {
    const result = byJob.get(index)
    if (result === undefined) {
      if (HarvestError.is(ended)) return ended
      // An answer that could not be written says nothing of the config.
      requireAnswerRoom(folder, spent)
      throw withSpent(unreachable(ended), spent)
    }
    return 'failed' in result ? failed(result) : result
  })
}

/** As much as an answer may be. */
const answerBytes = 64 * 1024

function requireAnswerRoom(folder: string, spent: Spent | undefined): void {
  try {
    tryRoom(folder, answerBytes)
  } catch (error) {
    throw withSpent(notAsked(join(folder, 'results.jsonl'), error), spent)
  }
}

/** Where no job has an answer each error says what all of them used; one that says that already is left alone. */
function sayingSpent<T>(all: readonly (T | HarvestError)[], spent: Spent | undefined): readonly (T | HarvestError)[] {
  if (!all.every((one) => HarvestError.is(one))) return all
  const isSaid = ({ facts }: HarvestError): boolean => facts.where?.['spent'] !== undefined
  const said = new Map(all.map((one) => [one, isSaid(one) ? one : withSpent(one, spent)]))
  return all.map((one) => said.get(one) ?? one)
}

/**
 * `undefined`: no model was asked. The last line may be on its way. A call that nothing waited for any more is one of those
 * that were made, but where all were ended: then it may be answered, and paid for.
 */
function lastSpent(file: string, isInterrupted: boolean): Spent | undefined {
  const line = existsSync(file) ? readFileSync(file, 'utf8').split('\n').at(-2) : undefined
  if (line === undefined) return undefined
  const spent = JSON.parse(line) as Spent
  if (isInterrupted) return spent
  const { open = 0, ...ended } = spent
  return { ...ended, modelCalls: ended.modelCalls + open }
}

function failed({ failed: { code, facts } }: FailedJob): HarvestError {
  if (code !== 'HARVEST_AGENT_IMPORT') return new HarvestError(code, facts)
  return new HarvestError(code, { ...facts, fix: [...toTheConfig(), ...(facts.fix ?? [])] })
}

/** Vitest looks for its config here or in the folders above, by its version; for agents it looks here. */
export function toTheConfig(): readonly string[] {
  const above = folderAbove(configNames)
  if (above !== undefined) return [`the Vitest config lies in a folder above, to run there: cd ${shellWord(above)}`]
  return foldersBelow(configNames).map(
    (folder) => `a Vitest config lies in a folder below, to run there: cd ${shellWord(folder)}`,
  )
}

// Exit codes of a process that SIGHUP, SIGINT or SIGTERM ended.
const interrupting: ReadonlySet<number> = new Set([129, 130, 143])

/** Whether finished forks of a task are kept, for the same command to go on with. A run without a task is not. */
const keepsForks: Readonly<Record<TaskName, boolean>> = {
  blame: true,
  chaos: false,
  debug: false,
  fix: true,
  fork: true,
  grade: true,
  isolate: true,
  prove: true,
}

function interrupted(jobs: readonly Job[]): HarvestError {
  const isKept = jobs.some(({ task }) => task !== undefined && keepsForks[task.name])
  return new HarvestError('HARVEST_CLI_INTERRUPTED', interruptedFacts(isKept))
}

/** @param isKept - whether forks that ended are kept for the same command */
export function interruptedFacts(isKept: boolean): HarvestError['facts'] {
  return {
    what: 'Interrupted before the result was complete',
    why: `Nothing is running any more. ${isKept ? 'Finished forks are kept, as long as the code is the same.' : 'Its runs are not kept.'}`,
    fix: [isKept ? 'to go on: the same command, without --no-cache' : 'to begin again: the same command'],
  }
}

function unreachable(exit: ProgramExit): HarvestError {
  return new HarvestError('HARVEST_AGENTS_UNREACHABLE', {
    what: 'Cannot run the agents of this project',
    where: { vitest: `exit code ${exit.code}`, folder: process.cwd() },
    detail: outputOf(exit),
    why: "Commands run agents in the project's own Vitest, whose config names them.",
    fix: [
      ...toTheConfig(),
      'check that the tests run: npx vitest run',
      "import the plugin in vitest.config.ts: import { harvest } from 'vitest-harvest/plugin'",
      "and name the agents there: plugins: [harvest({ agents: { refund: './src/refund-agent.ts#refundAgent' } })]",
    ],
  })
}
