import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { Branches } from './branches.ts'
import { leftoversBelow, refuseOutsideInbox, temporariesOf } from './files.ts'
import { forgetTapes } from './forget-tapes.ts'
import { type Hold, holdFileOf, holdOf, holdOfTape } from './holds.ts'
import { forgetForks } from './kept-forks.ts'

/**
 * Takes tapes out of the inbox for good, one after the other.
 *
 * Each is taken aside first and looked at for a hold there, so that of a removal and a hold at the same moment one
 * fails. Killed in between, the tape is aside: the next removal in this folder finishes it, or puts it back when held.
 *
 * @throws HARVEST_RECORDINGS_GOLDEN outside of the inbox, HARVEST_RECORDINGS_HELD, HARVEST_RECORDINGS_BRANCHES when branches that stay
 * begin with it, HARVEST_TAPE_MISSING, HARVEST_RECORDINGS_REMOVE when the system says no; for the first tape where it is so, before anything is removed if it can be known then
 */
export function removeTapes(recordings: string, files: readonly string[]): void {
  for (const file of files) removing(file, () => refuseRemoval(recordings, file))
  const branches = new Branches(recordings)
  for (const file of files) branches.refuseNeeded(file, files)
  for (const folder of new Set(files.map((file) => dirname(file)))) finishRemovals(folder)
  for (const file of branches.branchesFirst(files, (each) => each)) {
    removeTape(file)
    forgetForks(recordings, file)
  }
}

/** As {@link removeTapes}, and out of the index of the inbox. */
export async function removeForGood(recordings: string, files: readonly string[]): Promise<void> {
  try {
    removeTapes(recordings, files)
  } finally {
    const gone = files.filter((file) => !existsSync(file))
    await forgetTapes(recordings, gone)
  }
}

/** Takes one tape out of its folder, as {@link removeTapes}, without asking whether it may. */
export function removeTape(file: string): void {
  const hold = removing(file, () => {
    const aside = join(dirname(file), `.${basename(file)}${asideEnd}`)
    renameSync(file, aside)
    return finishRemoval(aside)
  })
  if (hold !== undefined) throw held(file, hold)
}

/** Finishes removals in a folder that were cut short. */
export function finishRemovals(folder: string): void {
  const left = readdirSync(folder).filter((name) => name.startsWith('.') && name.endsWith(`.tape.jsonl${asideEnd}`))
  for (const name of left) removing(join(folder, name), () => finishRemoval(join(folder, name)))
}

/** Removes what killed processes left half-written below the recordings. @returns what that is */
export function removeLeftovers(recordings: string, isDryRun: boolean): readonly string[] {
  const left = leftoversBelow(recordings)
  if (!isDryRun) for (const file of left) removing(file, () => rmSync(file, { force: true }))
  return left
}

/** Such as `.run.tape.jsonl.removing`. */
const asideEnd = '.removing'

/** Removes a tape that was taken aside, or puts it back and tells its hold. */
function finishRemoval(aside: string): Hold | undefined {
  const file = join(dirname(aside), basename(aside).slice(1, -asideEnd.length))
  // A hold that was written with the tape was looked at before.
  const hold = holdOf(file, undefined)
  if (hold === undefined) {
    for (const left of temporariesOf(file)) rmSync(left, { force: true })
    rmSync(aside, { force: true })
    // What is left beside it says that a hold was released.
    rmSync(holdFileOf(file), { force: true })
  } else renameSync(aside, file)
  return hold
}

function refuseRemoval(recordings: string, file: string): void {
  refuseOutsideInbox(recordings, file)
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw gone(file)
  if (!stats.isFile() && !stats.isSymbolicLink())
    throw new HarvestError('HARVEST_RECORDINGS_REMOVE', {
      what: 'Not a tape, so it is not removed',
      where: { file },
      fix: ['to list the tapes: npx vitest-harvest ls'],
    })
  const hold = holdOfTape(file)
  if (hold !== undefined) throw held(file, hold)
}

function removing<T>(file: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (HarvestError.is(error)) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw gone(file, error)
    throw new HarvestError(
      'HARVEST_RECORDINGS_REMOVE',
      {
        what: 'Cannot remove a tape',
        where: { tape: file, system: message },
        why: 'The folder is not writable, or the disk failed. The tape is still there, or beside it as a hidden file.',
        fix: [`to see its owner: ls -ld ${shellWord(dirname(file))}`],
      },
      { cause: error },
    )
  }
}

function gone(file: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_TAPE_MISSING',
    {
      what: 'The tape no longer exists',
      where: { tape: file },
      fix: ['to list them: npx vitest-harvest ls'],
    },
    { cause },
  )
}

function held(file: string, { reason, at }: Hold): HarvestError {
  return new HarvestError('HARVEST_RECORDINGS_HELD', {
    what: 'The tape is under a legal hold, so it is not removed',
    where: { tape: file, reason: neutralLine(reason, 200), ...(at !== undefined && { since: neutralLine(at, 40) }) },
    fix: [`when the hold has ended: npx vitest-harvest tapes hold ${shellWord(file)} --release`],
  })
}
