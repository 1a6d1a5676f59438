import { type BlameRequest, blameOptionsOf, placeOf } from '../blame/index.ts'
import type { Task } from '../jobs/index.ts'
import type { Json } from '../tape/index.ts'
import { estimateIsolation } from './estimate.ts'
import { claimOf, isolateRun } from './run.ts'

/** Isolates the layer of a failure, in the process that can load its agent; answers with an `IsolatedRun`, or with an `IsolationEstimate`. */
export const isolateTask: Task = async (asked, context) => {
  const request = asked as unknown as BlameRequest
  using _lock = placeOf(request, context)
  const options = await blameOptionsOf(request, context)
  const onArm = (varied: readonly string[]): void => context.say({ phase: `varying ${varied.join(' and ')}` })
  const answer =
    request.isDryRun === true
      ? await estimateIsolation(context.tape, options)
      : claimOf(await isolateRun(context.tape, { ...options, onArm }))
  return JSON.parse(JSON.stringify(answer)) as Json
}
