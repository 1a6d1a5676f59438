import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { discardIndexFile, faultOf, hasIndexFile, openIndexFile, settleIndex } from './index-database.ts'
import { readPrices } from './prices.ts'
import { TapeIndex } from './tape-index.ts'

/**
 * Takes tapes that were removed out of the index of the inbox, so that no name, word or count of theirs is left there. An
 * index that cannot be changed, or that someone else reads at the moment, is thrown away: the next list makes it again.
 */
export async function forgetTapes(recordings: string, files: readonly string[]): Promise<void> {
  const inbox = join(recordings, 'inbox')
  if (files.length === 0 || !hasIndexFile(inbox)) return
  const root = realpathSync(recordings)
  const paths = files.map((file) =>
    relative(root, join(realpathSync(dirname(file)), basename(file)))
      .split(sep)
      .join('/'),
  )
  if (!(await isForgotten(inbox, recordings, paths))) discardIndexFile(inbox)
}

async function isForgotten(inbox: string, root: string, paths: readonly string[]): Promise<boolean> {
  try {
    const database = await openIndexFile(inbox)
    try {
      new TapeIndex(database, { root, prices: readPrices(root) }).forget(paths)
      return settleIndex(database)
    } finally {
      database.close()
    }
  } catch (error) {
    if (faultOf(error) === undefined) throw error
    return false
  }
}
