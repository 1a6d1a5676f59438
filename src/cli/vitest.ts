import { fileURLToPath } from 'node:url'
import { type Ended, type RunOptions, runProgram } from './program.ts'

/**
 * Runs the project's own Vitest once, in a process of its own and with the flags of this package.
 *
 * @param before - a program that runs it, with its arguments
 */
export function runVitest(
  words: readonly string[],
  output: RunOptions['output'],
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Ended> {
  const runner = fileURLToPath(new URL('../vitest/run-vitest.js', import.meta.url))
  // Behind another program `node` would be whichever the PATH has.
  const node = before.length === 0 ? 'node' : process.execPath
  return runProgram({ argv: [...before, node, runner, 'run', ...words], cwd: process.cwd() }, { env, output })
}
