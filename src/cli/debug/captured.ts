import { HarvestError } from '../../errors/index.ts'
import type { Screen } from '../../report/output.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { stepsAsCommands, withNextCommands } from '../next-lines.ts'
import { parse, specNamed } from '../parse.ts'
import { specs } from '../spec/index.ts'
import { asTyped } from '../typed-again.ts'
import type { Answer } from './types.ts'
import { wrong } from './words.ts'

const load: Readonly<Record<string, () => Promise<Command>>> = {
  diff: async () => (await import('../commands/diff.ts')).diffCommand,
}

/** What another command of the command line answers: its text, or, with `isJson`, its data. Its next steps are of that command. */
export async function captured(argv: readonly string[], isJson: boolean, runWith?: Command['run']): Promise<Answer> {
  const lines: string[] = []
  let data: unknown = null
  const screen: Screen = {
    line: (text = '') => void lines.push(...text.split('\n')),
    note: (text) => void lines.push(...text.split('\n')),
    json: (value) => void (data = value),
    paint: (_, text) => text,
    progress: () => {},
  }
  return asCommand(argv, async () => {
    const parsed = parse(isJson ? [...argv, '--json'] : argv, specs)
    if (parsed.kind !== 'run') throw wrong('help has no place here', ['for all commands: help'])
    const run = runWith ?? (await load[parsed.spec.name]?.())?.run
    if (run === undefined) throw new TypeError(`the debugger does not run ${parsed.spec.name}`)
    const code = await run(parsed.given, withNextCommands(screen, parsed.spec))
    // Of a comparison that code says that runs differ.
    const isOpen = parsed.spec.name === 'fork' && code === exit.divergence
    const isPart = code === exit.interrupted
    return { lines, data, ...(isOpen ? { isOpen } : {}), ...(isPart ? { isPart } : {}) }
  })
}

/** Does what a command of the command line does: next steps, those of errors too, are of that command. */
export async function asCommand<T>(argv: readonly string[], run: () => T | Promise<T>): Promise<T> {
  try {
    return await asTyped(argv, run)
  } catch (error) {
    if (!HarvestError.is(error) || error.facts.fix === undefined) throw error
    const { fix } = error.facts
    const steps = asTyped(argv, () => stepsAsCommands(fix, specNamed(argv, specs)))
    throw new HarvestError(error.code, { ...error.facts, fix: steps }, { cause: error })
  }
}
