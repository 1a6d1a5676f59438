import { HarvestError, shellWord } from '../errors/index.ts'
import { toRecord } from '../errors/usual-steps.ts'
import { printable } from './errors.ts'
import { requireClosed } from './closed.ts'
import type { Tape, TapeClose, TapeHeader } from './types.ts'

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
  const isServed = isReplayable({ imported })
  if (deed === 'replay' && isServed) return
  throw new HarvestError('HARVEST_TAPE_GRADE', {
    what:
      deed === 'verify' ? 'An imported tape cannot be replayed byte for byte' : `A ${grade} tape cannot be replayed`,
    where: {
      tape: printable(id),
      grade: `${grade}, imported from ${printable(format)}`,
      missing: printable(missing.join(', ')),
    },
    why:
      deed === 'verify'
        ? 'A byte comparison needs the clock, the ids and the order of the run, which the recording lacks.'
        : 'The recording it was imported from lacks the answers, and answers are never invented.',
    fix: isServed
      ? [`to replay it: npx vitest-harvest replay ${shellWord(id)}`]
      : [`record the run again: ${toRecord}`, `to see what it holds: npx vitest-harvest show ${shellWord(id)}`],
  })
}

/** Whether its answers can be served again. */
export function isReplayable({ imported }: Pick<TapeHeader, 'imported'>): boolean {
  return imported === undefined || imported.grade === 'replayable' || imported.grade === 're-drivable'
}

/**
 * The tape, known to be whole and good for a replay: asked before anything else, for no other step helps where it is not.
 *
 * @throws HarvestError `HARVEST_TAPE_TRUNCATED`, `HARVEST_TAPE_GRADE`
 */
export function requireReplayable(tape: Tape): Tape & { readonly close: TapeClose } {
  requireGrade(tape.header, 'replay')
  return requireClosed(tape)
}
