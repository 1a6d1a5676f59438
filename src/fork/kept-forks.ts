import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import { canonicalJson } from '../providers/index.ts'
import { type Json, type Tape, wholeTape } from '../tape/index.ts'
import { keepIfPossible, makeKeptFolder, requireRoom, writeKeptFile } from '../tape/kept-files.ts'
import { readKeptText } from '../tape/links.ts'
import type { RunReads, Surroundings } from '../jobs/run-reads.ts'
import { type Again, allUncompared, isFreeIn, type KeptRun, otherwiseText, type UncomparedHeaders } from './kept-run.ts'
import type { FinishedFork, ForkRequest } from './request.ts'

/** All that makes a fork the same fork. */
export interface ForkIdentity {
  /** Digest of the tape that is forked. */
  readonly tape: string
  /** Key of the agent that runs. */
  readonly agent: string
  /** One text for the code of the project, uncommitted changes and all. */
  readonly code: string
  /** Version of this package. */
  readonly version: string
  readonly request: ForkRequest
  /** Digest of what the tail is answered from, when that is a file. */
  readonly source?: string
}

/**
 * What is kept was made beside an unchanged run, says where it left its tape, and is ungraded where its
 * provider failed: forks of versions without one of these are not read.
 */
const comparedWith = 'control 4'

/** The name of a fork by all but the code and the version that made it. */
export function askedKey(identity: ForkIdentity): string {
  return forkKey({ ...identity, code: '', version: '' })
}

/** The name under which a fork is kept: the same for the same fork, another one when anything of it is other. */
export function forkKey({ request, ...rest }: ForkIdentity): string {
  const { tail } = request
  // Where a file lies says nothing; what is in it does, and is in `source`.
  const asked = { ...request, tail: 'file' in tail ? { ...tail, file: '' } : tail }
  const text = canonicalJson(JSON.parse(JSON.stringify({ ...rest, request: asked, comparedWith })) as Json)
  return createHash('sha256').update(text).digest('base64url').slice(0, 24)
}

/** Where a fork is kept. */
export interface KeptAs {
  readonly folder: string
  readonly key: string
  /** The name it has when other code made it that differs in nothing the run depends on; absent: without such code. */
  readonly alike?: string
}

/** Forks that were made before, in the order they are asked for; `undefined` for one that is to be made. */
export interface ReadForks {
  readonly forks: readonly (FinishedFork | undefined)[]
  /** In which session each was made: only of one are a run and its control, for a provider may change from one to the next. */
  readonly sessions: readonly (string | undefined)[]
  /** Why those that are there do not count; absent: they do. */
  readonly anew?: MadeAnew
  /** Headers of those that count that were not compared with those of today; absent: without any. */
  readonly notCompared?: UncomparedHeaders
}

/** Forks that are made once more, and why. */
export interface MadeAnew {
  readonly forks: number
  /** For people. */
  readonly because: string
}

/**
 * Forks that were made before; none, where something that one of them read is not as it was or is not known, where one does
 * something else when it is replayed, and where one cannot be replayed: those that happen to end as before would be a choice
 * among them. One whose file is damaged is made again.
 *
 * @param doAgain - what today's code makes of a fork; `undefined`: that is unknown
 */
export async function readKeptForks(
  asked: readonly (KeptAs | undefined)[],
  { changedSince }: Pick<Surroundings, 'changedSince'>,
  doAgain: (run: KeptRun, folder: string) => Promise<Again | undefined>,
): Promise<ReadForks> {
  const kept = asked.map((one) => ({ ...(one && readKept(one)), folder: one?.folder ?? '' }))
  const there = kept.flatMap(({ fork, reads, folder }) => (fork === undefined ? [] : [{ fork, reads, folder }]))
  const none = (because: string): ReadForks => ({
    forks: asked.map(() => undefined),
    sessions: asked.map(() => undefined),
    anew: { forks: there.length, because },
  })
  const changedText = (changed: readonly string[]): string =>
    `changed since: ${neutralLine(firstNames([...new Set(changed)]), 300)}`
  // Whether what was the key of a request is one today, its replay says.
  const changed = there.flatMap(({ reads }) => (reads === undefined ? [] : changedSince(reads, () => true)))
  if (changed.length > 0) return none(changedText(changed))
  const unknown = 'whether the code still does the same is unknown (an earlier version, or a time limit)'
  if (there.some(({ fork, reads }) => reads === undefined || fork.run === undefined)) return none(unknown)
  const uncompared: (UncomparedHeaders | undefined)[] = []
  for (const { fork, reads, folder } of there) {
    const again = fork.run && (await doAgain(fork.run, folder))
    if (again === undefined) return none(unknown)
    if (!('replayed' in again)) return none(otherwiseText(again))
    const others = reads && changedSince(reads, (name, isNamed) => isFreeIn(again, name, isNamed))
    if (others !== undefined && others.length > 0) return none(changedText(others))
    uncompared.push(again.notCompared)
  }
  const notCompared = allUncompared(uncompared)
  const sessions = kept.map(({ session }) => session)
  return { forks: kept.map(({ fork }) => fork), sessions, ...(notCompared === undefined ? {} : { notCompared }) }
}

