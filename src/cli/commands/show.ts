import type { Case } from '../../cases/index.ts'
import { neutral, neutralLine, shellWord } from '../../errors/index.ts'
import { type CallEvent, type ExchangeEvent, isTimed, readTape, requestBytes, responseBytes } from '../../tape/index.ts'
import { renderBaseline, traceOf } from '../../trace/index.ts'
import { type KeptAnswer, listOutside, listShared, recordingsOf } from '../../recordings/index.ts'
import { showSpec } from '../spec/inspect.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { caseOfTape, printSteps, rightText, stepsAfterRun } from '../next-steps.ts'
import { type FoundRun, findRun, openRun } from '../find.ts'
import { badValue, usage } from '../parse.ts'
import { baselineLines } from '../../report/calls.ts'
import { printEnd } from '../../report/end.ts'
import { foldText, terminalWidth } from '../../report/fold.ts'
import { counted } from '../../errors/words.ts'
import { factsOf } from '../../report/head.ts'
import { bodiesOf, printStep, readStep } from '../../report/one-step.ts'
import type { Run, RunStep } from '../../report/run.ts'
import { printTimeline } from '../../report/timeline.ts'
import type { Screen } from '../../report/output.ts'

/** Prints a run as one can read it: where it is from, its steps, what was said and called, how it ended. */
export const showCommand: Command = {
  ...showSpec,
  async run(given, screen) {
    const options = readOptions(given)
    const found = findRun(given.args[0] ?? '', given.value('dir'))
    const value = given.value('find')
    if (value !== undefined)
      return (await import('../reading/find-value.ts')).findValue(found.file, value, given.has('json'), screen)
    if (options.step !== undefined) return showStep(found, options.step, options, given, screen)
    if (given.has('trace')) return showTrace(found, given, screen)
    const run = await openRun(found)
    if (given.has('replay')) screen.progress('replaying')
    // Loaded for this alone: a replay is most of the program.
    const replay = given.has('replay') ? await import('../reading/now.ts') : undefined
    const now = await replay?.replayNow(found)
    const shared = sharedBy(found, run)
    if (given.has('json')) {
      screen.json({
        ...asJson(run, found.case),
        ...(shared.length > 0 && { shared }),
        ...(now === undefined ? {} : { now }),
      })
      return exit.ok
    }
    const { limit } = options
    const [isFull, withDraws] = [given.has('full'), given.has('reads')]
    printFacts(run, found.case, isFull, screen)
    screen.line()
    printTimeline(run, { width: terminalWidth(), isFull, limit, withDraws }, screen)
    screen.line()
    printEnd(run, { width: terminalWidth(), isFull }, screen)
    if (found.case !== undefined) printBaseline(found.case, screen)
    printShared(shared, found.case !== undefined, screen)
    if (now !== undefined) replay?.printNow(now, screen)
    const dir = given.value('dir')
    const owner = found.case === undefined ? await caseOfTape(found.file, run.header.id, dir, found.files) : undefined
    if (owner !== undefined) printOwner(owner, screen)
    const steps = await stepsAfterRun(found.file, found.case ?? owner?.case, run, dir)
    printSteps(steps, (text) => screen.note(text))
    if (steps.some(({ command }) => command.includes('<right>'))) screen.note(rightText(run))
    if (run.close === undefined && steps.length === 0) screen.note(cutOff)
    return exit.ok
  },
}

/** A run without an end becomes no test; one that a budget ends does. */
const cutOff = `cut off, so it cannot become a test: how it would have ended is unknown
→ to end runs that loop, and keep them whole: createRecorder({ budget: { calls: { hard: 100 } } })`

interface ShowOptions {
  readonly step?: number
  readonly raw?: 'request' | 'response'
  readonly limit: number
}

function readOptions(given: CommandInput): ShowOptions {
  const step = wholeNumber(given, 'step')
  const limit = wholeNumber(given, 'steps') ?? 100
  const raw = given.value('raw')
  if (raw === undefined) return { limit, ...(step === undefined ? {} : { step }) }
  if (raw !== 'request' && raw !== 'response') {
    throw badValue(showCommand, 'raw', raw, 'request or response')
  }
  if (step === undefined)
    throw usage(showCommand, 'HARVEST_CLI_OPTION', '--raw needs --step <number>', ["with one: --step '<n>'"])
  if (process.stdout.isTTY) {
    // What was recorded may hold commands for a terminal.
    throw usage(showCommand, 'HARVEST_CLI_OPTION', '--raw writes to a file or a pipe, never to a terminal', [
      `npx vitest-harvest show ${shellWord(given.args[0] ?? '')} --step ${shellWord(step)} --raw ${shellWord(raw)} > ${shellWord(raw)}.bin`,
    ])
  }
  return { limit, step, raw }
}

