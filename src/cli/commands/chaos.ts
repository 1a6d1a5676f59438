import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toolNames } from '../../blame/known-names.ts'
import { here } from '../../errors/here.ts'
import { HarvestError, nearestWord, neutralLine, shellWord } from '../../errors/index.ts'
import { counted, firstNames } from '../../errors/words.ts'
import {
  type ChaosProgress,
  type ChaosReport,
  type ChaosTaskOptions,
  defaultFaults,
  describeFault,
  type FailureClass,
  failureClasses,
  type FaultSchedule,
  kindsNamed,
  possibleFaults,
} from '../../faults/index.ts'
import { defaultFailures } from '../../faults/ending.ts'
import type { Job } from '../../jobs/index.ts'
import { type Json, readTape, type Tape } from '../../tape/index.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { chaosSpec } from '../spec/explain.ts'
import type { Command, CommandInput } from '../command.ts'
import { endedEarly, stoppedText } from '../ended-early.ts'
import { exit } from '../exit.ts'
import { findRun, type FoundRun } from '../find.ts'
import { controlLine, pinsJson } from '../forking/control.ts'
import { faultAsFork } from '../forking/fault-fork.ts'
import { runTask } from '../../jobs/run.ts'
import { readDuration, readWhole } from '../live.ts'
import { requireModule } from '../live-grading.ts'
import { badValue, usage } from '../parse.ts'
import { neutralLines, type Screen } from '../../report/output.ts'
import { printAnswer } from '../next-lines.ts'
import { typedAgain } from '../typed-again.ts'

/** Runs a case under generated faults, and shrinks a failure to the faults it needs. */
export const chaosCommand: Command = {
  ...chaosSpec,
  async run(given, screen) {
    const options = readOptions(given)
    const recordings = given.value('dir') ?? 'recordings'
    const found = findRun(given.args[0] ?? '', recordings)
    const tape = requireReplayable(readTape(found.file))
    requireTools(tape, options.reads ?? [])
    const { report, interrupted } = await ask(found, options, given, screen)
    const answer = { tape: here(tape.source), ...report, ...pinsJson(tape, report.control) }
    printAnswer(answer, (shown) => print(tape, report, { screen: shown, given }), {
      given,
      spec: chaosCommand,
      screen,
    })
    if (interrupted !== undefined) return endedEarly(interrupted, screen)
    return report.survived === true ? exit.ok : exit.divergence
  },
}

function readOptions(given: CommandInput): ChaosTaskOptions {
  const runs = readWhole(given, chaosCommand, 'runs')
  const seed = readSeed(given)
  const path = given.value('path')
  const timeMs = readDuration(given, chaosCommand, 'max-time')
  const fail = listOf(given, 'fail')
  const schedule = given.value('schedule')
  const arbitrary = given.value('arbitrary')
  const faults = listOf(given, 'faults') ?? defaultFaults
  // A name that is not known is reported before anything is started.
  kindsNamed(faults)
  const others = 'to try other schedules: the same command, without --path'
  const isPath = path === undefined || /^[\d:]+$/.test(path)
  if (path !== undefined && seed === undefined)
    throw usage(chaosCommand, 'HARVEST_CLI_ARGUMENT', '--path needs --seed: a failure reports both', [
      `with its seed: --seed '<n>'${isPath ? '' : " --path '<path>'"}`,
      others,
    ])
  if (!isPath) throw badValue(chaosCommand, 'path', path, 'numbers between colons', [others])
  const variants = listOf(given, 'variant')
  const reads = listOf(given, 'repeatable')
  return {
    faults,
    ...(runs === undefined ? {} : { runs }),
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
    ...(given.has('smallest') ? { smallest: true } : {}),
    ...(timeMs === undefined ? {} : { timeMs }),
    ...(fail === undefined ? {} : { fail: fail.map((word) => endingNamed(word, fail)) }),
    ...(schedule === undefined ? {} : { examples: [readSchedule(schedule)] }),
    ...(arbitrary === undefined ? {} : { arbitrary: readPlace(arbitrary) }),
    ...(variants === undefined ? {} : { variants }),
    ...(reads === undefined ? {} : { reads }),
  }
}

