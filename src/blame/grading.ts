import { HarvestError } from '../errors/index.ts'
import type { ForkDraw, ForkSource, Grade } from './types.ts'

/** Free replays of the kept run that are graded before anything is spent. */
export const regrades = 10

/** Times someone who has to be paid is asked again about the recorded run. */
export const paidRegrades = 4

/** Grades of so many runs at most, where each has to be paid: the recorded run and the first run of another grade are graded again. */
export function mostPaidGrades(runs: number): number {
  return runs + 1 + 2 * paidRegrades
}

const byMajority = 'to grade every run five times and count the majority: --flaky-oracle'

/**
 * Refuses an oracle that disagrees with itself: whoever says bad of a run and ok of the same run certifies steps that did
 * nothing.
 *
 * One that says otherwise of one run in five is noticed in 89 of 100 blames by these alone; what they miss, forks that turn
 * out to be the same run show later ({@link SteadyGrades}).
 *
 * @param instead - what else may grade. Default: the same function, by majority
 * @throws HarvestError HARVEST_ORACLE_FLAKY
 */
export async function requireSteadyGrades(
  source: Pick<ForkSource, 'recorded' | 'regrade'>,
  instead: readonly string[] = [byMajority],
): Promise<void> {
  if (source.regrade === undefined) return
  const grades: Grade[] = [source.recorded]
  // One after the other: a question to someone else is not asked on when the answer is known.
  while (grades.length < regrades) {
    const grade = await source.regrade()
    if (grade === undefined) return
    grades.push(grade)
    if (isOther(source.recorded, grade)) throw flaky(grades, instead)
  }
}

/** Looks all along whether one and the same run is given one and the same grade. */
export class SteadyGrades {
  readonly #recorded: Grade
  readonly #isTold: boolean
  readonly #known = new Map<string, Grade>()

  constructor({ recorded, isGradedByMajority }: Pick<ForkSource, 'isGradedByMajority' | 'recorded'>) {
    this.#recorded = recorded
    this.#isTold = isGradedByMajority === true
  }

  /**
   * @param arm - one text per kind of fork
   * @throws HarvestError HARVEST_ORACLE_FLAKY
   */
  add(arm: string, { fingerprint, grade, isInert }: Pick<ForkDraw, 'fingerprint' | 'grade' | 'isInert'>): void {
    if (this.#isTold) return
    const key = `${arm} ${fingerprint}`
    const known = isInert === true ? this.#recorded : this.#known.get(key)
    if (known !== undefined && isOther(known, grade)) throw flaky([known, grade])
    this.#known.set(key, grade)
  }

  /** The recorded run, graded once more. */
  control(grade: Grade): void {
    if (isOther(this.#recorded, grade)) throw flaky([this.#recorded, grade])
  }
}

/** What ran out of time, or left its tape, says nothing about who grades. */
function isOther(a: Grade, b: Grade): boolean {
  const isGraded = (grade: Grade): boolean => grade === 'ok' || grade === 'bad' || grade === 'crash'
  return isGraded(a) && isGraded(b) && a !== b
}

function flaky(grades: readonly Grade[], instead: readonly string[] = [byMajority]): HarvestError {
  const counts = [...Map.groupBy(grades, (grade) => grade)].map(([grade, all]) => `${all.length} ${grade}`)
  return new HarvestError('HARVEST_ORACLE_FLAKY', {
    what: `The oracle disagrees with itself: ${counts.join(', ')} for the same run`,
    why: 'With such grades, any blamed step and any fix could be chance.',
    fix: ['make it deterministic: no random values, no clock, no state kept between calls', ...instead],
  })
}
