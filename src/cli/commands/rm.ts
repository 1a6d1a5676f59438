import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { findTape, forgetTapes, removeTapes } from '../../store/index.ts'
import { askYesNo, canAsk } from '../ask.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'

/** Removes tapes from the inbox. */
export const rmCommand: CommandSpec = {
  name: 'rm',
  args: '<...tapes>',
  about: 'Remove tapes from the inbox for good; asks first',
  options: [
    { flag: '--yes', about: 'Do not ask' },
    { flag: '--dir <folder>', about: 'Folder with inbox/ (default: recordings)' },
    jsonOption,
  ],
  examples: ['rm first second --yes', 'rm recordings/inbox/run.tape.jsonl --yes --json'],
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const files = [...new Set(given.args.map((word) => relative('.', findTape(recordings, word, { isExact: true }))))]
    if (!given.has('yes')) {
      if (!canAsk()) {
        throw usage(rmCommand, 'HARVEST_CLI_ARGUMENT', 'rm removes for good, and there is no terminal to ask at', [
          `if that is what you want: harvest rm ${files.join(' ')} --yes`,
        ])
      }
      for (const file of files) screen.note(file)
      if (!(await askYesNo(`Remove ${files.length === 1 ? 'this tape' : `these ${files.length} tapes`} for good?`))) {
        screen.note('nothing was removed')
        return exit.usage
      }
    }
    try {
      removeTapes(recordings, files)
    } finally {
      await forgetTapes(
        recordings,
        files.filter((file) => !existsSync(file)),
      )
    }
    if (given.has('json')) screen.json({ removed: files })
    else for (const file of files) screen.line(`removed ${file}`)
    return exit.ok
  },
}
