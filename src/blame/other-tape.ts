import { HarvestError } from '../errors/index.ts'
import { canonicalJson } from '../json/canonical.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'

/** The tape of a run that ended; `undefined` for one that cannot be read: such a run is no proposal. */
function closedTape(file: string): Tape | undefined {
  try {
    return requireClosed(readTape(file))
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** As {@link closedTape}, and `undefined` too for the run that is asked about. */
export function otherTape(file: string, { digest }: Tape): Tape | undefined {
  const tape = closedTape(file)
  return tape?.digest === digest ? undefined : tape
}

/** Whether a run was asked the same of the same agent: what one of them can do, the other can. */
export function isOfSameQuestion(
  { header: { agent, input = null } }: Pick<Tape, 'header'>,
  { header: other }: Pick<Tape, 'header'>,
): boolean {
  return other.agent === agent && canonicalJson(other.input ?? null) === canonicalJson(input)
}
