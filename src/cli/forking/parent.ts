import { dirname, resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { pinsOf } from '../../provenance/index.ts'
import { listCases } from '../../recordings/index.ts'
import type { Tape } from '../../tape/index.ts'
import type { CommandInput } from '../command.ts'
import type { FoundRun } from '../find.ts'
import { refuseOtherCode } from '../live.ts'
import { agentOf, type Parent } from './make.ts'

/** The run that is forked, with its case, also where it was named by its tape. */
export function parentOf(tape: Tape, found: FoundRun, given: CommandInput): Parent {
  const recordings = given.value('dir') ?? 'recordings'
  const file = resolve(found.file)
  const kase = found.case ?? ownerOf(file, recordings)
  return { tape, file, recordings, ...(kase === undefined ? {} : { case: kase }) }
}

/** The case of a tape: it may replay it with another agent than the one that was recorded, and by its own options. */
export function ownerOf(file: string, recordings: string): Case | undefined {
  const owner = listCases(recordings).find(
    (one) => one.case !== undefined && resolve(dirname(one.file), one.case.tape) === file,
  )
  return owner?.case
}

/**
 * Refuses live forks with other code than was accepted last for the case, or else recorded, unless that is asked for.
 *
 * @throws HarvestError `HARVEST_CROSS_VERSION`
 */
export async function refuseOtherForkCode(parent: Parent, given: CommandInput): Promise<void> {
  const { tape, file, case: kase } = parent
  const pins = { ...pinsOf(tape), ...kase?.pins }
  await refuseOtherCode(pins, given, { tape: file, agent: agentOf(parent), caseId: kase?.id })
}
