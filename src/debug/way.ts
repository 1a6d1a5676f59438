import type { Moment } from '../tape/index.ts'
import type { DebugStep } from './steps.ts'

/** How a replay gets to the moment the answer of a step arrives. Numbers are places in the one order of the tape. */
export interface WayToStep {
  readonly step: number
  /** The last answer that arrived before the step was asked for: kept back, the agent has not asked yet. Absent: the beginning. */
  readonly park?: number
  /** The first answer of the burst that brings the step's own. */
  readonly burst: number
  /** How many answers of that burst that the same place of the code waits for come before the step's own. */
  readonly skip: number
  /** It was answered at once: nothing is handed over. */
  readonly isSync?: true
  /** The first answer behind the burst; absent: the run ends with it. */
  readonly fence?: number
}

/** The way to a step; `undefined` when no answer to it was recorded. */
export function wayTo(steps: readonly DebugStep[], number: number): WayToStep | undefined {
  const step = steps[number - 1]
  if (step?.answered === undefined) return undefined
  const [place, atMs] = handedOver(step) ?? step.answered
  let [park, burst, fence]: (number | undefined)[] = []
  const isSync = step.event.kind !== 'exchange' && step.event.settled === undefined
  const mates: number[] = []
  let skip = 0
  for (const other of steps) {
    const { event } = other
    const answered = inReplay(other, step.inside)
    if (answered === undefined) continue
    const [n, at] = answered
    if (n < step.event.n && (park === undefined || n > park)) park = n
    // What was answered before this step was asked for is no mate of it, also within one millisecond.
    if (at !== atMs || isSync || n <= step.event.n) continue
    mates.push(n)
    if (n < place && event.site === step.event.site) skip++
  }
  mates.sort((a, b) => a - b)
  burst = mates[0] ?? place
  const last = mates.at(-1) ?? place
  for (const other of steps) {
    const n = inReplay(other, step.inside)?.[0]
    if (n !== undefined && n > last && (fence === undefined || n < fence)) fence = n
  }
  return {
    step: number,
    ...(park === undefined ? {} : { park }),
    burst,
    skip,
    ...(isSync ? { isSync: true as const } : {}),
    ...(fence === undefined ? {} : { fence }),
  }
}

/**
 * When a replay hands the answer over. Steps inside another tool call may never be made in it: where the recorded answer of
 * the call stands in for its code.
 */
export function inReplay(step: DebugStep, inside?: number): Moment | undefined {
  return step.inside === undefined || step.inside === inside ? handedOver(step) : undefined
}

/** When the agent has all of an answer: clients of streams go on at its last piece, before the connection says that it ends. */
function handedOver({ event, answered }: DebugStep): Moment | undefined {
  if (answered === undefined || event.kind !== 'exchange') return answered
  const [n, at] = event.response?.chunks.at(-1) ?? []
  return n === undefined || at === undefined || n > answered[0] ? answered : [n, at]
}
