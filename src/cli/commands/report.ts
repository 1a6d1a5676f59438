import { basename, join, resolve, sep } from 'node:path'
import { stepsElsewhere } from '../../errors/above.ts'
import { here } from '../../errors/here.ts'
import { neutralLine } from '../../errors/index.ts'
import { pageOf } from '../../report/view/page.ts'
import type { GoldenData, ReportData } from '../../report/view/types.ts'
import type { Screen } from '../../report/output.ts'
import { readTape } from '../../tape/index.ts'
import { reportSpec } from '../spec/inspect.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { findRun, type FoundRun } from '../find.ts'
import { toName, usage } from '../parse.ts'
import { gatherReport } from '../reporting/gather.ts'
import { gatherGolden } from '../reporting/golden.ts'
import { replayedNow } from '../reporting/replayed.ts'
import { findingsLine, findingsOf } from '../reporting/scan.ts'
import { writeReport } from '../reporting/write.ts'
import { counted } from '../../errors/words.ts'
import { size } from '../../report/describe.ts'

/** Writes what is known of a run, or of the golden set, as one page that opens from disk. */
export const reportCommand: Command = {
  ...reportSpec,
  run(given, screen) {
    return given.has('golden') ? golden(given, screen) : run(given, screen)
  },
}

async function run(given: CommandInput, screen: Screen): Promise<number> {
  const [word] = given.args
  if (word === undefined)
    throw usage(reportCommand, 'HARVEST_CLI_ARGUMENT', 'report needs <tape|case>, or --golden for the golden set', [
      ...toName(['<tape|case>']),
      'for the golden set: --golden',
    ])
  if (given.has('results'))
    throw usage(reportCommand, 'HARVEST_CLI_OPTION', '--results needs --golden', [
      'for this run: the same command, without --results',
    ])
  const recordings = given.value('dir') ?? 'recordings'
  const found = findRun(word, recordings)
  const other = given.value('against')
  const against = other === undefined ? undefined : findRun(other, recordings)
  screen.progress(given.has('replay') ? 'replaying' : 'reading')
  const replay = given.has('replay') ? await replayedNow(found) : undefined
  const data = gatherReport(found, {
    recordings,
    isFull: given.has('full'),
    ...(against === undefined ? {} : { against }),
    ...(replay === undefined ? {} : { replay }),
  })
  // Before anything leaves the inbox, and on stderr: stdout may be the page.
  for (const one of [found, ...(against === undefined ? [] : [against])])
    if (!isGolden(one, recordings)) screen.note(`${nameFor(one)}: ${findingsLine(findingsOf(readTape(one.file)))}`)
  if (given.has('json')) {
    screen.json(data)
    return exit.ok
  }
  const out = given.value('out') ?? `${nameFor(found)}.html`
  const page = write(out, data, given, screen)
  if (given.has('replay') && replay === undefined) screen.note('the replay is as recorded: nothing differs')
  if (data.cut !== undefined)
    screen.note(`${counted(data.cut.texts, 'long text')} cut in the report; to keep every text whole: --full`)
  if (out !== '-')
    screen.line(`${shown(out)}  ${counted(data.run.steps.length, 'step')}, ${size(page)}, opens in any browser`)
  return exit.ok
}

async function golden(given: CommandInput, screen: Screen): Promise<number> {
  const [word] = given.args
  if (word !== undefined)
    throw usage(reportCommand, 'HARVEST_CLI_ARGUMENT', '--golden takes no tape or case', [
      'for this run: the same command, without --golden',
      'for the golden set: the same command, with no argument',
    ])
  for (const name of ['against', 'replay'])
    if (given.has(name))
      throw usage(reportCommand, 'HARVEST_CLI_OPTION', `--${name} is about one run, not the golden set`, [
        'for the golden set: the same command, without --against and --replay',
      ])
  screen.progress('reading')
  const recordings = given.value('dir') ?? 'recordings'
  const data = await gatherGolden(recordings, given.values('results'))
  if (given.has('json')) {
    screen.json(data)
    return exit.ok
  }
  const out = given.value('out') ?? 'golden.html'
  const page = write(out, data, given, screen)
  if (out !== '-')
    screen.line(`${shown(out)}  ${counted(data.cases.length, 'case')}, ${size(page)}, opens in any browser`)
  for (const step of data.cases.length === 0 ? stepsElsewhere(recordings) : []) screen.note(`→ ${step}`)
  return exit.ok
}

/** @returns bytes of the page */
function write(out: string, data: ReportData | GoldenData, given: CommandInput, screen: Screen): number {
  if (out === '-' && process.stdout.isTTY)
    throw usage(reportCommand, 'HARVEST_CLI_OPTION', '-o - writes to a pipe, never to a terminal', [
      'to write a file: -o run.html',
    ])
  screen.progress('writing')
  const page = pageOf(data)
  if (out === '-') process.stdout.write(page)
  else writeReport(out, page, given.has('force'))
  screen.progress('')
  return Buffer.byteLength(page)
}

/** The name of a tape's file: an id is text from elsewhere. */
function nameFor({ file }: FoundRun): string {
  return basename(file).replace(/\.tape\.jsonl$/, '')
}

/** What is committed was searched when it was promoted. */
function isGolden({ file }: FoundRun, recordings: string): boolean {
  return resolve(file).startsWith(resolve(join(recordings, 'golden')) + sep)
}

function shown(out: string): string {
  return neutralLine(here(resolve(out)), 200)
}
