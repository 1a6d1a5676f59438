import { readTalk } from './talk.ts'
import type { ForeignModelCall, ForeignStep } from './types.ts'

/** How far a clock that knows whole milliseconds puts a beginning too early. */
const coarseMs = 1

/**
 * Beginnings that a coarse clock put before the answer they followed: the SDK of OpenTelemetry for JavaScript takes whole
 * milliseconds for the beginning of a span, and fractions for its end. What an answer asked for, and a question that
 * brings the result of it, begin with the end of that answer at the earliest.
 *
 * @returns the epoch ms of those that are moved
 */
export function lateStarts(steps: readonly ForeignStep[]): ReadonlyMap<ForeignStep, number> {
  const answers = Map.groupBy(
    steps.filter((step): step is ForeignModelCall => step.kind === 'model' && step.toolCalls.length > 0),
    (step) => Math.floor(endOf(step)),
  )
  const moved = new Map<ForeignStep, number>()
  for (const step of answers.size === 0 ? [] : steps) {
    const { startedMs } = step
    if (startedMs === undefined || !Number.isInteger(startedMs)) continue
    const near = [...(answers.get(startedMs) ?? []), ...(answers.get(startedMs + coarseMs) ?? [])]
    const ends = near.filter((answer) => answer !== step && follows(step, answer)).map(endOf)
    const late = ends.filter((end) => end > startedMs && end - startedMs <= coarseMs)
    if (late.length > 0) moved.set(step, Math.max(...late))
  }
  return moved
}

function endOf({ startedMs = 0, tookMs = 0 }: ForeignStep): number {
  return startedMs + tookMs
}

/** Whether a step comes of what an answer asked for. */
function follows(step: ForeignStep, { toolCalls }: ForeignModelCall): boolean {
  const ids = new Set(toolCalls.flatMap(({ id }) => id ?? []))
  if (step.kind === 'tool' || step.kind === 'retrieval') return step.callId !== undefined && ids.has(step.callId)
  if (step.kind !== 'model' || ids.size === 0) return false
  return readTalk(step.messages).some(({ results }) => results.some(({ id }) => id !== undefined && ids.has(id)))
}
