import { realpathSync } from 'node:fs'
import { basename, extname, relative, resolve, sep } from 'node:path'
import { HarvestError, neutralJson, neutralLine } from '../errors/index.ts'
import { unattended } from '../provenance/unattended.ts'
import type { Tape, TapeHeader } from '../tape/index.ts'
import { askYesNo, canAsk } from './ask.ts'
import { isListed } from './listed-programs.ts'
import { type Program, projectRoot } from '../jobs/program.ts'
import { type Screen } from '../report/output.ts'
import { shownCommand } from '../report/shown-command.ts'

export interface Consent {
  /** `--run-recorded` was given. */
  readonly isGiven: boolean
  /** The command line that was typed, for the lines to paste: `npx vitest-harvest replay x`. */
  readonly typed: string
  readonly screen: Screen
}

/**
 * The program of a tape, when it may run. A tape is data from elsewhere: its command runs when the project lists it word
 * for word, when `--run-recorded` says yes, or after a yes at a terminal that showed it whole. It runs in the current
 * folder with the current environment; those of the tape are never applied.
 *
 * @throws HarvestError `HARVEST_CLI_COMMAND_UNTRUSTED`
 */
export async function recordedProgram(
  tape: Tape,
  command: NonNullable<TapeHeader['command']>,
  { isGiven, typed, screen }: Consent,
): Promise<Program> {
  const { argv } = command
  const program = { argv, cwd: process.cwd() }
  const shown = shownCommand(argv)
  const place = { command: shown, folder: neutralLine(command.cwd, 400), tape: neutralLine(tape.source, 400) }
  const refuse = (why: string, where: Readonly<Record<string, string>> = {}): HarvestError =>
    unasked(argv, typed, why, { ...place, ...where })

  if (argv.length === 0 || argv[0] === '') throw refuse('The tape names no program.')
  if (!isInProject(command.cwd)) throw refuse('The folder of the tape is not a folder of this project.')
  if (isGiven) {
    screen.note(`harvest: runs the recorded command ${shown}`)
    return program
  }
  const { isListed: isKnown, unread } = await isListed(argv)
  if (isKnown) return program
  const config = unread === undefined ? undefined : `could not be read: ${neutralLine(unread, 200)}`
  const nobody = canAsk() ? unattended(process.env) : 'there is no terminal to ask at'
  if (nobody !== undefined)
    throw refuse(`A tape is data and may come from elsewhere. The project does not list this command, and ${nobody}.`, {
      ...(config === undefined ? {} : { config }),
    })
  screen.note('This tape brings a command that the project does not list:')
  screen.note(`  command  ${shown}`)
  screen.note(`  folder   ${neutralLine(program.cwd, 400)}`)
  screen.note(`  tape     ${place.tape}`)
  if (config !== undefined) screen.note(`  config   ${config}`)
  if (await askYesNo('Run it?')) return program
  throw refuse('It was not confirmed.')
}

/** Whether a folder of a tape is one of this project, wherever links lead. */
function isInProject(folder: string): boolean {
  try {
    const way = relative(realpathSync(projectRoot()), realpathSync(resolve(folder)))
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(way) !== way)
  } catch (error) {
    // A folder that is not there, or that we may not see, does not belong to this project.
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return false
    throw error
  }
}

function unasked(
  argv: readonly string[],
  typed: string,
  why: string,
  where: Readonly<Record<string, string>>,
): HarvestError {
  return new HarvestError('HARVEST_CLI_COMMAND_UNTRUSTED', {
    what: 'Refused to run the command line stored in the tape',
    where,
    why,
    fix: [
      `if you trust it, once: ${typed} --run-recorded`,
      `permanently, in package.json: ${programLine(programName(argv), argv)}`,
      `or type the command to run: ${typed} -- node agent.js`,
    ],
  })
}

/** The line of `package.json` that lists a program. */
export function programLine(name: string, argv: readonly string[]): string {
  return neutralJson(`"harvest": { "programs": { ${JSON.stringify(name)}: ${JSON.stringify(argv)} } }`)
}

/** What a program is called in a list: its script without folder and ending, or else its first word. */
export function programName(argv: readonly string[]): string {
  const script = argv.slice(1).findLast((word) => /\.[cm]?[jt]sx?$/.test(word)) ?? argv[0] ?? 'program'
  return basename(script, extname(script)) || 'program'
}
