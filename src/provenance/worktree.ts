import { realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { isOfGoneProcess, openTemporaryFolder } from '../tape/temporary-folder.ts'
import { isCommit } from './commit.ts'
import { commitArguments, inList, stateOf, topOf, unknownArguments, withoutOwnData } from './git.ts'
import { type AskGit, gitAsker } from './git-asker.ts'

/** A commit of this repository whose code may be the one before a fix. */
export interface FormerCode {
  readonly commit: string
  /** For people: `HEAD, without your uncommitted changes`. */
  readonly about: string
}

/**
 * Commits that may hold the code before a fix, the likeliest first: the last commit when the work tree has changes, the
 * commit a tape was recorded at, the commit before the last one.
 *
 * @param recorded - commit of the tape
 * @param named - a revision the user named: then it is the only one
 * @returns none outside a repository, and where it does not have the one that was named
 */
export async function commitsBefore(
  cwd: string,
  recorded: string | undefined,
  named?: string,
): Promise<readonly FormerCode[]> {
  const ask = gitAsker(cwd)
  if (named !== undefined) return found(await resolved(ask, named), named)
  const state = await stateOf(ask)
  if (state?.commit === undefined) return []
  const isChanged = state.dirty || (await hasNewFiles(ask))
  const candidates = [
    ...(isChanged ? [{ commit: state.commit, about: 'HEAD, without the uncommitted changes' }] : []),
    ...(recorded === undefined || !isCommit(recorded)
      ? []
      : found(await resolved(ask, recorded), 'the commit it was recorded at')),
    ...found(await resolved(ask, 'HEAD~1'), 'HEAD~1'),
  ]
  return candidates.filter(
    ({ commit }, at) =>
      (isChanged || commit !== state.commit) && candidates.findIndex((other) => other.commit === commit) === at,
  )
}

function found(commit: string | undefined, about: string): readonly FormerCode[] {
  return commit === undefined ? [] : [{ commit, about }]
}

async function hasNewFiles(ask: AskGit): Promise<boolean> {
  const listed = await ask((git) => git.raw(unknownArguments))
  return (await withoutOwnData(ask, inList(listed))).length > 0
}

/** The commit a revision names; `undefined` without one. */
async function resolved(ask: AskGit, revision: string): Promise<string | undefined> {
  const commit = await ask((git) => git.revparse(commitArguments(revision))).catch(() => undefined) // Not a revision of this repository: git says so by failing.
  return commit === '' ? undefined : commit
}

/** A checkout of one commit. */
export interface Worktree {
  /** Its root. */
  readonly root: string
  /** The root of the repository it was made of. */
  readonly top: string
  /** The folder that stands for the one it was asked from. */
  readonly cwd: string
}

/**
 * Checks a commit out beside the work tree, which stays as it is, and takes it away again. Checkouts that killed processes left
 * are taken away too; work trees of the user stay, also those whose disk is not there now.
 *
 * @param cwd - a folder of the repository
 * @throws HARVEST_GIT_UNREADABLE when git cannot check it out
 */
export async function inWorktree<T>(cwd: string, commit: string, work: (tree: Worktree) => Promise<T>): Promise<T> {
  const ask = gitAsker(cwd)
  const top = realpathSync((await topOf(ask)) ?? '')
  const root = join(openTemporaryFolder('worktree'), 'tree')
  try {
    await remove(ask, (tree) => basename(tree) === 'tree' && isOfGoneProcess(basename(dirname(tree))))
    const settings = { mayFetch: true, silentMs: 120_000 }
    await ask((git) => git.raw('worktree', 'add', '--quiet', '--detach', root, commit), settings)
    return await work({ root, top, cwd: join(root, relative(top, realpathSync(cwd))) })
  } finally {
    rmSync(dirname(root), { recursive: true, force: true })
    await remove(ask, (tree) => tree === root)
  }
}

/** Takes checkouts away, also one that git was killed at: that is locked. */
async function remove(ask: AskGit, isMeant: (tree: string) => boolean): Promise<void> {
  const listed = (await ask((git) => git.raw('worktree', 'list', '--porcelain'))) ?? ''
  for (const [, path = ''] of listed.matchAll(/^worktree (.+)$/gm)) {
    const tree = resolve(path)
    if (!isMeant(tree)) continue
    try {
      rmSync(dirname(tree), { recursive: true, force: true })
      await ask((git) => git.raw('worktree', 'remove', '--force', '--force', tree))
    } catch {
      // Another command did it meanwhile, or the last agent there still writes: the next one tries it again.
    }
  }
}
