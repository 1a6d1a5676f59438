/**
 * Records a whole program as one run: `node --import vitest-harvest/register app.js`.
 *
 * Environment: `VITEST_HARVEST_DIR` (default `recordings/inbox`), `VITEST_HARVEST_ID`, `VITEST_HARVEST_AGENT`
 * (default: name of the program), `VITEST_HARVEST_ARGV` (the command as JSON, kept on the tape), `GIT_SHA`,
 * `VITEST_HARVEST_RECORD` (`off`: nothing is recorded).
 *
 * @module
 */
import { basename } from 'node:path'
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
if (isSwitchedOn()) recordProgram(program)
leaveEnvironment('record/register', ['VITEST_HARVEST_ID', 'VITEST_HARVEST_AGENT', 'VITEST_HARVEST_ARGV'])
