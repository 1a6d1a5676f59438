import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { ignoreFolder, readKeptText } from '../tape/links.ts'
import { temporaryFor } from '../tape/new-file.ts'
import type { ControlData } from '../jobs/job.ts'
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

/** What is kept was made beside an unchanged run: forks of versions without one are not read. */
const comparedWith = 'control 1'

/** The name under which a fork is kept: the same for the same fork, another one when anything of it is other. */
export function forkKey({ request, ...rest }: ForkIdentity): string {
  const { tail } = request
  // Where a file lies says nothing; what is in it does, and is in `source`.
  const asked = { ...request, tail: 'file' in tail ? { ...tail, file: '' } : tail }
  const text = canonicalJson(JSON.parse(JSON.stringify({ ...rest, request: asked, comparedWith })) as Json)
  return createHash('sha256').update(text).digest('base64url').slice(0, 24)
}

/** All that makes an unchanged run the same, and its refusal: what was accepted is part of it. */
export interface ControlIdentity extends Omit<ForkIdentity, 'request' | 'source'> {
  /** Texts of the files that say what is accepted: the case, and the list for all cases. */
  readonly accepted: readonly string[]
}

/** The name under which the unchanged run is kept. */
export function controlKey(identity: ControlIdentity): string {
  const text = canonicalJson(JSON.parse(JSON.stringify({ ...identity, comparedWith })) as Json)
  return `control-${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`
}

/** An unchanged run of before; `undefined` without one, or when its file is damaged: then it is made again. */
export function readKeptControl(folder: string, key: string): ControlData | undefined {
  return readKept<{ readonly control?: ControlData }>(folder, key)?.control
}

/** Keeps an unchanged run, whole or not at all. */
export function keepControl(folder: string, key: string, control: ControlData): void {
  keep(folder, key, { control })
}

/** A fork that was made before; `undefined` without one, or when its file is damaged: then it is made again. */
export function readKeptFork(folder: string, key: string): FinishedFork | undefined {
  return readKept<{ readonly fork?: FinishedFork }>(folder, key)?.fork
}

function readKept<T>(folder: string, key: string): T | undefined {
  const text = readKeptText(fileOf(folder, key))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    // A file someone cut or wrote into: what it held can be made again.
    return undefined
  }
}

/**
 * Keeps a fork, whole or not at all. A fork that was not paid for, or that was given up, is not kept: asked again it may go on.
 *
 * The folder keeps itself out of git: a branch holds what its tape holds.
 */
export function keepFork(folder: string, key: string, fork: FinishedFork): void {
  if (fork.problems.some(({ code }) => isPassing(code))) return
  keep(folder, key, { fork })
}

/** A fork that says nothing, as it turned out, is no answer in a later session. */
export function forgetFork(folder: string, key: string): void {
  rmSync(fileOf(folder, key), { force: true })
}

function keep(folder: string, key: string, kept: object): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  ignoreFolder(dirname(folder))
  const file = fileOf(folder, key)
  const temporary = temporaryFor(file)
  writeFileSync(temporary, JSON.stringify(kept), { mode: 0o600, flag: 'wx' })
  renameSync(temporary, file)
}

/** Whether a problem need not be there another time: a budget, a model that is not reached, a limit of time. */
export function isPassing(code: string): boolean {
  return /^HARVEST_(BUDGET_|FORK_MODEL_UNREACHABLE$|RUN_ABORTED$|AGENT_TIMEOUT$)/.test(code)
}

function fileOf(folder: string, key: string): string {
  return join(folder, `${key}.json`)
}
