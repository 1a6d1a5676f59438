import { here, printedPath } from '../../errors/here.ts'
import { isPlaceholder } from '../../errors/placeholder.ts'
import { findTape, holdOfTape, placeHold, releaseHold } from '../../recordings/index.ts'
import { holdSpec, releaseSpec } from '../spec/manage.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { badValue, usage } from '../parse.ts'
import type { Screen } from '../../report/output.ts'

/** Puts a tape of the inbox under a legal hold, or takes the hold off. */
export const holdCommand: Command = {
  ...holdSpec,
  run(given, screen) {
    const reason = given.value('reason')?.trim()
    if (given.has('release') ? reason !== undefined : !reason) {
      throw usage(holdCommand, 'HARVEST_CLI_ARGUMENT', 'hold needs either --reason <text> or --release', [
        reason
          ? 'to place it: the same command, without --release'
          : "to place it: --reason '<text>', without --release",
        'to end it: --release, without --reason',
      ])
    }
    if (reason !== undefined && isPlaceholder(reason))
      throw badValue(holdCommand, 'reason', reason, 'your own words, why it must be kept')
    return change(given, reason, screen)
  },
}

/** Takes the hold off a tape. */
export const releaseCommand: Command = {
  ...releaseSpec,
  run: (given, screen) => change(given, undefined, screen),
}

/** Places a hold for a reason, or takes it off without one. */
function change(given: CommandInput, reason: string | undefined, screen: Screen): number {
  const recordings = given.value('dir') ?? 'recordings'
  const file = here(findTape(recordings, given.args[0] ?? '', { isExact: true }))
  if (reason === undefined) releaseHold(recordings, file)
  else placeHold(recordings, file, reason)
  const hold = holdOfTape(file)
  const shown = printedPath(file)
  if (given.has('json')) screen.json({ tape: file, hold: hold ?? null })
  else screen.line(hold === undefined ? `released ${shown}` : `held ${shown}`)
  return exit.ok
}
