import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Case } from '../../cases/index.ts'
import { HarvestError } from '../../errors/index.ts'
import {
  askedKey,
  type FinishedFork,
  type ForkRequest,
  type ForkTaskAnswer,
  type ForkTaskOptions,
  type ForkTaskProgress,
  forkKey,
  type MadeAnew,
  type TailRequest,
  type UncomparedHeaders,
} from '../../fork/index.ts'
import { type Job } from '../../jobs/index.ts'
import { type CodeFiles, codeFiles, digestOfCode, topFolder } from '../../provenance/index.ts'
import { forksFolder } from '../../recordings/index.ts'
import { type Json, readTape, type Tape } from '../../tape/index.ts'
import { version } from '../../version.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { type JobsOptions, runTask } from '../../jobs/run.ts'
import { alikeCodes } from '../other-code.ts'
import { anewText, changesSince, madeByOther, notComparedText, noteMade, otherMakers } from './anew.ts'
import { type ControlRun, controlRun } from './control.ts'
import type { Purse } from './purse.ts'

/** The run that is forked. */
export interface Parent {
  readonly tape: Tape
  /** Absolute path. */
  readonly file: string
  readonly case?: Case
  /** Agent of the Vitest config that is forked. Default: that of the case, or of the tape. */
  readonly agent?: string
  /** Folder with inbox/ and golden/. */
  readonly recordings: string
}

/** The agent that is forked. */
export function agentOf({
  agent,
  case: kase,
  tape,
}: Pick<Parent, 'case' | 'tape'> & { readonly agent?: string | undefined }): string {
  return agent ?? kase?.agent ?? tape.header.agent
}

/** A fork that was made, now or before, or why it could not be. */
export interface MadeFork {
  readonly request: ForkRequest
  readonly fork: FinishedFork | HarvestError
  /** It was made before: nothing ran. */
  readonly isReused: boolean
  /** The name it is kept under; absent when it is not kept. */
  readonly key?: string
}

export interface MakeOptions extends Pick<JobsOptions, 'parallel'> {
  readonly purse: Purse
  /** Milliseconds one fork may take. */
  readonly timeoutMs: number
  /** Runs all of them again. */
  readonly isFresh: boolean
  /** 2: each is followed by its control. Default 1. */
  readonly together?: 1 | 2
  readonly onProgress: (made: number, of: number) => void
  /** Hears of forks that were made before why they are made again, before anything is spent on them, or what was not compared. */
  readonly onAnew?: (text: string) => void
}

/** Forks, and the unchanged run they are compared with. */
export interface MadeForks {
  readonly control: ControlRun
  readonly made: readonly MadeFork[]
  /** Why forks that were made before were made again. */
  readonly anew: readonly string[]
  /** Headers of reused ones that were not compared with those of today; absent: without any. */
  readonly notCompared?: UncomparedHeaders
  /** Someone ended it: it stands for each fork that was not made yet. */
  readonly interrupted?: HarvestError
}

/**
 * Makes forks in the project's own Vitest, started once for all of them; those that were made before, by the same code and
 * beside the same files and variables, are taken from where they are kept. Before them the run is replayed unchanged, for
 * what code alone does is no effect.
 *
 * What ends is kept at once, so a command that was interrupted goes on where it was. Where it is unknown whether the code is
 * the same, nothing is kept.
 *
 * @throws HarvestError what keeps all of them from beginning, such as `HARVEST_AGENT_UNKNOWN` and `HARVEST_CONTROL`
 */
export async function makeForks(
  parent: Parent,
  requests: readonly ForkRequest[],
  options: MakeOptions,
): Promise<MadeForks> {
  const { tape, file, recordings } = parent
  const agent = agentOf(parent)
  const folder = resolve(forksFolder(recordings, file))
  const code = await codeHere(recordings)
  const names = namesOf(parent, { agent, code: code?.digest }, requests)
  const keys = names.map((name) => name?.key)
  const isReused = code !== undefined && !options.isFresh
  const alike = isReused ? await alikeKeys(parent, { agent, folder, names, code }, requests) : []
  const other = isReused
    ? madeByOther(
        folder,
        names.map((one, at) => (alike[at] === undefined ? one : undefined)),
        code,
      )
    : undefined
  const anew: string[] = []
  const onAnew = (why: MadeAnew): void => {
    anew.push(anewText(why))
    options.onAnew?.(anewText(why))
  }
  if (other !== undefined) onAnew(other)
  const task: ForkTaskOptions = {
    isFresh: options.isFresh,
    together: options.together ?? 1,
    forks: requests.map((request, index) => {
      const key = keys[index]
      const former = alike[index]
      const keptAs = { folder, key: key ?? '', ...(former === undefined ? {} : { alike: former }) }
      return { request, ...(key === undefined ? {} : { keptAs }) }
    }),
  }
  const { answer, interrupted } = await run(parent, agent, task, { ...options, onAnew })
  const made = requests.map((request, index): MadeFork => {
    const [key, one] = [keys[index], answer.forks[index]]
    if (one === undefined && interrupted === undefined) throw new TypeError(`fork ${index} has no answer`)
    if (one === undefined) return { request, fork: interrupted!, isReused: false }
    const fork = 'failed' in one ? new HarvestError(one.failed.code, one.failed.facts) : one
    return { request, fork, isReused: answer.reused.includes(index), ...(key === undefined ? {} : { key }) }
  })
  if (code !== undefined && interrupted === undefined) noteMade(folder, names, code)
  const isRefused = (fork: FinishedFork | HarvestError): fork is HarvestError =>
    HarvestError.is(fork) && exitCodeOf(fork) === exit.usage && fork.code !== 'HARVEST_BUDGET_USED'
  const [refused] = made.flatMap(({ fork }) => (isRefused(fork) ? [fork] : []))
  // There is no run to report when none could begin, as with an unknown agent.
  if (refused !== undefined && made.every(({ fork }) => HarvestError.is(fork))) throw refused
  const { notCompared } = answer
  if (notCompared !== undefined) options.onAnew?.(notComparedText(notCompared))
  return {
    control: controlRun(answer.control, tape),
    made,
    anew,
    ...(notCompared === undefined ? {} : { notCompared }),
    ...(interrupted === undefined ? {} : { interrupted }),
  }
}

