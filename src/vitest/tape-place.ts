import { existsSync } from 'node:fs'
import path from 'node:path'
import { inject } from 'vitest'
import type { HarvestProvided } from './channel.ts'

/**
 * The file of a tape that a test names: from the root of its project, in a workspace that of its package; what is not there is
 * looked for from the folder Vitest runs in.
 */
export function tapePlace(file: string): string {
  // Absent in a project that does not have the plugin.
  const { root = '.' } = (inject('vitest-harvest') as HarvestProvided | undefined) ?? {}
  const inProject = path.resolve(root, file)
  return existsSync(inProject) ? inProject : file
}
