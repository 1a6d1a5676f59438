import { type BlameRequest, blameOptionsOf } from '../blame/index.ts'
import type { Task } from '../jobs/index.ts'
import type { Json } from '../tape/index.ts'
import { isolateRun } from './run.ts'

/** Isolates the layer of a failure, in the process that can load its agent; answers with an `IsolatedRun`. */
export const isolateTask: Task = async (asked, context) => {
  const options = await blameOptionsOf(asked as unknown as BlameRequest, context)
  const onArm = (varied: readonly string[]): void => context.say({ phase: `varying ${varied.join(' and ')}` })
  return JSON.parse(JSON.stringify(await isolateRun(context.tape, { ...options, onArm }))) as Json
}
