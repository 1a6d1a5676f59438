import { argsChanged, encodeFor, type Json } from '../tape/index.ts'
import { presentArgs } from '../tape/present.ts'
import { firstDifference } from '../match/difference.ts'
import type { CallState } from '../match/step.ts'
import type { SeamCall } from '../seam/source.ts'
import type { ReplayRun } from './run.ts'

/**
 * Looks at what a body that runs makes of its arguments: the agent has the same objects. A tape holds that a call changed them,
 * and not to what.
 *
 * @param given - what the body gets
 * @returns to be called where the agent got the answer when recorded: there the recorder looked, too
 */
export function watchArguments(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  given: unknown,
  madeAt: Error,
): () => void {
  const before = encodeFor(run.tape.header.flags, given)
  const text = JSON.stringify(before)
  return () => {
    const after = encodeFor(run.tape.header.flags, given)
    const isChanged = JSON.stringify(after) !== text
    const recorded = wasChanged(step, call)
    if (isChanged && recorded !== false) return run.noteHidden(run.hidden.ofChangedArguments(), step)
    if (isChanged === (recorded ?? false)) return
    const found = isChanged ? difference(run, before, after) : { path: 'args', ...changedBefore }
    if (found) run.drifted(step, madeAt, { class: 'results', part: call.name, ...found })
  }
}

const changedBefore = { recorded: argsChanged, live: 'as they were given' }

function difference(run: ReplayRun, before: Json, after: Json): ReturnType<typeof firstDifference> {
  const [was, is] = [before, after].map((args) => presentArgs(run.redactor.json(args))) as [Json, Json]
  return firstDifference(was, is, 'args')
}

/** `undefined` where nothing looked: a recorder that looks also notes the code of the function. */
function wasChanged({ event }: CallState, { replay }: SeamCall): boolean | undefined {
  if (event.lost?.includes(argsChanged) === true) return true
  return event.code !== undefined && event.settled !== undefined && replay !== 'run' ? false : undefined
}
