import { HarvestError, shellWord } from '../../errors/index.ts'
import { here, printedPath } from '../../errors/here.ts'
import { closeOf, demote, holdOf } from '../../recordings/index.ts'
import { demoteSpec } from '../spec/manage.ts'
import type { Command } from '../command.ts'
import { readTape } from '../../tape/index.ts'
import { exit, type ExitCode, exitCodeOf } from '../exit.ts'

/** Takes a case out of the golden set: `npx vitest-harvest tapes demote <case>`. */
export const demoteCommand: Command = {
  ...demoteSpec,
  run(given, screen) {
    const { tapeFile, wasThere, removed } = demote(given.value('dir') ?? 'recordings', given.args[0] ?? '')
    const tape = here(tapeFile)
    const gone = removed.map((file) => here(file))
    const { retention } = closeOf(tapeFile) ?? {}
    const damage = damageOf(tapeFile)
    const code: ExitCode = damage === undefined ? exit.ok : exit.tape
    if (given.has('json')) {
      screen.json({
        tape,
        removed: gone,
        ...(retention !== undefined && { retention }),
        ...(damage !== undefined && { damage }),
      })
      return code
    }
    screen.line(`${printedPath(tape)}${wasThere ? ' (was there already)' : ''}`)
    for (const file of gone) screen.line(`removed ${printedPath(file)}`)
    const until = retention?.until
    if (until !== undefined && Date.parse(until) < Date.now() && holdOf(tapeFile, retention?.hold) === undefined)
      screen.note(
        `its retention ended ${until}: the next \`npx vitest-harvest tapes prune\` removes it\n→ to keep it: npx vitest-harvest tapes hold ${shellWord(tape)} --reason "…"`,
      )
    if (damage !== undefined) screen.note(`the tape is damaged, and was put back as it was: ${damage}`)
    return code
  },
}

/** What is wrong with a tape that was put back, as a code; what is damaged is put back all the same. */
function damageOf(tapeFile: string): string | undefined {
  try {
    readTape(tapeFile)
    return undefined
  } catch (error) {
    if (HarvestError.is(error) && exitCodeOf(error) === exit.tape) return error.code
    throw error
  }
}
