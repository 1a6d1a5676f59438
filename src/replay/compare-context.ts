import { firstDifference } from '../match/difference.ts'
import type { CallState } from '../match/step.ts'
import type { SeamCall } from '../seam/source.ts'
import type { ToolContext } from '../seam/tool-context.ts'
import type { Json } from '../tape/index.ts'
import { presentArgs } from '../tape/present-args.ts'
import type { ReplayRun } from './run.ts'

/** What the framework handed over beside the arguments is the agent's doing as they are. */
export function compareContext(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  context: Json,
  { live, data }: ToolContext,
): void {
  const { context: recorded } = step.event
  run.noteHidden(run.hidden.ofContext(live), step)
  if (recorded === undefined) {
    if (data !== undefined) run.noteHidden(run.hidden.ofContext([{ at: '', what: 'the context of a tool' }]), step)
    return
  }
  const difference = firstDifference(presentArgs(recorded), presentArgs(context), 'context')
  if (difference) run.drifted(step, undefined, { class: 'arguments', part: call.name, ...difference })
}
