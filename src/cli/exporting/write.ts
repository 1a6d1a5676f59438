import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { HarvestError, neutralJson } from '../../errors/index.ts'
import { makeFolder, writeNewFile } from '../../recordings/files.ts'

/**
 * Writes exports into one file, whole or not at all.
 *
 * @throws HarvestError `HARVEST_EXPORT_EXISTS` unless `replace`; `HARVEST_RECORDINGS_WRITE`, `HARVEST_RECORDINGS_LINK`
 */
export function writeExport(file: string, pieces: Iterable<string>, replace: boolean): void {
  makeFolder(dirname(file))
  try {
    writeNewFile(file, (temporary) => fill(temporary, pieces), { replace })
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_RECORDINGS_EXISTS')) throw exists(file, error)
    throw error
  }
}

/** Writes exports to stdout, as a file would have them. */
export function printExport(pieces: Iterable<string>): void {
  for (const piece of pieces) process.stdout.write(neutralJson(piece))
}

function fill(path: string, pieces: Iterable<string>): void {
  const open = openSync(path, 'wx', 0o600)
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(neutralJson(piece))
      for (let done = 0; done < bytes.length; ) done += writeSync(open, bytes, done)
    }
  } finally {
    closeSync(open)
  }
}

function exists(file: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_EXPORT_EXISTS',
    {
      what: 'The output file exists, and exports never overwrite',
      where: { file },
      fix: ['choose another file with --out', 'to replace it: add --force'],
    },
    { cause },
  )
}
