import { type Dirent, realpathSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { listFolder } from '../recordings/files.ts'
import { isWithin } from './asked-folder.ts'
import { caseNameError, casePattern } from './case-head.ts'

/**
 * Refuses a recordings folder in which Vitest would be led elsewhere, wait for ever or print what a terminal obeys: it follows links to
 * folders, reads each case before this package sees it, and prints its path as it is. A link to a file of the project, or another
 * name that is not valid, turns its own case red.
 *
 * @param root - absolute folder of the project
 * @param recordings - absolute
 * @throws HARVEST_CASE_LINK, HARVEST_CASE_NOT_A_FILE, HARVEST_CASE_NAME
 */
export function refuseUnsafeEntries(root: string, recordings: string): void {
  if (statSync(recordings, { throwIfNoEntry: false })?.isDirectory() !== true) return
  const inbox = path.join(recordings, 'inbox', path.sep)
  const folders = [recordings]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of listFolder(folder)) {
      const file = path.join(folder, entry.name)
      const isPrinted = (entry.isDirectory() || casePattern.test(entry.name)) && !file.startsWith(inbox)
      if (isPrinted && neutralLine(entry.name, Infinity) !== entry.name) throw atStart(caseNameError(file))
      if (entry.isDirectory()) folders.push(file)
      else if (!entry.isFile()) refuse(entry, file, root, file.startsWith(inbox))
    }
  }
}

function refuse(entry: Dirent, file: string, root: string, isFresh: boolean): void {
  const target = targetOf(file)
  // Of the inbox Vitest reads no file.
  if (target === undefined || (isFresh && !target.isDirectory())) return
  const where = { path: neutralLine(file, 300) }
  const fix = [`to see what it is: ls -ld ${shellWord(file)}`]
  if (!entry.isSymbolicLink()) {
    throw atStart(
      new HarvestError('HARVEST_CASE_NOT_A_FILE', {
        what: 'The recordings folder has a pipe or device in it',
        where,
        why: 'Vitest could wait for it for ever.',
        fix: [...fix, 'remove it'],
      }),
    )
  }
  if (target.isFile() && isWithin(realpathSync(file), realpathSync(root))) return
  throw atStart(
    new HarvestError('HARVEST_CASE_LINK', {
      what: target.isDirectory()
        ? 'A folder of the recordings is a symbolic link'
        : 'A link leads out of the recordings',
      where,
      why: 'The target of a link was not reviewed.',
      fix: [...fix, 'replace the link with the file or folder itself'],
    }),
  )
}

/** Vitest prints what stops its start as Node shows an object: the message says all of it. */
function atStart(error: HarvestError): HarvestError {
  error.stack = `${error.name}: ${error.message}`
  for (const key of ['name', 'code', 'facts']) Object.defineProperty(error, key, { enumerable: false })
  return error
}

/** What a link leads to. Without a target it leads nowhere: editors leave such ones beside a file that they have open. */
function targetOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    // A link in a circle, or into a folder that cannot be read: Vitest does not get there either.
    return undefined
  }
}
