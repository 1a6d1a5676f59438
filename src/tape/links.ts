import * as fs from 'node:fs'
import { join, relative, sep } from 'node:path'
import { HarvestError, shellWord } from '../errors/index.ts'

/**
 * Refuses a file or folder that is, or lies behind, a symbolic link below another folder. One that is not there yet is no link.
 *
 * @throws HARVEST_RECORDINGS_LINK
 */
export function refuseLinks(below: string, path: string): void {
  const link = linkOnTheWay(below, path)
  if (link !== undefined) throw isLink(link)
}

/** The first symbolic link on the way from a folder to what lies below it. */
export function linkOnTheWay(below: string, path: string): string | undefined {
  let at = below
  for (const part of relative(below, path).split(sep)) {
    at = join(at, part)
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at
  }
  return undefined
}

/**
 * The text of a file that commands keep for themselves; `undefined` without one.
 *
 * @throws HARVEST_RECORDINGS_LINK for a link, which is not followed, and for what is no file, such as a pipe
 */
export function readKeptText(path: string): string | undefined {
  const stats = keptStats(path)
  if (stats === undefined) return undefined
  if (!stats.isFile()) throw isLink(path)
  return fs.readFileSync(path, 'utf8')
}

/** Where a file stands in the place of the folder, nothing is in it. */
function keptStats(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
    return undefined
  }
}

/**
 * Adds to a file that commands keep for themselves, and makes it where it is missing, for its owner alone.
 *
 * @throws as {@link readKeptText}
 */
export function appendKeptText(path: string, text: string): void {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isFile()) throw isLink(path)
  try {
    fs.appendFileSync(path, text, { mode: 0o600 })
  } catch (error) {
    cutTo(path, stats?.size ?? 0)
    throw error
  }
}

/** Takes back what was added of a text before the disk was full: half of it would run into what is added next. */
function cutTo(path: string, bytes: number): void {
  try {
    fs.truncateSync(path, bytes)
  } catch {
    // It is not there, or may not be written: nothing was added. Why is on its way up.
  }
}

/** Keeps a folder out of git, also where the one above it is not ignored. */
export function ignoreFolder(folder: string): void {
  try {
    fs.writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** @internal */
export function isLink(path: string): HarvestError {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink() === false) {
    return new HarvestError('HARVEST_RECORDINGS_LINK', {
      what: 'Refused to use a pipe or device as a file',
      where: { path },
      why: 'It could wait for ever, or never end.',
      fix: [`to see what it is: ls -ld ${shellWord(path)}`, 'remove it'],
    })
  }
  return new HarvestError('HARVEST_RECORDINGS_LINK', {
    what: 'Refused to write through a symbolic link',
    where: { link: path },
    why: 'The target of a link is neither reviewed nor committed.',
    fix: [`to see its target: ls -l ${shellWord(path)}`, 'replace the link with the file or folder itself'],
  })
}
