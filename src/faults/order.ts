import type { Step } from '../tape/index.ts'
import { endOf, isCall, later } from './answers.ts'
import { type AnswerKind, numberIn, type FaultSite } from './types.ts'

/**
 * Answers that arrive in another order than recorded, as a list of delays: what arrived when is shrunk by taking delays
 * out and making them smaller. A scheduler that draws whole orders cannot be shrunk.
 */
export const orderKinds: readonly AnswerKind[] = [
  {
    name: 'order-late',
    family: 'order',
    about: 'the answer arrives after others that it came before',
    changes: 'answer',
    lasts: 'once',
    answers: true,
    fits(place) {
      const { length } = overtaking(place)
      return length === 0 ? undefined : { by: { least: 1, most: length } }
    },
    rewrite(place, args) {
      const { step } = place
      const last = overtaking(place)[numberIn(args, 'by', 1) - 1]
      return last === undefined ? step : later(step, last + 1 - (arrivalOf(step) ?? last))
    },
  },
]

/** When answers arrived that this one came before although they were already asked for, in ms, earliest first. */
function overtaking({ steps, step }: FaultSite): readonly number[] {
  const here = arrivalOf(step)
  if (here === undefined) return []
  return steps
    .flatMap((other) => {
      const there = arrivalOf(other)
      return other !== step &&
        there !== undefined &&
        other.n < momentNumber(step) &&
        momentNumber(other) > momentNumber(step)
        ? [there]
        : []
    })
    .sort((a, b) => a - b)
}

function momentNumber(step: Step): number {
  return (isCall(step) ? step.settled : endOf(step))?.[0] ?? -1
}

function arrivalOf(step: Step): number | undefined {
  return (isCall(step) ? step.settled : endOf(step))?.[1]
}
