import { HarvestError, shellWord } from '../../errors/index.ts'
import { neutral, neutralLine } from '../../errors/neutral.ts'
import { thrownText } from '../../match/redact-message.ts'
import { type ExchangeState, type StepState, describeStep } from '../../match/step.ts'
import { isEnding } from '../../tape/index.ts'
import { timersOnFakeClock } from '../mocks.ts'
import { type ProblemLocation, duration, recordAgain, seeSteps, useRealTimers, where, whereWaiting } from './place.ts'

export function spinning(place: ProblemLocation): HarvestError {
  return new HarvestError('HARVEST_CLOCK_SPIN', {
    what: 'Busy loop: the agent polls the clock without yielding',
    where: where(place),
    why: 'The clock of a replay only moves while the agent waits.',
    fix: ['wait with setTimeout() in place of the loop'],
  })
}

/** @param missing - the recorded step the replay waited for when it let that much time pass */
export function timedOut(
  place: ProblemLocation,
  step: ExchangeState,
  ms: number,
  missing: StepState | undefined,
): HarvestError {
  const { at, response, error } = step.event
  const answeredAt = response?.end?.[1] ?? error?.moment[1] ?? at
  return new HarvestError('HARVEST_CLOCK', {
    what: `The client's time-out of ${duration(ms)} fired; it did not when this run was recorded`,
    where: {
      ...(missing ? { 'waiting for': `${describeStep(missing)}, which the agent has not asked` } : {}),
      'gave up': describeStep(step),
      ...where(place),
    },
    why: missing
      ? 'A replay lets time pass while it waits for a recorded request, and that request was never made.'
      : `The recorded answer took ${duration(answeredAt - at)}.`,
    fix: [
      ...(missing
        ? [
            `make the missing request again, or see why it is gone: npx vitest-harvest show ${shellWord(place.tape.header.id)}`,
          ]
        : []),
      `if the time-out was changed on purpose: record the run again and promote the new tape`,
    ],
  })
}

/** What an agent may wait for that does not go on. */
export interface Awaited {
  /** The first recorded step it has not asked. */
  readonly next?: StepState
  /** Steps it made that the recorded run ended without an answer to. */
  readonly unended: readonly StepState[]
}

export function hanging(place: ProblemLocation, waitedMs: number, awaited: Awaited): HarvestError {
  const { next, unended } = awaited
  if (unended.length > 0) return neverEnded(place, awaited)
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered',
    where: {
      ...whereWaiting(place),
      ...whereAwaited(awaited),
      waited: `${Math.round(waitedMs)} ms of real time with nothing left to deliver`,
    },
    why: whyHanging(next),
    fix: [
      ...(timersOnFakeClock() > 0 ? [useRealTimers] : []),
      ...(endsChild(next)
        ? ['end the child again: close its input, its client or its transport, or send the signal']
        : []),
      seeSteps(place),
    ],
  })
}

function whyHanging(next: StepState | undefined): string {
  if (next === undefined) return 'It made all recorded steps, then waits for something that is not on the tape.'
  if (endsChild(next)) return 'The recorded agent ended this child here. This one does not, and may wait for its end.'
  return 'It waits for something that is not on the tape.'
}

function endsChild(step: StepState | undefined): boolean {
  return step?.event.kind === 'exchange' && isEnding(step.event)
}

/** The agent waits where the recorded one did not. */
function neverEnded(place: ProblemLocation, awaited: Awaited): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered: it waits for more than the recorded agent did',
    where: { ...whereWaiting(place), ...whereAwaited(awaited) },
    why: 'The recorded run was over before that answer came, so it is not on the tape, and more time does not bring it.',
    fix: [...(timersOnFakeClock() > 0 ? [useRealTimers] : []), recordAgain, seeSteps(place)],
  })
}

function whereAwaited({ next, unended }: Awaited): Record<string, string> {
  const shown = unended.slice(0, 3).map((step) => neutralLine(describeStep(step)))
  const more = unended.length > shown.length ? `; and ${unended.length - shown.length} more` : ''
  return {
    ...(shown.length > 0 ? { unanswered: `${shown.join('; ')}${more}, also when recorded` } : {}),
    ...(next ? { next: `${describeStep(next)}, which the agent has not asked` } : {}),
  }
}

/** @param moreTime - how to give it more; by default the limit is one of a test */
export function givenUp(
  place: ProblemLocation,
  reason: unknown,
  moreTime = 'raise the time limit of the test',
  awaited: Awaited = { unended: [] },
): HarvestError {
  return new HarvestError(
    'HARVEST_RUN_ABORTED',
    {
      what: 'The replay was stopped before the agent answered',
      where: {
        ...whereWaiting(place),
        ...whereAwaited(awaited),
        reason: reason instanceof Error ? reason.message : String(reason),
      },
      why: 'The agent hangs, or the time limit is too short.',
      fix: [seeSteps(place), `to give it more time: ${moreTime}`],
    },
    { cause: reason },
  )
}

export function undeliverable(place: ProblemLocation, error: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_DELIVERY',
    {
      what: "The agent's client refused a recorded response",
      where: {
        ...where(place),
        error: neutral(thrownText(error, place.tape)),
      },
      why: 'It accepted this response when recorded: its version may have changed.',
      fix: [`to see which client recorded it: npx vitest-harvest show ${shellWord(place.tape.header.id)}`],
    },
    { cause: error },
  )
}
