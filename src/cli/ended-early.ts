import type { HarvestError } from '../errors/index.ts'
import { neutralLines, type Screen } from '../report/output.ts'
import { exit } from './exit.ts'

/** That an answer is of fewer runs than were asked for. */
export function stoppedText({ made, of }: { readonly made: number; readonly of: number }, what: string): string {
  return `stopped after ${made} of ${of} ${what}`
}

/** Says, behind what was known until then, that someone ended the command: its answer is printed already. */
export function endedEarly(interrupted: HarvestError, screen: Screen): number {
  screen.note(neutralLines(interrupted.message))
  return exit.interrupted
}
