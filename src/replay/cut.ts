import { HarvestError } from '../errors/index.ts'
import type { Cut } from '../tape/index.ts'
import type { ProblemLocation } from '../playback/problems.ts'
import { describeStep, type ExchangeState } from '../match/step.ts'

/** The agent reads on where the recorder's cap ended the answer. */
export function answerCut(
  { tape, site }: Pick<ProblemLocation, 'tape' | 'site'>,
  step: ExchangeState,
  cut: Cut,
): HarvestError {
  const { size, window } = cut
  return new HarvestError('HARVEST_BODY_CUT', {
    what: 'The agent reads past the cut in the recorded answer',
    where: {
      tape: tape.header.id,
      ...(site ? { at: site } : {}),
      answer: describeStep(step),
      bytes: `${size}, of which ${cut.cut} are not on the tape`,
    },
    why:
      window === 0
        ? 'The recorder could not search it for secrets, or had no room for it.'
        : `The recorder kept ${megabytes(2 * window)} MB of each body: its cap.`,
    fix: [
      `record the run again with a larger cap: createRecorder({ bodies: { maxMegabytes: ${Math.min(512, Math.ceil(size / 2 ** 20) + 1)} } })`,
    ],
  })
}

function megabytes(bytes: number): string {
  return Number((bytes / 2 ** 20).toFixed(2)).toString()
}
