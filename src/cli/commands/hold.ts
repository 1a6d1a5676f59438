import { relative } from 'node:path'
import { findTape, holdOfTape, placeHold, releaseHold } from '../../store/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'

/** Puts a tape of the inbox under a legal hold, or takes the hold off. */
export const holdCommand: CommandSpec = {
  name: 'hold',
  args: '<tape>',
  about: 'Keep a tape of the inbox whatever its retention says, until the hold is released',
  options: [
    { flag: '--reason <text>', about: 'Why it has to be kept' },
    { flag: '--release', about: 'End the hold' },
    { flag: '--dir <folder>', about: 'Folder with inbox/ (default: recordings)' },
    jsonOption,
  ],
  examples: ['hold first --reason "claim 4711"', 'hold first --release'],
  run(given, screen) {
    const reason = given.value('reason')?.trim()
    if (given.has('release') ? reason !== undefined : !reason) {
      throw usage(holdCommand, 'HARVEST_CLI_ARGUMENT', 'hold needs either --reason <text> or --release')
    }
    const recordings = given.value('dir') ?? 'recordings'
    const file = relative('.', findTape(recordings, given.args[0] ?? '', { isExact: true }))
    if (reason === undefined) releaseHold(recordings, file)
    else placeHold(recordings, file, reason)
    const hold = holdOfTape(file)
    if (given.has('json')) screen.json({ tape: file, hold: hold ?? null })
    else screen.line(hold === undefined ? `released ${file}` : `held ${file}`)
    return exit.ok
  },
}
