import { HarvestError, neutralLine } from '../errors/index.ts'
import type { Tape } from '../tape/index.ts'

/** The refusal of something that a live run asks for and the tape has no answer to. */
export function offTape(tape: Tape, what: string, site: string | undefined): HarvestError {
  return new HarvestError('HARVEST_OFF_TAPE', {
    what: 'The agent asked for something that is not on the tape',
    where: {
      tape: tape.header.id,
      asked: neutralLine(what, 200),
      ...(site === undefined ? {} : { at: site }),
    },
    why: 'Its model decided otherwise than when this run was recorded, and only models are asked for real.',
    fix: [
      'if the call is right, record a run in which it is made',
      'to call a tool for real: wrap it with { replay: "run" }',
    ],
  })
}
