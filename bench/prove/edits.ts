import type { Subject } from '../catch/agents/index.ts'
import { type Edit } from '../catch/edits.ts'
import type { Desk, Recorded } from './desk.ts'

/** An unproven edit of an agent, and how its proof ended with the model of the agent's own world. */
export interface ProvedEdit {
  readonly edit: Edit
  readonly decision: string
}

/** Proves those of the edits whose replay is unproven. */
export async function proveEdits(
  desk: Desk,
  of: Recorded,
  edits: readonly Edit[] = of.subject.edits,
): Promise<readonly ProvedEdit[]> {
  const proved: ProvedEdit[] = []
  for (const edit of edits) {
    const agent = await desk.load(of.subject.name, edit)
    const keys = await desk.unprovenKeys(of, agent)
    if (keys === undefined) continue
    const { decision } = await desk.prove(of, agent, keys)
    proved.push({ edit, decision })
  }
  return proved
}

/** Edits that are called wrong: a regression that is proven, and a harmless one that is not. */
export function wronglyCalled({ name }: Subject, edits: readonly ProvedEdit[]): readonly string[] {
  return edits.flatMap(({ edit, decision }) =>
    (decision === 'proven') === edit.isRegression ? [`${name}, ${edit.name}: ${decision}`] : [],
  )
}
