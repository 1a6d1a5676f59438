// Over 300 lines: one replay in a process of its own, from what is run to what it reports.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  acceptedFileName,
  type Case,
  entriesFor,
  greenSteps,
  loadCase,
  type NamedAcceptance,
  readAcceptedFile,
  stillCounted,
} from '../cases/index.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { moreThan } from '../errors/steps.ts'
import { changedPins, describeChanges, gitState, pinsOf } from '../provenance/index.ts'
import { mergeDrift } from '../match/drift-policy.ts'
import type { DriftPolicy, ReplayOptions } from '../replay/index.ts'
import { recordingsOf } from '../recordings/index.ts'
import type { Tape } from '../tape/index.ts'
import { type CommandSpec, type CommandInput, program as bin } from './command.ts'
import { readDuration } from './live.ts'
import { replayOptionsOfConfig, type ReplaysOfConfig } from './plugin-options.ts'
import { usage } from './parse.ts'
import type { FinishedJob } from '../jobs/index.ts'
import { runJobs } from '../jobs/run.ts'
import { type ProgramExit, type Program, type ProgramRunOptions, outputOf, runProgram } from '../jobs/program.ts'
import { exitCodes } from './byte-report.ts'
import { caseOfTape } from './next-steps.ts'
import { recordedProgram } from './recorded-program.ts'
import { type FailedReport, isFailed, type ReplayChildReport, variables } from './report.ts'
import type { Screen } from '../report/output.ts'
import { type OwnFile, ownPath } from '../own-files.ts'

/** One replay in a process of its own. */
export interface Replayed {
  readonly report: ReplayChildReport
  readonly ended: ProgramExit
  /** What is not as it was when the tape was made, one line each; empty when nothing is known to have changed. */
  readonly changed: readonly string[]
  /** The tape is of a whole program: exit code and output belong to its outcome. */
  readonly isProgram: boolean
  /** The case that the tape belongs to. */
  readonly case?: Case
  /** It differs from the tape as the case says. */
  readonly isAsCase?: true
  /** Names of all agents of the project; absent where no Vitest ran the agent. */
  readonly agents?: readonly string[]
}

/**
 * Runs the program or agent of a tape again, from the tape.
 *
 * @throws HarvestError `HARVEST_CLI_COMMAND_UNTRUSTED` when only the tape names what is to run
 */
