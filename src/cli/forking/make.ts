import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { HarvestError } from '../../errors/index.ts'
import {
  type FinishedFork,
  type ForkRequest,
  type ForkTaskAnswer,
  type ForkTaskOptions,
  forkKey,
  readKeptFork,
  type TailRequest,
} from '../../fork/index.ts'
import { codeDigest } from '../../provenance/index.ts'
import { forksFolder, readPrices } from '../../store/index.ts'
import { type Json, readTape, type Tape } from '../../tape/index.ts'
import { version } from '../../version.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { type JobsOptions, runTask } from '../jobs.ts'

/** The run that is forked. */
export interface Parent {
  readonly tape: Tape
  /** Absolute path. */
  readonly file: string
  readonly case?: Case
  /** Folder with inbox/ and golden/. */
  readonly recordings: string
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

export interface MakeOptions extends Pick<JobsOptions, 'parallel' | 'limits'> {
  /** Milliseconds one fork may take. Default: as for cases. */
  readonly timeoutMs?: number
  /** Runs all of them anew. */
  readonly isFresh: boolean
  readonly onProgress: (made: number, of: number) => void
}

/**
 * Makes forks in the project's own Vitest, started once for all of them; those that were made before, by the same code,
 * are taken from where they are kept.
 *
 * What ends is kept at once, so a command that was interrupted goes on where it was. Without git nobody can say that the
 * code is the same, and nothing is kept.
 *
 * @throws HarvestError what keeps all of them from beginning, such as `HARVEST_AGENT_UNKNOWN`
 */
export async function makeForks(
  parent: Parent,
  requests: readonly ForkRequest[],
  options: MakeOptions,
): Promise<readonly MadeFork[]> {
  const { tape, file, recordings } = parent
  const agent = parent.case?.agent ?? tape.header.agent
  const folder = resolve(forksFolder(recordings, file))
  const keys = await keysOf(parent, agent, requests)
  const known = keys.map((key) => (key === undefined || options.isFresh ? undefined : readKeptFork(folder, key)))
  const open = requests.flatMap((request, index) => (known[index] === undefined ? [index] : []))
  const task: ForkTaskOptions = {
    forks: open.map((index) => {
      const [request, key] = [requests[index] as ForkRequest, keys[index]]
      return { request, ...(key === undefined ? {} : { keptAs: { folder, key } }) }
    }),
  }
  const answers = open.length === 0 ? [] : await run(parent, agent, task, options)
  const made = requests.map((request, index): MadeFork => {
    const key = keys[index]
    const before = known[index]
    const answer = before ?? answers[open.indexOf(index)]
    if (answer === undefined) throw new TypeError(`fork ${index} has no answer`)
    const fork = 'failed' in answer ? new HarvestError(answer.failed.code, answer.failed.facts) : answer
    return { request, fork, isReused: before !== undefined, ...(key === undefined ? {} : { key }) }
  })
  const [refused] = made.flatMap(({ fork }) => (HarvestError.is(fork) && exitCodeOf(fork) === exit.usage ? [fork] : []))
  // No run is to be told of when none could begin, as with an agent that nobody knows.
  if (refused !== undefined && made.every(({ fork }) => HarvestError.is(fork))) throw refused
  return made
}

async function run(
  { file, recordings, case: kase }: Parent,
  agent: string,
  task: ForkTaskOptions,
  { parallel = 1, limits, timeoutMs, onProgress }: MakeOptions,
): Promise<ForkTaskAnswer> {
  const { length } = task.forks
  onProgress(0, length)
  const job = {
    tape: file,
    agent,
    task: { name: 'fork' as const, options: task as unknown as Json },
    ...(kase === undefined ? {} : { case: { file: resolve(kase.file), text: readFileSync(kase.file, 'utf8') } }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const answer = await runTask(job, {
    parallel,
    prices: readPrices(recordings) ?? {},
    ...(limits === undefined ? {} : { limits }),
    onTold: (told) => onProgress((told as { readonly made: number }).made, length),
  })
  return answer as unknown as ForkTaskAnswer
}

async function keysOf(
  { tape, recordings }: Parent,
  agent: string,
  requests: readonly ForkRequest[],
): Promise<readonly (string | undefined)[]> {
  const code = existsSync(recordings) ? await codeDigest(process.cwd()) : undefined
  if (code === undefined) return requests.map(() => undefined)
  const sources = new Map<string, string>()
  const sourceOf = (tail: TailRequest): { readonly source?: string } => {
    if (!('file' in tail)) return {}
    const known = sources.get(tail.file) ?? digestOf(tail)
    sources.set(tail.file, known)
    return { source: known }
  }
  return requests.map((request) =>
    forkKey({ tape: tape.digest, agent: request.agent ?? agent, code, version, request, ...sourceOf(request.tail) }),
  )
}

function digestOf(tail: Extract<TailRequest, { readonly file: string }>): string {
  if (tail.from === 'donor') return readTape(tail.file).digest
  // A script that is not there is told by the process that loads it.
  return existsSync(tail.file) ? createHash('sha256').update(readFileSync(tail.file)).digest('base64url') : ''
}
