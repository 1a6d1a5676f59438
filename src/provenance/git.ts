import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { SimpleGit } from 'simple-git'
import { HarvestError } from '../errors/index.ts'
import { isCommit, sameCommit } from './commit.ts'
import { askGit, type AskGit, gitAsker, userGit } from './git-asker.ts'
import type { GitSettings } from './git-client.ts'
import { isOwnData } from './own-data.ts'

/** What git says about a folder. */
export interface GitState {
  /** Full hash of HEAD; absent in a repository without commits. */
  readonly commit?: string
  /** Whether a tracked file other than a tape or a case differs from that commit. */
  readonly dirty: boolean
}

/**
 * Asks git which commit a folder is at.
 *
 * Untracked files do not make it dirty (as in `git describe --dirty`), nor do tapes and cases: accepting a new
 * baseline changes what is asserted, not the code that ran. Loads `simple-git` when called, never before.
 *
 * @returns `undefined` outside a repository, and where git is not installed
 * @throws HARVEST_GIT_UNREADABLE when there is a repository and git refuses to read it
 */
export function gitState(cwd: string): Promise<GitState | undefined> {
  return stateOf(gitAsker(cwd))
}

/** As {@link gitState}. */
export async function stateOf(ask: AskGit): Promise<GitState | undefined> {
  const status = await ask((git) => git.raw(statusArguments))
  if (status === undefined) return undefined
  const { commit, paths } = readStatus(status)
  const dirty = (await withoutOwnData(ask, paths)).length > 0
  return { ...(commit === undefined ? {} : { commit }), dirty }
}

/**
 * Asks git which code is here, seen from the commit a tape was made at: a later commit in which only tapes and cases
 * changed is the same code, and counts as that commit.
 *
 * @param recorded - the commit of the tape; not asked about unless it is a full or shortened hash
 * @returns as {@link gitState}
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function codeState(cwd: string, recorded: string | undefined): Promise<GitState | undefined> {
  const ask = gitAsker(cwd)
  const state = await stateOf(ask)
  if (state?.commit === undefined || recorded === undefined || !isCommit(recorded)) return state
  if (sameCommit(state.commit, recorded)) return state
  const known = await knownCommit(ask, recorded)
  // Nothing can be compared.
  if (known === undefined) return state
  const range = `${known}..${state.commit}`
  const changed = await ask((git) => git.diff(['--name-only', '-z', range, ...codeOnly]), older)
  const isSame = changed !== undefined && (await withoutOwnData(ask, inList(changed))).length === 0
  return isSame ? { ...state, commit: recorded } : state
}

/** Whether the code that is here is that of a commit, as {@link codeState} sees it. */
export async function isCodeOf(cwd: string, commit: string | undefined): Promise<boolean> {
  if (commit === undefined) return false
  const state = await codeState(cwd, commit)
  return state?.commit === commit && !state.dirty
}

/** The paths that git lists, but for what commands of this package write or ask for. */
export async function withoutOwnData(ask: AskGit, paths: readonly string[]): Promise<readonly string[]> {
  const top = paths.length === 0 ? '' : ((await topOf(ask)) ?? '')
  return paths.filter((path) => !isOwnData(top, path))
}

/** Of `-z`. */
export function inList(listed = ''): readonly string[] {
  return listed.split('\0').filter(Boolean)
}

/** A file that is not as it was at a commit; paths are seen from the top of the repository, with `/`. */
export interface ChangedFile {
  readonly path: string
  readonly absolute: string
  /** Its text at the commit; absent where it was not there. */
  readonly before?: string
  /** Git does not know it. */
  readonly isUnknown?: true
}

/**
 * Asks git which files differ from a commit, committed since or not, and files it does not know yet; tapes and cases are no
 * code.
 *
 * @returns `undefined` where that cannot be said: no repository, or no such commit
 */
