import { HarvestError } from '../errors/index.ts'
import { sizeText } from '../errors/size.ts'
import { type Cut, type CutValue, decodeValue, isCut, type Json, type Step } from '../tape/index.ts'
import type { ProblemLocation } from '../playback/problems.ts'
import { describeEvent, describeStep, type ExchangeState, type StepState } from '../match/step.ts'

type Place = Pick<ProblemLocation, 'tape' | 'site'>

/** The agent reads on where the recorder's cap ended the answer. */
export function answerCut(place: Place, step: ExchangeState, cut: Cut): HarvestError {
  return readPast(place, cut, {
    what: 'The agent reads past the cut in the recorded answer',
    answer: describeStep(step),
    each: 'body',
  })
}

/** The agent is to get a value of which the tape has the two ends. */
export function valueCut(place: Place, answer: string, cut: CutValue): HarvestError {
  return readPast(place, cut, {
    what: 'The recorded value is cut, and a part of it is never given back',
    answer,
    each: 'value',
  })
}

/** Makes values of a call what they were. One that was cut is a problem of the run, and the error of whoever needs it. */
export function decoderFor(
  run: { readonly place: () => Place; readonly problem: (error: HarvestError) => Error },
  of: StepState | Step,
): (json: Json) => unknown {
  return (json) => {
    if (isCut(json))
      throw run.problem(valueCut(run.place(), 'event' in of ? describeStep(of) : describeEvent(of), json))
    return decodeValue(json)
  }
}

function readPast(
  { tape, site }: Place,
  { size, window, cut }: Pick<Cut, 'size' | 'window' | 'cut'>,
  { what, answer, each }: { readonly what: string; readonly answer: string; readonly each: string },
): HarvestError {
  return new HarvestError('HARVEST_BODY_CUT', {
    what,
    where: {
      tape: tape.header.id,
      ...(site ? { at: site } : {}),
      answer,
      bytes: `${size}, of which ${cut} are not on the tape`,
    },
    why:
      window === 0
        ? 'The recorder could not search it for secrets, or had no room for it.'
        : `The recorder kept ${capText(2 * window)} of each ${each}: its cap.`,
    fix: [
      `record the run again with a larger cap: createRecorder({ bodies: { maxMegabytes: ${Math.min(512, Math.ceil(size / 2 ** 20) + 1)} } })`,
    ],
  })
}

/** In MB, as the option has it, unless it is less than a hundredth. */
function capText(bytes: number): string {
  return bytes < 2 ** 20 / 100 ? sizeText(bytes) : `${Number((bytes / 2 ** 20).toFixed(2))} MB`
}
