#!/usr/bin/env node
import { HarvestError } from '../errors/index.ts'
import { loadCommands } from './commands/index.ts'
import { exit, exitCodeOf } from './exit.ts'
import { nameIn, parse } from './parse.ts'
import { createScreen, neutralLines } from './screen.ts'

/*
 * The `harvest` command. Exit codes: 0 ok, 1 divergence, 2 usage or missing files, 3 invalid tape, 4 made by other code,
 * 101 a mistake of ours.
 */
const argv = process.argv.slice(2)
const screen = createScreen()
// A reader that has seen enough (`harvest ls | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(process.exitCode ?? exit.ok)
})

try {
  const asked = parse(argv, await loadCommands(nameIn(argv)))
  process.exitCode = asked === 'answered' ? exit.ok : await asked.command.run(asked.given, screen)
} catch (error) {
  process.exitCode = exitCodeOf(error)
  if (wantsJson(argv)) screen.json({ error: HarvestError.is(error) ? error.toJSON() : { message: String(error) } })
  else screen.note(neutralLines(textOf(error)))
}

function wantsJson(words: readonly string[]): boolean {
  const stop = words.indexOf('--')
  return (stop === -1 ? words : words.slice(0, stop)).includes('--json')
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return HarvestError.is(error) ? error.message : (error.stack ?? error.message)
}
