import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptedFileName, type Case, loadCase, readAcceptedFile } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { changedPins, describeChanges, gitState, pinsOf } from '../provenance/index.ts'
import type { DriftPolicy, ReplayOptions } from '../replay/index.ts'
import type { Tape } from '../tape/index.ts'
import type { CommandSpec, Given, OptionSpec } from './command.ts'
import { usage } from './parse.ts'
import { type Ended, type Program, type RunOptions, runProgram } from './program.ts'
import { exitCodes } from './receipt.ts'
import { recordedProgram, runRecordedOption } from './recorded-program.ts'
import { type FailedReport, isFailed, type ReplayReport, variables } from './report.ts'
import type { Screen } from './screen.ts'

/** Options of every command that runs a tape. */
export const replayOptions: readonly OptionSpec[] = [
  { flag: '--agent <file#export>', about: 'The agent of a tape that recorder.run made' },
  {
    flag: '--allow <escape>',
    about: 'Let something reach the world, such as "socket 127.0.0.1:5432"; may be repeated',
    many: true,
  },
  runRecordedOption,
]

/** One replay in a process of its own. */
export interface Replayed {
  readonly report: ReplayReport
  readonly ended: Ended
  /** What is not as it was when the tape was made, one line each; empty when nothing is known to have changed. */
  readonly changed: readonly string[]
  /** The tape is of a whole program: exit code and output belong to its outcome. */
  readonly isProgram: boolean
}

/**
 * Runs the program or agent of a tape again, from the tape.
 *
 * @throws HarvestError `HARVEST_CLI_PROGRAM_UNASKED` when only the tape names what is to run
 */
