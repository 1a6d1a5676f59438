/**
 * Records a whole program as one run: `node --import vitest-harvest/register app.js`.
 *
 * Environment: `VITEST_HARVEST_DIR` (default `recordings/inbox`), `VITEST_HARVEST_ID`, `VITEST_HARVEST_AGENT`
 * (default: name of the program), `VITEST_HARVEST_ARGV` (the command as JSON, kept on the tape), `GIT_SHA`,
 * `VITEST_HARVEST_RECORD` (`off`: nothing is recorded).
 *
 * @module
 */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'
import { leaveEnvironment } from '../seam/environment.ts'
import { recordProgram } from './program.ts'
import { isSwitchedOn } from './switch.ts'

const { env, argv } = process
const program = {
  dir: env['VITEST_HARVEST_DIR'] ?? 'recordings/inbox',
  agent: env['VITEST_HARVEST_AGENT'] ?? basename(argv[1] ?? 'program').replace(/\.[cm]?[jt]s$/, ''),
  ...(env['VITEST_HARVEST_ID'] ? { id: env['VITEST_HARVEST_ID'] } : {}),
  ...(env['VITEST_HARVEST_ARGV'] ? { argv: JSON.parse(env['VITEST_HARVEST_ARGV']) as string[] } : {}),
  ...(env['GIT_SHA'] ? { commit: env['GIT_SHA'] } : {}),
}
if (isSwitchedOn() && isThere(argv[1])) recordProgram(program)
leaveEnvironment('record/register', ['VITEST_HARVEST_ID', 'VITEST_HARVEST_AGENT', 'VITEST_HARVEST_ARGV'])

/** A program whose file is missing never begins. Its name may lack the ending, which Node or a loader adds. */
function isThere(file: string | undefined): boolean {
  if (file === undefined || !isAbsolute(file) || existsSync(file)) return true
  const [folder, name] = [dirname(file), basename(file)]
  return existsSync(folder) && readdirSync(folder).some((one) => one.startsWith(`${name}.`))
}
