import { shellWord } from './neutral.ts'

/** The next step where a person looked and agrees: it renews the baseline of one case, or of all that differ. */
export function toUpdate(what: 'behaviour' | 'outcome', caseId?: string): string {
  return caseId === undefined
    ? `if the new ${what} is right: npx vitest-harvest test --update-recordings --reason "…"`
    : `if the new ${what} is right: npx vitest-harvest test ${shellWord(caseId)} --update-recordings --reason "…"`
}

/** What records a run of a program: its file is for the reader to name. */
export const toRecord = "npx vitest-harvest record -- node '<file>'"

/** How a committed file that is damaged or missing comes back, whether that is staged or not. */
export function toRestore(file: string): string {
  return `to get the committed tape back: git restore --staged --worktree ${shellWord(file)}`
}

/** A tape that git does not have, as those of the inbox, has no other copy. */
export const orRecordAgain = 'if it was never committed: record the run again'
