import { statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { RecordingFiles } from './files.ts'
import { faultOf, openIndexAsIs, snapshot } from './index-database.ts'
import { storable } from './index-rows.ts'
import { folderStamp } from './tape-index.ts'

/**
 * Tapes outside of the inbox that may be of a run: by the index, where it knows every folder as it is now. Otherwise all
 * of them. As in a list, a closed tape that was rewritten in place is not noticed.
 */
export async function tapesOfRun(recordings: string, files: RecordingFiles, id: string): Promise<readonly string[]> {
  const tapes = files.tapesOutside
  // Node 22 says of its SQLite that it is experimental, each time.
  if (tapes.length < fewTapes || process.versions.node.startsWith('22.')) return tapes
  let database: DatabaseSync | undefined
  try {
    database = await openIndexAsIs(join(recordings, 'inbox'))
    return (database && known(database, recordings, tapes, id)) ?? tapes
  } catch (error) {
    if (faultOf(error) === undefined) throw error
    return tapes
  } finally {
    database?.close()
  }
}

/** Reading the heads of so many takes no longer than asking. */
const fewTapes = 200

function known(
  database: DatabaseSync,
  recordings: string,
  tapes: readonly string[],
  id: string,
): readonly string[] | undefined {
  return snapshot(database, () => {
    const folder = database.prepare('SELECT stamp, is_settled FROM folder WHERE path = ?')
    for (const path of new Set(tapes.map((tape) => tape.slice(0, tape.lastIndexOf(sep))))) {
      const stats = statSync(path, { throwIfNoEntry: false })
      const row = folder.get(relative(recordings, path).split(sep).join('/'))
      if (stats === undefined || row?.['is_settled'] !== 1 || row['stamp'] !== folderStamp(stats)) return undefined
    }
    const rows = database.prepare(
      `SELECT path, name FROM tape JOIN detail ON detail.tape = tape.id JOIN folder ON folder.id = tape.folder
       WHERE (run = ? OR outcome IN ('truncated', 'unreadable')) AND path <> 'inbox' AND path NOT LIKE 'inbox/%'`,
    )
    return rows.all(storable(id)).map(({ path, name }) => join(recordings, String(path), String(name)))
  })
}
