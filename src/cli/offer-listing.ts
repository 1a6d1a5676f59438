import { here } from '../errors/here.ts'
import { unattended } from '../provenance/unattended.ts'
import { addProgram, manifestOf } from '../recordings/index.ts'
import type { Tape } from '../tape/index.ts'
import { askYesNo, canAsk } from './ask.ts'
import { isListed } from './listed-programs.ts'
import { programLine, programName } from './recorded-program.ts'
import type { Screen } from '../report/output.ts'
import { shownCommand } from '../report/shown-command.ts'

/**
 * Offers to list the program that was just recorded in `package.json`, so that its tapes are replayed unasked. Says
 * nothing where there is no terminal to ask at, or where the project lists it already.
 *
 * @param name - of the agent, if one was given
 * @throws HarvestError as `addProgram` and `isListed`
 */
export async function offerListing({ header }: Tape, name: string | undefined, screen: Screen): Promise<void> {
  const argv = header.command?.argv
  if (argv === undefined || !canAsk() || unattended(process.env) !== undefined) return
  if ((await isListed(argv)).isListed) return
  const key = name ?? programName(argv)
  const file = manifestOf(process.cwd())
  if (file === undefined) {
    screen.note(`→ to replay it unasked, put this into a package.json: ${programLine(key, argv)}`)
    return
  }
  const shownFile = here(file)
  screen.note(`Tapes may come from elsewhere: harvest replays their programs unasked only when the project lists them.`)
  screen.note(`  command  ${shownCommand(argv)}`)
  if (await askYesNo(`List it in ${shownFile}?`))
    screen.note(`listed in ${shownFile} as harvest.programs.${addProgram(file, key, argv)}`)
}