/**
 * Names under which forks are kept that other code made, where that differs in nothing their run depends on; `undefined` for others.
 * Which files another agent or a script would load is not looked at.
 */
async function alikeKeys(
  parent: Parent,
  {
    agent,
    folder,
    names,
    code,
  }: { agent: string; folder: string; names: readonly (ForkNames | undefined)[]; code: CodeHere },
  requests: readonly ForkRequest[],
): Promise<readonly (string | undefined)[]> {
  const makers = otherMakers(folder, names, code)
  const isKnown = ({ agent: other, tail }: ForkRequest): boolean => other === undefined && tail.from !== 'script'
  const codes = makers.filter((_, at) => isKnown(requests[at]!))
  const changed = changesSince(folder, codes, code)
  const top = changed.size === 0 ? undefined : await topFolder(process.cwd())
  if (top === undefined) return []
  const alike = await alikeCodes(changed, { tape: parent.file, agent, isTyped: false, ...caseOf(parent) }, top)
  return requests.map((request, at) => {
    const maker = makers[at]
    if (maker === undefined || !alike.has(maker) || !isKnown(request)) return undefined
    return namesOf(parent, { agent, code: maker }, [request])[0]?.key
  })
}

async function run(
  parent: Parent,
  agent: string,
  task: ForkTaskOptions,
  {
    parallel = 1,
    purse,
    timeoutMs,
    onProgress,
    onAnew,
  }: Omit<MakeOptions, 'onAnew'> & { readonly onAnew: (why: MadeAnew) => void },
): Promise<{ readonly answer: ForkTaskAnswer; readonly interrupted?: HarvestError }> {
  const { length } = task.forks
  onProgress(0, length)
  const job = {
    tape: parent.file,
    agent,
    task: { name: 'fork' as const, options: task as unknown as Json },
    ...caseOf(parent),
    timeoutMs,
  }
  const forks: ForkTaskAnswer['forks'][number][] = []
  let control: ForkTaskAnswer['control'] | undefined
  let reused: readonly number[] = []
  try {
    const answer = await runTask(job, {
      parallel,
      prices: purse.prices,
      limits: purse.limits,
      carried: purse.besideForks(length),
      onSpent: (spent) => purse.paidForks([spent]),
      onReport: (told) => {
        const heard = told as unknown as ForkTaskProgress
        if (heard.anew !== undefined) onAnew(heard.anew)
        else if (heard.control !== undefined) [control, reused] = [heard.control, heard.reused ?? []]
        else if (heard.ended !== undefined && heard.fork !== undefined) forks[heard.ended] = heard.fork
        else onProgress(heard.made ?? 0, heard.of ?? 0)
      },
    })
    return { answer: answer as unknown as ForkTaskAnswer }
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED') || control === undefined || forks.length === 0) throw error
    return { answer: { control, forks, reused }, interrupted: error }
  }
}

/** The case of a run, as a job has it. */
function caseOf({ case: kase }: Parent): Pick<Job, 'case'> {
  return kase === undefined ? {} : { case: { file: resolve(kase.file), text: readFileSync(kase.file, 'utf8') } }
}

/** Names of a fork: of what is asked, and of that with the code that runs. */
interface ForkNames {
  readonly asked: string
  readonly key: string
}

interface CodeHere {
  readonly digest: string
  readonly files: CodeFiles
}

/** `undefined` where it is unknown which code runs: then nothing is kept. */
async function codeHere(recordings: string): Promise<CodeHere | undefined> {
  const files = existsSync(recordings) ? await codeFiles(process.cwd()) : undefined
  return files && { digest: digestOfCode(files), files }
}

function namesOf(
  { tape }: Parent,
  { agent, code }: { readonly agent: string; readonly code: string | undefined },
  requests: readonly ForkRequest[],
): readonly (ForkNames | undefined)[] {
  if (code === undefined) return requests.map(() => undefined)
  const sources = new Map<string, string>()
  const sourceOf = (tail: TailRequest): { readonly source?: string } => {
    if (!('file' in tail)) return {}
    const known = sources.get(tail.file) ?? digestOf(tail)
    sources.set(tail.file, known)
    return { source: known }
  }
  return requests.map((request) => {
    const by = { tape: tape.digest, agent: request.agent ?? agent, code, version, request, ...sourceOf(request.tail) }
    return { asked: askedKey(by), key: forkKey(by) }
  })
}

function digestOf(tail: Extract<TailRequest, { readonly file: string }>): string {
  if (tail.from === 'reference') return readTape(tail.file).digest
  // A script that is not there is reported by the process that loads it.
  return existsSync(tail.file) ? createHash('sha256').update(readFileSync(tail.file)).digest('base64url') : ''
}
