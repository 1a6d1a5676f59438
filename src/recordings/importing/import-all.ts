import { HarvestError } from '../../errors/index.ts'
import { importFormats } from '../../importers/index.ts'
import { type Candidates, candidatesAt, endingNames } from './candidates.ts'
import { importFile, type ImportedRecording, type ImportSettings, Inbox, type Refused } from './import-file.ts'
import { TapeIds } from './tape-ids.ts'

/** The result of an import. */
export interface ImportResult {
  readonly imported: readonly ImportedRecording[]
  readonly refused: readonly Refused[]
  /** How many files of a folder are not recordings. */
  readonly passedOver: number
}

/**
 * Imports a file, or every recording below a folder, into the inbox.
 *
 * @param path - the file or folder
 * @param recordings - the folder with `inbox/`
 * @param onProgress - called before each file with the number of files done
 * @throws HarvestError `HARVEST_IMPORT_…` for a file that cannot be imported; in a folder such files are `refused`.
 *   `HARVEST_IMPORT_NONE` for a folder without recordings
 */
export function importAll(
  path: string,
  recordings: string,
  settings: ImportSettings,
  onProgress: (done: number, all: Candidates) => void = () => undefined,
): ImportResult {
  const candidates = candidatesAt(path)
  const inbox = new Inbox(recordings)
  const imported: ImportedRecording[] = []
  const refused: Refused[] = []
  const ids = new TapeIds()
  let passedOver = 0
  for (const [index, candidate] of candidates.list.entries()) {
    onProgress(index, candidates)
    try {
      imported.push(...importFile(candidate, { ids, inbox }, settings))
    } catch (error) {
      // A named file must be a recording; a folder holds other files too.
      if (!candidates.isFolder || !HarvestError.is(error)) throw error
      const isOther = HarvestError.is(error, 'HARVEST_IMPORT_UNKNOWN') && settings.format === undefined
      // What comes near to a format is a recording that cannot be read, and no other file.
      if (isOther && error.facts.where?.['nearest format'] === 'none') passedOver++
      else refused.push({ file: candidate.file, error })
    }
  }
  if (candidates.isFolder && imported.length + refused.length === 0) throw nothingThere(path)
  return { imported, refused, passedOver }
}

function nothingThere(folder: string): HarvestError {
  return new HarvestError('HARVEST_IMPORT_NONE', {
    what: 'No recordings in this folder',
    where: { folder, formats: importFormats.join(', ') },
    why: `Only files that end in ${endingNames.join(', ')} are read, also with .gz, and logs of MCP servers.`,
    fix: ['name the folder of the recordings, or one file: npx vitest-harvest import recordings.har'],
  })
}
