import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { HarvestError } from '../errors/index.ts'
import type { KeptRun } from '../fork/index.ts'
import { notComparable } from './fork-reads.ts'

/**
 * Keeps beside a ledger what a fork did.
 *
 * @returns the name it is kept under: the same for the same
 */
export function keepRun(file: string, run: KeptRun): string {
  const text = JSON.stringify(run)
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  const kept = runFileOf(file, name)
  if (!existsSync(kept)) writeFileSync(kept, gzipSync(text), { mode: 0o600, flag: 'wx' })
  return name
}

function runFileOf(file: string, name: string): string {
  return join(dirname(file), `run-${name}.json.gz`)
}

function keptRun(file: string, name: string | undefined): KeptRun | undefined {
  if (name === undefined) return undefined
  try {
    return JSON.parse(gunzipSync(readFileSync(runFileOf(file, name))).toString('utf8')) as KeptRun
  } catch {
    // It is gone, or a session that was killed left half of it.
    return undefined
  }
}

/** What kept forks did when they were replayed. */
export interface Rechecked {
  /** Forks of which it is unknown whether today's code does the same. */
  readonly unknown: number
  /** Forks that end otherwise today. */
  readonly other: number
}

export interface RecheckOptions {
  /** Whether today's code does what it did in a fork. */
  doesAgain(run: KeptRun): Promise<boolean>
  readonly onRecheck?: (done: number, of: number) => void
}

/** Replays what forks did, offline. Where it is not known what one did, the others need no replay. */
export async function recheck(
  file: string,
  lines: readonly { readonly run?: string }[],
  { doesAgain, onRecheck }: RecheckOptions,
): Promise<Rechecked> {
  const runs = lines.map(({ run }) => keptRun(file, run))
  const unknown = runs.filter((run) => run === undefined).length
  if (unknown > 0) return { unknown, other: 0 }
  const same = new Map<string, boolean>()
  let other = 0
  for (const [index, run] of (runs as readonly KeptRun[]).entries()) {
    const name = lines[index]?.run ?? ''
    const isSame = same.get(name) ?? (await doesAgain(run))
    same.set(name, isSame)
    if (!isSame) other++
    onRecheck?.(index + 1, runs.length)
  }
  return { unknown, other }
}

export function otherRuns(file: string, other: number, of: number): HarvestError {
  return notComparable(
    {
      what: 'The cached forks end otherwise today',
      where: { forks: `${of}`, otherwise: `${other}`, file },
      why: 'Replayed with the answers they got then, some do something else: the code reads what is not as it was.',
    },
    true,
  )
}

/** Forks that other code than today's was compared with, or the same code elsewhere. */
export function otherControl(file: string, others: number): HarvestError {
  return notComparable(
    {
      what: 'The unchanged run is not what it was for the cached forks',
      where: { forks: `${others}`, file },
      why: 'Forks are compared with the unchanged run, and the code reads what is not as it was.',
    },
    true,
  )
}
