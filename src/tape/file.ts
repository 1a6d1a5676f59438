import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { HarvestError, shellWord } from '../errors/index.ts'
import { isInGit } from '../errors/usual-steps.ts'
import { tapeFault } from './errors.ts'

/** A larger tape is refused by `readTape`: it would have to fit in memory several times over. */
export const sizeCap = 512 * 1024 * 1024

/**
 * Opens a tape for reading: a regular file, never through a symlink (one could point at any file of the reader's).
 *
 * @throws HarvestError `HARVEST_TAPE_MISSING` or `HARVEST_TAPE_UNREADABLE`
 */
export function openTape(path: string): { readonly fd: number; readonly size: number } {
  const fd = open(path)
  try {
    const stat = fstatSync(fd)
    if (stat.isFile()) return { fd, size: stat.size }
    throw unreadable(path, stat.isDirectory() ? 'It is a directory.' : 'It is not a regular file.')
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function open(path: string): number {
  // Windows has neither flag; without O_NONBLOCK the open of a named pipe would wait for its writer.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>
  try {
    if (O_NOFOLLOW === 0 && lstatSync(path).isSymbolicLink()) throw symlink(path)
    return openSync(path, (O_RDONLY ?? 0) | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (HarvestError.is(error)) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw missing(path, error)
    if (code === 'ELOOP') throw symlink(path, error)
    throw unreadable(
      path,
      code === 'EACCES' || code === 'EPERM' ? 'Its permissions do not let us read it.' : message,
      error,
    )
  }
}

function missing(path: string, cause: unknown): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_MISSING',
    { source: path },
    {
      what: 'The tape is missing',
      why: 'A case and its tape are in one folder: one of them was moved, renamed or not committed.',
      fix: [
        isInGit(path)
          ? `to see whether Git has it: git log --all --oneline -- ${shellWord(path)}`
          : 'to see which tapes there are: npx vitest-harvest ls',
      ],
    },
    { cause },
  )
}

function symlink(path: string, cause?: unknown): HarvestError {
  return unreadable(path, 'It is a symbolic link, and a tape is never read through one.', cause)
}

/** A tape that is there and cannot be read. */
export function unreadable(path: string, why: string, cause?: unknown): HarvestError {
  return tapeFault('HARVEST_TAPE_UNREADABLE', { source: path }, { what: 'The tape cannot be read', why }, { cause })
}
