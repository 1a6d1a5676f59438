import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isLeftOver, temporaryFor } from './new-file.ts'

/**
 * Makes a folder among the temporary files of the machine, for its owner alone and named for this process. Those that killed
 * processes left are removed: they hold what tapes hold.
 *
 * @returns its real path
 */
export function openTemporaryFolder(purpose: string): string {
  const root = realpathSync(tmpdir())
  sweep(root)
  const folder = join(root, temporaryFolderName(purpose))
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

function sweep(root: string): void {
  try {
    for (const name of readdirSync(root))
      if (isOfGoneProcess(name)) rmSync(join(root, name), { recursive: true, force: true })
  } catch {
    // It is another user's, or another command removes it now: the next one tries it again.
  }
}

/** The name of a folder among the temporary files of the machine: without a dot in front, for a project may leave hidden ones out. */
export function temporaryFolderName(purpose: string): string {
  return basename(temporaryFor(`harvest-${purpose}`)).slice(1)
}

/**
 * Whether a folder has the name that a process gave it which is gone. By the name alone that is known only of other processes of
 * this machine: of one of another machine or container, and of one that had the id of this process, it is not.
 */
export function isOfGoneProcess(name: string): boolean {
  return name.startsWith('harvest-') && isLeftOver(`.${name}`)
}
