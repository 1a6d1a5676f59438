import { HarvestError, neutral, neutralLine, visible, shellWord } from '../errors/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Calls } from '../match/calls.ts'
import { bodyDifference, type RequestDifference } from '../match/difference.ts'
import type { Matcher, MatchRequest } from '../match/matcher.ts'
import type { ProblemLocation } from '../playback/problems.ts'
import { describeStep, shortUrl, type StepState } from '../match/step.ts'
import type { SeamCall } from '../seam/source.ts'
import type { Json } from '../tape/index.ts'

/** The errors of runs that left their tape before they were free to. */
export const leftTape = {
  byRequest(
    place: ProblemLocation,
    kept: readonly StepState[],
    question: MatchRequest,
    matcher: Matcher,
  ): HarvestError {
    const next = kept.find((step) => !step.taken)
    const near = matcher.nearest(question) ?? next
    const recorded = near?.event.kind === 'exchange' ? (near as unknown as { bodyText: string }).bodyText : undefined
    return left(place, kept, {
      asked: `${question.method} ${shortUrl(question.url)}`,
      expected: next,
      near,
      difference: recorded === undefined ? undefined : bodyDifference(recorded, question.bodyText),
    })
  },

  byCall(place: ProblemLocation, kept: readonly StepState[], call: SeamCall, args: Json, calls: Calls): HarvestError {
    const near = calls.nearest(call, args)
    return left(place, kept, {
      asked: `${call.name}(${canonicalJson(args)})`,
      expected: kept.find((step) => !step.taken),
      near,
      difference:
        near === undefined ? undefined : bodyDifference(JSON.stringify(near.event.args), JSON.stringify(args)),
    })
  },

  byEnding(place: ProblemLocation, kept: readonly StepState[]): HarvestError {
    const error = left({ ...place, site: undefined }, kept, {
      asked: 'nothing more',
      expected: kept.find((step) => !step.taken),
      near: undefined,
      difference: undefined,
    })
    endings.add(error)
    return error
  },
}

const endings = new WeakSet<HarvestError>()

/** Whether a run left its tape by its ending, and not by what it asked. */
export function leftByEnding(error: HarvestError): boolean {
  return endings.has(error)
}

interface Left {
  readonly asked: string
  readonly expected: StepState | undefined
  readonly near: StepState | undefined
  readonly difference: RequestDifference | undefined
}

function left(
  place: ProblemLocation,
  kept: readonly StepState[],
  { asked, expected, near, difference }: Left,
): HarvestError {
  const line = (text: string): string => visible(neutral(text)).replaceAll('\n', '\n            ')
  return new HarvestError('HARVEST_FORK_PREFIX', {
    what: 'The run diverged from its tape before the fork',
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
    why: 'A fork is only comparable when everything before its change is as recorded.',
    fix: [
      `to see what the agent does differently: npx vitest-harvest doctor ${shellWord(place.tape.header.id)}`,
      'or keep fewer steps',
    ],
  })
}
