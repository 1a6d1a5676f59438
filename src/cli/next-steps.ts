import type { BlamedRun, BlameEstimate } from '../blame/run-blame.ts'
import type { Grade } from '../blame/index.ts'
import { type Case, expectedError, requireTapeFile } from '../cases/index.ts'
import { neutralLine, shellWord } from '../errors/index.ts'
import { isMap } from '../json/canonical.ts'
import { isCodeOf } from '../provenance/index.ts'
import { casesOfTape, closeOf, findCase, type RecordingFiles } from '../recordings/index.ts'
import type { Run } from '../report/run.ts'
import { isReplayable } from '../tape/grade.ts'
import type { Outcome, TapeClose } from '../tape/index.ts'
import type { CommandInput } from './command.ts'
import { program } from './command.ts'
import type { FoundRun } from './find.ts'
import { dirOption, tapeWord } from './named-tape.ts'
import { typedAgain } from './typed-again.ts'

/** A command that follows. What only people know stands in it as `<id>` or `<right>`. */
export interface NextStep {
  readonly about: string
  readonly command: string
}

export function printSteps(steps: readonly NextStep[], tell: (text: string) => void): void {
  for (const { about, command } of steps) tell(`→ ${about}: ${command}`)
}

/** A listing that fits a screen needs no search. */
const searched = 20

/** From a list of runs to one of them. */
export function stepsAfterList(
  {
    first,
    threw,
    count,
  }: { readonly first: string | undefined; readonly threw: string | undefined; readonly count: number },
  isFiltered: boolean,
  dir?: string,
): readonly NextStep[] {
  // Whoever lists runs looks for the one that went wrong.
  const file = threw ?? first
  if (file === undefined) return []
  const list = `${program} ls${dirOption(dir)}`
  const isLong = !isFiltered && count > searched
  return [
    ...(isLong ? [{ about: 'to find one by its words', command: `${list} --text '<words>'` }] : []),
    ...(isLong && threw !== undefined
      ? [{ about: 'to see those that failed', command: `${list} --status threw` }]
      : []),
    {
      about: count === 1 ? 'to read it' : 'to read one',
      command: `${program} show ${tapeWord(file, dir)}${dirOption(dir)}`,
    },
  ]
}

/** From one run to its test, and from its test to the fix. */
export async function stepsAfterRun(
  file: string,
  kase: Case | undefined,
  run: Run,
  dir?: string,
): Promise<readonly NextStep[]> {
  if (kase !== undefined) return stepsOfCase(kase, dir)
  // Such a run cannot become a test.
  if (run.close === undefined || run.close.incomplete !== undefined || !isReplayable(run.header)) return []
  const { outcome } = run.close
  const promote = `${program} promote ${tapeWord(file, dir)} --as '<id>'${baselineOption(outcome)}`
  const isFailed = outcome.status === 'threw' || (outcome.status === 'exited' && outcome.code !== 0)
  const bad = `${promote} --expect fail${dirOption(dir)}`
  // That it returns is what a fix is graded by, unless someone says more.
  if (outcome.status === 'threw') return [{ about: 'to make it a test, before it is fixed', command: bad }]
  const wrong = { about: 'if it went wrong, a test before it is fixed', command: `${bad} --ok '<right>'` }
  return isFailed ? [wrong] : [{ about: 'if it went right, a test', command: `${promote}${dirOption(dir)}` }, wrong]
}

/** Of a run whose end was not seen a case checks the calls alone, unless someone says more: that has to be typed. */
function baselineOption(outcome: Outcome | undefined): string {
  return outcome?.status === 'unknown' ? ' --baseline' : ''
}

/** What stands for `<right>`, in the words of the run: its last call, or what it returned. */
export function rightText({ steps, close }: Pick<Run, 'steps' | 'close'>): string {
  const tool = steps.findLast(({ kind }) => kind === 'tool')?.name
  const value = close?.outcome.status === 'returned' ? close.outcome.value : undefined
  const [key = '.'] = isMap(value) ? Object.keys(value) : []
  const call = tool === undefined ? '' : `a call, ${neutralLine(tool, 40)}(…), or `
  return `  <right>: what would have been right: ${call}a value, ${neutralLine(key, 40)}=…`
}

/** The case a tape was promoted to, and whether a fix replaced the tape there. */
export async function caseOfTape(
  file: string,
  id: string,
  dir = 'recordings',
  files?: RecordingFiles,
): Promise<{ readonly case: Case; readonly isFormer: boolean } | undefined> {
  const tapes = await casesOfTape(dir, file, id, files)
  for (const list of [tapes.present, tapes.former]) {
    const [found] = list
    const kase = found === undefined ? undefined : findCase(dir, found.file).case
    if (kase !== undefined) return { case: kase, isFormer: list === tapes.former }
  }
  return undefined
}

function stepsOfCase(kase: Case, dir?: string): Promise<readonly NextStep[]> | readonly NextStep[] {
  if (kase.expect === 'fail') return stepsOfKnownBad(kase, dir)
  return stepsToRun(kase.id, 'to run its test', dir, `${program} test ${shellWord(kase.id)}`)
}

/** What to do with a bug that is known and not fixed. */
export async function stepsOfKnownBad(kase: Case, dir?: string): Promise<readonly NextStep[]> {
  const { pins } = kase
  const isSame = await isCodeOf(process.cwd(), pins?.commit)
  const fix = fixStep(kase, [], dir)
  // Without the budget of its recorder such a run does not come to an end: no fork of it could be graded.
  if (isOverBudget(kase)) return [fix]
  const blame = `${program} blame ${shellWord(kase.id)} --dry-run${rightOption(kase)}${isSame ? '' : ' --cross-version'}`
  return [{ about: 'to see which step decided', command: `${blame}${dirOption(dir)}` }, fix]
}

