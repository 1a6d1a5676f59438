import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMap } from '../json/canonical.ts'
import { readKeptText, refuseLinks } from '../tape/links.ts'
import { writeFileAtomic } from './files.ts'

/** How a case did when it was run with live models last. */
export interface LiveRuns {
  /** ISO 8601. */
  readonly at: string
  /** Runs that were judged. */
  readonly runs: number
  readonly passed: number
}

/** In the inbox: it is about this machine, and goes with the inbox. */
const fileOf = (recordings: string): string => join(recordings, 'inbox', '.reruns.json')

/** The last live runs of each case on this machine, by id; none without a rerun, or the file is damaged. */
export function readLiveRuns(recordings: string): ReadonlyMap<string, LiveRuns> {
  const text = readKeptText(fileOf(recordings))
  if (text === undefined) return new Map()
  const entries = Object.entries(parsed(text))
  return new Map(entries.flatMap(([id, runs]) => (isLiveRuns(runs) ? [[id, runs] as const] : [])))
}

/** Keeps how cases did, over what was kept of them before. */
export function keepLiveRuns(recordings: string, runs: ReadonlyMap<string, LiveRuns>): void {
  const all = new Map([...readLiveRuns(recordings), ...runs])
  refuseLinks(recordings, fileOf(recordings))
  mkdirSync(join(recordings, 'inbox'), { recursive: true, mode: 0o700 })
  writeFileAtomic(fileOf(recordings), `${JSON.stringify(Object.fromEntries(all), undefined, 1)}\n`)
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return isMap(value) ? value : {}
  } catch {
    // It is a note of what reruns printed; a damaged one is written again by the next rerun.
    return {}
  }
}

function isLiveRuns(value: unknown): value is LiveRuns {
  if (!isMap(value)) return false
  const { at, runs, passed } = value as { readonly [name: string]: unknown }
  return typeof at === 'string' && Number.isSafeInteger(runs) && Number.isSafeInteger(passed)
}
