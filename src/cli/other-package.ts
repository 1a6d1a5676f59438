import { dirname, isAbsolute, resolve } from 'node:path'
import { nearestFolder, recordingsAround } from '../errors/above.ts'
import { here } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { configNames } from '../jobs/index.ts'

/**
 * A case is written among the recordings of its tape: those of another package are for its own agents.
 *
 * @throws HarvestError `HARVEST_RECORDINGS_OUTSIDE` for a tape in the recordings of another package
 */
export function refuseOtherPackage(tape: string, recordings: string): void {
  const own = recordingsAround(tape)
  if (own === undefined || own === resolve(recordings)) return
  // A package need not have a config of its own: that of the root may name it.
  const packages = [own, recordings].map((folder) =>
    nearestFolder(['package.json', ...configNames], dirname(resolve(folder))),
  )
  const [folder, current] = packages
  if (folder === undefined || folder === current) return
  const near = here(folder)
  throw new HarvestError('HARVEST_RECORDINGS_OUTSIDE', {
    what: 'The tape belongs to another package of the workspace',
    where: { package: neutralLine(near, 300), recordings: neutralLine(recordings, 300) },
    why: 'Its case would be written for the agents of another package than the one that was recorded.',
    fix: [
      isAbsolute(near)
        ? `to make a case of that package, first: cd ${shellWord(near)}`
        : `to make a case of that package: --dir ${shellWord(here(own))}`,
      'to make one of this package: copy the tape into the inbox of its recordings',
    ],
  })
}

/** What to type where a file lies in a package whose Vitest config is not that of the current folder. */
export function stepsToPackage(file: string): readonly string[] {
  const folder = nearestFolder(configNames, dirname(resolve(file)))
  if (folder === undefined || folder === nearestFolder(configNames, process.cwd())) return []
  return [`to run it in its package, first: cd ${shellWord(here(folder))}`]
}
