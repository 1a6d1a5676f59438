import { type HarvestError, withFacts } from '../errors/index.ts'
import { neutralLines, type Screen } from '../report/output.ts'
import { exit } from './exit.ts'
import type { Grader } from './forking/grading.ts'
import type { MadeForks } from './forking/make.ts'

/** That an answer is of fewer runs than were asked for. */
export function stoppedText({ made, of }: { readonly made: number; readonly of: number }, what: string): string {
  return `stopped after ${made} of ${of} ${what}`
}

/** Says, behind what was known until then, that someone ended the command: its answer is printed already. */
export function endedEarly(interrupted: HarvestError, screen: Screen): number {
  screen.note(neutralLines(interrupted.message))
  return exit.interrupted
}

/** Of a command whose answer says what models used: the error knows that only of the process it ended. */
export function withoutSpent(interrupted: HarvestError): HarvestError {
  const { spent: _, ...where } = interrupted.facts.where ?? {}
  return withFacts(interrupted, { where })
}

/** For programs: that this is what was known when someone ended the command, and of how many forks. */
export function endedAt(forks: MadeForks, grader?: Grader): { readonly interrupted?: { made: number; of: number } } {
  if (endOf(forks, grader) === undefined) return {}
  const { interrupted, made } = forks
  return { interrupted: { made: made.filter(({ fork }) => fork !== interrupted).length, of: made.length } }
}

/** Why there are no more forks, or no more grades. */
export function endOf({ interrupted }: MadeForks, grader: Grader | undefined): HarvestError | undefined {
  return interrupted ?? grader?.ended?.()
}

/** The same, for people. */
export function printEnded(forks: MadeForks, grader: Grader | undefined, shown: Screen): void {
  const { interrupted } = endedAt(forks, grader)
  if (interrupted !== undefined) shown.line(stoppedText(interrupted, 'forks'))
}
