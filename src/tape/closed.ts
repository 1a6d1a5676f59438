import { shellWord } from '../errors/index.ts'
import { cutOffText, openCallsOf } from './cut-off.ts'
import { tapeFault } from './errors.ts'
import { stepsOf } from './steps.ts'
import type { Tape, TapeClose } from './types.ts'

/**
 * The tape, known to be whole.
 *
 * @throws HarvestError `HARVEST_TAPE_TRUNCATED` when it has no closing line
 */
export function requireClosed(tape: Tape): Tape & { readonly close: TapeClose } {
  const { source, events, close } = tape
  if (close !== undefined) return { ...tape, close }
  const cutOff = cutOffText(openCallsOf(tape))
  throw tapeFault(
    'HARVEST_TAPE_TRUNCATED',
    { source },
    {
      what: 'The tape is truncated: it has no closing line',
      where: {
        holds: `${events.length} event(s), ${stepsOf(tape).length} step(s)`,
        ...(cutOff !== undefined && { ended: cutOff }),
      },
      why: 'The process ended before its run did, or the end of the file was lost.',
      fix: [`to see what was recorded up to there: npx vitest-harvest show ${shellWord(source)}`],
    },
  )
}
