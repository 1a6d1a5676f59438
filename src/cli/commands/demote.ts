import { shellWord } from '../../errors/index.ts'
import { here, printedPath } from '../../errors/here.ts'
import { closeOf, demote, holdOf } from '../../recordings/index.ts'
import { demoteSpec } from '../spec/manage.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'

/** Takes a case out of the golden set: `npx vitest-harvest tapes demote <case>`. */
export const demoteCommand: Command = {
  ...demoteSpec,
  run(given, screen) {
    const { tapeFile, wasThere, removed } = demote(given.value('dir') ?? 'recordings', given.args[0] ?? '')
    const tape = here(tapeFile)
    const gone = removed.map((file) => here(file))
    const { retention } = closeOf(tapeFile) ?? {}
    if (given.has('json')) {
      screen.json({ tape, removed: gone, ...(retention !== undefined && { retention }) })
      return exit.ok
    }
    screen.line(`${printedPath(tape)}${wasThere ? ' (was there already)' : ''}`)
    for (const file of gone) screen.line(`removed ${printedPath(file)}`)
    const until = retention?.until
    if (until !== undefined && Date.parse(until) < Date.now() && holdOf(tapeFile, retention?.hold) === undefined)
      screen.note(
        `its retention ended ${until}: the next \`npx vitest-harvest tapes prune\` removes it\n→ to keep it: npx vitest-harvest tapes hold ${shellWord(tape)} --reason "…"`,
      )
    return exit.ok
  },
}
