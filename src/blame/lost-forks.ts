import { confidenceSequence } from '../stats/confidence-sequence.ts'

/** A larger share of forks that tell nothing, and no verdict is given. */
const largestShare = 1 / 5

/** Whether so large a share of runs tells nothing that those left are no rate: what is lost rarely ends as the others do. */
export function areTooMany(lost: number, runs: number): boolean {
  return lost > runs * largestShare
}

/** Whether more forks tell nothing than a verdict allows. */
export function isTooLittle(lost: number, forks: number): boolean {
  return forks >= 10 && areTooMany(lost, forks)
}

/**
 * Whether it is no use to go on: so many forks tell nothing that a verdict will hardly be allowed.
 *
 * This is asked after every round, and three of the first ten are soon lost by chance: the share has to be above half of
 * what is allowed for certain, by a {@link confidenceSequence}, which may be looked at any time.
 */
export function isHopeless(lost: number, forks: number): boolean {
  return isTooLittle(lost, forks) && isMostlyLost(lost, forks)
}

/** The same of as few forks as a limit allowed: more of them would hardly decide. */
export function isMostlyLost(lost: number, forks: number): boolean {
  return areTooMany(lost, forks) && confidenceSequence(lost, forks).low > largestShare / 2
}
