import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SimpleGit } from 'simple-git'
import { HarvestError, shellWord } from '../errors/index.ts'
import { outsideRuns } from '../seam/source.ts'
import { type GitSettings, openGit } from './git-client.ts'

/** What git answers; `undefined` outside a repository, and where git is not installed. */
export type AskGit = <Answer>(
  question: (git: SimpleGit) => PromiseLike<Answer>,
  settings?: GitSettings,
) => Promise<Answer | undefined>

/** Asks git one question about the repository a folder lies in. */
export function askGit<Answer>(
  cwd: string,
  question: (git: SimpleGit) => PromiseLike<Answer>,
): Promise<Answer | undefined> {
  return gitAsker(cwd)(question)
}

/**
 * For questions that belong together: which programs of the repository must not run is found out once for all of them.
 * They belong to no run: an agent that is replayed meanwhile in the same process did not ask them.
 */
export function gitAsker(cwd: string): AskGit {
  const ask = userGit(cwd)
  return async (question, settings) =>
    (await outsideRuns(async () => mayBeRepository(cwd))) ? ask(question, settings) : undefined
}

/**
 * As {@link gitAsker}, for what git also knows outside a repository: the settings of its user.
 *
 * @returns answers with `undefined` where git is not installed
 */
export function userGit(cwd: string): AskGit {
  const git = openGit(cwd)
  return async (question, settings) => {
    try {
      return await outsideRuns(async () => question(await git(settings)))
    } catch (error) {
      const said = textOf(error)
      if (/not a git repository|does not have any commits|ENOENT/.test(said)) return undefined
      throw unreadable(cwd, said, error)
    }
  }
}

/**
 * Whether git, which looks in a folder and in those above it, finds `.git`, or the objects of a bare repository. Starting
 * it three times where it finds nothing takes 50 ms.
 */
function mayBeRepository(cwd: string): boolean {
  // git says what is wrong with it.
  if (!existsSync(cwd)) return true
  for (let folder = realpathSync(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git')) || existsSync(join(folder, 'objects'))) return true
    if (dirname(folder) === folder) return false
  }
}

/** What git said when it refused. */
export function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim()
}

function unreadable(cwd: string, said: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_GIT_UNREADABLE',
    {
      what: 'git cannot read this repository',
      where: { folder: cwd, git: said },
      why: existsSync(cwd)
        ? 'In containers, git refuses a work tree owned by another user.'
        : 'There is no such folder.',
      fix: [`to see it by hand: git -C ${shellWord(cwd)} status`, 'or set the commit: GIT_SHA=<commit>'],
    },
    { cause },
  )
}
