import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { shellWord } from './neutral.ts'

/**
 * The next step where a person looked and agrees: it renews the baseline of one case. Without its name it would renew all that
 * differ, so whoever knows a tape alone leaves the place open.
 */
export function toUpdate(what: 'behaviour' | 'outcome', caseId = '<case>'): string {
  return `if the new ${what} is right: npx vitest-harvest test ${shellWord(caseId)} --update-recordings --reason "…"`
}

/** What records a run of a program: its file is for the reader to name. */
export const toRecord = "npx vitest-harvest record -- node '<file>'"

/** Nothing on the tape answers the new behaviour: only a new tape does. */
export const recordAgain = 'if the new behaviour is right: record the run again and promote the new tape'

/**
 * How a committed file that is damaged or missing comes back, whether that is staged or not; nothing outside of git.
 *
 * @param shown - its path as it is printed
 */
export function toRestore(file: string, shown = file): readonly string[] {
  if (!isInGit(file)) return []
  return [`to get the committed tape back: git restore --staged --worktree ${shellWord(shown)}`]
}

/** Whether a file lies below a repository, be the file there or not. */
export function isInGit(file: string): boolean {
  return repositoryOf(dirname(resolve(file))) !== undefined
}

/** The folder of the repository that a folder is, or lies in. */
export function repositoryOf(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** A tape that git does not have, as those of the inbox, has no other copy. */
export const orRecordAgain = 'if it was never committed: record the run again'
