#!/usr/bin/env node
import { HarvestError } from '../errors/index.ts'
import { version } from '../version.ts'
import { exit, exitCodeOf } from './exit.ts'
import { commandHelp, rootHelp } from './help.ts'
import type { CommandSpec } from './command.ts'
import { parse, specNamed } from './parse.ts'
import { createScreen, neutralLines } from './screen.ts'
import { specs } from './spec/index.ts'

/*
 * The command line. Exit codes: 0 ok, 1 divergence, 2 usage or missing files, 3 invalid tape, 4 made by other code,
 * 101 an internal error. A command is loaded when it runs: help and version load the table of specs alone.
 */
const argv = process.argv.slice(2)
const screen = createScreen()
// A reader that has seen enough (`ls | head`) is not a failure, nor is a terminal that was closed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  process.exit(process.exitCode ?? (error.code === 'EIO' ? exit.closedTerminal : exit.ok))
})

let running: CommandSpec | undefined
try {
  process.exitCode = await run()
} catch (thrown) {
  process.exitCode = exitCodeOf(thrown)
  const isMissing =
    HarvestError.is(thrown, 'HARVEST_CASE_MISSING') ||
    HarvestError.is(thrown, 'HARVEST_TAPE_MISSING') ||
    HarvestError.is(thrown, 'HARVEST_CASE_TAPE_MISSING')
  const error = isMissing ? await (await import('./deleted-case.ts')).withDeleted(thrown, argv) : thrown
  const { asCommands, withCommands } = await import('./next-lines.ts')
  const spec = running ?? specNamed(argv, specs)
  if (!wantsJson(argv)) screen.note(asCommands(neutralLines(textOf(error)), spec))
  else screen.json({ error: HarvestError.is(error) ? withCommands(error, spec) : { message: String(error) } })
}

if (process.exitCode === exit.interrupted) {
  const { heard } = await import('../jobs/heard-signal.ts')
  process.exitCode = heard.exitCode ?? exit.interrupted
}

async function run(): Promise<number> {
  const parsed = parse(argv, specs)
  if (parsed.kind === 'version') screen.line(version)
  else if (parsed.kind === 'help')
    screen.line(parsed.spec === undefined ? rootHelp(version, specs) : commandHelp(parsed.spec))
  else {
    running = parsed.spec
    const [{ loadCommand }, { withNextCommands }, { forgetNamed, inFolderOfPaths }, { hearUnkept }] = await Promise.all(
      [
        import('./commands/index.ts'),
        import('./next-lines.ts'),
        import('./named-tape.ts'),
        import('../tape/kept-files.ts'),
      ],
    )
    // Messages name what this command line named, not one before it in this process.
    forgetNamed()
    const command = await loadCommand(parsed.spec.name)
    if (!wantsJson(argv) && process.env['CI'] === undefined) for (const hint of parsed.hints) screen.note(hint)
    const shown = withNextCommands(screen, parsed.spec)
    const said = new Set<string>()
    hearUnkept(({ message, facts: { what } }) => {
      if (!said.has(what)) shown.note(neutralLines(message))
      said.add(what)
    })
    return command.run(inFolderOfPaths(parsed.given, parsed.spec), shown)
  }
  return exit.ok
}

function wantsJson(words: readonly string[]): boolean {
  const stop = words.indexOf('--')
  return (stop === -1 ? words : words.slice(0, stop)).includes('--json')
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return HarvestError.is(error) ? error.message : (error.stack ?? error.message)
}
