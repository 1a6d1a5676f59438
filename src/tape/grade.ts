import { HarvestError } from '../errors/index.ts'
import { printable } from './faults.ts'
import type { TapeHeader } from './types.ts'

/** What is to be done with a tape: serve its answers again, or demand that everything about the run is as recorded. */
export type Deed = 'replay' | 'verify'

/**
 * Refuses a tape whose grade is below what is to be done with it. Tapes of our own recorder are good for everything.
 *
 * @throws HarvestError `HARVEST_TAPE_GRADE`
 */
export function requireGrade({ id, imported }: TapeHeader, deed: Deed): void {
  if (imported === undefined) return
  const { format, grade, missing } = imported
  const isServed = grade === 'replayable' || grade === 're-drivable'
  if (deed === 'replay' && isServed) return
  throw new HarvestError('HARVEST_TAPE_GRADE', {
    what: deed === 'verify' ? 'An imported tape cannot be verified' : `A ${grade} tape cannot be replayed`,
    where: {
      tape: printable(id),
      grade: `${grade}, imported from ${printable(format)}`,
      missing: printable(missing.join(', ')),
    },
    why:
      deed === 'verify'
        ? 'Bit-exact means the clock, the ids and the order of the run as well, and the recording did not hold them.'
        : 'The recording it was imported from does not hold the answers, and none are made up.',
    fix: isServed
      ? [`to replay it: npx harvest replay ${printable(id)}`]
      : ['record the run anew: npx harvest record', `to see what is there: npx harvest show ${printable(id)}`],
  })
}
