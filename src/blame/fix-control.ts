import { alphaOfLook, fisherExact, lnChoose } from '../stats/index.ts'
import type { FixRun } from './fix-task.ts'
import { type Grade, isGraded } from './types.ts'

/** How many runs are right, of those that have a grade. */
export interface FixCount {
  readonly ok: number
  readonly graded: number
  /** Runs without one. */
  readonly unjudged: number
}

/** What runs asked as recorded say of a fix. */
export interface FixEvidence {
  readonly fixed: FixCount
  /** One that ends neither well nor badly, as one that threw, may be right: it counts as not judged. */
  readonly asRecorded: FixCount
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
  const fixed = countRuns(runs)
  const asRecorded = countRuns(controls, (grade) => grade === 'ok' || grade === 'bad')
  return {
    ...chanceOf(fixed.ok, runs.length, asRecorded.ok + asRecorded.unjudged, controls.length),
    fixed,
    asRecorded,
  }
}

/** @param isJudged - whether a grade says something of a run */
export function countRuns(
  runs: readonly Pick<FixRun, 'grade'>[],
  isJudged: (grade: Grade) => boolean = isGraded,
): FixCount {
  const graded = runs.filter(({ grade }) => isJudged(grade)).length
  return { ok: runs.filter(({ grade }) => grade === 'ok').length, graded, unjudged: runs.length - graded }
}

/** The fewest runs of either kind that can show a fix: all of the one are right, and not one of the other. */
export function leastRuns(): number {
  let runs = 1
  while (!chanceOf(runs, runs, 0, runs).isShown) runs++
  return runs
}

function chanceOf(ok: number, runs: number, beside: number, controls: number): Pick<FixEvidence, 'chance' | 'isShown'> {
  const chance = runs === 0 || controls === 0 ? 1 : fisherExact({ hits: ok, runs }, { hits: beside, runs: controls })
  return { chance, isShown: chance <= alphaOfLook(Math.min(runs, controls)) }
}

/** A fix that is worth it, as shares of runs that end well: what is said of the number of runs is said of this one. */
export const usualFix = { before: 0.2, after: 0.8 } as const

/** How many of such fixes so many runs of either kind show. */
export function shareShown(runs: number, { before, after } = usualFix): number {
  let share = 0
  for (let ok = 0; ok <= runs; ok++)
    for (let beside = 0; beside <= runs; beside++)
      if (chanceOf(ok, runs, beside, runs).isShown) share += binomial(ok, runs, after) * binomial(beside, runs, before)
  return share
}

function binomial(hits: number, runs: number, rate: number): number {
  return Math.exp(lnChoose(runs, hits)) * rate ** hits * (1 - rate) ** (runs - hits)
}

/** The fewest runs of either kind that show four of five such fixes. */
export function runsThatShow(): number {
  let runs = leastRuns()
  while (shareShown(runs) < 0.8) runs++
  return runs
}
