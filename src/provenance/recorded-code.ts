import { shellWord } from '../errors/index.ts'
import { isCommit, sameCommit } from './commit.ts'
import { inList, knownCommit, stateOf } from './git.ts'
import { gitAsker } from './git-asker.ts'

/**
 * The command of a shell after which the code of a commit is in the work tree. Changes that are not committed are put away
 * first, for a check-out takes them along. Recordings that are under version control are fetched back: at that commit, the
 * case that was asked about was not there yet.
 *
 * @param recordings - their folder, as it is typed in `cwd`
 * @returns `undefined` where no command leads there: no repository, no such commit in it, or that code is here already
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function toRecordedCode(
  cwd: string,
  commit: string | undefined,
  recordings: string,
): Promise<string | undefined> {
  if (commit === undefined || !isCommit(commit)) return undefined
  const ask = gitAsker(cwd)
  const state = await stateOf(ask)
  if (state?.commit === undefined || (await knownCommit(ask, commit)) === undefined) return undefined
  const isOther = !sameCommit(state.commit, commit)
  const kept = isOther ? inList(await ask((git) => git.raw('ls-files', '-z', '--', recordings))) : []
  const commands = [
    ...(state.dirty ? ['git stash'] : []),
    ...(isOther ? [`git checkout ${shellWord(commit)}`] : []),
    ...(kept.length === 0 ? [] : [`git checkout @{-1} -- ${shellWord(recordings)}`]),
  ]
  return commands.length === 0 ? undefined : commands.join(' && ')
}