function isOverBudget(kase: Case): boolean {
  const { outcome, kept = [] } = closeOf(requireTapeFile(kase)) ?? {}
  return outcome?.status === 'threw' && kept.some(({ because }) => because === 'budget')
}

/**
 * From a case that was written to its run. Vitest runs those of the folder that its config names: which one that is, is not
 * known here.
 */
export function stepsToRun(id: string, about: string, dir?: string, usual = 'npx vitest run'): readonly NextStep[] {
  if (dirOption(dir) === '') return [{ about, command: usual }]
  return [{ about, command: `${program} show ${shellWord(id)} --replay${dirOption(dir)}` }]
}

/** Where the tests of other folders are said to be, for people. */
export function testsElsewhere(dir = 'recordings'): readonly string[] {
  if (dirOption(dir) === '') return []
  return [`its test runs with the others where vitest.config.ts says: harvest({ recordings: ${JSON.stringify(dir)} })`]
}

/** @param typed - options that said for this command what is right */
export function fixStep(kase: Case, typed: readonly string[], dir?: string): NextStep {
  const right = typed.length > 0 ? ` ${typed.join(' ')}` : rightOption(kase)
  return {
    about: 'when the agent is fixed',
    command: `${program} fix ${shellWord(kase.id)}${right}${dirOption(dir)}`,
  }
}

/** An incident that threw is fixed when it returns, unless someone says more. */
export function isRightSaid({ oracle, outcome, ok = [], bad = [] }: Case): boolean {
  const isError = outcome !== undefined && expectedError(outcome) !== undefined
  return oracle !== undefined || ok.length + bad.length > 0 || isError
}

function rightOption(kase: Case): string {
  return isRightSaid(kase) ? '' : " --ok '<right>'"
}

/** From what a question would cost to asking it. */
export function stepAfterEstimate(
  { high, offTape }: Pick<BlameEstimate, 'high' | 'offTape'>,
  given: CommandInput,
): NextStep {
  const isLimited = given.has('max-cost') || given.has('max-runs')
  const limit =
    high.costUsd === undefined
      ? // Without a price no limit in dollars can be kept, be it the usual one.
        { 'max-cost': undefined, ...(given.has('max-runs') ? {} : { 'max-runs': `${high.forks}` }) }
      : isLimited
        ? {}
        : { 'max-cost': (Math.ceil(high.costUsd * 100 + 1) / 100).toFixed(2) }
  const isRisky = (offTape?.steps.length ?? 0) > 0
  return {
    about: isRisky ? 'to ask the models all the same' : 'to ask the models',
    command: typedAgain({ 'dry-run': false, live: true, ...limit }),
  }
}

/**
 * From a limit that ended a question to the command that goes on from there: a limit is one of a session, and what earlier
 * ones found out counts.
 *
 * @param forksNeeded - how many forks are likely still needed
 */
export function stepAfterLimit(
  { stoppedBy, spent }: Pick<BlamedRun, 'stoppedBy'> & { readonly spent: Pick<BlamedRun['spent'], 'now'> },
  given: CommandInput,
  forksNeeded = 0,
): readonly NextStep[] {
  if (stoppedBy === undefined) return []
  const isNone = spent.now.forks === 0
  if (stoppedBy === 'costUsd' && isNone)
    return [
      {
        about: 'to estimate the cost',
        command: typedAgain({ 'dry-run': true, live: false, 'max-cost': undefined }),
      },
    ]
  const runs = Math.max(Number(given.value('max-runs') ?? 400), Math.ceil(forksNeeded))
  return [
    {
      about: 'to go on, with all runs so far',
      command: typedAgain({
        'no-cache': false,
        ...(stoppedBy === 'forks' ? { 'max-runs': `${runs}` } : {}),
        ...(stoppedBy === 'timeMs' && isNone ? { 'max-time': undefined } : {}),
      }),
    },
  ]
}

/** From what decided to the fix of it; a good run, whose answers were changed, has none. */
export function stepsAfterBlame(
  { file, case: kase }: FoundRun,
  { recorded, close }: { readonly recorded: Grade; readonly close?: TapeClose | undefined },
  given: CommandInput,
): readonly NextStep[] {
  const [dir, agent] = [given.value('dir'), given.value('agent')]
  const baseline = baselineOption(close?.outcome)
  const ofAgent = agent === undefined ? '' : ` --agent ${shellWord(agent)}`
  if (kase === undefined && recorded === 'ok')
    return [
      {
        about: 'if it went right, a test',
        command: `${program} promote ${tapeWord(file, dir)} --as '<id>'${ofAgent}${baseline}${dirOption(dir)}`,
      },
    ]
  const oracle = given.value('oracle')
  const typed = [
    ...['ok', 'bad'].flatMap((option) => given.values(option).map((text) => `--${option} ${shellWord(text)}`)),
    ...(oracle === undefined ? [] : [`--oracle ${shellWord(oracle)}`]),
  ]
  if (kase !== undefined) return kase.expect === 'fail' ? [fixStep(kase, typed, dir)] : []
  const words = ['promote', tapeWord(file, dir), `--as '<id>'${ofAgent} --expect fail`, ...typed].join(' ')
  const checked = oracle === undefined ? baseline : ''
  return [{ about: 'to make it a test, before it is fixed', command: `${program} ${words}${checked}${dirOption(dir)}` }]
}