export async function changedFilesSince(cwd: string, commit: string): Promise<readonly ChangedFile[] | undefined> {
  const ask = gitAsker(cwd)
  const top = (await topOf(ask)) ?? ''
  if (top === '' || !isCommit(commit)) return undefined
  try {
    const changed = await ask((git) => git.diff(['--name-only', '--no-renames', '-z', commit, ...codeOnly]), older)
    const unknown = await ask((git) => git.raw(unknownArguments))
    const unknownPaths = new Set(inList(unknown))
    const paths = [...new Set([...inList(changed), ...unknownPaths])].filter((path) => !isOwnData(top, path))
    return await Promise.all(
      paths.map(async (path) => {
        const before = path.endsWith('package.json') ? await textAt(ask, commit, path) : undefined
        return {
          path,
          absolute: join(top, path),
          ...(before === undefined ? {} : { before }),
          ...(unknownPaths.has(path) ? { isUnknown: true } : {}),
        }
      }),
    )
  } catch (error) {
    // A commit that is not in this repository: nothing can be compared.
    if (HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')) return undefined
    throw error
  }
}

async function textAt(ask: AskGit, commit: string, path: string): Promise<string | undefined> {
  const listed = await ask((git) => git.raw(['ls-tree', '--name-only', '--full-tree', commit, '--', path]), older)
  return listed?.trim() === path ? ask((git) => git.show(`${commit}:${path}`), older) : undefined
}

/**
 * Asks git which files of the repository around a folder are under version control.
 *
 * @returns says of a file or folder whether it, or anything in it, is; `undefined` where git knows nothing
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function versionedFiles(cwd: string): Promise<((path: string) => boolean) | undefined> {
  const ask = gitAsker(cwd)
  const top = await topOf(ask)
  if (top === undefined || top === '') return undefined
  const known = new Set<string>()
  for (const file of inList(await ask((git) => git.raw('ls-files', '-z', '--full-name', ':/')))) {
    for (let path = file; path !== '.' && !known.has(path); path = dirname(path)) known.add(path)
  }
  return (path) => {
    const inside = relative(top, existsSync(path) ? realpathSync(path) : path)
      .split(sep)
      .join('/')
    return inside === '' || known.has(inside)
  }
}

/**
 * Asks git for the files under version control below a folder, as absolute paths.
 *
 * @returns none where git knows nothing
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function trackedFiles(cwd: string): Promise<readonly string[]> {
  const listed = await askGit(cwd, (git) => git.raw('ls-files', '-z', '--', '.'))
  return inList(listed).map((file) => join(cwd, file))
}

/**
 * Asks git whether it leaves the tapes of an inbox alone.
 *
 * @returns `undefined` where git knows nothing
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function isInboxIgnored(cwd: string, recordings: string): Promise<boolean | undefined> {
  const file = `${recordings}/inbox/any.tape.jsonl`
  const ignored = await askGit(cwd, (git) => git.checkIgnore(['--no-index', '--', file]))
  return ignored === undefined ? undefined : ignored.length > 0
}

/**
 * Asks git whether it hands out the tapes of a folder byte for byte, no matter which line ends a system likes.
 *
 * @returns `undefined` where git knows nothing
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function keepsTapeBytes(cwd: string, recordings: string): Promise<boolean | undefined> {
  const said = await askGit(cwd, (git) =>
    git.raw('check-attr', 'text', 'eol', '--', `${recordings}/golden/any.tape.jsonl`),
  )
  return said === undefined ? undefined : /: text: unset$|: eol: lf$/m.test(said)
}

/**
 * Asks git who works in a folder: `Ada Lovelace <ada@example.com>`, or what of it is configured.
 *
 * @returns `undefined` where neither `user.name` nor `user.email` is set, and where git is not installed
 * @throws HARVEST_GIT_UNREADABLE when git refuses to say
 */
export async function gitUser(cwd: string): Promise<string | undefined> {
  const [name, email] = (await userGit(cwd)((git) => Promise.all(['user.name', 'user.email'].map(valueOf(git))))) ?? []
  const parts = [...(name ? [name] : []), ...(email ? [`<${email}>`] : [])]
  return parts.length === 0 ? undefined : parts.join(' ')
}

function valueOf(git: SimpleGit): (key: string) => Promise<string | null> {
  return async (key) => (await git.getConfig(key)).value
}

/** What an older commit held, a partial clone may have left where it came from. */
const older: GitSettings = { mayFetch: true }

const tops = new WeakMap<AskGit, Promise<string | undefined>>()

/** Top of the repository, asked for once. */
export function topOf(ask: AskGit): Promise<string | undefined> {
  const known = tops.get(ask) ?? ask((git) => git.revparse(['--show-toplevel']))
  tops.set(ask, known)
  return known
}

/**
 * Everything under version control but tapes, cases, notes of the inbox, the reports of red cases, what Vitest keeps of a run,
 * and what tells git and GitHub about the project.
 */
export const codeOnly = [
  '--',
  ':(top)',
  ':(top,exclude,glob)**/*.case.yaml',
  ':(top,exclude,glob)**/*.tape.jsonl',
  ':(top,exclude,glob)**/inbox/.*',
  ':(top,exclude,glob)**/inbox/.*/**',
  ':(top,exclude,glob)**/inbox/*.hold.json',
  ':(top,exclude,glob)**/.harvest/report/**',
  ':(top,exclude,glob)**/.vitest/**',
  ':(top,exclude,glob)**/.vitest-attachments/**',
  ':(top,exclude,glob)**/.gitignore',
  ':(top,exclude,glob)**/.gitattributes',
  ':(top,exclude,glob).github/**',
]

/** Fixed: nothing a tape or a case says is ever an argument of git. */
const statusArguments = [
  'status',
  '--porcelain=v2',
  '--branch',
  '--no-renames',
  '-z',
  '--untracked-files=no',
  ...codeOnly,
]

export const unknownArguments = ['ls-files', '--others', '--exclude-standard', '--full-name', '-z', ...codeOnly]

/** The full hash of a commit. What names it is never an option. */
export function commitArguments(name: string): string[] {
  return ['--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
}

/** The full hash of a commit; `undefined` when it is not in this repository. */
export async function knownCommit(ask: AskGit, name: string): Promise<string | undefined> {
  try {
    return (await ask((git) => git.revparse(commitArguments(name)))) || undefined
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')) return undefined
    throw error
  }
}

/** `--porcelain=v2 --branch -z`: header lines `# branch.oid <hash>` first, then one entry per changed file. */
function readStatus(status: string): { readonly commit?: string; readonly paths: readonly string[] } {
  const lines = inList(status)
  const oid = lines.find((line) => line.startsWith('# branch.oid '))?.slice('# branch.oid '.length)
  // `1` and eight fields before the path, and of a conflict `u` and ten.
  const paths = lines.flatMap((line) =>
    line.startsWith('# ')
      ? []
      : [
          line
            .split(' ')
            .slice(line.startsWith('u ') ? 10 : 8)
            .join(' '),
        ],
  )
  return { ...(oid === undefined || oid === '(initial)' ? {} : { commit: oid }), paths }
}
