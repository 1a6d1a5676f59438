import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { shellWord } from './neutral.ts'

/** The nearest folder above the current one that has one of these, as `../..`; `undefined` where the current one has one, or none does. */
export function folderAbove(names: readonly string[]): string | undefined {
  const from = process.cwd()
  for (let folder = from; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name))))
      return folder === from ? undefined : relative(from, folder)
    if (folder === dirname(folder)) return undefined
  }
}

/** What to do where these recordings are not here, and a folder above, or packages below, have some; nothing otherwise. */
export function stepsElsewhere(recordings: string): readonly string[] {
  if (isAbsolute(recordings)) return []
  const above = folderAbove([recordings])
  if (above !== undefined) return [`there is such a folder above, and commands run beside it: cd ${shellWord(above)}`]
  return foldersBelow([recordings]).map(
    (folder) => `there is such a folder below, and commands run beside it: cd ${shellWord(folder)}`,
  )
}

/** The first packages of a workspace that have one of these, as `packages/shop`; none where the current folder has one. */
export function foldersBelow(names: readonly string[]): readonly string[] {
  if (names.some((name) => existsSync(name))) return []
  return foldersIn('.')
    .flatMap((folder) => [folder, ...foldersIn(folder)])
    .filter((folder) => names.some((name) => existsSync(join(folder, name))))
    .slice(0, 3)
}

/** What is not to be looked into, or is gone when it is, has nothing to name. */
const closed = ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR']

function foldersIn(folder: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => join(folder, name))
    .sort()
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (closed.includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
