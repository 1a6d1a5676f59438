import { HarvestError } from '../../errors/index.ts'
import type { Screen } from '../../report/output.ts'
import type { Command } from '../command.ts'
import { stepsAsCommands, withNextCommands } from '../next-lines.ts'
import { parse } from '../parse.ts'
import { specs } from '../spec/index.ts'
import { asTyped } from '../typed-again.ts'
import type { Answer } from './types.ts'
import { wrong } from './words.ts'

const load: Readonly<Record<string, () => Promise<Command>>> = {
  fork: async () => (await import('../commands/fork.ts')).forkCommand,
  diff: async () => (await import('../commands/diff.ts')).diffCommand,
}

/** What another command of the command line answers: its text, or, with `isJson`, its data. Its next steps are of that command. */
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
  return asTyped(argv, async () => {
    const parsed = parse(isJson ? [...argv, '--json'] : argv, specs)
    if (parsed.kind !== 'run') throw wrong('help has no place here', ['for all commands: help'])
    const { spec, given } = parsed
    const command = await load[spec.name]?.()
    if (command === undefined) throw new TypeError(`the debugger does not run ${spec.name}`)
    try {
      await command.run(given, withNextCommands(screen, spec))
    } catch (error) {
      if (!HarvestError.is(error) || error.facts.fix === undefined) throw error
      const facts = { ...error.facts, fix: stepsAsCommands(error.facts.fix, spec) }
      throw new HarvestError(error.code, facts, { cause: error })
    }
    return { lines, data }
  })
}
