import { expectedPairs } from '../stats/pair-evidence.ts'
import type { DropPosterior } from './posterior.ts'
import { alphaOf, type Inquiry } from './settings.ts'

/** About how many forks: to become sure at the present pace, and to confirm what is likeliest now. */
export function stillNeeded(inquiry: Inquiry, posterior: DropPosterior): number | undefined {
  const { what } = posterior.best()
  const pace = Math.max(...posterior.candidates().map((keep) => posterior.gain(keep)))
  const left = Math.max(0, posterior.entropy - 0.2)
  const locate = left === 0 ? 0 : left / Math.max(pace, 1e-3)
  if (what === 'never') return Math.ceil(locate + 30)
  const confirm = forksToConfirm(inquiry, posterior, what, alphaOf(inquiry, inquiry.tries + 1))
  return confirm === undefined ? undefined : Math.ceil(locate + confirm)
}

/** About how many forks it takes to confirm a position at an error of `alpha`; `undefined` where no number of them would. */
export function forksToConfirm(
  { tau }: Inquiry,
  posterior: DropPosterior,
  position: number,
  alpha: number,
): number | undefined {
  const { resampled, kept } = posterior.rates(position)
  const pairs = expectedPairs(resampled, kept, alpha, tau / 2)
  return pairs === undefined ? undefined : 2 * pairs
}

/** Before so many forks the size of an effect is unknown. */
const leastForks = 30
/** A certificate that fits into so many forks in all is worth them, however small the effect. */
const usualForks = 120
/** Drops from here on are nearly always certified; the rates of the posterior lie .1 apart. */
const largeDrop = 0.35
const unlikely = 0.05

/**
 * Whether a certificate is so far away that the forks for it are not worth making: the drop is hardly a large one, and a
 * small one takes hundreds of forks. Nothing is claimed then, and who names a limit of forks gets them all.
 *
 * @param needed - forks that are likely still needed; `undefined`: no number of them would do
 */
export function isTooFar({ forkBudget }: Inquiry, posterior: DropPosterior, needed: number | undefined): boolean {
  if (!forkBudget.isOpenEnded) return false
  const { now, reused } = forkBudget.spent
  const made = now.forks + reused.forks
  if (made < leastForks || made + (needed ?? Number.POSITIVE_INFINITY) <= usualForks) return false
  return posterior.best().what !== 'never' && posterior.chanceOfDrop(largeDrop) < unlikely
}
