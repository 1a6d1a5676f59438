import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeOnly, inList, stateOf, topOf, unknownArguments } from './git.ts'
import { type AskGit, gitAsker } from './git-asker.ts'
import { isOwnData } from './own-data.ts'

/** The code of a folder: of each file, seen from the top of the repository, its mode and git's hash of its content. */
export type CodeFiles = Readonly<Record<string, string>>

/**
 * The code that is here: files under version control, and those git does not know yet and does not ignore, as they are in the
 * work tree. Data of this package (tapes, cases, prices, …) are no code.
 *
 * Where there is no commit it is every file of the folder but packages and hidden ones.
 *
 * @returns `undefined` where more than {@link mostUntracked} files are unknown to git, or there without a commit
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function codeFiles(cwd: string): Promise<CodeFiles | undefined> {
  const ask = gitAsker(cwd)
  if ((await stateOf(ask))?.commit === undefined) return filesIn(cwd, ask)
  const top = (await topOf(ask)) ?? ''
  const unknown = inList(await ask((git) => git.raw(unknownArguments)))
  if (unknown.filter((path) => !isOwnData(top, path)).length > mostUntracked) return undefined
  const files = new Map<string, string>()
  for (const line of inList(await ask((git) => git.raw('ls-files', '-s', '-z', '--full-name', ...codeOnly)))) {
    const [, mode = '', oid = '', path = ''] = /^(\d+) ([\da-f]+) \d\t([^]*)$/.exec(line) ?? []
    files.set(path, `${mode} ${oid}`)
  }
  // Programs the repository names are not run for it.
  const changed = await ask((git) =>
    git.diff(['--name-only', '--no-renames', '--no-relative', '-z', '--no-ext-diff', '--no-textconv', ...codeOnly]),
  )
  for (const path of new Set([...inList(changed), ...unknown])) {
    const content = await contentOf(ask, top, path)
    if (content === undefined) files.delete(path)
    else files.set(path, content)
  }
  const own = [...files].filter(([path]) => !isOwnData(top, path))
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function filesIn(cwd: string, ask: AskGit): Promise<CodeFiles | undefined> {
  const files: [path: string, content: string][] = []
  const folders = ['']
  for (const folder of folders) {
    for (const entry of readdirSync(join(cwd, folder), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if ((entry.isFile() || entry.isSymbolicLink()) && !ownSuffix.test(path) && !isOwnData(cwd, path)) {
        if (files.length === mostUntracked) return undefined
        const content = await contentOf(ask, cwd, path)
        if (content !== undefined) files.push([path, content])
      }
    }
  }
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Tapes, cases and notes, wherever they lie. */
const ownSuffix = /\.(?:case\.yaml|tape\.jsonl|hold\.json)$/

/** The folder that paths of {@link CodeFiles} are seen from; `undefined` outside of a repository. */
export async function topFolder(cwd: string): Promise<string | undefined> {
  return topOf(gitAsker(cwd))
}

/**
 * One text for the code that is here. Two folders with the same digest hold the same code, committed or not.
 *
 * @returns as {@link codeFiles}
 * @throws HARVEST_GIT_UNREADABLE
 */
export async function codeDigest(cwd: string): Promise<string | undefined> {
  const files = await codeFiles(cwd)
  return files && digestOfCode(files)
}

export function digestOfCode(files: CodeFiles): string {
  const digest = createHash('sha256')
  for (const [path, content] of Object.entries(files)) digest.update(`${path}\0${content}\0`)
  return digest.digest('base64url')
}

/** As the index has it once it is committed. A link counts by where it leads: what is there need not be in the repository. */
async function contentOf(ask: AskGit, top: string, path: string): Promise<string | undefined> {
  const file = join(top, path)
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stats.isSymbolicLink()) return `120000 ${blob(Buffer.from(readlinkSync(file)))}`
  if (stats.isFile()) return `${(stats.mode & 0o100) === 0 ? '100644' : '100755'} ${blob(readFileSync(file))}`
  // A repository in this one: at which commit it is, and whether it is as it was there.
  const said = await ask((git) => git.diff(['--no-ext-diff', '--no-textconv', '--', `:(top,literal)${path}`]))
  return `160000 ${blob(Buffer.from(said ?? ''))}`
}

function blob(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}

/** More than a work tree under way has, or a project without git; a folder of packages that is not ignored has thousands. */
const mostUntracked = 500
