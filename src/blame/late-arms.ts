import type { Arm } from './fork-budget.ts'
import type { Inquiry } from './settings.ts'

/**
 * Whether the run could still be saved late, although resampled from its beginning it fails.
 *
 * An agent that errs now and then hardly ever gets through a long run: V₀ is low, rises with every step that is kept, and
 * falls where the run was really lost. So before it is said that no step decided, forks are made that keep nearly all,
 * closer together the nearer they are to the end. Their tails are short, so they cost little.
 *
 * @param note - hears how each fork ended
 */
export async function isSavedLate(inquiry: Inquiry, note: (keep: number, isOk: boolean) => void): Promise<boolean> {
  const { curve, forkBudget, tau } = inquiry
  const draw = async (arms: readonly Arm[]): Promise<void> => {
    const draws = await forkBudget.draw(arms)
    draws.forEach((made, i) => {
      const keep = arms[i]?.keep ?? 0
      const isOk = made === undefined ? undefined : curve.add(keep, made)
      if (isOk !== undefined) note(keep, isOk)
    })
  }
  const count = curve.arms.length
  const keeps = lateKeeps(count)
  await draw(keeps.flatMap((keep) => missing(inquiry, keep, glances(count - keep))))
  for (const keep of keeps.filter((one) => curve.at(one).ok > 0)) {
    // One that ended well may be chance.
    await draw(missing(inquiry, keep, looks))
    const { ok, graded } = curve.at(keep)
    if (ok / graded >= nearly * tau) return true
  }
  return false
}

/** Forks of an arm that leaves so many positions open: the fewer there are, the surer it would end well. */
function glances(left: number): number {
  return left < 8 ? 2 : 6
}

const looks = 20
/** The arms lie apart, and the best one somewhere between two of them. */
const nearly = 0.75

/** Numbers of kept positions whose distance from the end grows by a third each time. */
function lateKeeps(count: number): readonly number[] {
  const keeps: number[] = []
  for (let left = 1; left < count; left = Math.max(left + 1, Math.round(left * 1.35))) keeps.push(count - left)
  return keeps
}

/** The forks that an arm lacks of so many. */
function missing({ curve }: Inquiry, keep: number, wanted: number): readonly Arm[] {
  return Array.from({ length: Math.max(0, wanted - curve.at(keep).graded) }, () => ({ keep }))
}
