import { confidenceSequence } from '../stats/confidence-sequence.ts'
import type { Arm } from './fork-budget.ts'
import type { Inquiry } from './settings.ts'
import type { Commitment } from './verdict.ts'

/**
 * The last number of kept positions at which the run could be saved once more, although right behind a commitment it could
 * not: the recorded run had recovered there, and was lost again later.
 *
 * A run that recovers makes the curve rise, and halving cannot see that. So what lies behind is divided into stretches, and
 * each one that no fork looked at on the way to the commitment gets one; where one ended well, more are made.
 */
export async function recoversAt(
  inquiry: Inquiry,
  { position, resampled, kept }: Commitment,
): Promise<number | undefined> {
  const { curve } = inquiry
  const count = curve.arms.length
  const from = position + 2
  const places = Math.min(stretches, Math.max(0, count - from))
  const startOf = (i: number): number => from + Math.floor((i * (count - from)) / places)
  const glanced = Array.from({ length: places }, (_, i) => {
    const arms = curve.arms.slice(startOf(i), startOf(i + 1))
    const seen = arms.reduce((all, arm) => all + arm.graded, 0)
    const middle = Math.floor((startOf(i) + startOf(i + 1)) / 2)
    return new Array<number>(Math.max(0, glances - seen)).fill(middle)
  })
  await draw(inquiry, glanced.flat())
  // Half of the way up again is a recovery; a rate that was not nought behind the commitment is not one.
  const rateOf = ({ ok, forks }: Commitment['kept']): number => (forks === 0 ? 0 : ok / forks)
  const bar = Math.max(inquiry.tau, (rateOf(resampled) + rateOf(kept)) / 2)
  // The later it could be saved, the later it was lost for good.
  for (let keep = count - 1; keep >= from; keep--) {
    const arm = curve.at(keep)
    // One that ended well may be chance.
    for (const wanted of looks) {
      if (arm.ok === 0 || arm.ok / arm.graded < bar) break
      await draw(inquiry, new Array<number>(Math.max(0, wanted - arm.graded)).fill(keep))
    }
    if (arm.ok / arm.graded >= bar && isRecoverable(inquiry, arm.ok, arm.graded)) return keep
  }
  return undefined
}

/** Whether so many forks of one kind say that the run can be saved there. */
export function isRecoverable({ tau }: Inquiry, ok: number, forks: number): boolean {
  return forks > 0 && ok / forks >= tau && confidenceSequence(ok, forks, 0.2).low > tau / 4
}

const stretches = 12
const glances = 1
/** So many forks in all of a kind that ended well, as long as half of them do. */
const looks = [3, 7, 15]

async function draw({ curve, forkBudget, report }: Inquiry, keeps: readonly number[]): Promise<void> {
  if (keeps.length === 0) return
  const draws = await forkBudget.draw(keeps.map((keep): Arm => ({ keep })))
  draws.forEach((made, i) => {
    if (made !== undefined) curve.add(keeps[i] ?? 0, made)
  })
  report('locate')
}
