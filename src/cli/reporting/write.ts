import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { makeFolder, writeFileAtomic } from '../../recordings/files.ts'
import { generator } from '../../report/view/page.ts'

/**
 * Writes a page, whole or not at all. A file that is there is replaced when it is a report of ours.
 *
 * @throws HarvestError `HARVEST_EXPORT_EXISTS` unless `force`; `HARVEST_RECORDINGS_WRITE`, `HARVEST_RECORDINGS_LINK`
 */
export function writeReport(file: string, page: string, force: boolean): void {
  makeFolder(dirname(file))
  if (!force && existsSync(file) && !isReport(file))
    throw new HarvestError('HARVEST_EXPORT_EXISTS', {
      what: 'The output file exists and is not a report',
      where: { file },
      fix: ['choose another file: -o run.html', 'to replace it: add --force'],
    })
  writeFileAtomic(file, page)
}

/** A page of ours says so near its beginning. */
function isReport(file: string): boolean {
  const open = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(2048)
    return bytes.subarray(0, readSync(open, bytes)).toString('utf8').includes(generator)
  } finally {
    closeSync(open)
  }
}
