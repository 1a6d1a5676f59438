import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { writeFileAtomic } from '../recordings/files.ts'
import type { CaseUpdate } from './channel.ts'

/** What became of the updates of a run; absolute paths. */
export interface Written {
  readonly written: readonly string[]
  /** Edited by someone else while the run went on, and left alone. */
  readonly skipped: readonly string[]
}

/**
 * Writes the cases of a run as they should read from now on, each in one step (a temporary file, then a rename).
 *
 * A file whose bytes would not change is not touched: in watch mode the write alone would start the next run, for ever.
 */
export function writeUpdates(updates: Iterable<Omit<CaseUpdate, 'type'>>): Written {
  const written: string[] = []
  const skipped: string[] = []
  for (const { file, before, text } of updates) {
    const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined
    if (current === text) continue
    if (textHash(current ?? '') !== before) {
      skipped.push(file)
      continue
    }
    writeFileAtomic(file, text)
    written.push(file)
  }
  return { written, skipped }
}

/** Identifies the text an update was made from. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
