import { programNamed, readPrograms } from '../recordings/index.ts'
import { pluginsOfConfig } from './plugin-options.ts'

/** Whether the project lists a command; where it does not, `unread` says why the Vitest config could not be asked. */
export type ProgramListing = { readonly isListed: boolean; readonly unread?: string }

/** Whether the `package.json` of the current folder lists these words. */
export function isInManifest(argv: readonly string[]): boolean {
  return programNamed(readPrograms(process.cwd()), argv) !== undefined
}

/**
 * Whether the project lists these words, in its `package.json` or in `harvest({ programs })` of its Vitest config.
 *
 * @throws HarvestError `HARVEST_OPTION` when the list of `package.json` cannot be understood
 */
export async function isListed(argv: readonly string[]): Promise<ProgramListing> {
  if (isInManifest(argv)) return { isListed: true }
  const found = await pluginsOfConfig()
  if ('failed' in found) return { isListed: false, unread: found.failed }
  return { isListed: found.plugins.some(({ programs }) => programNamed(programs, argv) !== undefined) }
}
