import { loadCommand } from '../../src/cli/commands/index.ts'
import { exitCodeOf } from '../../src/cli/exit.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'

export interface Said {
  readonly code: number
  /** What the command printed on stdout, without colours, 80 columns wide as in a pipe. */
  readonly out: string
  readonly notes: string
}

/** Runs a command of `harvest` in this process: many answers are looked at, and a process each would take minutes. */
export function ask(...argv: readonly string[]): Promise<Said> {
  return run(argv)
}

async function run(argv: readonly string[]): Promise<Said> {
  const parsed = parse(argv, specs)
  if (parsed.kind !== 'run') throw new Error('help was printed')
  const command = await loadCommand(parsed.spec.name)
  const out: string[] = []
  const notes: string[] = []
  const code = await command.run(parsed.given, {
    line: (text = '') => void out.push(text),
    note: (text) => void notes.push(text),
    json: (value) => void out.push(JSON.stringify(value)),
    paint: (_, text) => text,
    progress: () => {},
  })
  return { code, out: out.join('\n'), notes: notes.join('\n') }
}

/** As {@link ask}, with the exit code and the message where it would throw. */
export async function inProcess(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { code, out, notes } = await run(args)
    return { code, stdout: out, stderr: notes }
  } catch (error) {
    return { code: exitCodeOf(error), stdout: '', stderr: String(error) }
  }
}