/** A tool that is mistyped would be repeated nowhere; a name with `*` may fit none. */
function requireTools(tape: Tape, names: readonly string[]): void {
  const whole = names.filter((one) => !one.includes('*'))
  if (whole.length === 0) return
  const known = toolNames(tape)
  const name = whole.find((one) => !known.includes(one))
  if (name === undefined) return
  const near = nearestWord(name, known)
  const meant = names.map((one) => (one === name ? near : one)).join(',')
  const tools =
    known.length === 0 ? 'a tool of the run, which has none' : `tools of the run: ${neutralLine(known.join(', '), 160)}`
  throw badValue(
    chaosCommand,
    'repeatable',
    name,
    tools,
    near === undefined ? [] : [`did you mean ${neutralLine(near, 40)}? --repeatable ${shellWord(meant)}`],
  )
}

function listOf(given: CommandInput, name: string): readonly string[] | undefined {
  const list = given
    .value(name)
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (list?.length === 0) throw badValue(chaosCommand, name, given.value(name) ?? '', 'one name or more')
  return list
}

/** Seeds of fast-check may be negative. */
function readSeed(given: CommandInput): number | undefined {
  const text = given.value('seed')
  if (text === undefined) return undefined
  if (/^-?\d{1,10}$/.test(text)) return Number(text)
  throw badValue(chaosCommand, 'seed', text, 'a whole number')
}

function endingNamed(word: string, all: readonly string[]): FailureClass {
  const found = failureClasses.find((one) => one === word)
  const near = nearestWord(word, failureClasses)
  const meant = all.map((one) => (one === word ? near : one)).join(',')
  const hints = near === undefined ? [] : [`did you mean ${near}? --fail ${meant}`]
  if (found === undefined) throw badValue(chaosCommand, 'fail', word, failureClasses.join(', '), hints)
  return found
}

/** Its faults are checked where they are used. */
function readSchedule(file: string): FaultSchedule {
  try {
    const schedule: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (Array.isArray(schedule)) return schedule as FaultSchedule
  } catch (cause) {
    throw new HarvestError('HARVEST_CHAOS_SCHEDULE', scheduleFacts(file, cause), { cause })
  }
  throw new HarvestError('HARVEST_CHAOS_SCHEDULE', scheduleFacts(file, 'no list'))
}

function scheduleFacts(file: string, cause: unknown) {
  return {
    what: 'Invalid schedule of faults',
    where: {
      file: neutralLine(file),
      because: neutralLine(cause instanceof Error ? cause.message : String(cause), 160),
    },
    fix: ['write a list such as [{ "step": 2, "kind": "http-429", "args": {} }]'],
  }
}

function readPlace(text: string): { readonly file: string; readonly export: string } {
  const [file = '', name = 'default'] = text.split('#', 2)
  requireModule(resolve(file), { option: 'arbitrary', name: text, command: chaosSpec })
  return { file: resolve(file), export: name }
}

async function ask(
  found: FoundRun,
  options: ChaosTaskOptions,
  given: CommandInput,
  screen: Screen,
): Promise<{ readonly report: ChaosReport; readonly interrupted?: HarvestError }> {
  const agent = given.value('agent')
  const timeoutMs = readDuration(given, chaosCommand, 'timeout')
  const kase = found.case
  const expectation = kase?.outcome === undefined ? {} : { expected: kase.outcome }
  const job: Job & { readonly task: NonNullable<Job['task']> } = {
    tape: found.file,
    ...(agent === undefined ? {} : { agent }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(kase === undefined ? {} : { case: { file: resolve(kase.file), text: readFileSync(kase.file, 'utf8') } }),
    task: { name: 'chaos', options: { ...options, ...expectation } as unknown as Json },
  }
  let known: ChaosReport | undefined
  try {
    const answer = await runTask(job, {
      onReport: (told) => {
        const { runs, failing, known: soFar } = told as unknown as ChaosProgress
        known = soFar
        screen.progress(`${runs} runs${failing === undefined ? '' : `, failing with ${failing} fault(s)`}`)
      },
    })
    screen.progress('')
    return { report: answer as unknown as ChaosReport }
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) throw error
    if (known === undefined) throw error
    return { report: known, interrupted: error }
  }
}

