import { HarvestError, neutralLine } from '../../errors/index.ts'
import { importFormats } from '../../importers/index.ts'
import { choose } from '../choose.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { type Candidates, candidatesAt } from '../importing/files.ts'
import { TapeIds } from '../importing/ids.ts'
import { asJson, type ImportResult, printImport } from '../importing/print.ts'
import { redactIn } from '../importing/redact.ts'
import { importFile, type ImportSettings, Inbox } from '../importing/run.ts'
import { usage } from '../parse.ts'
import type { Screen } from '../screen.ts'

/** Makes tapes of recordings of other tools. */
export const importCommand: CommandSpec = {
  name: 'import',
  args: '<file>',
  about:
    'Make tapes of recordings of other tools: VCR cassettes, HAR, nock, traces and the like; a folder is looked through',
  options: [
    { flag: '--format <name>', about: `auto, ${importFormats.join(', ')} (default: auto, told by the content)` },
    { flag: '--as <id>', about: 'Id of the tape, when one file is imported (default: made of its name)' },
    { flag: '--agent <name>', about: 'Agent the tapes are for (default: imported)' },
    { flag: '--input <json>', about: 'What the agent was called with, when one file is imported' },
    { flag: '--redact <file>', about: "Your recorder's redact option: as JSON, or a tape that it recorded" },
    { flag: '--dir <folder>', about: 'Folder with inbox/ (default: recordings)' },
    jsonOption,
  ],
  examples: [
    `import cassettes/greeting.yaml --as greeting --agent refund --input "{}"`,
    'import cassettes --dir elsewhere --json',
  ],
  run(given, screen) {
    const path = given.args[0] ?? ''
    const settings = settingsOf(given)
    const candidates = candidatesAt(path)
    const single = ['as', 'input'].find((option) => given.has(option))
    if (candidates.isFolder && single !== undefined)
      throw usage(
        importCommand,
        'HARVEST_CLI_ARGUMENT',
        `--${single} is about one tape, and a folder may hold many recordings`,
        ['name one file, or leave it out'],
      )
    const inbox = new Inbox(given.value('dir') ?? 'recordings')
    const result = importAll(candidates, inbox, settings, screen)
    if (candidates.isFolder && result.imported.length + result.refused.length === 0) throw nothingThere(path)
    if (given.has('json')) screen.json(asJson(result))
    else printImport(result, screen)
    return result.refused.length === 0 ? exit.ok : exit.tape
  },
}

function importAll(
  { isFolder, list }: Candidates,
  inbox: Inbox,
  settings: ImportSettings,
  screen: Screen,
): ImportResult {
  const imported: ImportResult['imported'][number][] = []
  const refused: ImportResult['refused'][number][] = []
  const ids = new TapeIds()
  let passedOver = 0
  for (const [index, candidate] of list.entries()) {
    if (isFolder) screen.progress(`importing ${index + 1} of ${list.length} files`)
    try {
      imported.push(...importFile(candidate, { ids, inbox }, settings))
    } catch (error) {
      // A file somebody named has to be a recording; a folder holds others too.
      if (!isFolder || !HarvestError.is(error)) throw error
      if (HarvestError.is(error, 'HARVEST_IMPORT_UNKNOWN') && settings.format === undefined) passedOver++
      else refused.push({ file: candidate.file, error })
    }
  }
  screen.progress('')
  return { imported, refused, passedOver }
}

function settingsOf(given: Given): ImportSettings {
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
    throw usage(
      importCommand,
      'HARVEST_CLI_ARGUMENT',
      `--input is JSON, and this is none: ${(cause as Error).message}`,
      [`a text has quotes of its own: --input '"Ada"'`],
    )
  }
}

function nothingThere(folder: string): HarvestError {
  return new HarvestError('HARVEST_IMPORT_NONE', {
    what: 'There is no recording in this folder',
    where: { folder, formats: importFormats.join(', ') },
    why: 'Files that end in .yaml, .yml, .json, .jsonl, .ndjson, .har or .httprr are looked at, also when .gz follows.',
    fix: ['name the folder of the recordings, or one file: npx harvest import recordings.har'],
  })
}
