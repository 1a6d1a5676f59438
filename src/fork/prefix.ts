import { HarvestError, neutral, neutralLine, visible } from '../errors/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Calls } from '../replay/calls.ts'
import { bodyDifference, type Difference } from '../replay/difference.ts'
import type { Ladder, Question } from '../replay/ladder.ts'
import type { Place } from '../replay/problems.ts'
import { describeStep, shortUrl, type StepState } from '../replay/step.ts'
import type { SeamCall } from '../seam/source.ts'
import type { Json } from '../tape/index.ts'

/** The errors of runs that left their tape before they were free to. */
export const leftTape = {
  byRequest(place: Place, kept: readonly StepState[], question: Question, ladder: Ladder): HarvestError {
    const next = kept.find((step) => !step.taken)
    const near = ladder.nearest(question) ?? next
    const recorded = near?.event.kind === 'exchange' ? (near as unknown as { bodyText: string }).bodyText : undefined
    return left(place, kept, {
      asked: `${question.method} ${shortUrl(question.url)}`,
      expected: next,
      near,
      difference: recorded === undefined ? undefined : bodyDifference(recorded, question.bodyText),
    })
  },

  byCall(place: Place, kept: readonly StepState[], call: SeamCall, args: Json, calls: Calls): HarvestError {
    const near = calls.nearest(call, args)
    return left(place, kept, {
      asked: `${call.name}(${canonicalJson(args)})`,
      expected: kept.find((step) => !step.taken),
      near,
      difference:
        near === undefined ? undefined : bodyDifference(JSON.stringify(near.event.args), JSON.stringify(args)),
    })
  },

  byEnding(place: Place, kept: readonly StepState[]): HarvestError {
    return left({ ...place, site: undefined }, kept, {
      asked: 'nothing more',
      expected: kept.find((step) => !step.taken),
      near: undefined,
      difference: undefined,
    })
  },
}

interface Left {
  readonly asked: string
  readonly expected: StepState | undefined
  readonly near: StepState | undefined
  readonly difference: Difference | undefined
}

function left(place: Place, kept: readonly StepState[], { asked, expected, near, difference }: Left): HarvestError {
  const line = (text: string): string => visible(neutral(text)).replaceAll('\n', '\n            ')
  return new HarvestError('HARVEST_FORK_PREFIX', {
    what: 'The run left its tape before the fork: it did not take the recorded steps up to there',
    where: {
      tape: place.tape.header.id,
      kept: kept.length === 1 ? 'step 1' : `steps 1 to ${kept.length}`,
      ...(expected ? { expected: neutralLine(describeStep(expected), 200) } : {}),
      actual: neutralLine(asked, 200),
      ...(near && near !== expected ? { nearest: neutralLine(describeStep(near), 200) } : {}),
      ...(place.site ? { at: place.site } : {}),
    },
    ...(difference
      ? {
          detail: `  differs at ${difference.path || 'the body'}\n  recorded  ${line(difference.recorded)}\n  now       ${line(difference.live)}`,
        }
      : {}),
    why: 'A fork says something about its one change only when everything before it is as it was. Nothing can be said of this run.',
    fix: [
      `to see what the agent now does otherwise: npx harvest doctor ${place.tape.header.id}`,
      'or keep fewer steps',
    ],
  })
}