function readKept({ folder, key, alike }: KeptAs): Partial<KeptFork> {
  const text = readKeptText(fileOf(folder, key))
  if (text === undefined) return alike === undefined ? {} : readKept({ folder, key: alike })
  try {
    return JSON.parse(text) as Partial<KeptFork>
  } catch {
    // A file someone cut or wrote into: what it held can be made again.
    return {}
  }
}

/** A fork, and what it depended on besides what its name says. */
interface KeptFork {
  readonly fork: FinishedFork
  readonly reads: RunReads
  /** Which session made it; absent: an earlier version. */
  readonly session?: string
}

/**
 * Of runs that are each followed by their control those that one session made both of; what is left out is made again.
 *
 * @param read - what {@link readKeptForks} read of them
 */
export function wholePairs({
  forks,
  sessions,
}: Pick<ReadForks, 'forks' | 'sessions'>): Pick<ReadForks, 'anew' | 'forks'> {
  const whole = forks.map((one, at) => {
    const first = at - (at % 2)
    return sessions[first] !== undefined && sessions[first] === sessions[first + 1] ? one : undefined
  })
  const halves = forks.filter((one, at) => one !== undefined && whole[at] === undefined).length
  const because = 'a run and its control count where both were made in one session'
  return { forks: whole, ...(halves === 0 ? {} : { anew: { forks: halves, because } }) }
}

/** Names this process beside all others that make forks. */
export const thisSession: string = randomUUID()

/** Beside a fork, what it read. */
const spareBytes = 64 * 1024

/**
 * Before models are asked for forks: whether what they come to can be kept. One that has no place is found out then, and not
 * when it is paid for.
 *
 * @throws HARVEST_RECORDINGS_WRITE without room for a fork: it holds what its tape holds, for itself and for its replay
 */
export function requirePlace(tape: Tape, folder: string): void {
  requireRoom(folder, spareBytes + 2 * Buffer.byteLength(wholeTape(tape)))
}

/**
 * Keeps a fork, whole or not at all. A fork that was not paid for, or that was given up, is not kept: asked again it may go on.
 *
 * The folder keeps itself out of git: a branch holds what its tape holds. Where it cannot be written, whoever listens hears it.
 *
 * @returns `false` where it cannot be written
 */
export function keepFork(folder: string, key: string, fork: FinishedFork, reads: RunReads): boolean {
  if (fork.problems.some(({ code }) => isPassing(code))) return true
  const kept: KeptFork = { fork, reads, session: thisSession }
  const file = fileOf(folder, key)
  return keepIfPossible(file, () => {
    makeKeptFolder(folder)
    writeKeptFile(file, JSON.stringify(kept))
  })
}

/** A fork that says nothing, as it turned out, is no answer in a later session. */
export function forgetFork(folder: string, key: string): void {
  rmSync(fileOf(folder, key), { force: true })
}

/** Whether a problem need not be there another time: a budget, a model that is not reached, a limit of time. */
export function isPassing(code: string): boolean {
  return /^HARVEST_(BUDGET_|FORK_MODEL_UNREACHABLE$|RUN_ABORTED$|AGENT_TIMEOUT$)/.test(code)
}

function fileOf(folder: string, key: string): string {
  return join(folder, `${key}.json`)
}
