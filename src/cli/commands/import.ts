import { type HarvestError, neutralLine } from '../../errors/index.ts'
import { importFormats } from '../../importers/index.ts'
import { choose } from '../choose.ts'
import { importSpec } from '../spec/record.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { asJson, printImport } from '../importing/print.ts'
import { redactIn } from '../importing/redact.ts'
import { candidatesAt, importAll, type ImportSettings } from '../../recordings/importing/index.ts'
import { usage } from '../parse.ts'

/** Makes tapes of recordings of other tools. */
export const importCommand: Command = {
  ...importSpec,
  run(given, screen) {
    const path = given.args[0] ?? ''
    const settings = settingsOf(given)
    const single = ['as', 'input'].find((option) => given.has(option))
    if (single !== undefined && candidatesAt(path).isFolder)
      throw usage(
        importCommand,
        'HARVEST_CLI_ARGUMENT',
        `--${single} is about one tape, and a folder may hold many recordings`,
        ['name one file, or leave it out'],
      )
    const result = importAll(path, given.value('dir') ?? 'recordings', settings, (done, { isFolder, list }) => {
      if (isFolder) screen.progress(`importing ${done + 1} of ${list.length} files`)
    })
    screen.progress('')
    if (given.has('json')) screen.json(asJson(result))
    else printImport(result, screen)
    return result.refused.length === 0 ? exit.ok : exit.tape
  },
}

function settingsOf(given: CommandInput): ImportSettings {
  const format = choose(given, 'format', ['auto', ...importFormats], importCommand) ?? 'auto'
  const as = given.value('as')
  if (as !== undefined && !/^[a-z0-9][a-z0-9._-]*$/i.test(as))
    throw usage(importCommand, 'HARVEST_CLI_ARGUMENT', '--as becomes a file name: letters, digits, dots and dashes')
  const input = given.value('input')
  const redact = given.value('redact')
  return {
    agent: given.value('agent') ?? 'imported',
    ...(format === 'auto' ? {} : { format }),
    ...(as === undefined ? {} : { as }),
    ...(input === undefined ? {} : { input: { value: inputOf(input) } }),
    ...(redact === undefined ? {} : { redact: redactIn(redact, (problem) => wrongRedact(redact, problem)) }),
  }
}

function wrongRedact(file: string, problem: string): HarvestError {
  return usage(importCommand, 'HARVEST_CLI_ARGUMENT', `--redact ${neutralLine(file, 80)}: ${problem}`, [
    'give the redact option of your recorder as JSON, with patterns as text, or a tape that it recorded',
  ])
}

function inputOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw usage(importCommand, 'HARVEST_CLI_ARGUMENT', `Invalid JSON in --input: ${(cause as Error).message}`, [
      `a text has quotes of its own: --input '"Ada"'`,
    ])
  }
}
