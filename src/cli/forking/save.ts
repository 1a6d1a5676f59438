import { mkdirSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { writeFileAtomic } from '../../recordings/index.ts'
import { isOfSystem, unwritable } from '../../tape/kept-files.ts'
import { refuseLinks } from '../../tape/links.ts'
import { fileNameOf } from '../../tape/file-name.ts'
import { branchFor } from './branch-tape.ts'
import type { BranchSummary } from './branches.ts'
import type { Parent } from './make.ts'

/** Branches, and why those that have no file could not be written; absent: all could. */
export interface Saved {
  readonly branches: readonly BranchSummary[]
  readonly unsaved?: HarvestError
}

/**
 * Writes each branch that could be judged into the inbox, as a tape that shares its beginning with its parent. One that cannot be
 * written is an answer all the same.
 */
export function saveBranches({ tape, file, recordings }: Parent, branches: readonly BranchSummary[]): Saved {
  const inbox = join(recordings, 'inbox')
  refuseLinks(recordings, inbox)
  const seen = relative(resolve(inbox), file).split(sep).join('/')
  let unsaved: HarvestError | undefined
  const all = branches.map((branch) => {
    // A run that could not be judged is evidence of nothing.
    if (branch.fork === undefined || branch.compared === undefined) return branch
    const { id, text } = branchFor(seen, branch.fork.branch, tape)
    const saved = join(inbox, `${fileNameOf(id)}.tape.jsonl`)
    // The same fork is the same branch, under the same name: what is there already is replaced by itself.
    try {
      mkdirSync(inbox, { recursive: true, mode: 0o700 })
      writeFileAtomic(saved, text)
      return { ...branch, saved }
    } catch (error) {
      const refused = isOfSystem(error) ? unwritable(saved, error) : error
      if (!HarvestError.is(refused, 'HARVEST_RECORDINGS_WRITE')) throw error
      unsaved ??= refused
      return branch
    }
  })
  return { branches: all, ...(unsaved === undefined ? {} : { unsaved }) }
}
