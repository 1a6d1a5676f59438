import { gitAsker } from './git-asker.ts'
import { inList } from './git.ts'

/** Files that git has and the work tree no longer does, or has under other names. */
export interface DeletedFiles {
  /** Seen from the folder that was asked about. */
  readonly files: readonly string[]
  /** The commit that removed them; absent: nothing is committed yet. */
  readonly commit?: { readonly hash: string; readonly subject: string }
  /** What this commit calls one of them now. */
  readonly now?: string
}

/**
 * Asks git which files of a name were deleted or renamed last, below a folder.
 *
 * @param endings - behind the name, such as `.case.yaml`
 * @returns `undefined` where git knows none, outside a repository, and where git is not installed
 * @throws HARVEST_GIT_UNREADABLE when there is a repository and git refuses to read it
 */
export async function deletedFiles(
  cwd: string,
  name: string,
  endings: readonly string[],
): Promise<DeletedFiles | undefined> {
  const ask = gitAsker(cwd)
  const globs = ['--', ...endings.map((ending) => `:(glob)**/${name.replace(/[\\*?[\]]/g, '\\$&')}${ending}`)]
  const gone = ['--name-only', '--relative', '--no-renames', '--diff-filter=D', '-z']
  const here = inList(await ask((git) => git.raw(['diff', ...gone, 'HEAD', ...globs])))
  if (here.length > 0) return { files: here }
  const [head = '', ...files] = inList(await ask((git) => git.raw(['log', '-1', ...gone, '--format=%H %s', ...globs])))
  const [, hash, subject = ''] = /^([0-9a-f]{40,64}) ?(.*)$/s.exec(head) ?? []
  if (hash === undefined) return undefined
  const names = files.map((file) => file.trim())
  const renamed = ['show', '-M', '--relative', '--name-status', '--diff-filter=R', '--format=', '-z', hash]
  const moves = inList(await ask((git) => git.raw(renamed)))
  const now = moves[moves.findIndex((path) => names.includes(path)) + 1]
  return { files: names, commit: { hash, subject }, ...(now === undefined || names.includes(now) ? {} : { now }) }
}
