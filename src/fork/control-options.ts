import { codeState } from '../provenance/index.ts'
import type { ControlOptions } from './control.ts'
import type { TaskContext } from '../jobs/job.ts'

/** How the process of an agent replays a tape unchanged. */
export async function controlOptionsOf(
  context: Pick<
    TaskContext,
    | 'tape'
    | 'load'
    | 'replay'
    | 'accepted'
    | 'isGreen'
    | 'difference'
    | 'caseId'
    | 'isKnownBad'
    | 'otherAgent'
    | 'timeoutMs'
    | 'signal'
  >,
): Promise<ControlOptions> {
  const { timeoutMs, signal, replay, caseId, isKnownBad, otherAgent } = context
  const commit = (await codeState(process.cwd(), context.tape.header.pins.commit))?.commit
  return {
    load: () => context.load(),
    timeoutMs,
    signal,
    replay,
    accepted: (run) => context.accepted(run),
    isGreen: (run) => context.isGreen(run),
    difference: (run) => context.difference(run),
    ...(caseId === undefined ? {} : { caseId }),
    ...(isKnownBad === undefined ? {} : { isKnownBad }),
    ...(otherAgent === undefined ? {} : { otherAgent }),
    ...(commit === undefined ? {} : { commit }),
  }
}
