import type { ForkResult } from '../fork/index.ts'
import { type Step, stepsOf, type Tape } from '../tape/index.ts'
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
 * @param mutates - decisions are changed at random, and need not come to a call that is asked for
 * @param tryOther - replays the run with another decision at a position, with no model called
 * @returns `undefined` where no decision could be tried, or where the first call already grades a good run
 */
export async function offTapeRisk(
  positions: readonly Pick<PlacedPosition, 'isExogenous' | 'steps'>[],
  { judging, mutates }: { readonly judging: Judging; readonly mutates: boolean },
  tryOther: (position: number) => Promise<{ readonly result: ForkResult } | undefined>,
): Promise<OffTapeRisk | undefined> {
  if (!mutates && isByCalls(judging)) return undefined
  const steps: number[] = []
  let tried = 0
  for (const [position, { isExogenous, steps: own }] of [...positions.entries()].toReversed()) {
    if (tried === mostTried) break
    const other = isExogenous ? undefined : await tryOther(position)
    if (other === undefined) continue
    tried++
    // What is refused first is a call of a tool or a service; a model that is not to be called is refused for its budget.
    if (other.result.problems[0]?.code === 'HARVEST_NOT_RECORDED') steps.unshift(...own)
  }
  return tried === 0 ? undefined : { tried, steps }
}

/** Calls that were made are made, no matter what would have followed: a run that leaves the tape is good by them already. */
export function isByCalls(judging: Judging): boolean {
  return judging.by === 'expectations' && judging.ok.length > 0 && judging.ok.every(isOfCall)
}
