import { relative } from 'node:path'
import { closeOf, demote, holdOf } from '../../store/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'

/** Takes a case out of the golden set: `harvest demote <case>`. */
export const demoteCommand: CommandSpec = {
  name: 'demote',
  args: '<case>',
  about: 'Take a case out of the golden set: its tape goes back to the inbox, its case file is removed',
  options: [{ flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' }, jsonOption],
  examples: ['demote refund-broken-item', 'demote refund-100x --json'],
  run(given, screen) {
    const { tapeFile, wasThere, removed } = demote(given.value('dir') ?? 'recordings', given.args[0] ?? '')
    const tape = relative('.', tapeFile)
    const gone = removed.map((file) => relative('.', file))
    const { retention } = closeOf(tapeFile) ?? {}
    if (given.has('json')) {
      screen.json({ tape, removed: gone, ...(retention !== undefined && { retention }) })
      return exit.ok
    }
    screen.line(`${tape}${wasThere ? ' (was there already)' : ''}`)
    for (const file of gone) screen.line(`removed ${file}`)
    const until = retention?.until
    if (until !== undefined && Date.parse(until) < Date.now() && holdOf(tapeFile, retention?.hold) === undefined)
      screen.note(
        `its retention ended ${until}: the next \`harvest prune\` removes it\n→ to keep it: harvest hold ${tape} --reason "…"`,
      )
    return exit.ok
  },
}
