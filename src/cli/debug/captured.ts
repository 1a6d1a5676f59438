import type { Screen } from '../../report/output.ts'
import type { Command } from '../command.ts'
import { parse } from '../parse.ts'
import { specs } from '../spec/index.ts'
import type { Answer } from './types.ts'
import { wrong } from './words.ts'

const load: Readonly<Record<string, () => Promise<Command>>> = {
  fork: async () => (await import('../commands/fork.ts')).forkCommand,
  diff: async () => (await import('../commands/diff.ts')).diffCommand,
}

/** What another command of the command line answers: its text, or, with `isJson`, its data. */
export async function captured(argv: readonly string[], isJson: boolean): Promise<Answer> {
  const lines: string[] = []
  let data: unknown = null
  const screen: Screen = {
    line: (text = '') => void lines.push(...text.split('\n')),
    note: (text) => void lines.push(...text.split('\n')),
    json: (value) => void (data = value),
    paint: (_, text) => text,
    progress: () => {},
  }
  const parsed = parse(isJson ? [...argv, '--json'] : argv, specs)
  if (parsed.kind !== 'run') throw wrong('help has no place here', ['for all commands: help'])
  const command = await load[parsed.spec.name]?.()
  if (command === undefined) throw new TypeError(`the debugger does not run ${parsed.spec.name}`)
  await command.run(parsed.given, screen)
  return { lines, data }
}
