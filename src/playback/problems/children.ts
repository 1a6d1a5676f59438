import { HarvestError, shellWord } from '../../errors/index.ts'
import { neutralLine } from '../../errors/neutral.ts'
import { commandOf, type StepState, describeStep } from '../../match/step.ts'
import { messageOf } from '../../seam/stdio.ts'
import type { PushEvent, Tape } from '../../tape/index.ts'
import { recordAgain } from './place.ts'

/** How many things that a child was to say are named. */
const shown = 3

/** The agent, or the code of a recorded call, ended before what a child said or how it ended, and came after that when recorded. */
export function childNotAwaited(
  tape: Tape,
  steps: readonly StepState[],
  frames: readonly [PushEvent, ...PushEvent[]],
  by: { readonly hasThrown?: boolean; readonly code?: { readonly name: string; readonly site: string | undefined } },
): HarvestError {
  const [{ url, n }] = frames
  const { code, hasThrown = false } = by
  const asked = steps.findLast(({ event }) => event.kind === 'exchange' && event.url === url && event.n < n)
  const more = frames.length > shown ? [`${frames.length - shown} more`] : []
  const who = code ? `The code of ${code.name} ended` : `The agent ${hasThrown ? 'threw' : 'returned'}`
  return new HarvestError('HARVEST_NOT_AWAITED', {
    what: `${who} without waiting for a child process`,
    where: {
      tape: tape.header.id,
      ...(code?.site === undefined ? {} : { at: code.site }),
      child: neutralLine(commandOf(url)),
      after: asked === undefined ? 'its start' : neutralLine(describeStep(asked)),
      'not awaited': neutralLine([...frames.slice(0, shown).map(whatOf), ...more].join(', '), 300),
    },
    why: 'The recorded run went on until this came; now its errors go unseen.',
    fix: [
      'wait for the answer or the exit of the child, or put `await` before the call that closes it',
      ...(asked === undefined
        ? [`to see the recorded steps: npx vitest-harvest show ${shellWord(tape.header.id)}`]
        : [
            `to see the recorded step: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(asked.number)}`,
          ]),
      recordAgain,
    ],
  })
}

/** `its exit with 0 (node server.js)` */
export function childFrame(frame: PushEvent): string {
  return `${whatOf(frame)} (${commandOf(frame.url)})`
}

function whatOf({ frame, text }: PushEvent): string {
  if (frame === 'end') return 'the end of its output'
  if (frame === 'close') return `its exit with ${text}`
  const method = messageOf(text)?.method
  return method === undefined ? `its line ${neutralLine(text, 80)}` : `its message ${method}`
}
