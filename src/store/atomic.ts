import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HarvestError } from '../errors/index.ts'

/**
 * Writes a file whole or not at all: a temporary file beside it, flushed, then renamed over it. Somebody reading sees
 * the old text or the new one, also after a crash.
 *
 * @param options.exclusive - refuse when the file is there already; default false
 * @throws HarvestError `HARVEST_STORE_WRITE`; nothing is left behind
 */
export function writeFileAtomic(path: string, text: string, options: { readonly exclusive?: boolean } = {}): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    mkdirSync(dirname(path), { recursive: true })
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error('it is a symbolic link')
    rmSync(temporary, { force: true })
    writeWhole(temporary, text)
    if (options.exclusive) {
      // link() fails when the name is taken; rename() would replace what is there.
      linkSync(temporary, path)
      rmSync(temporary)
    } else renameSync(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new HarvestError(
      'HARVEST_STORE_WRITE',
      {
        what: `Could not write ${path}`,
        where: { reason: (error as Error).message },
        fix: ['check that the folder is writable and has space'],
      },
      { cause: error },
    )
  }
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o644)
  try {
    const bytes = Buffer.from(text)
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The new name is only safe once its folder is. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
