import { type HarvestError, shellWord } from '../../errors/index.ts'
import { neutral, visible } from '../../errors/neutral.ts'
import { toUpdate } from '../../errors/usual-steps.ts'
import { spelledApart } from '../../errors/word-diff.ts'
import type { RequestDifference } from '../../match/difference.ts'
import { type StepState, describeStep, isStep } from '../../match/step.ts'
import type { Tape } from '../../tape/index.ts'
import { placeOfMock, timersOnFakeClock } from '../mocks.ts'

/** Tool calls left out need no answer: a baseline without them is enough. */
export const accept = toUpdate('behaviour')

export { recordAgain } from '../../errors/usual-steps.ts'

/** What is known about the place a problem happened. */
export interface ProblemLocation {
  readonly tape: Tape
  /** `file:line:column` of the user's code, if a frame of it was on the stack. */
  readonly site: string | undefined
  /** The step served last, for when there is no site. */
  readonly after: StepState | undefined
  /** How many steps the agent had made before. */
  readonly made: number
}

export function where({ tape, site, after }: ProblemLocation): Record<string, string> {
  return {
    tape: tape.header.id,
    ...(site ? { at: site } : {}),
    ...(after ? { after: describeStep(after) } : { after: 'the start of the run' }),
  }
}

/** As {@link where}, for an agent that waits: also for a timer that will not fire. */
export function whereWaiting(place: ProblemLocation): Record<string, string> {
  const count = timersOnFakeClock()
  if (count === 0) return where(place)
  const at = placeOfMock('timers')
  return {
    ...where(place),
    timers: `${count} on the clock of fake timers, which does not move${at === undefined ? '' : `   (${at})`}`,
  }
}

export const useRealTimers = 'if it waits for a fake timer: call vi.useRealTimers() before the agent is loaded'

/** As {@link where}, for a step the agent makes: with its number. */
export function whereMade(place: ProblemLocation): Record<string, string> {
  const recorded = place.tape.events.filter(isStep).length
  const { tape, ...rest } = where(place)
  return { tape: tape ?? '', step: `${place.made + 1} of this replay (${recorded} recorded)`, ...rest }
}

/** What the end of a run tells about a problem noted before; `undefined` when it was what it looked like. */
export type Cause = () => { readonly error: HarvestError; readonly leftOut?: StepState } | undefined

export function seeSteps({ tape }: ProblemLocation): string {
  return `to see the recorded steps: npx vitest-harvest show ${shellWord(tape.header.id)}`
}

/** `600 s`, `250 ms` */
export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`
}

/** @param missing - what a list has no more */
export function showDifference({ path, recorded, live }: RequestDifference, missing?: string): string {
  const lines = (text: string): string => visible(neutral(text)).replaceAll('\n', '\n            ')
  const [before, now] = spelledApart(recorded, live) ?? [lines(recorded), lines(live)]
  const gone = missing === undefined ? '' : `  missing   ${neutral(missing)}\n`
  return `${gone}  differs at ${path || 'the body'}\n  recorded  ${visible(before)}\n  now       ${visible(now)}`
}

export function excerpt(text: string): string {
  return visible(neutral(text.length > 200 ? `${text.slice(0, 200)}…` : text))
}
