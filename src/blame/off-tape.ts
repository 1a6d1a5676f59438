import type { ForkResult } from '../fork/index.ts'
import { type Step, stepsOf, type Tape, type TapeEvent } from '../tape/index.ts'
import { type TraceCall, traceOf } from '../trace/index.ts'
import { isOfCall } from './expectation.ts'
import type { Judging } from './oracle.ts'
import type { PlacedPosition } from './positions.ts'

/** What other decisions of the models would come to with tools that answer from the tape; tried in free replays. */
export interface OffTapeRisk {
  /** Decisions with another argument that were tried, one of each step. */
  readonly tried: number
  /** 1-based steps whose other decision asks for what is not on the tape, so that the run could not be graded. */
  readonly steps: readonly number[]
}

/** The calls of a run that left its tape to which nothing had an answer, and which its parent had not left open. */
export function unansweredIn(branch: Tape, parent: Tape): readonly Step[] {
  const isOpen = (step: Step): boolean => step.kind !== 'exchange' && step.settled === undefined
  const recorded = new Set(stepsOf(parent).flatMap((step) => (isOpen(step) ? [step.n] : [])))
  return stepsOf(branch).filter((step) => isOpen(step) && !recorded.has(step.n))
}

/** So many steps are tried, the last ones first: later steps are cheaper, and nearer to what went wrong. */
const mostTried = 6

/**
 * Tries other decisions of the recorded run for free, and says which of them would leave the tape, so that no oracle can grade
 * the run. A model that is asked again decides like that; each such fork is paid for and counts for nothing.
 *
 * Where calls grade, a run that makes one of them is graded though it leaves the tape behind it: there it is a risk only where
 * no decision that was tried may come to a grade, and one that may ends the search.
 *
 * @param mutates - decisions are changed at random, and need not come to a call that is asked for
 * @param tryOther - replays the run with another decision at a position, with no model called
 * @returns `undefined` where no decision could be tried
 */
export async function offTapeRisk(
  positions: readonly Pick<PlacedPosition, 'isExogenous' | 'steps'>[],
  { tape, judging, mutates }: { readonly tape: Tape; readonly judging: Judging; readonly mutates: boolean },
  tryOther: (position: number) => Promise<{ readonly result: ForkResult } | undefined>,
): Promise<OffTapeRisk | undefined> {
  const steps: number[] = []
  let tried = 0
  for (const [position, { isExogenous, steps: own }] of [...positions.entries()].toReversed()) {
    if (tried === mostTried) break
    const other = isExogenous ? undefined : await tryOther(position)
    if (other === undefined) continue
    tried++
    // What is refused first is a call of a tool or a service; a model that is not to be called is refused for its budget.
    const isLost = other.result.problems[0]?.code === 'HARVEST_NOT_RECORDED'
    if (isLost && (mutates || !mayBeGood(other.result, tape, judging))) steps.unshift(...own)
    else if (!mutates && isByCalls(judging)) return { tried, steps: [] }
  }
  return tried === 0 ? undefined : { tried, steps }
}

/** With yet other arguments, a call that a run made instead of those on the tape may be one that is asked for: that is a grade. */
function mayBeGood({ events, leftAt = 0 }: ForkResult, tape: Tape, judging: Judging): boolean {
  if (!isByCalls(judging)) return false
  const textOf = ({ name, args }: TraceCall): string => JSON.stringify([name, args])
  const callsOf = (of: readonly TapeEvent[]): readonly TraceCall[] => traceOf(of).layers.flat()
  const recorded = new Set(callsOf(tape.events).map(textOf))
  const others = callsOf(events.filter(({ n }) => n <= leftAt)).filter((call) => !recorded.has(textOf(call)))
  return judging.ok.some(
    (one) => one.kind !== 'call' || others.some(({ name }) => one.tool === '*' || one.tool === name),
  )
}

/** Calls that were made are made, no matter what would have followed: a run that left the tape behind them is good. */
export function isByCalls(judging: Judging): judging is Extract<Judging, { readonly by: 'expectations' }> {
  return judging.by === 'expectations' && judging.ok.length > 0 && judging.ok.every(isOfCall)
}
