import { fileURLToPath } from 'node:url'
import type { CommandSpec } from '../command.ts'
import { runProgram } from '../program.ts'

/** Runs the project's Vitest in a process of its own, with the flags of this package. */
export const testCommand: CommandSpec = {
  name: 'test',
  about: 'Run Vitest; also understands --update-recordings[=new|all|none]',
  options: [{ flag: '--json', about: 'Print the answer of Vitest as JSON (--reporter=json)' }],
  rest: '[vitest arguments]',
  passThrough: true,
  examples: ['test', 'test --update-recordings', 'test --tags-filter=golden', 'test refund-100x --reporter=verbose'],
  async run({ rest = [] }) {
    const words = rest.map((word) => (word === '--json' ? '--reporter=json' : word))
    const runner = fileURLToPath(new URL('../../vitest/run-vitest.js', import.meta.url))
    const { code } = await runProgram(
      { argv: ['node', runner, 'run', ...words], cwd: process.cwd() },
      { env: {}, output: 'inherit' },
    )
    return code
  },
}
