import { shellWord } from '../../errors/index.ts'
import { here, printedPath } from '../../errors/here.ts'
import { findTape, removeForGood } from '../../recordings/index.ts'
import { askYesNo, canAsk } from '../ask.ts'
import { rmSpec } from '../spec/manage.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'

/** Removes tapes from the inbox. */
export const rmCommand: Command = {
  ...rmSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const files = [...new Set(given.args.map((word) => here(findTape(recordings, word, { isExact: true }))))]
    if (!given.has('yes')) {
      if (!canAsk()) {
        throw usage(rmCommand, 'HARVEST_CLI_ARGUMENT', 'rm removes for good, and there is no terminal to ask at', [
          `if that is what you want: npx vitest-harvest tapes rm ${files.map(shellWord).join(' ')} --yes`,
        ])
      }
      for (const file of files) screen.note(printedPath(file))
      if (!(await askYesNo(`Remove ${files.length === 1 ? 'this tape' : `these ${files.length} tapes`} for good?`))) {
        screen.note('nothing was removed')
        return exit.usage
      }
    }
    await removeForGood(recordings, files)
    if (given.has('json')) screen.json({ removed: files })
    else for (const file of files) screen.line(`removed ${printedPath(file)}`)
    return exit.ok
  },
}
