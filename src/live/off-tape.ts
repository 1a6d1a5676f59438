import { HarvestError, neutralLine } from '../errors/index.ts'
import type { Tape } from '../tape/index.ts'

/** Who answers behind a fork. */
export type AnswersFrom = 'live' | 'tape' | 'reference' | 'script'

const whys: Readonly<Record<AnswersFrom, string>> = {
  live: 'Its model, or its code, decided otherwise than when this run was recorded, and only models are asked for real.',
  tape: 'The run is another one from the fork on, and what it asks now was never recorded.',
  reference: 'The run is another one from the fork on, and the tape that answers it was never asked this.',
  script: 'The script that answers this run said nothing to it.',
}

/**
 * The refusal of something that a live run asks for and the tape has no answer to.
 *
 * @param instead - how it differs from the recorded question that comes nearest, a line for each part
 * @param isTool - whether it is a function that the agent wrapped: such a one can run for real
 */
export function offTape(
  tape: Tape,
  what: string,
  site: string | undefined,
  tail: AnswersFrom = 'live',
  instead: readonly string[] = [],
  isTool = false,
): HarvestError {
  return new HarvestError('HARVEST_NOT_RECORDED', {
    what: 'The agent requested something that is not on the tape',
    where: {
      tape: tape.header.id,
      asked: neutralLine(what, 200),
      ...(site === undefined ? {} : { at: site }),
    },
    ...(instead.length === 0 ? {} : { detail: instead.map((line) => `  ${line}`).join('\n') }),
    why: whys[tail],
    fix: isTool
      ? [
          'if the call is right, record a run that makes it',
          'to call the tool for real: wrap it with { replay: "run" }',
        ]
      : ['if the call is right, record a run that makes it'],
  })
}
