import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Where forks of a tape are kept: beside the inbox's tapes, in a folder of its name that is not listed. */
export function forksFolder(recordings: string, tapeFile: string): string {
  return join(recordings, 'inbox', '.forks', basename(tapeFile, '.tape.jsonl'))
}

/** Forgets the forks of a tape: they hold what the tape holds, so they go with it. */
export function forgetForks(recordings: string, tapeFile: string): void {
  rmSync(forksFolder(recordings, tapeFile), { recursive: true, force: true })
}
