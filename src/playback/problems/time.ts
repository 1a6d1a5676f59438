import { HarvestError, shellWord } from '../../errors/index.ts'
import { neutral } from '../../errors/neutral.ts'
import { thrownText } from '../../match/redact-message.ts'
import { type ExchangeState, type StepState, describeStep } from '../../match/step.ts'
import { timersOnFakeClock } from '../mocks.ts'
import { type ProblemLocation, duration, seeSteps, useRealTimers, where, whereWaiting } from './place.ts'

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

/** @param next - the first recorded step the agent has not asked */
export function hanging(place: ProblemLocation, waitedMs: number, next?: StepState): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered',
    where: {
      ...whereWaiting(place),
      ...(next ? { next: `${describeStep(next)}, which the agent has not asked` } : {}),
      waited: `${Math.round(waitedMs)} ms of real time with nothing left to deliver`,
    },
    why: next
      ? 'It waits for something that is not on the tape.'
      : 'It made all recorded steps, then waits for something that is not on the tape.',
    fix: [
      ...(timersOnFakeClock() > 0 ? [useRealTimers] : []),
      `to see the recorded steps: npx vitest-harvest show ${shellWord(place.tape.header.id)}`,
    ],
  })
}

/** @param moreTime - how to give it more; by default the limit is one of a test */
export function givenUp(
  place: ProblemLocation,
  reason: unknown,
  moreTime = 'raise the time limit of the test',
): HarvestError {
  return new HarvestError(
    'HARVEST_RUN_ABORTED',
    {
      what: 'The replay was stopped before the agent answered',
      where: { ...whereWaiting(place), reason: reason instanceof Error ? reason.message : String(reason) },
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
