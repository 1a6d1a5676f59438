import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Data that commands write or ask for, beside the folders of tapes and cases: prices, and what was accepted for all cases. */
const ownNames: ReadonlySet<string> = new Set(['prices.json', 'accepted.yaml'])

/**
 * Whether a file belongs to recordings and to no agent: its place decides, beside a folder with tapes or cases in it. One of
 * the same name elsewhere may be a list of the agent's own.
 *
 * @param top - root of the repository, from which the path is seen
 */
export function isOwnData(top: string, path: string): boolean {
  return ownNames.has(basename(path)) && isRecordings(join(top, dirname(path)))
}

function isRecordings(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) =>
      entry.isDirectory() &&
      readdirSync(join(folder, entry.name)).some((name) => /\.(?:tape\.jsonl|case\.ya?ml)$/.test(name)),
  )
}
