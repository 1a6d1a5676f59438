import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { refuseLinks } from '../tape/links.ts'

/**
 * Where forks of a tape are kept: beside the inbox's tapes, in a folder of its name that is not listed.
 *
 * @throws HARVEST_RECORDINGS_LINK when a link on the way leads elsewhere
 */
export function forksFolder(recordings: string, tapeFile: string): string {
  const folder = forksPlace(recordings, tapeFile)
  refuseLinks(recordings, folder)
  return folder
}

/** As {@link forksFolder}, to look whether something was kept. */
export function forksPlace(recordings: string, tapeFile: string): string {
  return join(recordings, 'inbox', '.forks', basename(tapeFile, '.tape.jsonl'))
}

/** Forgets the forks of a tape: they hold what the tape holds, so they go with it. */
export function forgetForks(recordings: string, tapeFile: string): void {
  rmSync(forksFolder(recordings, tapeFile), { recursive: true, force: true })
}
