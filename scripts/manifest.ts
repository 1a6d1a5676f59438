import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The rows of a collection's `MANIFEST.jsonl`, one for each of its files. */
export function manifestRows<Row>(folder: string): readonly Row[] {
  return readFileSync(join(folder, 'MANIFEST.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}