function print(
  tape: Tape,
  report: ChaosReport,
  { screen, given }: { readonly screen: Screen; readonly given: CommandInput },
): void {
  const { failure, seed, path, control } = report
  if (control.differs !== undefined) screen.line(`${controlLine(control.differs)}\n`)
  if (failure !== undefined) {
    screen.line(screen.paint('bold', 'the agent does not survive'))
    for (const fault of failure.schedule) screen.line(`  ${describeFault(tape, fault)}`)
    screen.line(`${failure.class}: ${neutralLines(failure.said)}`)
    screen.line()
    screen.line(shrunk(report))
    if (path !== undefined) screen.line(`→ to see it again: ${typedAgain({ seed: `${seed}`, path })}`)
    if (failure.class === 'off-tape') printLeft(tape, failure.schedule, screen)
    return
  }
  screen.line(screen.paint('bold', verdict(report, given.value('fail'))))
  screen.line(`${report.schedules} schedules of faults, ${report.runs} runs: ${counts(report.endings)}`)
  screen.line(`tried: ${counts(report.tried)}`)
  if (report.interrupted !== undefined) screen.line(stoppedText(report.interrupted, 'schedules'))
  if (given.has('faults')) printUntried(tape, report, { screen, given })
  screen.line(`seed ${seed}`)
  if (report.offTape === undefined) return
  screen.line(
    seenIn(report).length === 0
      ? 'In every run the agent requested something that is not on the tape, so the outcome is unknown.'
      : `Where it requested something that is not on the tape, the outcome is unknown${unjudged(report)}.`,
  )
  printLeft(tape, report.offTape, screen)
}

/** Kinds of faults of which only such runs were made. */
function unjudged({ unjudged: kinds }: ChaosReport): string {
  return kinds.length === 0 ? '' : `: nothing is known of ${kinds.join(', ')}`
}

/** Kinds of faults of which a run was judged. */
function seenIn({ tried, unjudged: kinds }: ChaosReport): readonly string[] {
  return Object.keys(tried).filter((kind) => !kinds.includes(kind))
}

/** What was seen, and no more. Endings that `--fail` leaves out are no survival. */
function verdict(report: ChaosReport, fail: string | undefined): string {
  const { endings, tried, unjudged: kinds, schedules } = report
  const seen = seenIn(report)
  if (seen.length === 0) return 'undecided'
  const isExcused = defaultFailures.some((ending) => (endings[ending] ?? 0) > 0)
  const soFar = report.interrupted === undefined ? '' : ' so far'
  const said = isExcused ? `no run ended as --fail ${fail ?? ''} says${soFar}` : `the agent survives${soFar}`
  if (kinds.length > 0) {
    const of = isExcused ? ', with' : ''
    return `${said}${of} ${firstNames(seen)}; ${kinds.length} of ${Object.keys(tried).length} kinds of faults unknown`
  }
  const left = endings['off-tape'] ?? 0
  return left === 0 ? said : `${said} in the ${schedules - left} of ${schedules} schedules that stayed on the tape`
}

/** Faults that were asked for by name and never happened. */
function printUntried(
  tape: Tape,
  { untried, schedules }: ChaosReport,
  { screen, given }: { readonly screen: Screen; readonly given: CommandInput },
): void {
  const isPossible = (word: string): boolean => possibleFaults(tape, kindsNamed([word])).length > 0
  const never = untried.filter((word) => !isPossible(word))
  const undrawn = untried.filter(isPossible)
  if (never.length > 0) screen.line(`not tried: ${never.join(', ')}: no such fault can happen in this run`)
  if (undrawn.length === 0) return
  screen.line(`not tried: ${undrawn.join(', ')}: not in any of ${counted(schedules, 'schedule')}`)
  // One schedule that was asked for holds what it holds.
  const isOfOne = given.has('path') || given.has('schedule')
  const isTyped = undrawn.length === listOf(given, 'faults')?.length
  if (isTyped && !isOfOne) return
  screen.line(`→ to try them alone: ${typedAgain({ faults: undrawn.join(','), path: undefined, schedule: undefined })}`)
}

/** What the models say to it is found out by asking them. */
function printLeft(tape: Tape, schedule: FaultSchedule, screen: Screen): void {
  const command = faultAsFork(tape, schedule)
  if (command === undefined) return
  screen.line(`→ to ask the models, with tools run for real, side effects and all: ${command}`)
}

function shrunk({ failure, schedules, runs }: ChaosReport): string {
  if (failure === undefined) return ''
  const { schedule, isMinimal, drawn, shrinkRuns } = failure
  const one = schedule.length === 1 ? 'Without this fault' : `Without any one of these ${schedule.length} faults`
  const found = `Found in schedule ${schedules}, of ${drawn} fault${drawn === 1 ? '' : 's'}; ${shrinkRuns} runs to shrink it, ${runs} all together.`
  return isMinimal ? `${one} it survives. ${found}` : `There may be a smaller schedule. ${found}`
}

function counts(by: Readonly<Record<string, number>>): string {
  const list = Object.entries(by).sort(([, a], [, b]) => b - a)
  return list.length === 0 ? 'none' : list.map(([name, count]) => `${count} ${name}`).join(', ')
}
