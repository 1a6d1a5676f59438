import { resolve } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { captureStack, userSite } from '../caller.ts'
import { subscribeOnce } from '../patch.ts'
import { seamState } from '../source.ts'
import { refusal } from './outside.ts'
import { isAgentAtWork, list } from './work.ts'

/**
 * How far a process that replays is shut. `seam`: what this package refuses. `watch`: besides, what `strict` would refuse
 * is reported. `strict`: besides, Node's permission model refuses what it can.
 */
export type Confinement = 'seam' | 'watch' | 'strict'
export const confinements: readonly Confinement[] = ['seam', 'watch', 'strict']

const key = 'confinement'

/** How this process is shut. */
export function confinement(): Confinement {
  return (seamState().shared.get(key) as Confinement | undefined) ?? 'seam'
}

/**
 * Shuts this process from now on, as far as it was started for that with {@link confinedFlags}, and tells what Node
 * refuses. Call before agent code is loaded.
 *
 * @returns `false` when Node does not enforce it: the process was started without the flags
 */
export function confine(how: Confinement): boolean {
  if (how === 'seam') return true
  seamState().shared.set(key, how)
  for (const name of ['fs', 'child', 'worker', 'net', 'addon', 'wasi', 'inspector'])
    subscribeOnce('confine', `node:permission-model:${name}`, refusedByNode)
  return isEnforced(how)
}

/** What Node is to be started with. `reads`: folders that may be read; absent: all. */
export function confinedFlags(how: Confinement, reads?: readonly string[]): readonly string[] {
  if (how === 'seam') return []
  const readable = (reads ?? ['*']).map((folder) => `--allow-fs-read=${folder}`)
  return how === 'watch' ? ['--permission-audit', ...readable] : ['--permission', ...readable]
}

function isEnforced(how: 'watch' | 'strict'): boolean {
  const { permission } = process as { readonly permission?: { has(scope: string): boolean } }
  if (permission === undefined) return false
  // An audit answers the same to `has`, and refuses nothing.
  const isAudit = process.execArgv.includes('--permission-audit')
  const open = ['fs.write', 'child', 'worker', 'addon', 'wasi'].filter((scope) => permission.has(scope))
  return how === 'watch' ? isAudit : !isAudit && open.length === 0
}

interface Asked {
  readonly permission: string
  readonly resource?: string
}

/** Node says so at once, before it refuses: the stack is that of the agent. */
function refusedByNode({ permission, resource = '' }: Asked): void {
  if (permission === 'FileSystemRead') return
  const madeAt = userSite() === undefined ? asked.get(resolve(resource)) : undefined
  if (confinement() === 'watch') return list('audit', permission, resource, madeAt)
  // The error is Node's: it refuses in any case.
  refusal(permission, resource, madeAt)
}

/** Where files were asked for that are opened later, as those of streams are. */
const asked = new Map<string, Error>()
const mostAsked = 50

/** Remembers where someone asked for a file, for when Node speaks of it. */
export function askedFor(file: string): void {
  // What opens it later asks again, from nowhere.
  if (userSite() === undefined) return
  asked.delete(file)
  asked.set(file, captureStack())
  for (const first of asked.keys()) if (asked.size > mostAsked) asked.delete(first)
}

/**
 * {@link refusal} of what Node's permission model leaves open: in a process that is confined strictly it holds for everybody,
 * also for code that lost the context of its run.
 */
export function confinedRefusal(kind: string, target: string): Error | undefined {
  const error = refusal(kind, target)
  if (error !== undefined || confinement() !== 'strict' || isAgentAtWork()) return error
  const site = userSite()
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked outside of any run: ${kind} ${target}`,
    ...(site === undefined ? {} : { where: { at: site } }),
    why: "Under `confine: 'strict'` no code in this process may do it.",
    fix: ['move it to a Vitest project that is not confined'],
  })
}