export async function replay(
  tape: Tape,
  given: Given,
  {
    command,
    options,
    output,
    screen,
    isExact = false,
  }: {
    readonly command: CommandSpec
    /** Where somebody is asked whether the command of the tape may run. */
    readonly screen: Screen
    readonly options: ReplayOptions
    readonly output: RunOptions['output']
    /** Everything is to be told, also what the case beside the tape ignores. */
    readonly isExact?: boolean
  },
): Promise<Replayed> {
  const { program, isProgram, preload, agent } = await target(tape, given, command, screen)
  const folder = mkdtempSync(join(tmpdir(), 'harvest-replay-'))
  const file = join(folder, 'report.json')
  const allow = given.values('allow')
  const beside = caseBeside(tape.source)
  try {
    const ended = await runProgram(program, {
      ...(preload === undefined ? {} : { preload }),
      env: {
        [variables.tape]: tape.source,
        [variables.report]: file,
        [variables.options]: JSON.stringify({
          ...(beside?.drift === undefined ? {} : { drift: isExact ? listed(beside.drift) : beside.drift }),
          ...options,
          ...(allow.length > 0 ? { allow } : {}),
        }),
        [variables.accepted]: JSON.stringify(acceptedFor(tape.source, beside)),
        ...(agent === undefined ? {} : { [variables.agent]: agent }),
      },
      output,
    })
    const replayed = { report: readReport(file, ended), ended, isProgram, changed: await changedSince(tape) }
    return withExitCode(tape, replayed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same verdict, with nothing left out of the list. */
function listed(drift: NonNullable<ReplayOptions['drift']>): NonNullable<ReplayOptions['drift']> {
  const told = (policy: DriftPolicy): DriftPolicy => (policy === 'ignore' ? 'report' : policy)
  if (typeof drift === 'string') return told(drift)
  return Object.fromEntries(Object.entries(drift).map(([name, policy]) => [name, told(policy)]))
}

/** The program reports before its last exit handler: its code may become another one after that. */
function withExitCode(tape: Tape, replayed: Replayed): Replayed {
  const codes = exitCodes(tape, replayed)
  const { verdict } = replayed.report
  if (codes === undefined || codes.isEqual || verdict.verdict === 'different') return replayed
  const { code, message } = new HarvestError('HARVEST_OUTCOME', {
    what: 'The program exited with another code than when this run was recorded',
    where: { tape: tape.header.id, recorded: codes.recorded, now: codes.replayed },
    fix: [`to see the recorded run: npx harvest show ${tape.header.id}`],
  })
  const judged = { ...verdict, verdict: 'different' as const, differences: [{ code, message }] }
  return { ...replayed, report: { ...replayed.report, verdict: judged } }
}

/** The case that a tape of the golden set belongs to: what was accepted there holds for the tape wherever it is replayed. */
function caseBeside(tapeFile: string): Case | undefined {
  const file = tapeFile.replace(/\.tape\.jsonl$/, '.case.yaml')
  return file !== tapeFile && existsSync(file) ? loadCase(file) : undefined
}

/** Keys of the changes that were accepted for a tape, in its case and for all cases of its recordings. */
function acceptedFor(tapeFile: string, beside: Case | undefined): readonly string[] {
  const shared = foldersAbove(tapeFile)
    .map((folder) => join(folder, acceptedFileName))
    .find(existsSync)
  const entries = [...(beside?.accepted ?? []), ...(shared === undefined ? [] : readAcceptedFile(shared))]
  return entries.map(({ key }) => key)
}

/** The folder of a file and those above it, the nearest first, up to that of the project. */
function foldersAbove(file: string): readonly string[] {
  const folders: string[] = []
  for (let folder = dirname(resolve(file)); !folders.includes(folder); folder = dirname(folder)) {
    folders.push(folder)
    if (existsSync(join(folder, 'package.json'))) break
  }
  return folders
}

/** Commit, work tree and Node, now and when the tape was made. A tape that names no commit has nothing to compare it with. */
async function changedSince(tape: Tape): Promise<readonly string[]> {
  const pins = pinsOf(tape)
  const git = pins.commit === undefined ? undefined : await gitState(process.cwd())
  const live = { node: process.versions.node, ...(git && { commit: git.commit, dirty: git.dirty }) }
  const comparable = git ? pins : { ...(pins.node !== undefined && { node: pins.node }) }
  return describeChanges(changedPins(comparable, live)).split('\n').filter(Boolean)
}

interface Target {
  readonly program: Program
  readonly isProgram: boolean
  readonly preload?: string
  readonly agent?: string
}

async function target(tape: Tape, given: Given, command: CommandSpec, screen: Screen): Promise<Target> {
  const { header } = tape
  const agent = given.value('agent')
  const { rest } = given
  if (agent !== undefined && rest !== undefined) {
    throw usage(command, 'HARVEST_CLI_ARGUMENT', 'a tape is run with --agent or with a program behind --, not both')
  }
  if (rest !== undefined && rest.length === 0)
    throw usage(command, 'HARVEST_CLI_ARGUMENT', 'there is no program behind --')
  if (given.has('run-recorded') && (agent !== undefined || rest !== undefined)) {
    const what = agent === undefined ? 'a program behind --' : '--agent'
    throw usage(command, 'HARVEST_CLI_ARGUMENT', `--run-recorded runs the command of the tape, not ${what}`)
  }
  const preload = 'replay/register.js'
  if (rest !== undefined) return { program: { argv: rest, cwd: process.cwd() }, isProgram: true, preload }
  if (agent !== undefined) {
    const runner = fileURLToPath(new URL('./replay-agent.js', import.meta.url))
    return { program: { argv: ['node', runner], cwd: process.cwd() }, isProgram: false, agent }
  }
  if (header.command !== undefined) {
    const typed = neutralLine(`harvest ${command.name} ${given.args[0]}`, 400)
    const consent = { isGiven: given.has('run-recorded'), typed, screen }
    return { program: await recordedProgram(tape, header.command, consent), isProgram: true, preload }
  }
  throw new HarvestError('HARVEST_CLI_AGENT', {
    what: 'This tape does not say what to run',
    where: { tape: header.id, agent: header.agent },
    why: 'It was made by recorder.run inside a program; only tapes of `harvest record` carry a command line.',
    fix: [
      `harvest ${command.name} ${given.args[0]} --agent ./src/agent.ts#${/^\w+$/.test(header.agent) ? header.agent : 'agent'}`,
    ],
  })
}

function readReport(file: string, { code, signal, stderr }: Ended): ReplayReport {
  let report: ReplayReport | FailedReport
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as ReplayReport | FailedReport
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_CLI_NO_REPORT',
      {
        what: 'The program ended before its replay could report',
        where: { program: signal === null ? `exit code ${code}` : `ended by ${signal}` },
        ...(stderr === '' ? {} : { detail: stderr }),
        why: 'Only a program that Node runs can be replayed, and it must get as far as its first line.',
        fix: ['to say which program to run: npx harvest replay <tape> -- node agent.js'],
      },
      { cause },
    )
  }
  if (isFailed(report)) throw new HarvestError(report.failed.code, report.failed.facts)
  return report
}
