import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { findTape } from '../store/index.ts'

/**
 * The file of a tape somebody named: any path, or what {@link findTape} knows: an id, the beginning of one, `latest`.
 *
 * @throws HarvestError `HARVEST_TAPE_MISSING` with the nearest id, `HARVEST_TAPE_AMBIGUOUS`
 */
export function findTapeFile(word: string, recordings = 'recordings'): string {
  const isPath = /[/\\]|\.jsonl$/.test(word) || existsSync(word)
  return isPath ? resolve(word) : findTape(recordings, word)
}
