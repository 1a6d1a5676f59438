import { fileURLToPath } from 'node:url'
import { type Ended, type RunOptions, runProgram } from './program.ts'

/** Runs the project's own Vitest once, in a process of its own and with the flags of this package. */
export function runVitest(
  words: readonly string[],
  output: RunOptions['output'],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const runner = fileURLToPath(new URL('../vitest/run-vitest.js', import.meta.url))
  return runProgram({ argv: ['node', runner, 'run', ...words], cwd: process.cwd() }, { env, output })
}
