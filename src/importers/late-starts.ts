import { readMessages } from './messages.ts'
import type { ForeignStep } from './types.ts'

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
  const answers = new Answers(steps)
  const moved = new Map<ForeignStep, number>()
  for (const step of steps) {
    const { startedMs } = step
    if (startedMs === undefined || !Number.isInteger(startedMs) || !answers.areNear(startedMs)) continue
    const ends = cameOf(step).flatMap((id) => answers.endsNear(startedMs, id))
    const late = ends.filter((end) => end > startedMs && end <= startedMs + coarseMs)
    if (late.length > 0) moved.set(step, Math.max(...late))
  }
  return moved
}

/** When answers of models ended, by the millisecond and the ids of what they asked for: no pair of steps is looked at. */
class Answers {
  readonly #milliseconds = new Set<number>()
  readonly #ends = new Map<string, number>()

  constructor(steps: readonly ForeignStep[]) {
    for (const step of steps) {
      if (step.kind !== 'model' || step.startedMs === undefined) continue
      const end = step.startedMs + (step.tookMs ?? 0)
      for (const { id } of step.toolCalls) {
        if (id === undefined) continue
        this.#milliseconds.add(Math.floor(end))
        const key = `${Math.floor(end)} ${id}`
        this.#ends.set(key, Math.max(end, this.#ends.get(key) ?? end))
      }
    }
  }

  areNear(ms: number): boolean {
    return this.#milliseconds.has(ms) || this.#milliseconds.has(ms + coarseMs)
  }

  endsNear(ms: number, id: string): readonly number[] {
    return [ms, ms + coarseMs].flatMap((one) => this.#ends.get(`${one} ${id}`) ?? [])
  }
}

/** Ids of the calls without which a step would not be. */
function cameOf(step: ForeignStep): readonly string[] {
  if (step.kind === 'tool' || step.kind === 'retrieval') return step.callId === undefined ? [] : [step.callId]
  if (step.kind !== 'model') return []
  return readMessages(step.messages).flatMap(({ results }) => results.flatMap(({ id }) => id ?? []))
}
