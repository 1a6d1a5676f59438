import { neutralLine } from '../../errors/index.ts'
import { type ExportFormat, exportFormats, exportTape } from '../../exporters/index.ts'
import { readTape } from '../../tape/index.ts'
import { choose } from '../choose.ts'
import { exportSpec } from '../spec/record.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { fileIn, type Target, targetOf } from '../exporting/target.ts'
import { printExport, writeExport } from '../exporting/write.ts'
import { type FoundRun, findRun } from '../find.ts'
import { usage } from '../parse.ts'
import type { Screen } from '../../report/output.ts'

/** Writes tapes in formats that other tools know. */
export const exportCommand: Command = {
  ...exportSpec,
  run(given, screen) {
    const format = choose(given, 'format', exportFormats, exportCommand)
    if (format === undefined)
      throw usage(
        exportCommand,
        'HARVEST_CLI_OPTION',
        `--format is needed: ${exportFormats.join(', ')}`,
        exportFormats.map((name) => `as ${name}: --format ${name}`),
      )
    const target = targetOf(given.value('out'))
    checkTarget(target, format, given)
    const found = given.args.map((word) => findRun(word, given.value('dir')))
    const jobs = jobsOf(found, target, format)
    const results = jobs.map((job) => runJob(job, format, given, screen))
    screen.progress('')
    if (given.has('json')) screen.json({ format, exported: results.flat() })
    return exit.ok
  },
}

function checkTarget(target: Target, format: ExportFormat, given: CommandInput): void {
  const refuse = (what: string, ...hints: string[]): Error => usage(exportCommand, 'HARVEST_CLI_OPTION', what, hints)
  if (target.kind === 'stdout' && given.has('json'))
    throw refuse(
      '--json says where the exports went, and without --out they are the answer',
      'to read the answer: the same command, without --json',
    )
  if (target.kind === 'stdout' && given.has('force'))
    throw refuse('--force is about files, and there is no --out', 'to print it: the same command, without --force')
  if (target.kind !== 'folder' && given.args.length > 1 && format !== 'otlp')
    throw refuse(`a file of ${format} holds one run`, 'to name a folder: --out exported/')
}

/** A file to write, or stdout, and the runs that go there. */
interface Job {
  readonly file?: string
  readonly runs: readonly FoundRun[]
}

function jobsOf(found: readonly FoundRun[], target: Target, format: ExportFormat): readonly Job[] {
  if (target.kind === 'stdout') return [{ runs: found }]
  if (target.kind === 'file') return [{ file: target.file, runs: found }]
  const jobs = found.map((run) => ({ file: fileIn(target.folder, run, format), runs: [run] }))
  const twice = jobs.find(({ file }, at) => jobs.findIndex((other) => other.file === file) !== at)
  if (twice === undefined) return jobs
  throw usage(exportCommand, 'HARVEST_CLI_ARGUMENT', `two of these tapes would be ${neutralLine(twice.file, 400)}`, [
    'export them one after the other, into different folders',
  ])
}

/** What was exported of one run. */
interface Result {
  readonly tape: string
  readonly id: string
  readonly file: string | null
  readonly leftOut: readonly string[]
  readonly notes: readonly string[]
}

function runJob({ file, runs }: Job, format: ExportFormat, given: CommandInput, screen: Screen): readonly Result[] {
  const options = { withContent: !given.has('no-content') }
  const results: Result[] = []
  function* pieces(): Generator<string> {
    for (const [index, run] of runs.entries()) {
      if (file !== undefined) screen.progress(`exporting ${neutralLine(run.file)} (${index + 1} of ${runs.length})`)
      const tape = readTape(run.file)
      const exported = exportTape(tape, format, options)
      yield* exported.pieces
      results.push({
        tape: run.file,
        id: tape.header.id,
        file: file ?? null,
        leftOut: exported.leftOut,
        notes: exported.notes,
      })
    }
  }
  if (file === undefined) printExport(pieces())
  else writeExport(file, pieces(), given.has('force'))
  screen.progress('')
  for (const result of results) tell(result, given, screen)
  return results
}

/** On stderr, for stdout may be the export. */
function tell({ id, file, leftOut, notes }: Result, given: CommandInput, screen: Screen): void {
  if (given.has('json')) return
  const name = neutralLine(id, 60)
  if (file !== null) screen.note(`exported ${name} to ${neutralLine(file, 400)}`)
  for (const note of notes) screen.note(`${name}: ${neutralLine(note, 200)}`)
  if (leftOut.length > 0)
    screen.note(`${name}: left out, the format cannot hold it: ${neutralLine(leftOut.join(', '), 400)}`)
}
