import { mkdirSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { writeFileAtomic } from '../../recordings/index.ts'
import { refuseLinks } from '../../tape/links.ts'
import { fileNameOf } from '../../tape/file-name.ts'
import { branchFor } from './branch-tape.ts'
import type { BranchSummary } from './branches.ts'
import type { Parent } from './make.ts'

/** Writes each branch that could be judged into the inbox, as a tape that shares its beginning with its parent. */
export function saveBranches(
  { tape, file, recordings }: Parent,
  branches: readonly BranchSummary[],
): readonly BranchSummary[] {
  const inbox = join(recordings, 'inbox')
  refuseLinks(recordings, inbox)
  mkdirSync(inbox, { recursive: true, mode: 0o700 })
  const seen = relative(resolve(inbox), file).split(sep).join('/')
  return branches.map((branch) => {
    // A run that could not be judged is evidence of nothing.
    if (branch.fork === undefined || branch.compared === undefined) return branch
    const { id, text } = branchFor(seen, branch.fork.branch, tape)
    const saved = join(inbox, `${fileNameOf(id)}.tape.jsonl`)
    // The same fork is the same branch, under the same name: what is there already is replaced by itself.
    writeFileAtomic(saved, text)
    return { ...branch, saved }
  })
}