function wholeNumber(given: CommandInput, name: string): number | undefined {
  const value = given.value(name)
  if (value === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw badValue(showCommand, name, value, 'a whole number from 1')
}

async function showStep(
  found: FoundRun,
  number: number,
  { raw }: ShowOptions,
  given: CommandInput,
  screen: Screen,
): Promise<number> {
  const run = await openRun(found)
  const step = run.steps[number - 1]
  if (step === undefined) throw noSuchStep(run, number)
  const event = await readStep(found.file, step)
  if (raw !== undefined) process.stdout.write(rawBytes(event, raw, step))
  else if (given.has('json')) screen.json({ tape: found.file, step, event, ...bodiesOf(event) })
  else printStep(event, step, isTimed(run.header), terminalWidth(), screen)
  return exit.ok
}

function noSuchStep({ steps, header }: Run, number: number): Error {
  const held = steps.length === 0 ? 'no steps' : counted(steps.length, 'step')
  return usage(
    showCommand,
    'HARVEST_CLI_OPTION',
    `there is no step ${number}: ${neutralLine(header.id, 60)} has ${held}`,
    ['to see them: the same command, without --step and --raw'],
  )
}

function rawBytes(event: ExchangeEvent | CallEvent, raw: 'request' | 'response', { number, kind }: RunStep): Buffer {
  if (event.kind !== 'exchange') {
    throw usage(showCommand, 'HARVEST_CLI_OPTION', `step ${number} is a ${kind}: it has values and no bytes`, [
      'to see them: --json, without --raw',
    ])
  }
  return raw === 'request' ? requestBytes(event) : responseBytes(event)
}

function showTrace({ file, case: found }: FoundRun, given: CommandInput, screen: Screen): number {
  const trace = traceOf(readTape(file).events)
  if (given.has('json')) {
    screen.json({ tape: file, baseline: renderBaseline(trace, found?.match), layers: trace.layers })
    return exit.ok
  }
  const lines = baselineLines(renderBaseline(trace, found?.match) as readonly (string | readonly string[])[])
  if (lines.length === 0) screen.line(screen.paint('dim', 'no tool calls'))
  for (const line of lines) screen.line(neutral(line))
  return exit.ok
}

function asJson(run: Run, found: Case | undefined): object {
  const { file, header, steps, notes, draws, models, spending, cuts, close, open, digest } = run
  return {
    tape: file,
    header,
    ...(found === undefined ? {} : { case: found }),
    models,
    spending,
    ...(cuts.length === 0 ? {} : { grade: 'partial', cuts }),
    steps,
    notes,
    draws: draws.flatMap((event) =>
      event.draws.map(([kind, caller, value]) => ({ n: event.n, atMs: event.at, kind, caller, value })),
    ),
    close: close ?? null,
    ...(open.length === 0 ? {} : { open }),
    digest,
  }
}

function printFacts(run: Run, found: Case | undefined, isFull: boolean, screen: Screen): void {
  const facts = factsOf(run, found)
  const indent = Math.max(...facts.map(([label]) => label.length)) + 2
  const width = terminalWidth() - indent
  for (const [label, text] of facts) {
    // What would run is judged by what is seen of it: a command is never shortened.
    if (label === 'command') {
      screen.line(`${screen.paint('dim', label.padEnd(indent))}${text}`)
      continue
    }
    // An input can be pages long.
    const isOneLine = !isFull && label === 'input'
    const [first = '', ...more] = isOneLine ? [neutralLine(text, width)] : foldText(text, { width })
    screen.line(`${screen.paint('dim', label.padEnd(indent))}${first}`)
    for (const row of more) screen.line(`${' '.repeat(indent)}${row}`)
  }
}

/** What its replay may be answered with that is not on its tape. */
function sharedBy({ file, case: found }: FoundRun, { header, close }: Run): readonly KeptAnswer[] {
  if (found === undefined) return listOutside({ header, source: file, ...(close && { close }) })
  const recordings = recordingsOf(file)
  return recordings === undefined ? [] : listShared(recordings)
}

function printShared(shared: readonly KeptAnswer[], isCase: boolean, screen: Screen): void {
  if (shared.length === 0) return
  screen.line()
  screen.line(
    isCase
      ? 'shared    fetched once by a process, and kept for all cases'
      : 'shared    fetched by its process outside its runs; promote keeps what the run relied on',
  )
  for (const { method, url, startedAt } of shared)
    screen.line(`  ${neutralLine(`${method} ${url}`, 160)}, recorded ${neutralLine(startedAt)}`)
}

/** What became of a tape that was shown by itself. */
function printOwner(
  { case: kase, isFormer }: NonNullable<Awaited<ReturnType<typeof caseOfTape>>>,
  screen: Screen,
): void {
  const state =
    kase.expect === 'fail'
      ? 'a known-bad incident that is not fixed yet'
      : isFormer
        ? `fixed ${neutralLine((kase.history?.at(-1)?.at ?? '').slice(0, 10))}; this run is the incident it was made of`
        : 'expected to pass'
  screen.line()
  screen.line(`case      ${neutralLine(kase.id, 80)}, ${state}`)
}

function printBaseline({ baseline, approved }: Case, screen: Screen): void {
  screen.line()
  if (baseline === undefined) return screen.line('baseline  none: the case asserts no tool calls yet')
  screen.line('baseline')
  const lines = baselineLines(baseline as readonly (string | readonly string[])[])
  for (const line of lines.length === 0 ? ['no tool is called'] : lines) screen.line(`  ${neutral(line)}`)
  if (approved?.reason === undefined) return
  screen.line(`approved  ${neutralLine([approved.reason, approved.by, approved.at].filter(Boolean).join(', '))}`)
}
