import fs, { type Dirent, existsSync, readdirSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { neutralLine, shellWord } from './neutral.ts'

/** The nearest folder above the current one that has one of these, as `../..`; `undefined` where the current one has one, or none does. */
export function folderAbove(names: readonly string[]): string | undefined {
  const from = process.cwd()
  const folder = nearestFolder(names, from)
  return folder === undefined || folder === from ? undefined : relative(from, folder)
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

/** What to type where these recordings have no such name, and those of packages below have it. */
export function stepsInPackages(recordings: string, word: string): readonly string[] {
  if (isAbsolute(recordings) || !existsSync(recordings) || !/^\w[\w.-]*$/.test(word)) return []
  return packagesWith([recordings])
    .map((folder) => join(folder, recordings))
    .filter((dir) => fs.globSync(`{inbox,golden}/**/${word}.{case.yaml,case.yml,tape.jsonl}`, { cwd: dir }).length > 0)
    .slice(0, 3)
    .map((dir) => `${neutralLine(dirname(dir))} has one of this name: --dir ${shellWord(dir)}`)
}

/** Files of cases of these recordings that are called so, from there. */
export function casesOfName(recordings: string, name: string): readonly string[] {
  if (!/^\w[\w./-]*$/.test(name) || !existsSync(recordings)) return []
  return fs.globSync(`golden/**/${name.replace(/^golden\//, '')}.case.{yaml,yml}`, { cwd: recordings })
}

/** The first packages of a workspace that have one of these, as `packages/shop`; none where the current folder has one. */
export function foldersBelow(names: readonly string[]): readonly string[] {
  if (names.some((name) => existsSync(name))) return []
  return packagesWith(names).slice(0, 3)
}

/** The packages of a workspace below the current folder that have one of these. */
export function packagesWith(names: readonly string[]): readonly string[] {
  return foldersIn('.')
    .flatMap((folder) => [folder, ...foldersIn(folder)])
    .filter((folder) => names.some((name) => existsSync(join(folder, name))))
}

/** The nearest folder with one of these, from this one upwards; absolute. */
export function nearestFolder(names: readonly string[], from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** What is not to be looked into, by the system or a confined worker, or is gone when it is, has nothing to name. */
const closed = ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ERR_ACCESS_DENIED']

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

/** The folder of recordings that a tape or case lies in, in its inbox or golden set; absolute. */
export function recordingsAround(file: string): string | undefined {
  return /^(.+)[\\/](?:golden|inbox)[\\/]/.exec(resolve(file))?.[1]
}
