import { HarvestError } from '../errors/index.ts'
import { isCommit } from './commit.ts'
import { commitArguments } from './git.ts'
import { type AskGit, gitAsker } from './git-asker.ts'

/** A commit as one line of a log. The subject is foreign text. */
export interface CommitLine {
  /** Full hash. */
  readonly commit: string
  readonly subject: string
}

/** Where a commit stands, seen from HEAD. */
export type CommitPosition =
  /** HEAD goes back to it: `commits` were made since, 0 when it is HEAD itself. */
  | { readonly state: 'ancestor'; readonly commit: string; readonly commits: number; readonly daysBehind: number }
  /** It is in this repository, on a line that HEAD does not go back to. */
  | { readonly state: 'elsewhere'; readonly commit: string }
  /** No such commit is in this repository. */
  | { readonly state: 'missing' }
  /** The clone is shallow and does not go back to it: nothing can be said. */
  | { readonly state: 'shallow' }

/** The history of a repository, as far as pins ask about it. */
export interface History {
  /** Full hash of HEAD. */
  readonly head: string
  /** Committer date of HEAD, ISO 8601 in UTC. */
  readonly headAt: string
  /** Where a pinned commit stands; it may be shortened, and it may be no hash at all. */
  standingOf(commit: string): Promise<CommitPosition>
  /** The newest commits between one and HEAD, the newest first. */
  newestSince(commit: string, count: number): Promise<readonly CommitLine[]>
  /** Files that differ between a commit and HEAD, seen from the top of the repository. */
  changedSince(commit: string): Promise<readonly string[]>
}

/**
 * Opens the history of the repository a folder lies in. Every question starts git once, with fixed arguments and at
 * most a hash in hexadecimal digits; nothing is fetched and no program of the repository is run.
 *
 * @returns `undefined` outside a repository, in one without commits, and where git is not installed
 * @throws HARVEST_GIT_UNREADABLE when there is a repository and git refuses to read it
 */
export async function readHistory(cwd: string): Promise<History | undefined> {
  const ask = gitAsker(cwd)
  const newest = await ask((git) => git.log({ maxCount: 1, format: { commit: '%H', seconds: '%ct' } }))
  if (newest?.latest == null) return undefined
  const { commit, seconds } = newest.latest
  const isShallow = (await ask((git) => git.revparse(['--is-shallow-repository']))) === 'true'

  const standings = new Map<string, Promise<CommitPosition>>()
  const find = async (pinned: string): Promise<CommitPosition> => {
    const absent: CommitPosition = { state: isShallow ? 'shallow' : 'missing' }
    if (!isCommit(pinned)) return { state: 'missing' }
    const full = await fullHash(ask, pinned)
    // A branch may be called like a hash.
    if (full === undefined || !isCommit(full) || !full.startsWith(pinned)) return absent
    // Left and right of the symmetric difference: what only the pinned commit has, and what only HEAD has.
    const sides = ['rev-list', '--left-right', '--count', '--end-of-options', `${full}...${commit}`]
    const [, behind = '0'] = /^0\t(\d+)$/.exec((await ask((git) => git.raw(sides)))?.trim() ?? '') ?? []
    if (behind === '0' && full !== commit)
      return isShallow ? { state: 'shallow' } : { state: 'elsewhere', commit: full }
    const then = await ask((git) => git.raw('log', '--max-count=1', '--format=%ct', '--end-of-options', full))
    const daysBehind = Math.max(0, Math.floor((Number(seconds) - Number(then ?? seconds)) / 86_400))
    return { state: 'ancestor', commit: full, commits: Number(behind), daysBehind }
  }

  const standingOf = (pinned: string): Promise<CommitPosition> => {
    const known = standings.get(pinned) ?? find(pinned)
    standings.set(pinned, known)
    return known
  }

  return {
    head: commit,
    headAt: new Date(Number(seconds) * 1000).toISOString(),
    standingOf,
    async newestSince(pinned, most) {
      const standing = await standingOf(pinned)
      if (standing.state !== 'ancestor') return []
      const range = { from: standing.commit, to: commit, symmetric: false, maxCount: most }
      const log = await ask((git) => git.log({ ...range, format: { commit: '%H', subject: '%s' }, splitter: '\u001f' }))
      return log?.all.map(({ commit: hash, subject }) => ({ commit: hash, subject })) ?? []
    },
    async changedSince(pinned) {
      const standing = await standingOf(pinned)
      if (standing.state !== 'ancestor' && standing.state !== 'elsewhere') return []
      const names = ['--name-only', '--no-renames', '--no-ext-diff', '-z', standing.commit, commit]
      const changed = (await ask((git) => git.diff(names))) ?? ''
      return changed.split('\0').filter((entry) => entry !== '')
    },
  }
}

/** A shortened hash that fits several commits names none of them. */
async function fullHash(ask: AskGit, pinned: string): Promise<string | undefined> {
  try {
    return await ask((git) => git.revparse(commitArguments(pinned)))
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_GIT_UNREADABLE') && error.message.includes('ambiguous')) return undefined
    throw error
  }
}
