import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isOfSystem, unwritable } from '../tape/kept-files.ts'
import { refuseLinks } from '../tape/links.ts'

/**
 * Where forks of a tape are kept: beside the inbox's tapes, in a folder of its name that is not listed.
 *
 * @throws HARVEST_RECORDINGS_LINK when a link on the way leads elsewhere, HARVEST_RECORDINGS_WRITE when a file is in the way
 */
export function forksFolder(recordings: string, tapeFile: string): string {
  const folder = forksPlace(recordings, tapeFile)
  try {
    refuseLinks(recordings, folder)
    for (const each of [dirname(folder), folder]) {
      if (lstatSync(each, { throwIfNoEntry: false })?.isDirectory() === false)
        throw unwritable(`${each}/`, Object.assign(new Error(), { code: 'ENOTDIR' }))
    }
    return folder
  } catch (error) {
    throw isOfSystem(error) ? unwritable(`${folder}/`, error) : error
  }
}

/** As {@link forksFolder}, to look whether something was kept. */
export function forksPlace(recordings: string, tapeFile: string): string {
  return join(recordings, 'inbox', '.forks', basename(tapeFile, '.tape.jsonl'))
}

/** Forgets the forks of a tape: they hold what the tape holds, so they go with it. */
export function forgetForks(recordings: string, tapeFile: string): void {
  rmSync(forksFolder(recordings, tapeFile), { recursive: true, force: true })
}
