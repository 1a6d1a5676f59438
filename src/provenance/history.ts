import { spawnSync } from 'node:child_process'
import { HarvestError } from '../errors/index.ts'
import { isCommit } from './commit.ts'
import { quietEnvironment } from './git.ts'

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
  standingOf(commit: string): CommitPosition
  /** The newest commits between one and HEAD, the newest first. */
  newestSince(commit: string, count: number): readonly CommitLine[]
  /** Files that differ between a commit and HEAD, seen from the top of the repository. */
  changedSince(commit: string): readonly string[]
}

/**
 * Opens the history of the repository a folder lies in. Every question starts git once, with fixed arguments and at
 * most a hash in hexadecimal digits; nothing is fetched and no program of the repository is run.
 *
 * @returns `undefined` outside a repository, in one without commits, and where git is not installed
 * @throws HARVEST_GIT_UNREADABLE when there is a repository and git refuses to read it
 */
export function readHistory(cwd: string): History | undefined {
  const head = ask(cwd, ['log', '--max-count=1', '--format=%H%x00%ct'])
  if (head === undefined) return undefined
  const [commit = '', seconds = ''] = head.trimEnd().split('\0')
  const isShallow = ask(cwd, ['rev-parse', '--is-shallow-repository'])?.trim() === 'true'

  const standings = new Map<string, CommitPosition>()
  const find = (pinned: string): CommitPosition => {
    const absent: CommitPosition = { state: isShallow ? 'shallow' : 'missing' }
    if (!isCommit(pinned)) return { state: 'missing' }
    const full = ask(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${pinned}^{commit}`])?.trim()
    // A branch may be called like a hash.
    if (full === undefined || !isCommit(full) || !full.startsWith(pinned)) return absent
    const [, behind = '0'] = /^0\t(\d+)$/.exec(count(full)) ?? []
    if (behind === '0' && full !== commit)
      return isShallow ? { state: 'shallow' } : { state: 'elsewhere', commit: full }
    const then = Number(ask(cwd, ['log', '--max-count=1', '--format=%ct', '--end-of-options', full]) ?? seconds)
    const daysBehind = Math.max(0, Math.floor((Number(seconds) - then) / 86_400))
    return { state: 'ancestor', commit: full, commits: Number(behind), daysBehind }
  }
  // Left and right of the symmetric difference: what only the pinned commit has, and what only HEAD has.
  const count = (full: string): string =>
    ask(cwd, ['rev-list', '--left-right', '--count', '--end-of-options', `${full}...${commit}`])?.trim() ?? ''

  return {
    head: commit,
    headAt: new Date(Number(seconds) * 1000).toISOString(),
    standingOf(pinned) {
      const known = standings.get(pinned) ?? find(pinned)
      standings.set(pinned, known)
      return known
    },
    newestSince(pinned, most) {
      const standing = this.standingOf(pinned)
      if (standing.state !== 'ancestor') return []
      const range = `${standing.commit}..${commit}`
      const log = ask(cwd, ['log', '-z', `--max-count=${most}`, '--format=%H %s', '--end-of-options', range]) ?? ''
      return entries(log).map((line) => ({
        commit: line.slice(0, line.indexOf(' ')),
        subject: line.slice(line.indexOf(' ') + 1),
      }))
    },
    changedSince(pinned) {
      const standing = this.standingOf(pinned)
      if (standing.state !== 'ancestor' && standing.state !== 'elsewhere') return []
      const names = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', '--end-of-options']
      return entries(ask(cwd, [...names, standing.commit, commit]) ?? '')
    },
  }
}

function entries(output: string): readonly string[] {
  return output.split('\0').filter((entry) => entry !== '')
}

/** Settings of the repository that start programs or reach for the network, switched off. */
const quiet = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false', 'protocol.allow=never']

/** What git answers; `undefined` for a quiet no, outside a repository, and where git is not installed. */
function ask(cwd: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync('git', [...quiet.flatMap((one) => ['-c', one]), ...args], {
    cwd,
    env: { ...quietEnvironment(), GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0' },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    timeout: 60_000,
  })
  if (status === 0) return stdout
  const said = error?.message ?? stderr
  // A shortened hash that fits several commits names none of them.
  const isNo = said === '' || /not a git repository|does not have any commits|ENOENT|ambiguous/.test(said)
  if (isNo) return undefined
  throw new HarvestError(
    'HARVEST_GIT_UNREADABLE',
    {
      what: 'git cannot read the history of this folder',
      where: { folder: cwd, git: said.trim() },
      why: 'In containers, git refuses a work tree owned by another user.',
      fix: [`to see it by hand: git -C ${JSON.stringify(cwd)} log -1`],
    },
    { cause: error },
  )
}
