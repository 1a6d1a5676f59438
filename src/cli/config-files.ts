import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { configNames } from '../jobs/job.ts'

/** Names of the configs that lie in a folder; the first is the one Vitest takes. */
export function configFiles(folder: string): readonly string[] {
  return configNames.filter((name) => existsSync(join(folder, name)))
}
