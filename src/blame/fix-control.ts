import { fisherExact } from '../stats/index.ts'
import type { FixRun } from './fix-task.ts'

/** How often a fix may be called one that is not: as a verdict of blame. */
const alpha = 0.05

/** What runs asked as recorded say of a fix. */
export interface FixEvidence {
  readonly ok: number
  readonly runs: number
  /** Controls that end well, or may: they could not be judged. */
  readonly beside: number
  readonly controls: number
  /** How likely so great a lead of the fix is by chance: Fisher's exact test, one-sided. */
  readonly chance: number
  readonly isShown: boolean
}

/**
 * Holds runs of a fixed agent against the same runs whose models were asked as recorded. What could not be judged makes the
 * difference smaller.
 */
export function evidenceOf(
  runs: readonly Pick<FixRun, 'grade'>[],
  controls: readonly Pick<FixRun, 'grade'>[],
): FixEvidence {
  const ok = runs.filter(({ grade }) => grade === 'ok').length
  const beside = controls.filter(({ grade }) => grade !== 'bad').length
  return {
    ...chanceOf(ok, runs.length, beside, controls.length),
    ok,
    beside,
    runs: runs.length,
    controls: controls.length,
  }
}

/** The fewest runs of either kind that can show a fix: all of the one are right, and not one of the other. */
export function leastRuns(): number {
  let runs = 1
  while (!chanceOf(runs, runs, 0, runs).isShown) runs++
  return runs
}

function chanceOf(ok: number, runs: number, beside: number, controls: number): Pick<FixEvidence, 'chance' | 'isShown'> {
  const chance = runs === 0 || controls === 0 ? 1 : fisherExact({ hits: ok, runs }, { hits: beside, runs: controls })
  return { chance, isShown: chance <= alpha }
}
