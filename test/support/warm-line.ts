import { shellWords } from '../../src/errors/words.ts'
import type { Ran } from '../../scripts/walkthrough.ts'
import { runWarm } from './warm.ts'

export interface WarmLineOptions {
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** Absolute path of each program by its name. */
  readonly programs: Readonly<Record<string, string>>
}

/**
 * Runs a command line where others ran before it: one that needs nothing of a shell but its words, and names one of these
 * programs. `undefined`: it is something else.
 */
export function warmLine(command: string, { dir, env, programs }: WarmLineOptions): Promise<Ran> | undefined {
  const open = command.replaceAll(/"[^"$`\\]*"|'[^']*'/g, '')
  if (/[^\w\s./:=@,+%-]/.test(open)) return undefined
  const [name = '', ...words] = shellWords(command).words
  const program = programs[name]
  if (program === undefined) return undefined
  return runWarm([program, ...words], { cwd: dir, env, isOnePipe: true }).then(({ code, stdout }) => ({
    code: code ?? 1,
    text: stdout.toString(),
  }))
}
