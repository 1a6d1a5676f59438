import { realpathSync } from 'node:fs'
import path from 'node:path'
import { nearestFolder, recordingsAround } from '../errors/above.ts'
import { here } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { configNames } from '../jobs/index.ts'
import type { HarvestProvided } from './channel.ts'

/**
 * Agents of several packages share names: a tape is run with those of the `harvest()` whose recordings it is among. A run that
 * has it chose its project; this one may be started in another package.
 *
 * @throws HarvestError `HARVEST_RECORDINGS_OUTSIDE` for a tape in the recordings of a package with a Vitest config that is not ours
 */
export function refuseOtherAgents(
  tape: string,
  { acceptedFile, root }: Pick<HarvestProvided, 'acceptedFile' | 'root'>,
): void {
  const recordings = recordingsAround(tape)
  if (recordings === undefined || isSame(recordings, path.dirname(acceptedFile))) return
  const folder = nearestFolder(configNames, path.dirname(recordings))
  const own = nearestFolder(configNames, root)
  if (folder === undefined || own === undefined || isSame(folder, own)) return
  throw new HarvestError('HARVEST_RECORDINGS_OUTSIDE', {
    what: 'The tape belongs to another package, whose agents this run of Vitest does not have',
    where: { tape: neutralLine(here(tape), 300), package: neutralLine(here(folder), 300) },
    why: 'The agents of this one may have the same names, and are not those that were recorded.',
    fix: [`to run it with the agents of its package, first: cd ${shellWord(here(folder))}`],
  })
}

function isSame(one: string, other: string): boolean {
  return real(one) === real(other)
}

function real(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    // The recordings of a project that has none yet.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return path.resolve(folder)
  }
}
