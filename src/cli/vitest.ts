import { type ProgramExit, type ProgramRunOptions, runProgram } from '../jobs/program.ts'
import { ownPath } from '../own-files.ts'

/**
 * Runs the project's own Vitest once, in a process of its own and with the flags of this package.
 *
 * @param before - a program that runs it, with its arguments
 */
export function runVitest(
  words: readonly string[],
  output: ProgramRunOptions['output'],
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<ProgramExit> {
  const runner = ownPath('vitest/run-vitest')
  // Behind another program `node` would be whichever the PATH has.
  const node = before.length === 0 ? 'node' : process.execPath
  return runProgram({ argv: [...before, node, runner, 'run', ...words], cwd: process.cwd() }, { env, output })
}