export async function replay(
  tape: Tape,
  given: CommandInput,
  {
    command,
    options,
    output,
    screen,
    isExact = false,
  }: {
    readonly command: CommandSpec
    /** Where someone is asked whether the command of the tape may run. */
    readonly screen: Screen
    readonly options: ReplayOptions
    readonly output: ProgramRunOptions['output']
    /** Everything is to be reported, also what the case beside the tape ignores. */
    readonly isExact?: boolean
  },
): Promise<Replayed> {
  const found = await target(tape, given, command, screen)
  const allow = given.values('allow-io')
  const beside = caseBeside(tape.source)
  // The project's own Vitest has its config by itself.
  const none: ReplaysOfConfig = { replay: {} }
  const { replay: ofConfig, acceptedMaxDays } = found === undefined ? none : await replayOptionsOfConfig(tape.source)
  const drift = mergeDrift(ofConfig.drift, beside?.drift)
  const whole: ReplayOptions = {
    ...ofConfig,
    ...(drift === undefined ? {} : { drift: isExact ? listed(drift) : drift }),
    ...options,
    ...(allow.length > 0 ? { allow: [...(ofConfig.allow ?? []), ...allow] } : {}),
  }
  const owner = beside ?? (await caseMadeOf(tape))
  const ofCase = owner === undefined ? {} : { case: owner }
  const accepted = acceptedFor(tape, owner)
  if (found === undefined)
    return { ...(await replayInVitest(tape, given, { options: whole, accepted, owner, isExact }, command)), ...ofCase }
  const { program, isProgram, preload, agent } = found
  const limitMs = readDuration(given, command, 'timeout') ?? (isDebugged(program) ? undefined : programMs)
  const limit = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs)
  const folder = mkdtempSync(join(tmpdir(), 'harvest-replay-'))
  const file = join(folder, 'report.json')
  try {
    const ended = await runProgram(program, {
      ...(preload === undefined ? {} : { preload }),
      env: {
        [variables.tape]: tape.source,
        [variables.report]: file,
        [variables.options]: JSON.stringify(whole),
        [variables.accepted]: JSON.stringify([...greenSteps(stillCounted(accepted, acceptedMaxDays))]),
        ...(agent === undefined ? {} : { [variables.agent]: agent }),
      },
      output,
      ...(limit === undefined ? {} : { signal: limit }),
    })
    if (limit?.aborted === true && limitMs !== undefined) throw tooLong(tape, limitMs)
    const replayed = { report: readReport(file, ended), ended, isProgram, changed: await changedSince(tape), ...ofCase }
    return withExitCode(tape, replayed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How long a program may run: time of timers and answers costs none. */
const programMs = 600_000

/** Someone may stand at a breakpoint of it. */
function isDebugged({ argv }: Program): boolean {
  return [...argv, process.env['NODE_OPTIONS'] ?? ''].some((word) => /(?:^|\s)--inspect/.test(word))
}

function tooLong({ header }: Tape, limitMs: number): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The replay did not end within its time limit; its process was terminated',
    where: { tape: header.id, limit: `${limitMs / 1_000} s` },
    why: 'It waits for something that is not on the tape, or runs in an endless loop.',
    fix: [
      `to see the recorded steps: npx vitest-harvest show ${shellWord(header.id)}`,
      `to give it more time: ${moreThan(limitMs)}`,
    ],
  })
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
    what: 'The exit code of the program differs from the recording',
    where: { tape: tape.header.id, recorded: codes.recorded, now: codes.replayed },
    fix: [`to see the recorded run: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
  const judged = { ...verdict, verdict: 'different' as const, differences: [{ code, message }] }
  return { ...replayed, report: { ...replayed.report, verdict: judged } }
}

/** The case beside a tape of the golden set. */
function caseBeside(tapeFile: string): Case | undefined {
  const file = tapeFile.replace(/\.tape\.jsonl$/, '.case.yaml')
  return file !== tapeFile && existsSync(file) ? loadCase(file) : undefined
}

/** The case that was made of a tape elsewhere, and still has its run. */
async function caseMadeOf({ source, header }: Tape): Promise<Case | undefined> {
  const owner = await caseOfTape(source, header.id, recordingsOf(source))
  return owner?.isFormer === false ? owner.case : undefined
}

/**
 * The changes that were accepted for a tape, in its case and for all cases of its recordings: they hold for the tape wherever
 * it is replayed.
 */
function acceptedFor({ source, header }: Tape, owner: Case | undefined): readonly NamedAcceptance[] {
  const shared = foldersAbove(source)
    .map((folder) => join(folder, acceptedFileName))
    .find(existsSync)
  const ofAll = shared === undefined ? [] : readAcceptedFile(shared)
  return entriesFor(owner?.id ?? header.id, owner?.accepted ?? [], ofAll)
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
  readonly preload?: OwnFile
  readonly agent?: string
}

async function target(
  tape: Tape,
  given: CommandInput,
  command: CommandSpec,
  screen: Screen,
): Promise<Target | undefined> {
  const { header } = tape
  const word = given.value('agent')
  // An earlier spelling of --module.
  const agent = given.value('module') ?? (word?.includes('#') === true ? word : undefined)
  const { rest } = given
  if ((agent ?? word) !== undefined && rest !== undefined)
    throw usage(command, 'HARVEST_CLI_ARGUMENT', 'A tape is run with an agent or with a program after --, not both', [
      'to run the program: the same command, without --agent and --module',
      'to run the agent: the same command, without --',
    ])
  if (rest !== undefined && rest.length === 0)
    throw usage(command, 'HARVEST_CLI_ARGUMENT', 'Missing program after --', ['without: the same command, without --'])
  if (given.has('run-recorded') && ((agent ?? word) !== undefined || rest !== undefined)) {
    const what = rest === undefined ? 'an agent' : 'a program after --'
    throw usage(command, 'HARVEST_CLI_ARGUMENT', `--run-recorded runs the command of the tape, not ${what}`, [
      `to run ${what}: the same command, without --run-recorded`,
    ])
  }
  const preload = 'replay/register'
  if (rest !== undefined) return { program: { argv: rest, cwd: process.cwd() }, isProgram: true, preload }
  if (agent !== undefined) {
    const runner = ownPath('cli/replay-agent')
    return { program: { argv: ['node', runner], cwd: process.cwd() }, isProgram: false, agent }
  }
  if (header.command === undefined || word !== undefined) return undefined
  const typed = neutralLine(`${bin} ${command.name} ${given.args[0]}`, 400)
  const consent = { isGiven: given.has('run-recorded'), typed, screen }
  return { program: await recordedProgram(tape, header.command, consent), isProgram: true, preload }
}

/** The project's own Vitest loads the agent, as its tests do. */
async function replayInVitest(
  tape: Tape,
  given: CommandInput,
  {
    options,
    accepted,
    owner,
    isExact,
  }: {
    readonly options: ReplayOptions
    readonly accepted: readonly NamedAcceptance[]
    readonly owner: Case | undefined
    readonly isExact: boolean
  },
  command: CommandSpec,
): Promise<Replayed> {
  // A case may run another agent than the one that made its tape.
  const agent = given.value('agent') ?? owner?.agent
  const timeoutMs = readDuration(given, command, 'timeout') ?? owner?.timeout
  const job = {
    tape: resolve(tape.source),
    options,
    accepted,
    ...(agent === undefined ? {} : { agent }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    // What a case may let out has its own rules, which this command has not.
    ...(owner === undefined || isExact || owner.escapes !== undefined
      ? {}
      : { case: { file: owner.file, text: readFileSync(owner.file, 'utf8') } }),
  }
  const [run] = await runJobs([job]).catch((error: unknown) => [error])
  if (run instanceof Error) throw isUnreachable(run) ? noAgent(tape, given, command, { agent, cause: run }) : run
  if (run === undefined) throw new TypeError(`no answer for ${tape.source}`)
  const { report: ofTape, agents, verdict } = run as FinishedJob
  // What was accepted of its end, its messages, marks and states stands in the case.
  const isAsCase = ofTape.verdict.verdict !== 'same' && verdict?.isGreen === true
  const report = isAsCase
    ? { ...ofTape, verdict: { ...ofTape.verdict, ...openIn(verdict), verdict: 'same' as const, differences: [] } }
    : ofTape
  const ended = { code: 0, signal: null, stdout: '', stderr: '' }
  return {
    report,
    ...(agents === undefined ? {} : { agents }),
    ended,
    ...(isAsCase ? { isAsCase } : {}),
    isProgram: false,
    changed: await changedSince(tape),
  }
}

function openIn({ unproven, accepted, notJudged }: NonNullable<FinishedJob['verdict']>) {
  return { unproven, accepted, notJudged }
}

function isUnreachable(error: Error): boolean {
  const codes = ['HARVEST_AGENTS_UNREACHABLE', 'HARVEST_AGENT_UNKNOWN', 'HARVEST_VITEST_MISSING'] as const
  return codes.some((code) => HarvestError.is(error, code))
}

function noAgent(
  { header }: Tape,
  given: CommandInput,
  command: CommandSpec,
  { agent = header.agent, cause }: { readonly agent: string | undefined; readonly cause: Error },
): HarvestError {
  const name = /^\w+$/.test(agent) ? agent : 'agent'
  return new HarvestError(
    'HARVEST_CLI_AGENT',
    {
      what: 'No agent to run this tape with',
      where: { tape: header.id, agent },
      detail: cause.message.replace(/^/gm, '  '),
      why: 'The tape was made by recorder.run: its agent is looked up in the Vitest config.',
      fix: [
        `add it to harvest() in the Vitest config: agents: { ${name}: './src/agent.ts#${name}' }`,
        `or name its module: ${bin} ${command.name} ${given.args[0]} --module ./src/agent.ts#${name}`,
      ],
    },
    { cause },
  )
}

function readReport(file: string, { code, signal, stderr }: ProgramExit): ReplayChildReport {
  let report: ReplayChildReport | FailedReport
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as ReplayChildReport | FailedReport
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_CLI_NO_REPORT',
      {
        what: 'The program ended before its replay could report',
        where: { program: signal === null ? `exit code ${code}` : `ended by ${signal}` },
        ...(stderr === '' ? {} : { detail: outputOf({ stderr }) }),
        why: 'Only Node programs can be replayed, and the program must reach its first line.',
        fix: ["to name the program: npx vitest-harvest replay '<tape>' -- node agent.js"],
      },
      { cause },
    )
  }
  if (isFailed(report)) throw new HarvestError(report.failed.code, report.failed.facts)
  return report
}
