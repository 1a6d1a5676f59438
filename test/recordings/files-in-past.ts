import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

let moment = Date.UTC(2026, 0, 1) / 1000

/**
 * Sets the times of a folder, and of those below it, back to moments long past, each another one: what an index has seen
 * then counts as settled, as if one had waited.
 */
export function age(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !entry.name.startsWith('.')) age(join(folder, entry.name))
  utimesSync(folder, moment, moment)
  moment += 10
}
