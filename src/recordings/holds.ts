import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { createRedactor } from '../privacy/index.ts'
import { namesInFolder, readRegularFile, refuseOutsideInbox, writeFileAtomic } from './files.ts'
import { closeOf } from './tapes.ts'

/** A legal hold: while it stands, nothing removes the tape. */
export interface Hold {
  readonly reason: string
  /** ISO 8601; absent when the hold was written with the tape. */
  readonly at?: string
}

/**
 * The hold on a tape: what the file beside it says, or else what was written with the tape.
 *
 * A file that cannot be understood holds: a typo removes no tape.
 */
export function holdOf(file: string, onTape: string | undefined): Hold | undefined {
  return holdBy(readHoldFile(file), onTape)
}

function holdBy(beside: ReturnType<typeof readHoldFile>, onTape: string | undefined): Hold | undefined {
  if (beside === 'released') return undefined
  return beside ?? (onTape === undefined ? undefined : { reason: onTape })
}

/** {@link holdOf} for a list of tapes: each folder is looked through once. */
export function holdsOfList(): typeof holdOf {
  const namesIn = new Map<string, ReadonlySet<string>>()
  return (file, onTape) => {
    const folder = dirname(file)
    const names = namesIn.get(folder) ?? holdNamesIn(folder)
    namesIn.set(folder, names)
    const hasFile = names.size > 0 && names.has(basename(holdFileOf(file)))
    return holdBy(hasFile ? readHoldFile(file) : undefined, onTape)
  }
}

function holdNamesIn(folder: string): ReadonlySet<string> {
  return new Set(namesInFolder(folder).filter((name) => name.endsWith('.hold.json')))
}

/** As {@link holdOf}, asking the tape itself. */
export function holdOfTape(file: string): Hold | undefined {
  return holdOf(file, closeOf(file)?.retention?.hold)
}

/**
 * Puts a hold on a tape, in a file beside it, its reason redacted. When this returns, no `prune` or `rm` removes the tape any more.
 *
 * @returns the file
 * @throws HARVEST_RECORDINGS_GOLDEN outside of the inbox, HARVEST_RECORDINGS_WRITE, HARVEST_TAPE_MISSING when the tape is not
 * there, or was removed at the same moment
 */
export function placeHold(recordings: string, file: string, reason: string): string {
  refuseOutsideInbox(recordings, file)
  const beside = holdFileOf(file)
  const hold = createRedactor().text(reason)
  writeFileAtomic(beside, `${JSON.stringify({ hold, at: new Date().toISOString() })}\n`)
  // A removal takes the tape aside before it looks for a hold: either it sees ours, or we see that the tape is gone.
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return beside
  rmSync(beside, { force: true })
  throw new HarvestError('HARVEST_TAPE_MISSING', {
    what: 'Unknown tape, so no hold was placed',
    where: { tape: file },
    why: 'It was removed meanwhile, or never existed.',
    fix: ['to list them: npx vitest-harvest ls'],
  })
}

/**
 * Takes the hold off a tape. One that was written with the tape is overruled by a file beside it.
 *
 * @throws HARVEST_RECORDINGS_GOLDEN outside of the inbox, HARVEST_RECORDINGS_WRITE
 */
export function releaseHold(recordings: string, file: string): void {
  refuseOutsideInbox(recordings, file)
  const beside = holdFileOf(file)
  if (closeOf(file)?.retention?.hold === undefined) rmSync(beside, { force: true })
  else writeFileAtomic(beside, `${JSON.stringify({ released: true, at: new Date().toISOString() })}\n`)
}

/** `run.tape.jsonl` → `run.hold.json`. */
export function holdFileOf(file: string): string {
  return file.replace(/\.tape\.jsonl$/, '.hold.json')
}

function readHoldFile(file: string): Hold | 'released' | undefined {
  const beside = holdFileOf(file)
  let text: string
  try {
    text = readRegularFile(beside).toString('utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return { reason: `${beside} cannot be read (${code})` }
  }
  const { hold, released, at } = parse(text)
  if (released === true) return 'released'
  const since = typeof at === 'string' ? { at } : {}
  return typeof hold === 'string' ? { reason: hold, ...since } : { reason: `${neutralLine(beside)} is no hold file` }
}

function parse(text: string): { readonly hold?: unknown; readonly released?: unknown; readonly at?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    // Holds all the same; the reason says that the file is not understood.
    return {}
  }
}
